/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which metrics decide, and the verdict on each. */
#include <math.h>
#include <string.h>

#include "lab/base/error.h"
#include "lab/base/suggest.h"
#include "lab/run/run.h"
#include "lab/stats/power.h"
#include "lab/verdict/compare_internal.h"

#define DEFAULT_METRICS "real-"
#define DEFAULT_PPM 20000 /* 2 % */
#define PPM 1e6
#define MAX_BOOTS 1000 /* more than anybody will do */
#define EXIT_REGRESSION 1

const char *lab_compare_verdict_name(const LabCompareVerdict *verdict)
{
	return verdict->infra ? "INFRA" : lab_verdict_text(verdict->judgement.verdict);
}

static gboolean has(const LabCompare *compare, const char *name)
{
	for (guint i = 0; i < compare->verdicts->len; i++)
		if (strcmp(lab_compare_verdict_name(compare->verdicts->pdata[i]), name) == 0)
			return TRUE;
	return FALSE;
}

int lab_compare_exit_code(const LabCompare *compare)
{
	return has(compare, "REGRESSION") ? EXIT_REGRESSION
	       : has(compare, "INFRA")	  ? LAB_ERROR_INFRA
	       : has(compare, "UNKNOWN")  ? LAB_ERROR_UNKNOWN
					  : 0;
}

static void free_verdict(gpointer data)
{
	LabCompareVerdict *verdict = data;

	g_free(verdict->metric);
	g_free(verdict->missing);
	g_free(verdict);
}

static void add_judge(GPtrArray *judges, const char *metric, gint64 threshold_ppm, int better)
{
	LabJudge *judge = g_new0(LabJudge, 1);

	judge->metric = g_strdup(metric);
	judge->threshold_ppm = threshold_ppm;
	judge->better = better;
	g_ptr_array_add(judges, judge);
}

static GPtrArray *default_judges(const LabCompare *compare)
{
	GPtrArray *judges = g_ptr_array_new_with_free_func((GDestroyNotify)lab_judge_free);

	for (guint i = 0; i < compare->times->len; i++) {
		const LabCompareRow *row = compare->times->pdata[i];

		if (!row->point && g_str_has_prefix(row->metric, DEFAULT_METRICS))
			add_judge(judges, row->metric, DEFAULT_PPM, 0);
	}
	return judges;
}

static void unknown_metric(const LabCompare *compare, const char *metric, GError **error)
{
	const GPtrArray *const all[] = {compare->times, compare->counters, compare->others};
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	g_autofree char *hint = NULL;

	for (guint i = 0; i < G_N_ELEMENTS(all); i++)
		for (guint r = 0; r < all[i]->len; r++)
			g_ptr_array_add(names, ((LabCompareRow *)all[i]->pdata[r])->metric);
	g_ptr_array_add(names, NULL);
	hint = lab_suggest_text(metric, (const char *const *)names->pdata);
	g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "cannot judge '%s': no boot has it%s", metric,
		    hint);
}

/* The metrics asked for; else those of the scenario; else the default. */
static GPtrArray *choose(LabCompare *compare, const LabRun *baseline,
			 const LabCompareOptions *options, GPtrArray *notes, GError **error)
{
	g_autoptr(GPtrArray) judges =
		g_ptr_array_new_with_free_func((GDestroyNotify)lab_judge_free);
	g_autoptr(GPtrArray) of_scenario = NULL;
	g_autoptr(GError) cause = NULL;

	if (options->judge) {
		compare->judged_by = "as asked for";
		for (guint i = 0; i < options->judge->len; i++) {
			const LabJudge *judge = options->judge->pdata[i];

			if (!lab_compare_find_row(compare, judge->metric, 0)) {
				unknown_metric(compare, judge->metric, error);
				return NULL;
			}
			add_judge(judges, judge->metric, judge->threshold_ppm, judge->better);
		}
		return g_steal_pointer(&judges);
	}
	of_scenario = lab_run_judge(baseline, &cause);
	if (!of_scenario)
		g_ptr_array_add(
			notes,
			g_strdup_printf("the scenario of run %u does not say what to judge: %s",
					baseline->id, cause->message));
	if (of_scenario && of_scenario->len) {
		compare->judged_by = "by the scenario";
		return g_steal_pointer(&of_scenario);
	}
	compare->judged_by = "by default: real- of each step";
	return default_judges(compare);
}

/* Why a column gave no boot to judge by; @infra: it was the lab, and the lab alone. */
static char *no_boot(const LabCompareColumn *column, guint point, gboolean *infra)
{
	guint n_lab = 0, n = 0;

	for (guint b = 0; b < column->boots->len; b++) {
		const LabCompareBoot *boot = column->boots->pdata[b];

		if (boot->point != point)
			continue;
		n++;
		n_lab += strcmp(boot->outcome, "infra") == 0 ||
			 strcmp(boot->outcome, "missing") == 0;
	}
	*infra = n && n_lab == n;
	return g_strdup_printf("no boot of %s %s is %s%s", column->label[0], column->label[1], n ? "ok" : "there",
			       *infra ? ": the lab failed, or did not get to it" : "");
}

static void explain(const LabCompare *compare, const LabCompareRow *row, LabCompareVerdict *v)
{
	const guint sides[] = {0, v->column};

	for (guint i = 0; i < G_N_ELEMENTS(sides) && !v->missing; i++) {
		const LabCompareColumn *column = compare->columns->pdata[sides[i]];

		if (!lab_compare_ok_at(column, v->point))
			v->missing = no_boot(column, v->point, &v->infra);
	}
	for (guint i = 0; i < G_N_ELEMENTS(sides) && !v->missing; i++) {
		const LabCompareColumn *column = compare->columns->pdata[sides[i]];

		if (!row || !row->summary[sides[i]].n)
			v->missing = g_strdup_printf("no boot of %s %s has it", column->label[0],
						     column->label[1]);
	}
	if (!v->missing && !v->difference.n[0])
		v->missing = g_strdup("no seed has it on both kernels");
}

static LabCompareVerdict *new_verdict(const LabCompare *compare, const LabJudge *judge, guint point, guint c)
{
	const LabCompareRow *row = lab_compare_find_row(compare, judge->metric, point);
	const LabCompareColumn *column = compare->columns->pdata[c];
	LabCompareVerdict *verdict = g_new0(LabCompareVerdict, 1);

	verdict->column = c;
	verdict->metric = g_strdup(judge->metric);
	verdict->point = point;
	verdict->better = judge->better ? judge->better : row ? row->better : 0;
	verdict->noise_floor = NAN;
	verdict->threshold = (double)judge->threshold_ppm / PPM;
	verdict->difference = row ? lab_compare_difference(compare, row, c, FALSE)
				  : lab_difference(column->design, NULL, 0, NULL, 0);
	explain(compare, row, verdict);
	return verdict;
}

static guint boots_more(const LabCompareVerdict *v)
{
	guint n = MIN(v->difference.n[0], v->difference.n[1]), needed;

	if (v->judgement.verdict != LAB_VERDICT_UNKNOWN || v->judgement.settled)
		return 0;
	needed =
		lab_stats_boots_needed(&v->difference, v->threshold, v->judgement.alpha, MAX_BOOTS);
	/* Fewer than there are: it was the luck of these. */
	return needed ? MAX(needed, n + 1) - n : 0;
}

static void judge_column(LabCompare *compare, const GPtrArray *judges, guint c)
{
	guint n_points = g_strv_length(compare->points), n = judges->len * n_points;
	g_autofree LabJudgeCase *cases = g_new(LabJudgeCase, n + 1);
	g_autofree LabJudgement *judgements = g_new(LabJudgement, n + 1);
	guint first = compare->verdicts->len;

	for (guint i = 0; i < n; i++) {
		LabCompareVerdict *verdict =
			new_verdict(compare, judges->pdata[i / n_points], i % n_points, c);

		cases[i] = (LabJudgeCase){verdict->difference, verdict->threshold, verdict->better};
		g_ptr_array_add(compare->verdicts, verdict);
	}
	lab_judge(cases, n, compare->alpha, judgements);
	for (guint i = 0; i < n; i++) {
		LabCompareVerdict *verdict = compare->verdicts->pdata[first + i];

		verdict->judgement = judgements[i];
		verdict->boots_more = boots_more(verdict);
	}
}

gboolean lab_compare_judge(LabCompare *compare, const LabRun *baseline,
			   const LabCompareOptions *options, GPtrArray *notes, GError **error)
{
	g_autoptr(GPtrArray) judges = NULL;

	compare->alpha = options->alpha > 0 ? options->alpha : LAB_COMPARE_ALPHA;
	compare->verdicts = g_ptr_array_new_with_free_func(free_verdict);
	judges = choose(compare, baseline, options, notes, error);
	if (!judges)
		return FALSE;
	for (guint c = 1; c < compare->columns->len; c++)
		judge_column(compare, judges, c);
	return TRUE;
}
