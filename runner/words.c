/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runner/words.h"

#include <string.h>

#include "lab/base/error.h"
#include "lab/base/paths.h"
#include "lab/base/suggest.h"
#include "lab/build/kernel.h"
#include "runner/shipped.h"

static const char *const shells[] = {"bash", NULL};

/* Suites that a person may well have in mind; any other can be typed. */
static const char *const kernel_words[] = {
	"debian:bullseye",
	"debian:bookworm",
	"debian:bookworm-backports",
	"debian:trixie",
	"debian:sid",
	"dir:",
	NULL,
};

/* A line as far as it is understood. */
typedef struct {
	const Command *parent, *command; /* NULL: not yet named */
	guint n_arguments;		 /* whole ones, after the verbs */
	const GOptionEntry *pending;	 /* option whose value is the last word */
	const char *store, *cache;
} Line;

gboolean words_check_shell(const char *name, GError **error)
{
	g_autofree char *hint = NULL;

	if (g_strv_contains(shells, name))
		return TRUE;
	hint = lab_suggest_text(name, shells);
	g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "completion: wanted bash, found '%s'%s", name,
		    hint);
	return FALSE;
}

static const GOptionEntry *find_in(const GOptionEntry *options, const char *name, gsize length)
{
	for (const GOptionEntry *o = options; o && o->long_name; o++)
		if (strlen(o->long_name) == length && !strncmp(o->long_name, name, length))
			return o;
	return NULL;
}

/* The entry of "--name" or "--name=value"; short options take no values here. */
static const GOptionEntry *find_option(const Command *command, const char *word)
{
	gsize length = strcspn(word, "=");
	const GOptionEntry *o;

	if (!g_str_has_prefix(word, "--") || length < 3)
		return NULL;
	o = find_in(command ? command->options : NULL, word + 2, length - 2);
	return o ? o : find_in(command_global_options(), word + 2, length - 2);
}

static void take_value(Line *line, const GOptionEntry *option, const char *value)
{
	if (!strcmp(option->long_name, "store"))
		line->store = value;
	if (!strcmp(option->long_name, "cache"))
		line->cache = value;
}

/* One whole word. FALSE: no such verb, so nothing can be said of what follows. */
static gboolean take_word(Line *line, const char *word)
{
	if (line->pending) {
		take_value(line, line->pending, word);
		line->pending = NULL;
	} else if (*word == '-') {
		const GOptionEntry *o = find_option(line->command, word);
		const char *value = strchr(word, '=');

		if (o && value)
			take_value(line, o, value + 1);
		else if (o && o->arg != G_OPTION_ARG_NONE)
			line->pending = o;
	} else if (!line->command || line->command->verbs) {
		line->parent = line->command;
		line->command = command_find(line->parent, word);
		return line->command != NULL;
	} else {
		line->n_arguments++;
	}
	return TRUE;
}

static void offer(GPtrArray *replies, const char *word, const char *prefix, const char *reply)
{
	if (g_str_has_prefix(reply, word))
		g_ptr_array_add(replies, g_strconcat(prefix, reply, NULL));
}

static void offer_list(GPtrArray *replies, const char *word, const char *prefix,
		       const char *const *list)
{
	for (; *list; list++)
		offer(replies, word, prefix, *list);
}

static void offer_shipped(GPtrArray *replies, const char *word, const char *prefix,
			  const char *folder)
{
	g_auto(GStrv) names = shipped_names(folder);

	offer_list(replies, word, prefix, (const char *const *)names);
}

static void offer_runs(GPtrArray *replies, const char *word, const char *prefix, const char *store)
{
	g_autofree char *root = lab_path_store(store);
	g_autofree char *path = g_build_filename(root, "runs", NULL);
	g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		if (g_ascii_isdigit(*name))
			offer(replies, word, prefix, name);
	offer(replies, word, prefix, "latest");
}

/* The suites, and what the cache holds, as it was asked for. A cache that is not there is not made for this. */
static void offer_kernels(GPtrArray *replies, const char *word, const char *prefix,
			  const char *root_option)
{
	g_autofree char *root = lab_path_cache(root_option);
	g_autoptr(LabCache) cache =
		g_file_test(root, G_FILE_TEST_IS_DIR) ? lab_cache_open(root, NULL) : NULL;
	g_autoptr(GPtrArray) kernels = cache ? lab_kernel_list(cache, NULL) : NULL;

	offer_list(replies, word, prefix, kernel_words);
	for (guint i = 0; kernels && i < kernels->len; i++) {
		const LabKernel *kernel = kernels->pdata[i];

		if (!g_strv_contains(kernel_words, kernel->text))
			offer(replies, word, prefix, kernel->text);
	}
}

static void offer_verbs(GPtrArray *replies, const char *word, const Command *parent)
{
	if (parent) {
		for (const Command *c = parent->verbs; c && c->name; c++)
			offer(replies, word, "", c->name);
		return;
	}
	for (const Command *const *c = command_list(); *c; c++)
		offer(replies, word, "", (*c)->name);
}

/* What a word of a synopsis stands for; @prefix is put before each reply. */
static void offer_meaning(GPtrArray *replies, const char *word, const char *prefix,
			  const char *meaning, const Line *line)
{
	g_auto(GStrv) parts = g_strsplit(meaning ? meaning : "", "|", -1);

	for (char **p = parts; *p; p++) {
		if (!strcmp(*p, "SCENARIO"))
			offer_shipped(replies, word, prefix, "scenarios");
		else if (!strcmp(*p, "TOPOLOGY"))
			offer_shipped(replies, word, prefix, "topologies");
		else if (!strcmp(*p, "IMAGE"))
			offer_shipped(replies, word, prefix, "images");
		else if (!strcmp(*p, "KERNEL"))
			offer_kernels(replies, word, prefix, line->cache);
		else if (!strcmp(*p, "RUN"))
			offer_runs(replies, word, prefix, line->store);
		else if (!strcmp(*p, "SHELL"))
			offer_list(replies, word, prefix, shells);
		else if (!strcmp(*p, "VERB"))
			offer_verbs(replies, word, NULL);
	}
}

static void offer_options(GPtrArray *replies, const char *word, const GOptionEntry *options)
{
	for (const GOptionEntry *o = options; o && o->long_name; o++) {
		g_autofree char *name = g_strconcat("--", o->long_name, NULL);

		if (!(o->flags & G_OPTION_FLAG_HIDDEN))
			offer(replies, word, "", name);
	}
}

static void offer_argument(GPtrArray *replies, const char *word, const Line *line)
{
	g_autoptr(GArray) meanings = command_words(line->command->arguments);
	guint at = line->n_arguments;

	if (meanings->len && at >= meanings->len &&
	    g_array_index(meanings, CommandWord, meanings->len - 1).repeated)
		at = meanings->len - 1;
	if (at < meanings->len)
		offer_meaning(replies, word, "", g_array_index(meanings, CommandWord, at).text,
			      line);
}

static int by_text(gconstpointer a, gconstpointer b)
{
	return g_strcmp0(*(char *const *)a, *(char *const *)b);
}

char **words_complete(const char *const *words, const CommandContext *context)
{
	g_autoptr(GPtrArray) replies = g_ptr_array_new();
	Line line = {.store = context->store, .cache = context->cache};
	gboolean understood = TRUE;
	const GOptionEntry *o;

	for (; words[1] && understood; words++)
		understood = take_word(&line, words[0]);
	o = *words[0] == '-' ? find_option(line.command, words[0]) : NULL;
	if (!understood) {
	} else if (line.pending) {
		offer_meaning(replies, words[0], "", line.pending->arg_description, &line);
	} else if (o && strchr(words[0], '=')) {
		const char *value = strchr(words[0], '=') + 1;
		g_autofree char *prefix = g_strndup(words[0], (gsize)(value - words[0]));

		offer_meaning(replies, value, prefix, o->arg_description, &line);
	} else if (*words[0] == '-') {
		offer_options(replies, words[0], line.command ? line.command->options : NULL);
		offer_options(replies, words[0], command_global_options());
	} else if (!line.command || line.command->verbs) {
		offer_verbs(replies, words[0], line.command);
	} else {
		offer_argument(replies, words[0], &line);
	}
	g_ptr_array_sort(replies, by_text);
	g_ptr_array_add(replies, NULL);
	return (char **)g_ptr_array_free(g_steal_pointer(&replies), FALSE);
}
