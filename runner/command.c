/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runner/command.h"

#include <stdlib.h>
#include <string.h>

#include "lab/base/error.h"
#include "lab/base/suggest.h"

/* Bounds of the section that COMMAND_REGISTER() fills; the linker defines them. */
extern const Command *const __start_numalab_commands[];
extern const Command *const __stop_numalab_commands[];

static int by_place(const void *a, const void *b)
{
	const Command *x = *(const Command *const *)a, *y = *(const Command *const *)b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return strcmp(x->name, y->name);
}

const Command *const *command_list(void)
{
	static const Command **list;

	if (!list) {
		gsize n = (gsize)(__stop_numalab_commands - __start_numalab_commands);

		list = g_new0(const Command *, n + 1);
		memcpy(list, __start_numalab_commands, n * sizeof *list);
		qsort(list, n, sizeof *list, by_place);
	}
	return list;
}

const Command *command_find(const Command *parent, const char *name)
{
	if (parent) {
		for (const Command *c = parent->verbs; c && c->name; c++)
			if (!strcmp(c->name, name))
				return c;
		return NULL;
	}
	for (const Command *const *c = command_list(); *c; c++)
		if (!strcmp((*c)->name, name))
			return *c;
	return NULL;
}

void command_unknown(const Command *parent, const char *name, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	g_autofree char *hint = NULL;

	if (parent)
		for (const Command *c = parent->verbs; c && c->name; c++)
			g_ptr_array_add(names, (gpointer)c->name);
	else
		for (const Command *const *c = command_list(); *c; c++)
			g_ptr_array_add(names, (gpointer)(*c)->name);
	g_ptr_array_add(names, NULL);
	hint = lab_suggest_text(name, (const char *const *)names->pdata);
	if (!*hint) {
		g_autofree char *all = g_strjoinv(", ", (char **)names->pdata);

		g_free(hint);
		hint = g_strdup_printf("; there are: %s", all);
	}
	g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "%s%sunknown verb '%s'%s",
		    parent ? parent->name : "", parent ? ": " : "", name, hint);
}

const char *command_group_title(CommandGroup group)
{
	static const char *const titles[COMMAND_N_GROUPS] = {
		[COMMAND_GROUP_RUN] = "Run",
		[COMMAND_GROUP_RESULT] = "Results",
		[COMMAND_GROUP_INPUTS] = "What is run",
		[COMMAND_GROUP_LAB] = "The lab",
	};

	return titles[group];
}

static void word_clear(gpointer data)
{
	g_free(((CommandWord *)data)->text);
}

GArray *command_words(const char *arguments)
{
	GArray *words = g_array_new(FALSE, TRUE, sizeof(CommandWord));
	g_auto(GStrv) parts = g_strsplit(arguments ? arguments : "", " ", -1);

	g_array_set_clear_func(words, word_clear);
	for (char **p = parts; *p; p++) {
		CommandWord word = {.optional = **p == '[', .repeated = strstr(*p, "...") != NULL};

		if (!**p)
			continue;
		if (!strcmp(*p, "[--]"))
			continue;
		g_strdelimit(*p, "[]", ' ');
		g_strstrip(*p);
		if (word.repeated)
			*strstr(*p, "...") = 0;
		word.text = g_strdup(*p);
		g_array_append_val(words, word);
	}
	return words;
}
