/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a test names no source, its figures were computed by scipy 1.10 from the same formulas. */
#include "lab/stats/difference.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>

#include "statistics_cases.h"

#define NONE                                                                                       \
	{                                                                                          \
		-INFINITY, INFINITY                                                                \
	}

/* R's help of t.test(): t = -1.8608, df = 17.776, p = 0.07939; paired: t = -4.0621, df = 9, p =
 * 0.002833. There the first group is minuend. */
START_TEST(student_sleep)
{
	LabDifference d = lab_difference(LAB_DESIGN_UNPAIRED, sleep_1, 10, sleep_2, 10);

	assert_within(d.t, 1.8608, 5e-5);
	assert_within(d.df, 17.776, 5e-4);
	assert_within(d.p, 0.07939, 5e-6);
	assert_within(d.mean[0], 0.75, 1e-12);
	assert_within(d.mean[1], 2.33, 1e-12);
	assert_within(d.relative, 1.58 / 0.75, 1e-12);
	d = lab_difference(LAB_DESIGN_PAIRED, sleep_1, 10, sleep_2, 10);
	assert_within(d.t, 4.0621, 5e-5);
	ck_assert(d.df == 9);
	assert_within(d.p, 0.002833, 5e-7);
}
END_TEST

/* Fisher, "The Design of Experiments", section 17: t = 2.148, just significant at 5 %. */
START_TEST(darwin_paired)
{
	LabDifference d = lab_difference(LAB_DESIGN_PAIRED, darwin_self, 15, darwin_crossed, 15);
	LabInterval i = lab_difference_interval(&d, 0.05);

	assert_within(d.t, 2.148, 5e-4);
	assert_within(d.p, 0.0497029440218009, 1e-12);
	assert_within(i.low, 0.00021236493199605633, 1e-10);
	assert_within(i.high, 0.3121559899323729, 1e-10);
	/* Fieller's interval and the test agree on "no difference". */
	i = lab_difference_interval(&d, d.p * (1 - 1e-6));
	ck_assert(i.low < 0);
	i = lab_difference_interval(&d, d.p * (1 + 1e-6));
	ck_assert(i.low > 0);
}
END_TEST

/*
 * The package mratios for R, t.test.ratio(a1, a2) of set.seed(12345); a1 <- rnorm(5, 1, 1); a2 <-
 * rnorm(5, 2, 1), as shown in http://mikuhatsune.hatenadiary.com/entry/20121212/1355320912: ratio
 * 0.8643849, interval 0.4056763 to 2.6170008, t = -0.4263, df = 6.363 (of the test), p = 0.684.
 */
START_TEST(fieller_welch)
{
	static const double numerator[] = {1.5855288, 1.7094660, 0.8906967, 0.5465028, 1.6058875};
	static const double denominator[] = {0.1820440, 2.6300986, 1.7238159, 1.7158403, 1.0806780};
	LabDifference d = lab_difference(LAB_DESIGN_UNPAIRED, denominator, 5, numerator, 5);
	LabInterval i = lab_difference_interval(&d, 0.05);

	assert_within(1 + d.relative, 0.8643849, 1e-7);
	assert_within(1 + i.low, 0.4056763, 1e-7);
	assert_within(1 + i.high, 2.6170008, 1e-6);
	assert_within(d.t, -0.4263, 5e-5);
	assert_within(d.df, 6.363, 5e-4);
	assert_within(d.p, 0.684, 5e-4);
	assert_within(d.ratio_df, 6.93823868572811, 1e-6);
}
END_TEST

/* Scores of D. G. Bonett's statpsych, ci.ratio.mean.ps: means 3.4875 and 3.075 */
START_TEST(fieller_paired)
{
	static const double first[] = {3.3, 3.6, 3.0, 3.1, 3.9, 4.2, 3.5, 3.3};
	static const double second[] = {3.0, 3.1, 2.7, 2.6, 3.2, 3.8, 3.2, 3.0};
	LabDifference d = lab_difference(LAB_DESIGN_PAIRED, second, 8, first, 8);
	LabInterval i = lab_difference_interval(&d, 0.05);

	assert_within(d.mean[0], 3.075, 1e-12);
	assert_within(d.mean[1], 3.4875, 1e-12);
	assert_within(i.low, 0.0942249256349033, 1e-10);
	assert_within(i.high, 0.1760498606943826, 1e-10);
	assert_within(d.t, 8.003675626198987, 1e-9);
	assert_within(d.p, 9.088224813290129e-05, 1e-12);
}
END_TEST

/* All degenerate sets, both designs where the answer is the same */
#define BOTH (1 << LAB_DESIGN_PAIRED | 1 << LAB_DESIGN_UNPAIRED)
#define PAIRED (1 << LAB_DESIGN_PAIRED)
#define UNPAIRED (1 << LAB_DESIGN_UNPAIRED)

static const struct {
	const char *about;
	guint designs, n;
	double a[4], b[4];
	guint used;
	double relative, p;
	LabInterval interval; /* at 95 % */
} degenerate[] = {
	{"no boots", BOTH, 0, {}, {}, 0, NAN, NAN, {NAN, NAN}},
	{"all missing", BOTH, 2, {NAN, NAN}, {NAN, NAN}, 0, NAN, NAN, {NAN, NAN}},
	{"one boot", BOTH, 1, {100}, {103}, 1, 0.03, NAN, NONE},
	{"one boot, the same", BOTH, 1, {100}, {100}, 1, 0, NAN, NONE},
	{"all equal", BOTH, 3, {0.1, 0.1, 0.1}, {0.1, 0.1, 0.1}, 3, 0, 1, {0, 0}},
	{"all equal, shifted", BOTH, 3, {50, 50, 50}, {51, 51, 51}, 3, 0.02, 0, {0.02, 0.02}},
	{"all equal, negative", BOTH, 2, {-50, -50}, {-49, -49}, 2, 0.02, 0, {0.02, 0.02}},
	{"the same pairs", PAIRED, 3, {5.1, 5.3, 5.9}, {5.1, 5.3, 5.9}, 3, 0, 1, {0, 0}},
	{"pairs of one ratio",
	 PAIRED,
	 3,
	 {4, 5, 6},
	 {5, 6.25, 7.5},
	 3,
	 0.25,
	 0.0130725,
	 {0.25, 0.25}},
	{"both 0", BOTH, 3, {0, 0, 0}, {0, 0, 0}, 3, 0, 1, {0, 0}},
	{"from 0 to some", BOTH, 2, {0, 0}, {7, 7}, 2, INFINITY, 0, {INFINITY, INFINITY}},
	{"from 0 to less", BOTH, 2, {0, 0}, {-7, -7}, 2, -INFINITY, 0, {-INFINITY, -INFINITY}},
	{"from 0 to a spread",
	 BOTH,
	 3,
	 {0, 0, 0},
	 {499, 500, 501},
	 3,
	 INFINITY,
	 1.33333e-6,
	 {INFINITY, INFINITY}},
	{"from 0 to what may be 0", BOTH, 3, {0, 0, 0}, {0, 0, 9}, 3, INFINITY, 0.4226497, NONE},
	{"to 0", BOTH, 3, {7, 7, 7}, {0, 0, 0}, 3, -1, 0, {-1, -1}},
	{"mean 0 with spread, both", UNPAIRED, 2, {-1, 1}, {-1, 1}, 2, 0, 1, NONE},
	/* 5 / (12.7062 * 1) - 1: the baseline's mean is not farther from 0 */
	{"mean 0 with spread",
	 BOTH,
	 2,
	 {-1, 1},
	 {5, 5},
	 2,
	 INFINITY,
	 0.1256659,
	 {-0.6064915, INFINITY}},
	/* t = 4.3027 for 2 degrees of freedom; 0.5 * 4.3027 / sqrt(3) / 10 */
	{"constant baseline",
	 BOTH,
	 3,
	 {10, 10, 10},
	 {10.5, 11, 11.5},
	 3,
	 0.1,
	 0.0741799,
	 {-0.0242069, 0.2242069}},
	/* 10 / (10 -+ 0.5 * 4.3027 / sqrt(3)) */
	{"constant candidate",
	 BOTH,
	 3,
	 {9.5, 10, 10.5},
	 {10, 10, 10},
	 3,
	 0,
	 1,
	 {-0.1104840, 0.1418222}},
	/* The same with the baseline's mean below 0: less negative is more */
	{"negative",
	 BOTH,
	 3,
	 {-9.5, -10, -10.5},
	 {-10, -10, -10},
	 3,
	 0,
	 1,
	 {-0.1418222, 0.1104840}},
	{"a pair short", PAIRED, 4, {NAN, 10, 10, 10}, {99, NAN, 12, 12}, 2, 0.2, 0, {0.2, 0.2}},
};

START_TEST(degenerate_sets)
{
	for (guint design = LAB_DESIGN_UNPAIRED; design <= LAB_DESIGN_PAIRED; design++) {
		LabDifference d;
		LabInterval i;

		if (!(degenerate[_i].designs & 1 << design))
			continue;
		d = lab_difference(design, degenerate[_i].a, degenerate[_i].n, degenerate[_i].b,
				   degenerate[_i].n);
		i = lab_difference_interval(&d, 0.05);
		ck_assert_msg(d.n[0] == degenerate[_i].used && d.n[1] == degenerate[_i].used, "%s",
			      degenerate[_i].about);
		assert_near(d.relative, degenerate[_i].relative);
		assert_within(d.p, degenerate[_i].p, 1e-7);
		assert_within(i.low, degenerate[_i].interval.low, 1e-7);
		assert_within(i.high, degenerate[_i].interval.high, 1e-7);
	}
}
END_TEST

START_TEST(missing_values)
{
	static const double full[] = {10, 11, 12}, more[] = {13, 13.5, 14.5};
	static const double gaps[] = {10, NAN, 11, 12, NAN}, pairs[] = {13, NAN, 13.5, 14.5, 1};
	LabDifference want = lab_difference(LAB_DESIGN_PAIRED, full, 3, more, 3);
	LabDifference got = lab_difference(LAB_DESIGN_PAIRED, gaps, 5, pairs, 5);

	ck_assert_mem_eq(&got, &want, sizeof(got));
	want = lab_difference(LAB_DESIGN_UNPAIRED, full, 3, more, 3);
	got = lab_difference(LAB_DESIGN_UNPAIRED, gaps, 5, more, 3);
	ck_assert_mem_eq(&got, &want, sizeof(got));
	/* unpaired: one set may be the longer one, and may be all there is */
	got = lab_difference(LAB_DESIGN_UNPAIRED, gaps, 5, more, 1);
	ck_assert_uint_eq(got.n[0], 3);
	ck_assert(isinf(lab_difference_interval(&got, 0.05).low));
	ck_assert(lab_difference_p_above(&got, 0) == 1 && lab_difference_p_within(&got, 9) == 1);
	got = lab_difference(LAB_DESIGN_UNPAIRED, gaps, 5, NULL, 0);
	ck_assert(got.mean[0] == 11 && isnan(got.mean[1]) && isnan(got.relative));
	ck_assert(isnan(lab_difference_interval(&got, 0.05).high));
}
END_TEST

static guint criticals;

static void count_critical(const char *domain, GLogLevelFlags level, const char *message,
			   gpointer data)
{
	criticals++;
}

START_TEST(errors_of_the_caller)
{
	static const double finite[] = {1, 2}, infinite[] = {1, -INFINITY};
	LabDifference d;

	g_log_set_default_handler(count_critical, NULL);
	d = lab_difference(LAB_DESIGN_UNPAIRED, infinite, 2, finite, 2);
	ck_assert(d.n[0] == 0 && d.n[1] == 0 && isnan(d.mean[1]) && isnan(d.relative));
	d = lab_difference(LAB_DESIGN_PAIRED, finite, 2, infinite, 2);
	ck_assert(d.n[0] == 0 && isnan(d.p));
	d = lab_difference(LAB_DESIGN_PAIRED, finite, 2, finite, 1);
	ck_assert(d.n[0] == 0 && isnan(d.p));
	ck_assert_uint_eq(criticals, 3);
}
END_TEST

/* The baseline's mean (2.67, s.e. 1.76) may be 0: what is left is "at least". */
START_TEST(one_end)
{
	static const double few[] = {0, 6, 2}, many[] = {500, 510, 490},
			    minus[] = {-500, -510, -490};
	LabDifference d = lab_difference(LAB_DESIGN_UNPAIRED, few, 3, many, 3);
	LabInterval up = lab_difference_interval(&d, 0.05), down;

	ck_assert(up.low > 40 && up.low < 60 && up.high == INFINITY);
	ck_assert(lab_difference_p_above(&d, up.low * (1 - 1e-6)) < 0.05);
	ck_assert(lab_difference_p_above(&d, up.low * (1 + 1e-6)) > 0.05);
	d = lab_difference(LAB_DESIGN_UNPAIRED, few, 3, minus, 3);
	down = lab_difference_interval(&d, 0.05);
	ck_assert(down.low == -INFINITY && down.high < -40 && down.high > -60);
	ck_assert(lab_difference_p_below(&d, -down.high * (1 - 1e-6)) < 0.05);
	ck_assert(lab_difference_p_below(&d, -down.high * (1 + 1e-6)) > 0.05);
	/* and when neither mean can be told from 0: nothing */
	d = lab_difference(LAB_DESIGN_UNPAIRED, few, 3, few, 3);
	ck_assert(lab_difference_interval(&d, 0.05).low == -INFINITY);
	ck_assert(lab_difference_interval(&d, 0.05).high == INFINITY);
}
END_TEST

/* A million and one, two, three: the ends keep what a formula with large terms would lose. */
START_TEST(large_values)
{
	static const double a[] = {1e9 + 1, 1e9 + 2, 1e9 + 3}, b[] = {1e9 + 3, 1e9 + 2, 1e9 + 4};
	LabDifference d = lab_difference(LAB_DESIGN_UNPAIRED, a, 3, b, 3);
	LabInterval i = lab_difference_interval(&d, 0.05);

	/* 1 +- 2.776445 * sqrt(2 / 3), of 1e9 + 2 */
	assert_within(i.low, -1.2669578e-9, 1e-15);
	assert_within(i.high, 3.2669578e-9, 1e-15);
	d = lab_difference(LAB_DESIGN_PAIRED, a, 3, b, 3);
	i = lab_difference_interval(&d, 0.05);
	/* 1 +- 4.302653 * 1 / sqrt(3): differences 2, 0, 1 */
	assert_within(i.low, -1.4841377e-9, 1e-13);
	assert_within(i.high, 3.4841377e-9, 1e-13);
}
END_TEST

static LabDifference random_difference(gsl_rng *rng)
{
	LabDesign design = gsl_rng_uniform_int(rng, 2) ? LAB_DESIGN_PAIRED : LAB_DESIGN_UNPAIRED;
	guint n = 2 + gsl_rng_uniform_int(rng, 6);
	double a[8], b[8], mean[2], sd[2];

	for (int i = 0; i < 2; i++) {
		mean[i] = gsl_ran_gaussian(rng, 10);
		sd[i] = gsl_rng_uniform_int(rng, 5) ? 10 * gsl_rng_uniform(rng) : 0;
	}
	for (guint i = 0; i < n; i++) {
		a[i] = mean[0] + gsl_ran_gaussian(rng, sd[0]);
		b[i] = mean[1] + gsl_ran_gaussian(rng, sd[1]) + (a[i] - mean[0]) / 2;
	}
	return lab_difference(design, a, n, b, n);
}

/* Intervals and p values are two ways to say the same, whatever the interval's form; a higher
 * confidence has the wider interval, and the estimate is in each. */
START_TEST(interval_and_p_agree)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
	guint forms[3] = {0};

	for (guint k = 0; k < 20000; k++) {
		LabDifference d = random_difference(rng);
		double alpha = 0.5 * exp(-gsl_ran_exponential(rng, 4));
		double threshold = gsl_ran_exponential(rng, 0.5);
		LabInterval i = lab_difference_interval(&d, alpha);
		LabInterval wider = lab_difference_interval(&d, alpha / 2);
		gboolean above, below, within;

		forms[(i.low == -INFINITY) + (i.high == INFINITY)]++;
		ck_assert(i.low <= d.relative && d.relative <= i.high);
		ck_assert(wider.low <= i.low && wider.high >= i.high);
		above = lab_difference_p_above(&d, threshold) < alpha;
		below = lab_difference_p_below(&d, threshold) < alpha;
		within = lab_difference_p_within(&d, threshold) < alpha;
		ck_assert_int_eq(above, i.low > threshold);
		ck_assert_int_eq(below, i.high < -threshold);
		ck_assert_int_eq(within, i.low >= -threshold && i.high <= threshold);
	}
	gsl_rng_free(rng);
	/* all forms were met */
	ck_assert_msg(forms[0] > 500 && forms[1] > 500 && forms[2] > 500, "%u %u %u", forms[0],
		      forms[1], forms[2]);
}
END_TEST

/* A point on the threshold is within: 2 % of 50 is 1, of 100 is 2, and so on. */
START_TEST(point_on_the_threshold)
{
	for (double base = 50; base <= 5000; base += 50) {
		double a[] = {base, base}, b[] = {base + base / 50, base + base / 50};
		LabDifference d = lab_difference(LAB_DESIGN_PAIRED, a, 2, b, 2);

		ck_assert(lab_difference_p_within(&d, 0.02) == 0);
		ck_assert(lab_difference_p_above(&d, 0.02) == 1);
		ck_assert(lab_difference_p_above(&d, 0.0199) == 0);
		d = lab_difference(LAB_DESIGN_UNPAIRED, b, 2, a, 2);
		ck_assert(lab_difference_p_below(&d, 0.0197) == 1);
		ck_assert(lab_difference_p_within(&d, 0.0197) == 0);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("difference");
	TCase *tcase = tcase_create("difference");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tcase, student_sleep);
	tcase_add_test(tcase, darwin_paired);
	tcase_add_test(tcase, fieller_welch);
	tcase_add_test(tcase, fieller_paired);
	tcase_add_loop_test(tcase, degenerate_sets, 0, G_N_ELEMENTS(degenerate));
	tcase_add_test(tcase, missing_values);
	tcase_add_test(tcase, errors_of_the_caller);
	tcase_add_test(tcase, one_end);
	tcase_add_test(tcase, large_values);
	tcase_add_test(tcase, interval_and_p_agree);
	tcase_add_test(tcase, point_on_the_threshold);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
