/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "runner/command.h"
#include "runner/help.h"
#include "runner/man.h"

static gboolean man;

static const GOptionEntry options[] = {
	{"man", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &man, "print mdoc source", NULL},
	{NULL},
};

static int run(int argc, char **argv, CommandContext *context, GError **error)
{
	const Command *parent = NULL, *command = NULL;
	g_autofree char *text = NULL;

	for (int i = 0; i < argc; i++) {
		parent = command;
		command = command_find(parent, argv[i]);
		if (!command) {
			command_unknown(parent, argv[i], error);
			return COMMAND_FAILED;
		}
	}
	if (man)
		text = command ? man_command(command) : man_overview();
	else
		text = command ? help_command(parent, command) : help_overview();
	fputs(text, stdout);
	return 0;
}

const Command cmd_help = {
	.name = "help",
	.group = COMMAND_GROUP_LAB,
	.order = 40,
	.arguments = "[VERB] [VERB]",
	.summary = "Show the verbs, or one verb's arguments and options",
	.description = "With two, one verb of a verb: 'numalab help topology show'.",
	.options = options,
	.run = run,
};
COMMAND_REGISTER(cmd_help);
