/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/stats/sequential.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static const struct {
	guint max_boots, n, boots[10];
} schedules[] = {
	{0, 0, {}},
	{1, 1, {1}},
	{2, 1, {2}},
	{3, 1, {3}},
	{4, 2, {3, 4}},
	{5, 2, {3, 5}},
	{6, 2, {3, 6}},
	{8, 3, {3, 5, 8}},
	{10, 3, {3, 5, 10}},
	{11, 4, {3, 5, 8, 11}},
	{20, 5, {3, 5, 8, 12, 20}},
	{40, 7, {3, 5, 8, 12, 18, 27, 40}},
	{100, 9, {3, 5, 8, 12, 18, 27, 41, 62, 100}},
};

START_TEST(schedule)
{
	guint max_boots = schedules[_i].max_boots;

	ck_assert_uint_eq(lab_sequential_looks(max_boots), schedules[_i].n);
	for (guint i = 0; i < schedules[_i].n; i++)
		ck_assert_uint_eq(lab_sequential_look(max_boots, i, 0.05).boots,
				  schedules[_i].boots[i]);
}
END_TEST

/* Any budget: boots grow and end at the budget, alphas grow and sum up to the whole. */
START_TEST(shares)
{
	for (guint max_boots = 1; max_boots < 3000; max_boots++) {
		guint looks = lab_sequential_looks(max_boots);
		LabLook last = {0, 0};
		double sum = 0;

		for (guint i = 0; i < looks; i++) {
			LabLook l = lab_sequential_look(max_boots, i, 0.05);

			ck_assert_uint_gt(l.boots, last.boots);
			ck_assert(l.alpha > last.alpha);
			sum += l.alpha;
			last = l;
		}
		ck_assert_uint_eq(last.boots, max_boots);
		ck_assert(fabs(sum - 0.05) < 1e-15);
	}
	/* 3 + 5 + 8 + 12 + 20 = 48 */
	ck_assert(fabs(lab_sequential_look(20, 0, 0.05).alpha - 0.05 * 3 / 48) < 1e-15);
	ck_assert(fabs(lab_sequential_look(20, 4, 0.05).alpha - 0.05 * 20 / 48) < 1e-15);
	ck_assert_uint_eq(lab_sequential_look(G_MAXUINT, 0, 0.05).boots, 3);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sequential");
	TCase *tcase = tcase_create("sequential");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, schedule, 0, G_N_ELEMENTS(schedules));
	tcase_add_test(tcase, shares);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
