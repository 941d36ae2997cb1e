/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finds the verb, takes its options apart, calls it, prints its error: the only place that does. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/base/process.h"
#include "lab/base/suggest.h"
#include "runner/command.h"
#include "runner/help.h"
#include "runner/interrupt.h"
#include "runner/print.h"

static char *store, *cache;
static gboolean no_colour, quiet, want_help, want_version;

static const GOptionEntry global_options[] = {
	{"store", 0, 0, G_OPTION_ARG_FILENAME, &store,
	 "where runs are kept, instead of $NUMALAB_STORE or $XDG_DATA_HOME/numalab", "DIR"},
	{"cache", 0, 0, G_OPTION_ARG_FILENAME, &cache,
	 "where kernels and images are kept, instead of $NUMALAB_CACHE or $XDG_CACHE_HOME/numalab",
	 "DIR"},
	{"no-color", 0, 0, G_OPTION_ARG_NONE, &no_colour, "no colours (nor with $NO_COLOR set)",
	 NULL},
	{"quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet, "no progress on stderr", NULL},
	{"help", 'h', 0, G_OPTION_ARG_NONE, &want_help, "show help and end", NULL},
	{"version", 0, 0, G_OPTION_ARG_NONE, &want_version, "show the version and end", NULL},
	{NULL},
};

const GOptionEntry *command_global_options(void)
{
	return global_options;
}

/* A closed descriptor would be given to the next open(); a write to this one fails as it must. */
static void open_standard_descriptors(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
			_exit(LAB_ERROR_INFRA);
}

/* All long options of a command and of every verb, for suggestions; "--" included. */
static char *suggest_option(const char *word, const GOptionEntry *options)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	const GOptionEntry *lists[] = {options, global_options};
	g_autofree char *name = g_strndup(word, strcspn(word, "="));

	for (gsize i = 0; i < G_N_ELEMENTS(lists); i++)
		for (const GOptionEntry *o = lists[i]; o && o->long_name; o++)
			g_ptr_array_add(names, g_strconcat("--", o->long_name, NULL));
	g_ptr_array_add(names, NULL);
	return lab_suggest_text(name, (const char *const *)names->pdata);
}

/* GLib's words for a wrong option, with our prefix and a suggestion. */
static void option_error(const char *who, const GOptionEntry *options, const GError *from,
			 GError **error)
{
	g_autoptr(GString) text = g_string_new(from->message);
	g_autofree char *hint = NULL;
	const char *word = strrchr(from->message, ' ');

	g_string_replace(text, "“", "'", 0);
	g_string_replace(text, "”", "'", 0);
	text->str[0] = g_ascii_tolower(text->str[0]);
	if (g_error_matches(from, G_OPTION_ERROR, G_OPTION_ERROR_UNKNOWN_OPTION) && word)
		hint = suggest_option(word + 1, options);
	g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "%s%s%s%s", who, *who ? ": " : "", text->str,
		    hint ? hint : "");
}

/*
 * Takes options out of *argv (which starts with a program's name). With @leading only those before
 * the first word that is none.
 */
static gboolean parse_options(const char *who, const GOptionEntry *options, gboolean leading,
			      char ***argv, GError **error)
{
	g_autoptr(GOptionContext) context = g_option_context_new(NULL);
	g_autoptr(GError) local = NULL;

	g_option_context_set_help_enabled(context, FALSE);
	g_option_context_set_strict_posix(context, leading);
	if (options)
		g_option_context_add_main_entries(context, options, NULL);
	g_option_context_add_main_entries(context, global_options, NULL);
	if (g_option_context_parse_strv(context, argv, &local))
		return TRUE;
	option_error(who, options, local, error);
	return FALSE;
}

/* "-j2" into "-j" "2", as getopt() has it and GLib has not. */
static char **split_short(char **argv, const GOptionEntry *options)
{
	g_autoptr(GStrvBuilder) builder = g_strv_builder_new();

	for (; *argv; argv++) {
		const char *word = *argv;
		const GOptionEntry *o = options;

		while (o && o->long_name &&
		       !(o->short_name && word[0] == '-' && word[1] == o->short_name))
			o++;
		if (o && o->long_name && o->arg != G_OPTION_ARG_NONE && word[2]) {
			g_strv_builder_add(builder, (char[]){'-', word[1], 0});
			word += 2;
		}
		g_strv_builder_add(builder, word);
	}
	return g_strv_builder_end(builder);
}

/* GLib sometimes takes the "--" away and sometimes leaves it: it is never shown one. What comes
 * after it is cut off and returned. */
static char **cut_separator(char **argv)
{
	char **tail;

	for (; *argv && strcmp(*argv, "--"); argv++)
		;
	tail = g_strdupv(*argv ? argv + 1 : argv);
	for (; *argv; argv++)
		g_clear_pointer(argv, g_free);
	return tail;
}

static char **join(char **head, char **tail)
{
	g_autoptr(GStrvBuilder) builder = g_strv_builder_new();

	g_strv_builder_addv(builder, (const char **)head);
	g_strv_builder_addv(builder, (const char **)tail);
	return g_strv_builder_end(builder);
}

static gboolean check_arguments(const char *who, const Command *command, int argc, char **argv,
				GError **error)
{
	g_autoptr(GArray) words = command_words(command->arguments);
	guint least = 0, most = words->len;

	for (guint i = 0; i < words->len; i++) {
		const CommandWord *w = &g_array_index(words, CommandWord, i);

		if (!w->optional)
			least = i + 1;
		if (w->repeated)
			most = G_MAXUINT;
	}
	if ((guint)argc < least)
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "%s: wanted %s, found %s", who,
			    command->arguments, argc ? "too few arguments" : "nothing");
	else if ((guint)argc > most)
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "%s: wanted %s, found also '%s'", who,
			    most ? command->arguments : "no arguments", argv[most]);
	else
		return TRUE;
	return FALSE;
}

static int show_help(const Command *parent, const Command *command)
{
	g_autofree char *text = command ? help_command(parent, command) : help_overview();

	fputs(text, stdout);
	return 0;
}

static int call(const Command *parent, const Command *command, char **words, GError **error)
{
	g_autofree char *who = g_strjoin(" ", parent ? parent->name : command->name,
					 parent ? command->name : NULL, NULL);
	g_auto(GStrv) own = g_strdupv(words);
	g_auto(GStrv) tail = cut_separator(own);
	g_auto(GStrv) head = split_short(own, command->options);
	g_auto(GStrv) argv = NULL;
	CommandContext context = {.cancellable = interrupt_setup()};
	int argc;

	if (!parse_options(who, command->options, FALSE, &head, error))
		return COMMAND_FAILED;
	if (want_help)
		return show_help(parent, command);
	argv = join(head + 1, tail);
	argc = (int)g_strv_length(argv);
	if (!check_arguments(who, command, argc, argv, error))
		return COMMAND_FAILED;
	lab_process_set_cancellable(context.cancellable);
	context.store = store;
	context.cache = cache;
	context.quiet = quiet;
	print_set_colour(!no_colour && !g_getenv("NO_COLOR") && isatty(STDOUT_FILENO) &&
			 g_strcmp0(g_getenv("TERM"), "dumb"));
	return command->run(argc, argv, &context, error);
}

static int dispatch(char **arguments, GError **error)
{
	g_auto(GStrv) argv = g_strdupv(arguments);
	const Command *command, *parent = NULL;
	char **at;

	if (!parse_options("", NULL, TRUE, &argv, error))
		return COMMAND_FAILED;
	if (want_version) {
		puts("numalab " NUMALAB_VERSION);
		return 0;
	}
	at = argv + 1;
	if (!*at && want_help)
		return show_help(NULL, NULL);
	if (!*at) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "wanted a verb, found nothing; 'numalab help' lists them");
		return COMMAND_FAILED;
	}
	command = command_find(NULL, *at);
	if (!command) {
		command_unknown(NULL, *at, error);
		return COMMAND_FAILED;
	}
	if (command->verbs) {
		if (!at[1] || !strcmp(at[1], "--help") || !strcmp(at[1], "-h") || want_help) {
			if (at[1] || want_help)
				return show_help(NULL, command);
			g_set_error(
				error, LAB_ERROR, LAB_ERROR_USER,
				"%s: wanted a verb, found nothing; 'numalab help %s' lists them",
				command->name, command->name);
			return COMMAND_FAILED;
		}
		parent = command;
		command = command_find(parent, *++at);
		if (!command) {
			command_unknown(parent, *at, error);
			return COMMAND_FAILED;
		}
	}
	return call(parent, command, at, error);
}

/* Whether all that was printed got out. The reader of a pipe may leave: then end as every filter
 * does. */
static int finish_stdout(int code)
{
	gboolean failed = ferror(stdout); /* its errno is gone */

	errno = 0;
	if (fflush(stdout) == 0 && !failed)
		return code;
	if (errno == EPIPE || (failed && interrupt_pipe_broke())) {
		signal(SIGPIPE, SIG_DFL);
		raise(SIGPIPE);
	}
	fprintf(stderr, "numalab: cannot write to standard output%s%s\n", errno ? ": " : "",
		errno ? g_strerror(errno) : "");
	return LAB_ERROR_INFRA;
}

/* An error in a person's file starts with path:line:column, as compilers and editors want it. */
static void print_error(const GError *error)
{
	g_autofree char *message = print_clean(error->message);
	gboolean has_origin = g_regex_match_simple("^[^\n:]+:[0-9]+:[0-9]+: ", message, 0, 0);

	fprintf(stderr, "%s%s\n", has_origin ? "" : "numalab: ", message);
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	int code;

	open_standard_descriptors();
	/* UTF-8 in file names and mails, the same messages and number formats on every host. */
	setlocale(LC_CTYPE, "C.UTF-8");
	code = dispatch(argv, &error);
	code = finish_stdout(code);
	if (error) {
		print_error(error);
		code = lab_error_exit_code(error);
	}
	return interrupt_signal() ? LAB_ERROR_INTERRUPTED : code;
}
