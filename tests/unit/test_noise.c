/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/stats/noise.h"

#include <stdlib.h>

#include "statistics_cases.h"

/* t of 3 degrees of freedom at 95 %: 3.182446 */
static const struct {
	const char *about;
	LabDesign design;
	guint n[2];
	double a[3], b[3];
	guint boots;
	double want;
} cases[] = {
	/* variance 4 / 3, about 100: 3.182446 * sqrt(2 * 4 / 3 / 4) / 100 */
	{"unpaired", LAB_DESIGN_UNPAIRED, {2, 2}, {99, 101}, {99, 101}, 4, 0.025984563},
	/* a fourth of the boots, twice the floor */
	{"fewer boots", LAB_DESIGN_UNPAIRED, {2, 2}, {99, 101}, {99, 101}, 1, 0.051969126},
	{"negative", LAB_DESIGN_UNPAIRED, {2, 2}, {-99, -101}, {-99, -101}, 4, 0.025984563},
	{"missing", LAB_DESIGN_UNPAIRED, {3, 2}, {99, NAN, 101}, {99, 101}, 4, 0.025984563},
	/* differences 1, -1, 2 about 0: 3.182446 * sqrt(6 / 3 / 2) / 100.3333 */
	{"paired", LAB_DESIGN_PAIRED, {3, 3}, {100, 100, 100}, {101, 99, 102}, 2, 0.031718731},
	{"paired, identical", LAB_DESIGN_PAIRED, {2, 2}, {99, 101}, {99, 101}, 4, 0},
	{"no spread", LAB_DESIGN_UNPAIRED, {2, 2}, {5, 5}, {5, 5}, 3, 0},
	{"all 0", LAB_DESIGN_UNPAIRED, {2, 2}, {0, 0}, {0, 0}, 3, 0},
	/* two builds that differ: more boots do not take that away; 10 of 105 */
	{"shifted", LAB_DESIGN_UNPAIRED, {2, 2}, {100, 100}, {110, 110}, 100000, 0.095238095},
	{"shifted pairs", LAB_DESIGN_PAIRED, {2, 2}, {100, 100}, {110, 110}, 100000, 0.095238095},
	{"mean 0", LAB_DESIGN_UNPAIRED, {2, 2}, {-1, 1}, {-1, 1}, 3, INFINITY},
	{"one boot", LAB_DESIGN_UNPAIRED, {1, 2}, {1}, {1, 2}, 3, NAN},
	{"no boots", LAB_DESIGN_PAIRED, {0, 0}, {}, {}, 3, NAN},
};

START_TEST(noise_floor)
{
	double got = lab_noise_floor(cases[_i].design, cases[_i].a, cases[_i].n[0], cases[_i].b,
				     cases[_i].n[1], cases[_i].boots, 0.05);

	assert_within(got, cases[_i].want, 1e-8);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("noise");
	TCase *tcase = tcase_create("noise");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, noise_floor, 0, G_N_ELEMENTS(cases));
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
