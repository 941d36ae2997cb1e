/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "lab/base/error.h"
#include "lab/base/paths.h"
#include "lab/verdict/compare.h"
#include "runner/command.h"

static gboolean json, csv;
static char *counters;

static const GOptionEntry options[] = {
	{"counters", 0, 0, G_OPTION_ARG_STRING, &counters,
	 "which counters to show: 'all', or names and patterns separated by commas "
	 "('numa_*,irq.TLB')",
	 "LIST"},
	{"json", 0, 0, G_OPTION_ARG_NONE, &json,
	 "print JSON: everything that was measured, with every sample", NULL},
	{"csv", 0, 0, G_OPTION_ARG_NONE, &csv, "print CSV, a line for each metric and kernel",
	 NULL},
	{NULL},
};

static int compare(int argc, char **argv, CommandContext *context, GError **error)
{
	g_autofree char *root = lab_path_store(context->store);
	g_autoptr(LabStore) store = NULL;
	g_autoptr(LabCompare) result = NULL;
	g_autofree char *text = NULL;

	if (json && csv) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "wanted one of --json and --csv, found both");
		return COMMAND_FAILED;
	}
	store = lab_store_open(root, error);
	if (store)
		result = lab_compare(store, (const char *const *)argv,
				     !counters && (json || csv) ? "all" : counters, error);
	if (!result)
		return COMMAND_FAILED;
	text = json  ? lab_compare_json(result)
	       : csv ? lab_compare_csv(result)
		     : lab_compare_text(result);
	fputs(text, stdout);
	return 0;
}

const Command cmd_compare = {
	.name = "compare",
	.group = COMMAND_GROUP_RESULT,
	.order = 30,
	.arguments = "RUN|RUN:KERNEL...",
	.summary = "Compare kernels side by side, in the table of the lists",
	.description =
		"The first column is the baseline. RUN gives all its kernels in the order of the "
		"scenario; KERNEL is a version, a name, the kernel as the scenario has it, or the "
		"start of its digest.\n\n"
		"Percentages are MMTests': from unrounded data, a plus is better, and Stddev and "
		"CoeffVar are better when lower. Counters are means of the boots. Missing data is "
		"'-'. Runs of different scenarios or clocks are refused.\n\n"
		"  numalab compare 7\n"
		"  numalab compare 7:6.1.192 8:6.12.95",
	.options = options,
	.run = compare,
};
COMMAND_REGISTER(cmd_compare);
