/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/stats/power.h"

#include <stdlib.h>

#include "statistics_cases.h"

#define MEAN 1e6 /* so that the ratio of the means is 1 to the last digit that counts */

/* Two boots of each kernel, standard deviation 1 (paired: of the differences), means @apart */
static LabDifference made(LabDesign design, double apart)
{
	double paired = design == LAB_DESIGN_PAIRED;
	double a[] = {MEAN - (paired ? 0 : M_SQRT1_2), MEAN + (paired ? 0 : M_SQRT1_2)};
	double b[] = {MEAN + apart - M_SQRT1_2, MEAN + apart + M_SQRT1_2};

	return lab_difference(design, a, 2, b, 2);
}

/*
 * Boots for 80 % at 5 % two-sided and threshold 0, and the power of that number. Unpaired d = 0.2,
 * 0.5, 0.8: J. Cohen, "Statistical Power Analysis for the Behavioral Sciences", 1988, table 2.4.1
 * (393, 64, 26). All: noncentral t of scipy 1.10.
 */
static const struct {
	LabDesign design;
	double apart;
	guint boots;
	double power; /* NAN: not looked up */
} classic[] = {
	{LAB_DESIGN_UNPAIRED, 0.2, 394, NAN},	 {LAB_DESIGN_UNPAIRED, 0.5, 64, 0.80146},
	{LAB_DESIGN_UNPAIRED, 0.8, 26, 0.80749}, {LAB_DESIGN_UNPAIRED, 1.0, 17, 0.80704},
	{LAB_DESIGN_UNPAIRED, 3.0, 4, NAN},	 {LAB_DESIGN_UNPAIRED, 5.0, 3, NAN},
	{LAB_DESIGN_PAIRED, 0.2, 199, NAN},	 {LAB_DESIGN_PAIRED, 0.5, 34, NAN},
	{LAB_DESIGN_PAIRED, 0.8, 15, NAN},	 {LAB_DESIGN_PAIRED, 1.0, 10, 0.80310},
	{LAB_DESIGN_PAIRED, 2.0, 5, 0.90888},	 {LAB_DESIGN_PAIRED, -2.0, 5, 0.90888},
	{LAB_DESIGN_PAIRED, 3.0, 4, NAN},	 {LAB_DESIGN_PAIRED, 5.0, 3, NAN},
};

START_TEST(noncentral_t)
{
	LabDifference d = made(classic[_i].design, classic[_i].apart);

	ck_assert_uint_eq(lab_stats_boots_needed(&d, 0, 0.05, 1000), classic[_i].boots);
	if (!isnan(classic[_i].power))
		assert_within(lab_stats_power(&d, 0, 0.05, classic[_i].boots), classic[_i].power,
			      0.002);
}
END_TEST

/* Within the threshold: paired differences of mean 0, threshold 1 standard deviation. 80 % needs
 * both sides, each with 90 %: noncentral t of scipy: 13 boots (with one side, 10) */
START_TEST(within)
{
	LabDifference d = made(LAB_DESIGN_PAIRED, 0);
	guint boots = lab_stats_boots_needed(&d, 1 / MEAN, 0.05, 1000);

	ck_assert_uint_eq(boots, 13);
	assert_within(lab_stats_power(&d, 1 / MEAN, 0.05, 10), 0.61369, 0.002);
	assert_within(lab_stats_power(&d, 1 / MEAN, 0.05, 13), 0.82153, 0.002);
	/* nearer to one side, that one decides */
	d = made(LAB_DESIGN_PAIRED, 0.5);
	ck_assert_uint_eq(lab_stats_boots_needed(&d, 1 / MEAN, 0.05, 1000), 34);
	/* a threshold away from what lies outside is as near */
	d = made(LAB_DESIGN_PAIRED, 1.5);
	ck_assert_uint_eq(lab_stats_boots_needed(&d, 1 / MEAN, 0.05, 1000), 34);
	d = made(LAB_DESIGN_PAIRED, -1.5);
	ck_assert_uint_eq(lab_stats_boots_needed(&d, 1 / MEAN, 0.05, 1000), 34);
}
END_TEST

static const struct {
	const char *about;
	guint n;
	double a[3], b[3], threshold;
	guint max_boots, want;
} edges[] = {
	{"no boots", 0, {}, {}, 0.02, 100, 0},
	{"one boot", 1, {100}, {110}, 0.02, 100, 0},
	{"at the threshold", 2, {99, 101}, {101, 103}, 0.02, G_MAXUINT, 0},
	{"more than the budget", 2, {90, 110}, {93, 113}, 0.02, 20, 0},
	/* (1.960 + 0.842)^2 * 200 * (1 + 1.02^2) / 1^2 = 3203 */
	{"the same, with a budget", 2, {90, 110}, {93, 113}, 0.02, 100000, 3204},
	{"no budget", 2, {99, 101}, {149, 151}, 0.02, 1, 0},
	{"no spread", 2, {100, 100}, {110, 110}, 0.02, 100, 2},
	{"no spread, the same", 2, {100, 100}, {100, 100}, 0.02, 100, 2},
	{"no spread, at the threshold", 2, {100, 100}, {102, 102}, 0.02, 100, 2},
	{"nothing at all", 3, {0, 0, 0}, {0, 0, 0}, 0.02, 100, 2},
	{"from 0", 2, {0, 0}, {10, 10.1}, 0.02, 100, 2},
	{"a mean of 0", 2, {-1, 1}, {-1, 1}, 0.02, 100, 0},
};

START_TEST(edge)
{
	LabDifference d = lab_difference(LAB_DESIGN_UNPAIRED, edges[_i].a, edges[_i].n, edges[_i].b,
					 edges[_i].n);
	guint got = lab_stats_boots_needed(&d, edges[_i].threshold, 0.05, edges[_i].max_boots);

	ck_assert_msg(got == edges[_i].want, "%s: %u", edges[_i].about, got);
	if (edges[_i].n < 2)
		ck_assert(isnan(lab_stats_power(&d, 0.02, 0.05, 5)));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("power");
	TCase *tcase = tcase_create("power");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, noncentral_t, 0, G_N_ELEMENTS(classic));
	tcase_add_test(tcase, within);
	tcase_add_loop_test(tcase, edge, 0, G_N_ELEMENTS(edges));
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
