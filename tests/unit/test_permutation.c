/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/stats/permutation.h"

#include <stdlib.h>

#include "statistics_cases.h"

/* Fisher, "The Design of Experiments", section 21: of 32,768 arrangements 863 have a sum of 314 or
 * more; two-sided that is 1,726, 5.267 %. */
START_TEST(fisher_on_darwin)
{
	double p = lab_permutation_p(LAB_DESIGN_PAIRED, darwin_self, 15, darwin_crossed, 15, 1);

	ck_assert(p == 1726.0 / 32768);
	ck_assert(p ==
		  lab_permutation_p(LAB_DESIGN_PAIRED, darwin_crossed, 15, darwin_self, 15, 2));
}
END_TEST

/* Computed from the definition by itertools of python3, in tenths of an hour */
START_TEST(student_sleep)
{
	double p = lab_permutation_p(LAB_DESIGN_UNPAIRED, sleep_1, 10, sleep_2, 10, 1);

	assert_within(p, 15048.0 / 184756, 1e-12);
	p = lab_permutation_p(LAB_DESIGN_PAIRED, sleep_1, 10, sleep_2, 10, 1);
	assert_within(p, 4.0 / 1024, 1e-12);
}
END_TEST

static const struct {
	LabDesign design;
	guint n[2];
	double a[4], b[4], want;
} cases[] = {
	{LAB_DESIGN_PAIRED, {0, 0}, {}, {}, NAN},
	{LAB_DESIGN_UNPAIRED, {2, 0}, {1, 2}, {}, NAN},
	{LAB_DESIGN_UNPAIRED, {1, 2}, {NAN}, {1, 2}, NAN},
	{LAB_DESIGN_PAIRED, {1, 1}, {1}, {2}, 1},
	{LAB_DESIGN_UNPAIRED, {1, 1}, {1}, {2}, 1},
	/* nothing differs: each arrangement is as far out */
	{LAB_DESIGN_PAIRED, {3, 3}, {5, 5, 5}, {5, 5, 5}, 1},
	{LAB_DESIGN_UNPAIRED, {3, 3}, {5, 5, 5}, {5, 5, 5}, 1},
	/* the smallest p of 3 boots: 2 of 8, 2 of 20 */
	{LAB_DESIGN_PAIRED, {3, 3}, {1, 2, 3}, {4, 5.5, 7}, 0.25},
	{LAB_DESIGN_UNPAIRED, {3, 3}, {1, 2, 3}, {4, 5.5, 7}, 0.1},
	/* of 3 choose 1: the one alone is 1, 2 or 6 of mean 3: |2|, |1|, |3| */
	{LAB_DESIGN_UNPAIRED, {1, 2}, {1}, {2, 6}, 2.0 / 3},
	{LAB_DESIGN_UNPAIRED, {2, 1}, {1, 2}, {6}, 1.0 / 3},
	/* ties that rounding must not part: 0.1 + 0.2 against 0.3, on a large mean, too */
	{LAB_DESIGN_PAIRED, {4, 4}, {0, 0, 0, 0}, {0.1, 0.2, -0.3, 0.01}, 1},
	{LAB_DESIGN_UNPAIRED, {2, 2}, {0.1, 0.4}, {0.2, 0.3}, 1},
	{LAB_DESIGN_UNPAIRED, {2, 2}, {1e6 + 0.1, 1e6 + 0.4}, {1e6 + 0.2, 1e6 + 0.3}, 1},
	/* a pair short */
	{LAB_DESIGN_PAIRED, {4, 4}, {1, NAN, 2, 3}, {4, 9, 5.5, 7}, 0.25},
};

START_TEST(small_sets)
{
	double p = lab_permutation_p(cases[_i].design, cases[_i].a, cases[_i].n[0], cases[_i].b,
				     cases[_i].n[1], 1);

	assert_within(p, cases[_i].want, 1e-12);
}
END_TEST

/* Drawn arrangements: the same seed, the same answer; another one, another, about the same. All
 * differences are 1: p = P(|sum of signs| >= 12), of 24: 2 * sum of (24 choose k), k to 6, / 2^24 */
START_TEST(drawn_pairs)
{
	double a[24], b[24], p, other;

	for (guint i = 0; i < 24; i++) {
		a[i] = 0;
		b[i] = i < 18 ? 1 : -1;
	}
	p = lab_permutation_p(LAB_DESIGN_PAIRED, a, 24, b, 24, 7);
	other = lab_permutation_p(LAB_DESIGN_PAIRED, a, 24, b, 24, 8);
	ck_assert(p == lab_permutation_p(LAB_DESIGN_PAIRED, a, 24, b, 24, 7));
	ck_assert(p != other);
	/* 5 standard deviations of 100,000 draws */
	assert_within(p, 0.0226558, 0.0024);
	assert_within(other, 0.0226558, 0.0024);
	for (guint i = 0; i < 24; i++)
		b[i] = 1000 + i;
	p = lab_permutation_p(LAB_DESIGN_PAIRED, a, 24, b, 24, 7);
	ck_assert(p == 1.0 / 100001);
}
END_TEST

/* 0 and 1 only: Fisher's exact test of a 2 x 2 table, 11 and 4 of 12: two-sided p = 0.0094 */
START_TEST(drawn_groups)
{
	double a[12], b[12], p;

	for (guint i = 0; i < 12; i++) {
		a[i] = i < 11;
		b[i] = i < 4;
	}
	p = lab_permutation_p(LAB_DESIGN_UNPAIRED, a, 12, b, 12, 3);
	assert_within(p, 0.0094225333, 0.0016);
	ck_assert(p == lab_permutation_p(LAB_DESIGN_UNPAIRED, a, 12, b, 12, 3));
	ck_assert(p != lab_permutation_p(LAB_DESIGN_UNPAIRED, a, 12, b, 12, 4));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("permutation");
	TCase *tcase = tcase_create("permutation");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tcase, fisher_on_darwin);
	tcase_add_test(tcase, student_sleep);
	tcase_add_loop_test(tcase, small_sets, 0, G_N_ELEMENTS(cases));
	tcase_add_test(tcase, drawn_pairs);
	tcase_add_test(tcase, drawn_groups);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
