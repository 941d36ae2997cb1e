/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runner/man.h"

#include <string.h>

#include "runner/help.h"

/* Text as mdoc takes it: a line must not start as a macro, a backslash is no escape, a sentence
 * starts a line. */
static void append_text(GString *s, const char *text)
{
	gboolean line_start = TRUE;

	for (const char *p = text; *p; p++) {
		if (line_start && (*p == '.' || *p == '\''))
			g_string_append(s, "\\&");
		line_start = FALSE;
		if (*p == '\\') {
			g_string_append(s, "\\e");
		} else if (strchr(".?!", *p) && p[1] == ' ' && g_ascii_isupper(p[2])) {
			g_string_append_printf(s, "%c\n", *p++);
			line_start = TRUE;
		} else {
			g_string_append_c(s, *p);
			line_start = *p == '\n';
		}
	}
	g_string_append_c(s, '\n');
}

/* A word as an argument of a macro: never a macro's name itself. */
static char *quoted(const char *word)
{
	g_autoptr(GString) s = g_string_new(word);

	g_string_replace(s, "\\", "\\e", 0);
	g_string_replace(s, "\"", "\\(dq", 0);
	g_string_prepend(s, "\"\\&");
	g_string_append_c(s, '"');
	return g_string_free(g_steal_pointer(&s), FALSE);
}

static void append_option(GString *s, const GOptionEntry *o)
{
	if (o->short_name)
		g_string_append_printf(s, "Fl %c , ", o->short_name);
	g_string_append_printf(s, "Fl -%s", o->long_name);
	if (o->arg != G_OPTION_ARG_NONE) {
		g_autofree char *value = quoted(o->arg_description ? o->arg_description : "VALUE");

		g_string_append_printf(s, " Ar %s", value);
	}
}

static void append_options(GString *s, const GOptionEntry *options)
{
	g_string_append(s, ".Bl -tag -width Ds\n");
	for (const GOptionEntry *o = options; o->long_name; o++) {
		if (o->flags & G_OPTION_FLAG_HIDDEN)
			continue;
		g_string_append(s, ".It ");
		append_option(s, o);
		g_string_append_c(s, '\n');
		append_text(s, o->description ? o->description : "");
	}
	g_string_append(s, ".El\n");
}

/* "numalab kernel add [--offline] KERNEL..." */
static void append_synopsis(GString *s, const Command *parent, const Command *command)
{
	g_autoptr(GArray) words = command_words(command->arguments);

	g_string_append_printf(s, ".Nm numalab\n.Cm %s%s%s\n", parent ? parent->name : "",
			       parent ? " " : "", command->name);
	for (const GOptionEntry *o = command->options; o && o->long_name; o++) {
		if (o->flags & G_OPTION_FLAG_HIDDEN)
			continue;
		g_string_append(s, ".Op ");
		append_option(s, o);
		g_string_append_c(s, '\n');
	}
	for (guint i = 0; i < words->len; i++) {
		const CommandWord *w = &g_array_index(words, CommandWord, i);
		g_autofree char *text = quoted(w->text);

		g_string_append_printf(s, ".%s%s%s\n", w->optional ? "Op Ar " : "Ar ", text,
				       w->repeated ? " ..." : "");
	}
}

static void append_description(GString *s, const char *description)
{
	g_auto(GStrv) paragraphs = g_strsplit(description, "\n\n", -1);

	for (char **p = paragraphs; *p; p++) {
		if (**p == ' ') {
			g_string_append(s, ".Bd -literal -offset indent\n");
			append_text(s, g_strstrip(*p));
			g_string_append(s, ".Ed\n");
			continue;
		}
		if (p != paragraphs)
			g_string_append(s, ".Pp\n");
		append_text(s, *p);
	}
}

static void append_head(GString *s, const char *title, const char *name, const char *summary)
{
	g_autofree char *upper = g_ascii_strup(title, -1);
	g_autofree char *lower = g_strdup(summary);

	/* As whatis(1) shows it; "QEMU" stays. */
	if (*lower && !g_ascii_isupper(lower[1]))
		lower[0] = g_ascii_tolower(lower[0]);
	g_string_append_printf(s,
			       ".Dd @DATE@\n.Dt %s 1\n.Os numalab %s\n.Sh NAME\n.Nm %s\n.Nd %s\n",
			       upper, NUMALAB_VERSION, name, lower);
}

char *man_command(const Command *command)
{
	g_autoptr(GString) s = g_string_new(NULL);
	g_autofree char *title = g_strconcat("numalab-", command->name, NULL);

	append_head(s, title, title, command->summary);
	g_string_append(s, ".Sh SYNOPSIS\n");
	for (const Command *v = command->verbs; v && v->name; v++)
		append_synopsis(s, command, v);
	if (!command->verbs)
		append_synopsis(s, NULL, command);
	g_string_append(s, ".Sh DESCRIPTION\n");
	g_string_append_printf(s, "%s.\n", command->summary);
	if (command->description) {
		g_string_append(s, ".Pp\n");
		append_description(s, command->description);
	}
	if (help_has_options(command->options)) {
		g_string_append(s, ".Pp\nThe options, besides those that all verbs take\n(see\n.Xr "
				   "numalab 1 ) ,\nare:\n");
		append_options(s, command->options);
	}
	for (const Command *v = command->verbs; v && v->name; v++) {
		g_string_append(s, v == command->verbs ? ".Bl -tag -width Ds\n" : "");
		g_string_append_printf(s, ".It Cm %s", v->name);
		if (v->arguments) {
			g_autofree char *text = quoted(v->arguments);

			g_string_append_printf(s, " Ar %s", text);
		}
		g_string_append_printf(s, "\n%s.\n", v->summary);
		if (v->description) {
			g_string_append(s, ".Pp\n");
			append_description(s, v->description);
		}
		if (help_has_options(v->options))
			append_options(s, v->options);
	}
	if (command->verbs)
		g_string_append(s, ".El\n");
	return g_string_free(g_steal_pointer(&s), FALSE);
}

char *man_overview(void)
{
	g_autoptr(GString) s = g_string_new(NULL);
	int group = -1;

	append_head(s, "numalab", "numalab",
		    "reproducible lab for Linux kernel performance reports");
	g_string_append(s, ".Sh SYNOPSIS\n.Nm numalab\n.Op Ar OPTIONS\n.Ar VERB\n.Op Ar ARGUMENTS\n"
			   ".Sh DESCRIPTION\n@DESCRIPTION@\n.Pp\nThe verbs are:\n");
	for (const Command *const *c = command_list(); *c; c++) {
		if ((int)(*c)->group != group)
			g_string_append_printf(s, "%s.Ss %s\n.Bl -tag -width Ds\n",
					       group < 0 ? "" : ".El\n",
					       command_group_title((*c)->group));
		group = (int)(*c)->group;
		g_string_append_printf(s, ".It Xr numalab-%s 1\n%s.\n", (*c)->name, (*c)->summary);
	}
	g_string_append(s, ".El\n.Ss Options of all verbs\n");
	append_options(s, command_global_options());
	return g_string_free(g_steal_pointer(&s), FALSE);
}
