/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often the statistics are wrong, and how often they answer: simulated, from fixed seeds. The
 * tables are those of docs/statistics.md; what they must keep is asserted here.
 */
#include "lab/stats/judge.h"
#include "lab/stats/noise.h"
#include "lab/stats/power.h"
#include "lab/stats/sequential.h"

#include <gsl/gsl_sort_double.h>
#include <stdlib.h>

#include "simulation.h"
#include "statistics_table.h"

#define ALPHA 0.05
#define N_BOOTS 3

static const guint boots[N_BOOTS] = {3, 5, 10};
static const char *const designs[] = {"unpaired", "paired"};

static gsl_rng *rng;

static void set_up(void)
{
	rng = gsl_rng_alloc(gsl_rng_mt19937);
}

static void tear_down(void)
{
	gsl_rng_free(rng);
}

/* Where lower is better */
static gboolean is_wrong(LabVerdict verdict, double change, double threshold)
{
	switch (verdict) {
	case LAB_VERDICT_REGRESSION:
		return change <= threshold;
	case LAB_VERDICT_IMPROVEMENT:
		return change >= -threshold;
	case LAB_VERDICT_SAME:
		return fabs(change) > threshold;
	default:
		return FALSE;
	}
}

static double false_alarms(const Kernels *k, guint times)
{
	guint alarms = 0;

	for (guint i = 0; i < times; i++) {
		LabDifference d = simulate(rng, k);

		/* the interval does not contain 0 */
		alarms += lab_difference_p_above(&d, 0) < ALPHA ||
			  lab_difference_p_below(&d, 0) < ALPHA;
	}
	return 100.0 * alarms / times;
}

/* What the shares must keep, percent: @low and @high, per number of boots */
static const struct {
	const char *samples;
	LabDesign design;
	Shape shape;
	double spread_ratio, low[N_BOOTS], high[N_BOOTS];
} alarms[] = {
	{"normal", LAB_DESIGN_PAIRED, SHAPE_NORMAL, 1, {4, 4, 4}, {6, 6, 6}},
	{"lognormal", LAB_DESIGN_PAIRED, SHAPE_LOGNORMAL, 1, {0, 0, 0}, {6, 6, 6}},
	{"t, 3 degrees of freedom", LAB_DESIGN_PAIRED, SHAPE_T3, 1, {0, 0, 0}, {6, 6, 6}},
	{"two points, 4 to 1", LAB_DESIGN_PAIRED, SHAPE_TWO_POINTS, 1, {0, 0, 0}, {6, 6, 6}},
	/* Welch's test of 3 and 3 boots is on the safe side: 3.4 % */
	{"normal", LAB_DESIGN_UNPAIRED, SHAPE_NORMAL, 1, {3, 4, 4}, {6, 6, 6}},
	{"normal, spread 1 to 4", LAB_DESIGN_UNPAIRED, SHAPE_NORMAL, 4, {4, 4, 4}, {6, 6, 6}},
	{"lognormal", LAB_DESIGN_UNPAIRED, SHAPE_LOGNORMAL, 1, {0, 0, 0}, {6, 6, 6}},
	{"lognormal, spread 1 to 4",
	 LAB_DESIGN_UNPAIRED,
	 SHAPE_LOGNORMAL,
	 4,
	 {0, 0, 0},
	 {15, 15, 15}},
	{"t, 3 degrees of freedom", LAB_DESIGN_UNPAIRED, SHAPE_T3, 1, {0, 0, 0}, {6, 6, 6}},
	{"two points, 4 to 1", LAB_DESIGN_UNPAIRED, SHAPE_TWO_POINTS, 1, {0, 0, 0}, {6, 6, 6}},
};

START_TEST(false_alarm_table)
{
	g_autoptr(GString) table =
		g_string_new("| design | samples | 3 boots | 5 boots | 10 boots |\n"
			     "|---|---|---|---|---|\n");

	for (guint i = 0; i < G_N_ELEMENTS(alarms); i++) {
		g_string_append_printf(table, "| %s | %s |", designs[alarms[i].design],
				       alarms[i].samples);
		for (guint n = 0; n < N_BOOTS; n++) {
			Kernels k = {alarms[i].design, boots[n], alarms[i].shape, 0.05,
				     alarms[i].spread_ratio};
			double share = false_alarms(&k, 10000);

			ck_assert_msg(share >= alarms[i].low[n] && share <= alarms[i].high[n],
				      "%s %s, %u boots: %.2f %%", designs[k.design],
				      alarms[i].samples, k.n, share);
			g_string_append_printf(table, " %.1f |", share);
		}
		g_string_append_c(table, '\n');
	}
	check_table("false-alarms", table->str);
}
END_TEST

/* The usual percentile bootstrap of the ratio of the means, for comparison */
static LabInterval bootstrap(const double *a, const double *b, guint n)
{
	enum { DRAWS = 400 };
	double ratios[DRAWS];

	for (guint i = 0; i < DRAWS; i++) {
		double sum[2] = {0, 0};

		for (guint j = 0; j < n; j++) {
			sum[0] += a[gsl_rng_uniform_int(rng, n)];
			sum[1] += b[gsl_rng_uniform_int(rng, n)];
		}
		ratios[i] = sum[1] / sum[0] - 1;
	}
	gsl_sort(ratios, 1, DRAWS);
	return (LabInterval){ratios[DRAWS / 40], ratios[DRAWS - 1 - DRAWS / 40]};
}

static double covered(const Kernels *k, gboolean by_bootstrap, guint times)
{
	double a[MAX_SIMULATED], b[MAX_SIMULATED];
	guint hits = 0;

	for (guint i = 0; i < times; i++) {
		LabInterval interval;

		simulate_samples(rng, k, a, b);
		if (by_bootstrap) {
			interval = bootstrap(a, b, k->n);
		} else {
			LabDifference d = lab_difference(k->design, a, k->n, b, k->n);

			interval = lab_difference_interval(&d, ALPHA);
		}
		hits += interval.low <= k->change && k->change <= interval.high;
	}
	return 100.0 * hits / times;
}

static const struct {
	const char *method;
	LabDesign design;
	gboolean by_bootstrap;
	double change;
} intervals[] = {
	{"Fieller, paired", LAB_DESIGN_PAIRED, FALSE, 0},
	{"Fieller, paired", LAB_DESIGN_PAIRED, FALSE, 2},
	{"Fieller, unpaired", LAB_DESIGN_UNPAIRED, FALSE, 0},
	{"Fieller, unpaired", LAB_DESIGN_UNPAIRED, FALSE, -0.75},
	{"Fieller, unpaired", LAB_DESIGN_UNPAIRED, FALSE, 2},
	{"percentile bootstrap, unpaired", LAB_DESIGN_UNPAIRED, TRUE, 0},
};

START_TEST(coverage_table)
{
	g_autoptr(GString) table =
		g_string_new("| interval | true change | 3 boots | 5 boots | 10 boots |\n"
			     "|---|---|---|---|---|\n");

	for (guint i = 0; i < G_N_ELEMENTS(intervals); i++) {
		g_string_append_printf(table, "| %s | %+.0f %% |", intervals[i].method,
				       100 * intervals[i].change);
		for (guint n = 0; n < N_BOOTS; n++) {
			Kernels k = {intervals[i].design, boots[n], SHAPE_NORMAL, 0.1, 1,
				     intervals[i].change};
			double share = covered(&k, intervals[i].by_bootstrap, 4000);

			if (!intervals[i].by_bootstrap)
				ck_assert_msg(share >= 94 && share <= 97.5, "%s: %.2f %%",
					      intervals[i].method, share);
			g_string_append_printf(table, " %.1f |", share);
		}
		g_string_append_c(table, '\n');
	}
	check_table("coverage", table->str);
}
END_TEST

/* Spread 1 %, threshold 2 %; the last true change is just beyond it. */
START_TEST(verdict_table)
{
	static const double changes[] = {0, 0.01, 0.02, 0.0200001, 0.03, 0.05};
	enum { TIMES = 4000 };
	g_autoptr(GString) table = g_string_new(
		"| boots of each kernel | 0 % | +1 % | +2 % | +2.00001 % | +3 % | +5 % |\n"
		"|---|---|---|---|---|---|---|\n");

	for (guint row = 0; row < 2 * N_BOOTS; row++) {
		Kernels k = {row / N_BOOTS, boots[row % N_BOOTS], SHAPE_NORMAL, 0.01, 1};

		g_string_append_printf(table, "| %u, %s |", k.n, designs[k.design]);
		for (guint c = 0; c < G_N_ELEMENTS(changes); c++) {
			guint count[LAB_VERDICT_UNKNOWN + 1] = {0}, wrong = 0;

			k.change = changes[c];
			for (guint i = 0; i < TIMES; i++) {
				LabJudgeCase one = {simulate(rng, &k), 0.02, -1};
				LabJudgement j;

				lab_judge(&one, 1, ALPHA, &j);
				count[j.verdict]++;
				wrong += is_wrong(j.verdict, k.change, 0.02);
			}
			/* 2.5 %: one end of the interval; four standard deviations of the count */
			ck_assert_uint_le(wrong, TIMES / 40 + 40);
			g_string_append_printf(table, " %.0f / %.0f |",
					       100.0 * count[LAB_VERDICT_REGRESSION] / TIMES,
					       100.0 * count[LAB_VERDICT_SAME] / TIMES);
		}
		g_string_append_c(table, '\n');
	}
	check_table("verdicts", table->str);
}
END_TEST

#define FAMILY 5

/* @correlation: of the metrics of a boot */
static void simulate_family(const double *changes, double correlation, double threshold,
			    LabJudgeCase *cases)
{
	enum { N = 5 };
	double common[2][N], samples[2][N];

	for (guint i = 0; i < 2 * N; i++)
		common[i / N][i % N] = gsl_ran_gaussian_ziggurat(rng, sqrt(correlation));
	for (guint m = 0; m < FAMILY; m++) {
		for (guint i = 0; i < 2 * N; i++) {
			double own = gsl_ran_gaussian_ziggurat(rng, sqrt(1 - correlation));

			samples[i / N][i % N] = (1 + (i / N) * changes[m]) *
						(100 + 2 * (common[i / N][i % N] + own));
		}
		cases[m] = (LabJudgeCase){
			lab_difference(LAB_DESIGN_PAIRED, samples[0], N, samples[1], N), threshold,
			-1};
	}
}

static const struct {
	const char *about;
	double changes[FAMILY], correlation, threshold;
} families[] = {
	{"none changed, threshold 0", {0, 0, 0, 0, 0}, 0, 0},
	{"the same, metrics correlated by 0.8", {0, 0, 0, 0, 0}, 0.8, 0},
	{"two changed by 10 %, three not, threshold 0", {0.1, 0.1, 0, 0, 0}, 0, 0},
	{"all changed by 2 %, threshold 2 %", {0.02, 0.02, 0.02, 0.02, 0.02}, 0, 0.02},
};

START_TEST(family_table)
{
	enum { TIMES = 5000 };
	g_autoptr(GString) table =
		g_string_new("| five metrics | Holm | each at 5 % |\n|---|---|---|\n");

	for (guint row = 0; row < G_N_ELEMENTS(families); row++) {
		double threshold = families[row].threshold;
		guint wrong[2] = {0, 0};

		for (guint i = 0; i < TIMES; i++) {
			LabJudgeCase cases[FAMILY];
			LabJudgement j[FAMILY], alone;
			gboolean any[2] = {FALSE, FALSE};

			simulate_family(families[row].changes, families[row].correlation, threshold,
					cases);
			lab_judge(cases, FAMILY, ALPHA, j);
			for (guint m = 0; m < FAMILY; m++) {
				double change = families[row].changes[m];

				lab_judge(&cases[m], 1, ALPHA, &alone);
				any[0] |= is_wrong(j[m].verdict, change, threshold);
				any[1] |= is_wrong(alone.verdict, change, threshold);
			}
			wrong[0] += any[0];
			wrong[1] += any[1];
		}
		/* 5 % and three standard deviations of the count */
		ck_assert_uint_le(wrong[0], 0.05 * TIMES + 46);
		g_string_append_printf(table, "| %s | %.1f | %.1f |\n", families[row].about,
				       100.0 * wrong[0] / TIMES, 100.0 * wrong[1] / TIMES);
	}
	check_table("family", table->str);
}
END_TEST

/* Means and spread exactly as they are simulated */
static LabDifference truth(const Kernels *k)
{
	double sd[2] = {100 * k->spread, 100 * (1 + k->change) * k->spread};
	LabDifference d = {
		.design = k->design,
		.n = {2, 2},
		.mean = {100, 100 * (1 + k->change)},
		.relative = k->change,
		.variance = {sd[0] * sd[0] / 2, sd[1] * sd[1] / 2},
		.covariance = k->correlation * sd[0] * sd[1] / 2,
	};

	d.difference_variance = d.variance[0] + d.variance[1] - 2 * d.covariance;
	return d;
}

static const struct {
	Kernels kernels;
	double threshold;
} efforts[] = {
	{{LAB_DESIGN_UNPAIRED, 0, SHAPE_NORMAL, 0.01, 1, 0}, 0.02},
	{{LAB_DESIGN_UNPAIRED, 0, SHAPE_NORMAL, 0.01, 1, 0.03}, 0.02},
	{{LAB_DESIGN_UNPAIRED, 0, SHAPE_NORMAL, 0.02, 1, 0.05}, 0.02},
	{{LAB_DESIGN_UNPAIRED, 0, SHAPE_NORMAL, 0.02, 1, 0.10}, 0.02},
	{{LAB_DESIGN_UNPAIRED, 0, SHAPE_NORMAL, 0.20, 1, 0.75}, 0.25},
	{{LAB_DESIGN_UNPAIRED, 0, SHAPE_NORMAL, 0.20, 1, -0.60}, 0.25},
	{{LAB_DESIGN_PAIRED, 0, SHAPE_NORMAL, 0.01, 1, 0, 0.5}, 0.02},
	{{LAB_DESIGN_PAIRED, 0, SHAPE_NORMAL, 0.01, 1, 0.03, 0.5}, 0.02},
	{{LAB_DESIGN_PAIRED, 0, SHAPE_NORMAL, 0.001, 1, 0.01, 0}, 0.005},
};

START_TEST(power_table)
{
	enum { TIMES = 4000 };
	g_autoptr(GString) table = g_string_new(
		"| design | spread | threshold | true change | boots told | settled |\n"
		"|---|---|---|---|---|---|\n");

	for (guint row = 0; row < G_N_ELEMENTS(efforts); row++) {
		Kernels k = efforts[row].kernels;
		LabDifference d = truth(&k);
		double threshold = efforts[row].threshold, share;
		guint settled = 0;

		k.n = lab_stats_boots_needed(&d, threshold, ALPHA, MAX_SIMULATED);
		ck_assert_uint_ne(k.n, 0);
		for (guint i = 0; i < TIMES; i++) {
			LabJudgeCase one = {simulate(rng, &k), threshold, -1};
			LabJudgement j;

			lab_judge(&one, 1, ALPHA, &j);
			settled += j.settled && !is_wrong(j.verdict, k.change, threshold);
		}
		share = 100.0 * settled / TIMES;
		/* 80 %, and three standard deviations; one boot less would not do */
		ck_assert_msg(share >= 78 && lab_stats_power(&d, threshold, ALPHA, k.n - 1) < 0.8,
			      "row %u: %.1f", row, share);
		g_string_append_printf(table, "| %s | %.1f %% | %.1f %% | %+.0f %% | %u | %.0f |\n",
				       designs[k.design], 100 * k.spread, 100 * threshold,
				       100 * k.change, k.n, share);
	}
	check_table("power", table->str);
}
END_TEST

/* Up to @max_boots; returns the boots that it took */
static guint until_decided(const Kernels *all, guint max_boots, double threshold,
			   LabVerdict *verdict)
{
	double a[MAX_SIMULATED], b[MAX_SIMULATED];
	LabLook look = {0, 0};

	simulate_samples(rng, all, a, b);
	for (guint i = 0; i < lab_sequential_looks(max_boots); i++) {
		LabJudgeCase one = {.threshold = threshold, .better = -1};
		LabJudgement j;

		look = lab_sequential_look(max_boots, i, ALPHA);
		one.difference = lab_difference(all->design, a, look.boots, b, look.boots);
		lab_judge(&one, 1, look.alpha, &j);
		*verdict = j.verdict;
		if (j.settled)
			break;
	}
	return look.boots;
}

START_TEST(sequential_table)
{
	static const struct {
		double change, threshold;
	} columns[] = {{0, 0}, {0, 0.02}, {0.02, 0.02}, {0.04, 0.02}, {0.06, 0.02}, {0.10, 0.02}};
	static const guint budgets[] = {10, 20, 40};
	enum { TIMES = 3000 };
	g_autoptr(GString) table =
		g_string_new("| budget | 0 %, threshold 0 | 0 % | +2 % | +4 % | +6 % | +10 % |\n"
			     "|---|---|---|---|---|---|---|\n");

	for (guint row = 0; row < 6; row++) {
		Kernels k = {row / 3, budgets[row % 3], SHAPE_NORMAL, 0.02, 1, 0, row / 3 * 0.5};

		g_string_append_printf(table, "| %u, %s |", k.n, designs[k.design]);
		for (guint c = 0; c < G_N_ELEMENTS(columns); c++) {
			guint settled = 0, wrong = 0, used = 0;

			k.change = columns[c].change;
			for (guint i = 0; i < TIMES; i++) {
				LabVerdict verdict = LAB_VERDICT_UNKNOWN;

				used += until_decided(&k, k.n, columns[c].threshold, &verdict);
				settled += verdict != LAB_VERDICT_UNKNOWN;
				wrong += is_wrong(verdict, k.change, columns[c].threshold);
			}
			ck_assert_uint_le(wrong, TIMES * ALPHA);
			g_string_append_printf(table, " %.0f / %.1f / %.1f |",
					       100.0 * settled / TIMES, 100.0 * wrong / TIMES,
					       (double)used / TIMES);
		}
		g_string_append_c(table, '\n');
	}
	check_table("sequential", table->str);
}
END_TEST

static double below_floor(const Kernels *k, guint seen, guint times)
{
	double a[MAX_SIMULATED], b[MAX_SIMULATED];
	guint below = 0;

	for (guint i = 0; i < times; i++) {
		Kernels aa = *k;
		LabDifference d;
		double floor;

		aa.n = seen;
		simulate_samples(rng, &aa, a, b);
		floor = lab_noise_floor(k->design, a, seen, b, seen, k->n, ALPHA);
		d = simulate(rng, k);
		below += fabs(d.relative) <= floor;
	}
	return 100.0 * below / times;
}

START_TEST(noise_table)
{
	g_autoptr(GString) table =
		g_string_new("| A/A run, boots of each side | 3 boots | 5 boots | 10 boots "
			     "|\n|---|---|---|---|\n");

	for (guint row = 0; row < 2 * N_BOOTS; row++) {
		LabDesign design = row / N_BOOTS;

		g_string_append_printf(table, "| %u, %s |", boots[row % N_BOOTS], designs[design]);
		for (guint n = 0; n < N_BOOTS; n++) {
			Kernels k = {design, boots[n], SHAPE_NORMAL, 0.02, 1, 0, design * 0.5};
			double share = below_floor(&k, boots[row % N_BOOTS], 4000);

			ck_assert_msg(share >= 94 && share <= 99, "%s: %.2f %%", designs[design],
				      share);
			g_string_append_printf(table, " %.1f |", share);
		}
		g_string_append_c(table, '\n');
	}
	check_table("noise", table->str);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("statistics");
	TCase *tcase = tcase_create("statistics");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 300); /* under sanitizers */
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, false_alarm_table);
	tcase_add_test(tcase, coverage_table);
	tcase_add_test(tcase, verdict_table);
	tcase_add_test(tcase, family_table);
	tcase_add_test(tcase, power_table);
	tcase_add_test(tcase, sequential_table);
	tcase_add_test(tcase, noise_table);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
