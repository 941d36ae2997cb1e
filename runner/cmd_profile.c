/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "lab/base/error.h"
#include "lab/base/paths.h"
#include "lab/verdict/profiles.h"
#include "runner/command.h"

#define DEFAULT_LIMIT_PCT 0.5

static char *step, *perf_data;
static double limit_pct = DEFAULT_LIMIT_PCT;
static gboolean diff, folded, flat, json;

static const GOptionEntry options[] = {
	{"step", 's', 0, G_OPTION_ARG_STRING, &step, "this step (default: all that were sampled)",
	 "STEP"},
	{"diff", 'd', 0, G_OPTION_ARG_NONE, &diff,
	 "what differs from the first kernel: --diff RUN, or --diff RUN:A RUN:B", NULL},
	{"percent-limit", 0, 0, G_OPTION_ARG_DOUBLE, &limit_pct,
	 "leave out smaller shares (default 0.5)", "PCT"},
	{"flat", 0, 0, G_OPTION_ARG_NONE, &flat, "functions alone, no call chains", NULL},
	{"folded", 0, 0, G_OPTION_ARG_NONE, &folded,
	 "folded stacks, for flame graphs (one kernel, one step)", NULL},
	{"perf-data", 0, 0, G_OPTION_ARG_FILENAME, &perf_data,
	 "write BOOT.STEP.data and BOOT.STEP.kallsyms for perf report -i and --kallsyms", "DIR"},
	{"json", 0, 0, G_OPTION_ARG_NONE, &json, "print JSON", NULL},
	{NULL},
};

static void print_and_free(char *text)
{
	fputs(text, stdout);
	g_free(text);
}

/* Each kernel against the first, step by step. */
static gboolean print_diffs(const GPtrArray *all, GError **error)
{
	const LabProfiles *first = NULL;
	guint n = 0;

	for (guint i = 0; i < all->len; i++) {
		const LabProfiles *p = all->pdata[i];

		if (!first || strcmp(first->step, p->step)) {
			first = p;
			continue;
		}
		if (n++)
			putchar('\n');
		print_and_free(
			lab_profiles_diff_text(first, p, limit_pct));
	}
	if (!n)
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "--diff: wanted two kernels, found one");
	return n > 0;
}

static gboolean print_all(const GPtrArray *all, GError **error)
{
	if (diff)
		return print_diffs(all, error);
	if (folded && all->len != 1) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "--folded: wanted one kernel (RUN:KERNEL) and one step (--step), found "
			    "%u profiles",
			    all->len);
		return FALSE;
	}
	for (guint i = 0; i < all->len; i++) {
		const LabProfiles *p = all->pdata[i];

		if (i && !folded)
			putchar('\n');
		print_and_free(folded ? lab_profiles_folded(p)
				      : lab_profiles_text(p, limit_pct, !flat));
	}
	return TRUE;
}

static int profile(int argc, char **argv, CommandContext *context, GError **error)
{
	g_autofree char *root = lab_path_store(context->store);
	g_autoptr(LabStore) store = lab_store_open(root, error);
	const char *const *selections = (const char *const *)argv;
	g_autoptr(GPtrArray) all = NULL;

	if (!store)
		return COMMAND_FAILED;
	if (perf_data) {
		g_auto(GStrv) paths =
			lab_profiles_export(store, selections, step, perf_data, error);

		for (char **path = paths; path && *path; path++)
			printf("%s\n", *path);
		return paths ? 0 : COMMAND_FAILED;
	}
	all = lab_profiles_read(store, selections, step, error);
	if (!all)
		return COMMAND_FAILED;
	if (json) {
		print_and_free(lab_profiles_json(all));
		return 0;
	}
	return print_all(all, error) ? 0 : COMMAND_FAILED;
}

const Command cmd_profile = {
	.name = "profile",
	.group = COMMAND_GROUP_RESULT,
	.order = 35,
	.arguments = "RUN[:KERNEL][@KEY=VALUE,...]...",
	.summary = "Show where steps spent their time, and what differs between kernels",
	.description =
		"Of steps that were sampled (collect: perf). As perf report --stdio --no-children "
		"-g has "
		"it: below each function, who called it. Shares are means over boots, with their "
		"standard deviation.\n\n"
		"Of a sweep, one point is shown: RUN@KEY=VALUE,...\n\n"
		"Samples are of cycles where the guest has a PMU, else of cpu-clock, which cannot "
		"look into code that runs with interrupts off: that is seen where it ends. Idle "
		"CPUs "
		"are not sampled.\n\n"
		"  numalab profile 7\n"
		"  numalab profile --diff 7:6.1.192 7:6.12.95 --step xfsrepair\n"
		"  numalab profile 7:6.1.192 --step xfsrepair --folded | flamegraph.pl > x.svg\n"
		"  numalab profile 7 --perf-data DIR",
	.options = options,
	.run = profile,
};
COMMAND_REGISTER(cmd_profile);
