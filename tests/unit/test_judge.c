/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/stats/judge.h"

#include <gsl/gsl_cdf.h>
#include <stdlib.h>

#include "statistics_cases.h"

#define MAX_METRICS 6

/* A metric whose test of "no difference" has this two-sided p, of 10 degrees of freedom: mean 100,
 * and a standard error of the candidate of @se */
static LabJudgeCase made_case(double p, double se, double threshold, int better)
{
	LabDifference d = {
		.design = LAB_DESIGN_PAIRED,
		.n = {11, 11},
		.mean = {100, 100 + se * gsl_cdf_tdist_Qinv(p / 2, 10)},
		.variance = {0, se * se},
		.difference_variance = se * se,
		.ratio_df = 10,
	};

	d.relative = d.mean[1] / 100 - 1;
	return (LabJudgeCase){d, threshold, better};
}

/*
 * Threshold 0: a metric has a verdict when its p is small enough, so the rule alone is seen.
 * @settled: of the published example; 'x': rejected there
 */
static const struct {
	const char *source;
	guint n;
	double alpha, p[MAX_METRICS];
	const char *settled;
	double alphas[MAX_METRICS];
} step_downs[] = {
	{"Wikipedia, Holm-Bonferroni method (2024): H1 to H4",
	 4,
	 0.05,
	 {0.01, 0.04, 0.03, 0.005},
	 "x--x",
	 {0.05 / 3, 0.05 / 2, 0.05 / 2, 0.05 / 4}},
	{"one metric: no correction", 1, 0.05, {0.049}, "x", {0.05}},
	{"one metric", 1, 0.05, {0.051}, "-", {0.05}},
	{"Bonferroni would stop at 0.0125",
	 4,
	 0.05,
	 {0.049, 0.012, 0.016, 0.024},
	 "xxxx",
	 {0.05, 0.05 / 4, 0.05 / 3, 0.05 / 2}},
	{"the smallest is too large: none, though all are below 5 %",
	 4,
	 0.05,
	 {0.02, 0.013, 0.014, 0.04},
	 "----",
	 {0.0125, 0.0125, 0.0125, 0.0125}},
	{"what comes after a stop is not judged",
	 3,
	 0.05,
	 {0.04, 0.001, 0.03},
	 "-x-",
	 {0.025, 0.05 / 3, 0.025}},
	{"ties", 2, 0.05, {0.03, 0.03}, "--", {0.025, 0.025}},
	{"another alpha", 2, 0.1, {0.03, 0.06}, "xx", {0.05, 0.1}},
};

START_TEST(holm)
{
	LabJudgeCase cases[MAX_METRICS] = {};
	LabJudgement j[MAX_METRICS];
	guint n = step_downs[_i].n;

	for (guint i = 0; i < n; i++)
		cases[i] = made_case(step_downs[_i].p[i], 1, 0, -1);
	lab_judge(cases, n, step_downs[_i].alpha, j);
	for (guint i = 0; i < n; i++) {
		LabVerdict want = step_downs[_i].settled[i] == 'x' ? LAB_VERDICT_REGRESSION
								   : LAB_VERDICT_UNKNOWN;

		ck_assert_msg(j[i].verdict == want, "%s: metric %u is %s", step_downs[_i].source,
			      i + 1, lab_verdict_text(j[i].verdict));
		ck_assert_int_eq(j[i].settled, want == LAB_VERDICT_REGRESSION);
		assert_within(j[i].alpha, step_downs[_i].alphas[i], 1e-15);
		assert_within(j[i].p, step_downs[_i].p[i], 1e-12);
	}
}
END_TEST

/* All of the candidate's figures with a standard error of 1 (%): the interval of one metric at 95 %
 * is 2.228 to either side. */
static const struct {
	double change_pct, threshold_pct;
	int better;
	LabVerdict want;
	gboolean settled, differs;
} verdicts[] = {
	{+10, 2, -1, LAB_VERDICT_REGRESSION, TRUE, TRUE},
	{+10, 2, +1, LAB_VERDICT_IMPROVEMENT, TRUE, TRUE},
	{-10, 2, -1, LAB_VERDICT_IMPROVEMENT, TRUE, TRUE},
	{-10, 2, +1, LAB_VERDICT_REGRESSION, TRUE, TRUE},
	/* the direction is not known: that it has changed is all that can be said */
	{+10, 2, 0, LAB_VERDICT_UNKNOWN, TRUE, TRUE},
	{-10, 2, 0, LAB_VERDICT_UNKNOWN, TRUE, TRUE},
	{0, 5, 0, LAB_VERDICT_SAME, TRUE, FALSE},
	{0, 5, -1, LAB_VERDICT_SAME, TRUE, FALSE},
	/* different, but not by more than the threshold */
	{+3, 6, -1, LAB_VERDICT_SAME, TRUE, TRUE},
	{-3, 6, +1, LAB_VERDICT_SAME, TRUE, TRUE},
	/* across the threshold, across both of them */
	{+3, 2, -1, LAB_VERDICT_UNKNOWN, FALSE, TRUE},
	{+2, 2, -1, LAB_VERDICT_UNKNOWN, FALSE, FALSE},
	{0, 2, -1, LAB_VERDICT_UNKNOWN, FALSE, FALSE},
	/* just before and behind 2 + 2.2281 */
	{+4.22, 2, -1, LAB_VERDICT_UNKNOWN, FALSE, TRUE},
	{+4.24, 2, -1, LAB_VERDICT_REGRESSION, TRUE, TRUE},
	{-4.24, 2, -1, LAB_VERDICT_IMPROVEMENT, TRUE, TRUE},
	/* 5 - 2.2281 */
	{+2.78, 5, -1, LAB_VERDICT_UNKNOWN, FALSE, TRUE},
	{+2.76, 5, -1, LAB_VERDICT_SAME, TRUE, TRUE},
	{-2.76, 5, -1, LAB_VERDICT_SAME, TRUE, TRUE},
};

START_TEST(parts)
{
	LabJudgeCase c = made_case(1, 1, verdicts[_i].threshold_pct / 100, verdicts[_i].better);
	int sign = verdicts[_i].better > 0 ? +1 : -1;
	LabJudgement j;

	c.difference.mean[1] = 100 + verdicts[_i].change_pct;
	c.difference.relative = verdicts[_i].change_pct / 100;
	lab_judge(&c, 1, 0.05, &j);
	ck_assert_str_eq(lab_verdict_text(j.verdict), lab_verdict_text(verdicts[_i].want));
	ck_assert_int_eq(j.settled, verdicts[_i].settled);
	ck_assert_int_eq(j.differs, verdicts[_i].differs);
	/* as lab_change_pct() has it: plus is better */
	assert_within(j.change, sign * verdicts[_i].change_pct / 100, 1e-12);
	assert_within(j.interval.low, j.change - 0.022281389, 1e-8);
	assert_within(j.interval.high, j.change + 0.022281389, 1e-8);
}
END_TEST

/* Metrics of different verdicts in one run, with one that no boot has and one of a single boot */
START_TEST(a_run)
{
	static const double one[] = {3}, two[] = {4}, zero[] = {0, 0}, some[] = {7, 7};
	LabJudgeCase cases[] = {
		made_case(1e-9, 1, 0.01, -1),
		{lab_difference(LAB_DESIGN_PAIRED, NULL, 0, NULL, 0), 0.02, -1},
		made_case(1, 0.1, 0.02, +1),
		{lab_difference(LAB_DESIGN_PAIRED, one, 1, two, 1), 0.02, -1},
		{lab_difference(LAB_DESIGN_PAIRED, zero, 2, some, 2), 0.5, -1},
	};
	LabJudgement j[5];

	lab_judge(cases, 5, 0.05, j);
	ck_assert_int_eq(j[0].verdict, LAB_VERDICT_REGRESSION);
	ck_assert_int_eq(j[1].verdict, LAB_VERDICT_UNKNOWN);
	ck_assert_int_eq(j[2].verdict, LAB_VERDICT_SAME);
	ck_assert_int_eq(j[3].verdict, LAB_VERDICT_UNKNOWN);
	ck_assert_int_eq(j[4].verdict, LAB_VERDICT_REGRESSION);
	/* in order: from 0 to some has p 0; the two without an interval come last */
	assert_within(j[4].alpha, 0.01, 1e-15);
	assert_within(j[0].alpha, 0.0125, 1e-15);
	assert_within(j[2].alpha, 0.05 / 3, 1e-15);
	assert_within(j[1].alpha, 0.025, 1e-15);
	assert_within(j[3].alpha, 0.025, 1e-15);
	ck_assert(isnan(j[1].interval.low) && isnan(j[1].change) && !j[1].differs);
	ck_assert(j[3].interval.low == -INFINITY && j[3].interval.high == INFINITY);
	ck_assert(j[4].interval.low == -INFINITY && j[4].interval.high == -INFINITY);
	ck_assert(j[4].change == -INFINITY && j[4].differs);
	lab_judge(NULL, 0, 0.05, NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("judge");
	TCase *tcase = tcase_create("judge");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, holm, 0, G_N_ELEMENTS(step_downs));
	tcase_add_loop_test(tcase, parts, 0, G_N_ELEMENTS(verdicts));
	tcase_add_test(tcase, a_run);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
