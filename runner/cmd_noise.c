/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/base/error.h"
#include "lab/base/paths.h"
#include "runner/command.h"
#include "runner/noise.h"

static char *counters;
static int boots;
static gboolean json;

static const GOptionEntry options[] = {
	{"boots", 'n', 0, G_OPTION_ARG_INT, &boots,
	 "for comparisons with N boots of each kernel (default: as many as the run had)", "N"},
	{"counters", 0, 0, G_OPTION_ARG_STRING, &counters, "which counters, as numalab compare",
	 "LIST"},
	{"json", 0, 0, G_OPTION_ARG_NONE, &json, "print JSON", NULL},
	{NULL},
};

static int noise(int argc, char **argv, CommandContext *context, GError **error)
{
	g_autofree char *root = lab_path_store(context->store);
	g_autoptr(LabStore) store = NULL;
	g_autoptr(LabNoise) result = NULL;

	if (boots < 0) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "--boots: wanted a number above 0");
		return COMMAND_FAILED;
	}
	store = lab_store_open(root, error);
	if (store)
		result = lab_noise(store, argv[0], counters, (guint)boots, error);
	if (!result)
		return COMMAND_FAILED;
	noise_print(result, json);
	return 0;
}

const Command cmd_noise = {
	.name = "noise",
	.group = COMMAND_GROUP_RESULT,
	.order = 36,
	.arguments = "RUN",
	.summary = "Show what a kernel, compared with itself, shows for a difference",
	.description = "RUN was made by numalab run --aa. For each metric the floor: the relative "
		       "difference that two sets of boots of one kernel keep below in 95 of 100 "
		       "comparisons. What is below it says nothing about a kernel. See "
		       "docs/statistics.md.",
	.options = options,
	.run = noise,
};
COMMAND_REGISTER(cmd_noise);
