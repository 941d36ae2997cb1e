/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Intervals of differences, against Student's sleep data as R's manual has them: ?sleep and ?t.test (stats 4). */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "lab/stats/shift.h"

static const double drug_1[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
static const double drug_2[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};

static const struct {
	LabDesign design;
	double low, high;
} students[] = {
	{LAB_DESIGN_UNPAIRED, -0.2054832, 3.3654832},
	{LAB_DESIGN_PAIRED, 0.7001142, 2.4598858},
};

START_TEST(sleep_data)
{
	LabDifference d = lab_difference(students[_i].design, drug_1, 10, drug_2, 10);
	LabInterval interval = lab_shift_interval(&d, 0.05);

	ck_assert_double_eq_tol(interval.low, students[_i].low, 5e-8);
	ck_assert_double_eq_tol(interval.high, students[_i].high, 5e-8);
}
END_TEST

static const double ones[] = {1, 1, 1}, twos[] = {2, 2, 2}, near_two[] = {2, 2, 2.5};

START_TEST(degenerate)
{
	LabDifference none = lab_difference(LAB_DESIGN_UNPAIRED, NULL, 0, ones, 3);
	LabDifference one = lab_difference(LAB_DESIGN_UNPAIRED, ones, 1, near_two, 3);
	LabDifference same = lab_difference(LAB_DESIGN_PAIRED, ones, 3, ones, 3);
	LabDifference apart = lab_difference(LAB_DESIGN_UNPAIRED, ones, 3, twos, 3);
	LabInterval interval = lab_shift_interval(&none, 0.05);

	ck_assert(isnan(interval.low) && isnan(interval.high));
	interval = lab_shift_interval(&one, 0.05);
	ck_assert(isinf(interval.low) && interval.low < 0 && isinf(interval.high));
	interval = lab_shift_interval(&same, 0.05);
	ck_assert(interval.low == 0 && interval.high == 0);
	interval = lab_shift_interval(&apart, 0.05);
	ck_assert(interval.low == 1 && interval.high == 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("shift");
	TCase *tcase = tcase_create("shift");
	SRunner *runner = srunner_create(suite);

	tcase_add_loop_test(tcase, sleep_data, 0, 2);
	tcase_add_test(tcase, degenerate);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
