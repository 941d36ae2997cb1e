/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A verb of the command is one file and one record. Adding runner/cmd_<verb>.c is all it takes:
 *help, man page, completion and dispatch come from the record. The whole of runner/cmd_kernel.c, in
 *short:
 *
 *	static gboolean json;
 *
 *	static const GOptionEntry list_options[] = {
 *		{"json", 0, 0, G_OPTION_ARG_NONE, &json, "print JSON", NULL},
 *		{NULL},
 *	};
 *
 *	static int list(int argc, char **argv, CommandContext *context, GError **error)
 *	{
 *		g_autofree char *root = lab_path_cache(context->cache);
 *		g_autoptr(LabCache) cache = lab_cache_open(root, error);
 *		g_autoptr(GPtrArray) kernels = cache ? lab_kernel_list(cache, error) : NULL;
 *		g_autoptr(PrintTable) table = print_table_new("DIGEST", "RELEASE", ">BYTES", NULL);
 *
 *		if (!kernels)
 *			return COMMAND_FAILED;
 *		for (...)
 *			print_table_add(table, digest, release, bytes, NULL);
 *		print_table(table);
 *		return 0;
 *	}
 *
 *	static const Command verbs[] = {
 *		{.name = "list", .summary = "List the kernels in the cache", .options =
 *list_options, .run = list},
 *		{.name = "show", .arguments = "KERNEL...", .summary = "Show kernels", .run = show},
 *		{NULL},
 *	};
 *
 *	const Command cmd_kernel = {
 *		.name = "kernel",
 *		.group = COMMAND_GROUP_INPUTS,
 *		.order = 40,
 *		.summary = "Fetch, list and show kernels",
 *		.description = "First paragraph.\n\nSecond paragraph.",
 *		.verbs = verbs,
 *	};
 *	COMMAND_REGISTER(cmd_kernel);
 *
 * Rules for a command:
 * - Results go to stdout (printf, runner/print.h); progress to stderr (runner/progress.h); errors
 *are returned, main() prints them.
 * - Loops and waits look at context->cancellable; a cancelled command returns an error of code
 *LAB_ERROR_INTERRUPTED (or any: main() exits with 130 then). Children of lab/base/process.h are
 *ended by main() itself.
 * - Nothing is written to stdout before the arguments are known to be good.
 */
#pragma once
#include <gio/gio.h>

/** COMMAND_FAILED - what run() returns with @error set; main() prints the error and exits with
 * lab_error_exit_code() */
#define COMMAND_FAILED 3

/** enum CommandGroup - headings of `numalab help`, in this order */
typedef enum {
	COMMAND_GROUP_RUN,    /* run 10, verify 20 */
	COMMAND_GROUP_RESULT, /* list 10, show 20, compare 30, clean 40 */
	COMMAND_GROUP_INPUTS, /* scenario 10, topology 20, image 30, kernel 40 */
	COMMAND_GROUP_LAB,    /* doctor 10, boot 20, completion 30, help 40 */
	COMMAND_N_GROUPS,
} CommandGroup;

/**
 * struct CommandContext - what main() found before the command; borrowed for the call
 * @store, @cache: (nullable): --store, --cache; give them to lab_path_store(), lab_path_cache()
 * @quiet: --quiet: no progress (give it to progress_new()); results are still printed
 * @cancellable: cancelled by SIGINT or SIGTERM
 */
typedef struct {
	const char *store;
	const char *cache;
	gboolean quiet;
	GCancellable *cancellable;
} CommandContext;

/**
 * CommandRun - do it
 * @argc, @argv: arguments without options, command and verb; argv[argc] is NULL. Their number fits
 * the synopsis.
 *
 * Return: the exit code (design: 0 done, 1 regression, 4 UNKNOWN, ...); with @error set the error's
 * code is used instead.
 */
typedef int (*CommandRun)(int argc, char **argv, CommandContext *context, GError **error);

/**
 * struct Command - a verb, or a verb's verb
 * @name: as typed
 * @group, @order: place in `numalab help`; not used for a verb's verb
 * @arguments: synopsis without options: "SCENARIO", "RUN [BOOT]", "RUN|RUN:KERNEL...", "[VERB]",
 * "FILE..."; NULL: none. Words in square brackets may be left out, a last word in "..." takes any
 * number. main() refuses another number of arguments. The words (here and as arg_description of
 * options) say what completion offers: SCENARIO, TOPOLOGY, IMAGE, KERNEL, RUN, VERB, SHELL, FILE,
 * DIR; others complete nothing.
 * @summary: one line, capital first, no full stop
 * @description: (nullable): paragraphs separated by an empty line, wrapped when shown; a paragraph
 * whose lines start with a space is shown as it is
 * @options: (nullable): ends with {NULL}; arg_data are static variables of the command's file, set
 * before run()
 * @verbs: (nullable): verbs of this verb, ends with {NULL}; then @run, @arguments and @options are
 * not used
 */
typedef struct Command Command;
struct Command {
	const char *name;
	CommandGroup group;
	int order;
	const char *arguments;
	const char *summary;
	const char *description;
	const GOptionEntry *options;
	const Command *verbs;
	CommandRun run;
};

/** COMMAND_REGISTER() - put a record in the table, by way of a linker section; once, at file scope
 */
#define COMMAND_REGISTER(record)                                                                   \
	extern const Command record;                                                               \
	static const Command *const record##_entry                                                 \
		__attribute__((used, section("numalab_commands"))) = &record

/** command_list() - all verbs in the order of `numalab help`; NULL-terminated, static */
const Command *const *command_list(void);

/** command_find() - among the top verbs, or (with @parent) among the verbs of one; NULL when there
 * is none */
const Command *command_find(const Command *parent, const char *name);

/** command_unknown() - set the LAB_ERROR_USER error for a verb that does not exist, with a
 * suggestion */
void command_unknown(const Command *parent, const char *name, GError **error);

/** command_global_options() - options that every verb takes; ends with {NULL} */
const GOptionEntry *command_global_options(void);

/** command_group_title() - heading of a group */
const char *command_group_title(CommandGroup group);

/** struct CommandWord - one word of a synopsis, as command_words() takes it apart */
typedef struct {
	char *text; /* "RUN|RUN:KERNEL" */
	gboolean optional;
	gboolean repeated;
} CommandWord;

/** command_words() - array of CommandWord of a synopsis; free with g_array_unref() */
GArray *command_words(const char *arguments);
