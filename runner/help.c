/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runner/help.h"

#include <string.h>

#include "runner/print.h"

#define COLUMN 26 /* where the second column of a list starts */

static void append_entry(GString *s, const char *left, const char *right)
{
	g_autofree char *text = print_wrap(right, HELP_WIDTH - COLUMN, COLUMN);

	g_string_append_printf(s, "  %-*s", COLUMN - 2, left);
	if (strlen(left) > COLUMN - 4)
		g_string_append_printf(s, "\n%*s", COLUMN, "");
	g_string_append_printf(s, "%s\n", text + COLUMN);
}

static char *option_left(const GOptionEntry *o)
{
	const char *value = o->arg_description ? o->arg_description : "VALUE";
	gboolean takes = o->arg != G_OPTION_ARG_NONE &&
			 !(o->arg == G_OPTION_ARG_CALLBACK && o->flags & G_OPTION_FLAG_NO_ARG);
	g_autofree char *shorter =
		o->short_name ? g_strdup_printf("-%c, ", o->short_name) : g_strdup("");

	return g_strdup_printf("%s--%s%s%s", shorter, o->long_name, takes ? " " : "",
			       takes ? value : "");
}

gboolean help_has_options(const GOptionEntry *options)
{
	for (; options && options->long_name; options++)
		if (!(options->flags & G_OPTION_FLAG_HIDDEN))
			return TRUE;
	return FALSE;
}

static void append_options(GString *s, const char *title, const GOptionEntry *options)
{
	if (!help_has_options(options))
		return;
	g_string_append_printf(s, "\n%s:\n", title);
	for (const GOptionEntry *o = options; o->long_name; o++) {
		g_autofree char *left = option_left(o);

		if (!(o->flags & G_OPTION_FLAG_HIDDEN))
			append_entry(s, left, o->description ? o->description : "");
	}
}

char *help_usage(const Command *parent, const Command *command)
{
	return g_strdup_printf("numalab %s%s%s%s%s%s", parent ? parent->name : "",
			       parent ? " " : "", command->name,
			       help_has_options(command->options) ? " [OPTIONS]" : "",
			       command->verbs	    ? " VERB"
			       : command->arguments ? " "
						    : "",
			       command->verbs || !command->arguments ? "" : command->arguments);
}

char *help_overview(void)
{
	g_autoptr(GString) s = g_string_new("usage: numalab [OPTIONS] VERB [ARGUMENTS]\n\n");
	int group = -1;

	g_string_append(s,
			"Rebuilds the machine of a kernel performance report, runs its workload on "
			"candidate\nkernels, and compares them.\n");
	for (const Command *const *c = command_list(); *c; c++) {
		if ((int)(*c)->group != group)
			g_string_append_printf(s, "\n%s:\n", command_group_title((*c)->group));
		group = (int)(*c)->group;
		append_entry(s, (*c)->name, (*c)->summary);
	}
	append_options(s, "Options of all verbs", command_global_options());
	g_string_append(
		s, "\n'numalab help VERB' tells more. Exit codes: 0 done, 1 regression, 2 "
		   "usage or an error\nin your file, 3 the lab failed, 4 unknown, 5 the kernel "
		   "does not boot.\n");
	return g_string_free(g_steal_pointer(&s), FALSE);
}

char *help_command(const Command *parent, const Command *command)
{
	g_autoptr(GString) s = g_string_new(NULL);
	g_autofree char *usage = help_usage(parent, command);

	if (command->verbs) {
		for (const Command *v = command->verbs; v->name; v++) {
			g_autofree char *line = help_usage(command, v);

			g_string_append_printf(s, "%s %s\n",
					       v == command->verbs ? "usage:" : "      ", line);
		}
	} else {
		g_string_append_printf(s, "usage: %s\n", usage);
	}
	g_string_append_printf(s, "\n%s.\n", command->summary);
	if (command->description) {
		g_autofree char *text = print_wrap(command->description, HELP_WIDTH, 0);

		g_string_append_printf(s, "\n%s\n", text);
	}
	for (const Command *v = command->verbs; v && v->name; v++) {
		g_autofree char *left = g_strdup_printf("%s%s%s", v->name, v->arguments ? " " : "",
							v->arguments ? v->arguments : "");

		if (v == command->verbs)
			g_string_append(s, "\nVerbs:\n");
		append_entry(s, left, v->summary);
	}
	if (command->verbs)
		g_string_append_printf(s, "\n'numalab help %s VERB' tells more.\n", command->name);
	append_options(s, "Options", command->options);
	append_options(s, "Options of all verbs", command_global_options());
	return g_string_free(g_steal_pointer(&s), FALSE);
}
