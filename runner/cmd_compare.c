/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "lab/base/error.h"
#include "lab/base/paths.h"
#include "lab/base/suggest.h"
#include "lab/spec/scenario.h"
#include "lab/verdict/compare.h"
#include "runner/command.h"

static gboolean json, csv;
static char *counters, *names, *format, *rows, *percentiles, *by;
static char **judges;
static double alpha;

static const GOptionEntry options[] = {
	{"counters", 0, 0, G_OPTION_ARG_STRING, &counters,
	 "which counters to show: 'all', or names and patterns separated by commas "
	 "('numa_*,irq.TLB')",
	 "LIST"},
	{"names", 0, 0, G_OPTION_ARG_STRING, &names,
	 "names of the counters: kernel (default), or mmtests: its block of NUMA figures", "NAMES"},
	{"judge", 0, 0, G_OPTION_ARG_STRING_ARRAY, &judges,
	 "judge this metric, by this threshold in percent (real-fsmark=2), and say what is better "
	 "of a counter (numa_pages_migrated=25:lower); repeat for more; in place of what the "
	 "scenario says; none: judge nothing",
	 "METRIC=PERCENT[:lower|:higher]"},
	{"by", 0, 0, G_OPTION_ARG_STRING, &by,
	 "of a sweep, and one kernel: columns are the values of this key (bhash), the first is the baseline", "KEY"},
	{"alpha", 0, 0, G_OPTION_ARG_DOUBLE, &alpha,
	 "probability that any verdict on a kernel is wrong (default: 0.05)", "P"},
	{"rows", 0, 0, G_OPTION_ARG_STRING, &rows,
	 "which rows to show, of min, mean, stddev, coeffvar, max (default: all; of a sweep mean,coeffvar)", "LIST"},
	{"percentiles", 0, 0, G_OPTION_ARG_STRING, &percentiles,
	 "rows of percentiles over the boots: 50,90,99", "LIST"},
	{"format", 0, 0, G_OPTION_ARG_STRING, &format,
	 "table (default), or mmtests: its layout, names and durations", "FORMAT"},
	{"json", 0, 0, G_OPTION_ARG_NONE, &json,
	 "print JSON: everything that was measured, with every sample", NULL},
	{"csv", 0, 0, G_OPTION_ARG_NONE, &csv, "print CSV, a line for each metric and kernel",
	 NULL},
	{NULL},
};

/* Is @value, of option @name, the second of two words? */
static gboolean choice(const char *name, const char *value, const char *first, const char *second,
		       gboolean *is_second, GError **error)
{
	const char *const words[] = {first, second, NULL};
	int index = value ? lab_word_index(words, value) : 0;

	*is_second = index == 1;
	if (index >= 0)
		return TRUE;
	g_autofree char *hint = lab_suggest_text(value, words);

	g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "--%s: wanted %s or %s, found '%s'%s", name,
		    first, second, value, hint);
	return FALSE;
}

static gboolean refuse_both(gboolean one, gboolean other, const char *what, GError **error)
{
	if (!one || !other)
		return TRUE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "wanted one of %s, found both", what);
	return FALSE;
}

/* NULL without @error: there is no --judge */
static GPtrArray *parse_judges(GError **error)
{
	g_autoptr(GPtrArray) all = NULL;

	if (!judges)
		return NULL;
	all = g_ptr_array_new_with_free_func((GDestroyNotify)lab_judge_free);
	if (g_strv_length(judges) == 1 && strcmp(judges[0], "none") == 0)
		return g_steal_pointer(&all);
	for (char **text = judges; *text; text++) {
		LabJudge *judge = lab_judge_parse(*text, error);

		if (!judge) {
			g_prefix_error(error, "--judge: ");
			return NULL;
		}
		for (guint i = 0; i < all->len; i++)
			if (strcmp(((LabJudge *)all->pdata[i])->metric, judge->metric) == 0) {
				g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
					    "--judge: wanted each metric once, found '%s' twice",
					    judge->metric);
				lab_judge_free(judge);
				return NULL;
			}
		g_ptr_array_add(all, judge);
	}
	return g_steal_pointer(&all);
}

static gboolean parse(LabCompareOptions *what, LabTableOptions *how, GError **error)
{
	gboolean table = !json && !csv;

	if (!choice("format", format, "table", "mmtests", &how->mmtests, error) ||
	    !choice("names", names, "kernel", "mmtests", &what->mmtests_names, error) ||
	    !refuse_both(json, csv, "--json and --csv", error) ||
	    !refuse_both(!table, format || rows || percentiles,
			 "--json or --csv and --format, --rows, --percentiles", error))
		return FALSE;
	if (how->mmtests && !names && !counters)
		what->mmtests_names = TRUE;
	if (!refuse_both(counters != NULL, what->mmtests_names, "--counters and --names mmtests",
			 error))
		return FALSE;
	/* An option that is given as 0 cannot be told from one that is not; both are the default. */
	if (!(alpha >= 0 && alpha < 1)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "--alpha: wanted a probability above 0 and below 1");
		return FALSE;
	}
	what->counters = counters || table || what->mmtests_names ? counters : "all";
	what->alpha = alpha;
	what->by = by;
	how->rows = rows;
	how->percentiles = percentiles;
	return TRUE;
}

static int compare(int argc, char **argv, CommandContext *context, GError **error)
{
	g_autofree char *root = lab_path_store(context->store);
	g_autoptr(LabStore) store = NULL;
	g_autoptr(LabCompare) result = NULL;
	g_autoptr(GPtrArray) judge = NULL;
	g_autoptr(GError) local = NULL;
	g_autofree char *text = NULL;
	LabCompareOptions what = {};
	LabTableOptions how = {};

	judge = parse_judges(&local);
	if (local) {
		g_propagate_error(error, g_steal_pointer(&local));
		return COMMAND_FAILED;
	}
	what.judge = judge;
	if (!parse(&what, &how, error))
		return COMMAND_FAILED;
	store = lab_store_open(root, error);
	if (store)
		result = lab_compare(store, (const char *const *)argv, &what, error);
	if (!result)
		return COMMAND_FAILED;
	text = json  ? lab_compare_json(result)
	       : csv ? lab_compare_csv(result)
		     : lab_compare_text(result, &how, error);
	if (!text)
		return COMMAND_FAILED;
	fputs(text, stdout);
	return lab_compare_exit_code(result);
}

const Command cmd_compare = {
	.name = "compare",
	.group = COMMAND_GROUP_RESULT,
	.order = 30,
	.arguments = "RUN[:KERNEL][@KEY=VALUE,...]...",
	.summary = "Compare kernels side by side, in the table of the lists, and judge them",
	.description =
		"The first column is the baseline. RUN gives all its kernels in the order of the "
		"scenario; KERNEL is a version, a name, the kernel as the scenario has it, or the "
		"start of its digest.\n\n"
		"Percentages are MMTests': from unrounded data, a plus is better, and Stddev and "
		"CoeffVar are better when lower. The mean of a rate is the harmonic one (Hmean). "
		"Stars in place of brackets mark means that differ from the first column's. "
		"Counters are means of the boots. Missing data is "
		"'-'. Runs of different scenarios or clocks are refused.\n\n"
		"Of a sweep every metric has a line for each point, and Gmean, the geometric mean of all points "
		"that every column has. A '!' in place of a bracket marks points whose difference has another sign "
		"than Gmean's. 7@bhash=101073 "
		"takes those points alone. Points of different settings are refused; --by makes columns of the values of "
		"a key, of one kernel.\n\n"
		"Below the table there is a verdict on each metric that the scenario's judge names "
		"(without one: real- of each step, by 2 %): REGRESSION or IMPROVEMENT when the "
		"whole interval of the difference is beyond the threshold, SAME when it is within, "
		"else UNKNOWN, with the number of boots that would settle it. INFRA: the lab "
		"failed, and there is nothing to judge by. Under the exact clock boots are paired "
		"by seed. The verdicts on one kernel are right together with a probability of 95 % "
		"(Holm's rule). Where the store has an A/A run of the same experiment (numalab run "
		"--aa), differences below its noise floor are marked.\n\n"
		"Exit code: 1 for a REGRESSION, else 3 for INFRA, else 4 for UNKNOWN, else 0: also "
		"where there is but one kernel, or nothing is judged.\n\n"
		"  numalab compare 7\n"
		"  numalab compare 7:6.1.192 8:6.12.95\n"
		"  numalab compare 7:6.1.192 --by bhash\n"
		"  numalab compare 7 --judge real-fsmark=0.5 --judge "
		"numa_pages_migrated=25:lower\n"
		"  numalab compare 7 --rows mean --judge none",
	.options = options,
	.run = compare,
};
COMMAND_REGISTER(cmd_compare);
