/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The noise floor of A/A runs that are in a store. */
#include "lab/verdict/noise.h"

#include <math.h>
#include <stdlib.h>

#include "tests/unit/store_fixture.h"

static void complete(const LabRun *run, const LabPlanBoot *boot, double value)
{
	g_autoptr(GPtrArray) samples =
		g_ptr_array_new_with_free_func((GDestroyNotify)lab_sample_free);
	LabSample *sample = g_new0(LabSample, 1);

	*sample = (LabSample){g_strdup("real-x"), value, "s", -1};
	g_ptr_array_add(samples, sample);
	complete_boot(run, boot, LAB_OUTCOME_OK, "", boot->id, samples);
}

/* @n_kernels 1: seeds 1 to 6; 2: seeds 1 to 3 of each */
static void make_run(guint n_kernels, gboolean is_aa, const char *clock, const double values[6])
{
	static const char *const kernels[] = {"aaaa", "bbbb", NULL};
	const char *const one[] = {"aaaa", NULL};
	g_autoptr(LabPlan) plan = empty_plan(n_kernels == 1 ? one : kernels);
	g_autoptr(GError) error = NULL;
	g_autoptr(LabRun) run = NULL;

	set_text(&plan->clock, clock);
	plan->is_aa = is_aa;
	for (guint i = 0; i < 6; i++) {
		guint kernel = n_kernels == 1 ? 0 : i / 3,
		      seed = n_kernels == 1 ? i + 1 : i % 3 + 1;
		g_autofree char *id = g_strdup_printf("k%u-s%u", kernel, seed);

		add_plan_boot(plan, id, "6.1", kernel ? "dir:b" : "dir:a", kernels[kernel], seed);
	}
	run = lab_store_create_run(store, plan, "name: demo\n", "{\"steps\": [{\"name\": \"x\"}]}",
				   &error);
	assert_no_error(error);
	for (guint i = 0; i < 6; i++)
		complete(run, run->plan->boots->pdata[i], values[i]);
	lab_store_finish_run(store, run, &error);
	assert_no_error(error);
}

static const double values[6] = {1.00, 1.02, 0.98, 1.01, 1.03, 0.99};

static const struct {
	const char *name, *clock;
	guint n_kernels;
	LabDesign design;
} cases[] = {
	{"other seeds", "exact", 1, LAB_DESIGN_UNPAIRED},
	{"built twice, the same seeds", "exact", 2, LAB_DESIGN_PAIRED},
	{"built twice, a clock with noise", "tcg", 2, LAB_DESIGN_UNPAIRED},
};

START_TEST(floors)
{
	double wanted = 100 * lab_noise_floor(cases[_i].design, values, 3, values + 3, 3, 3, 0.05);
	double for_ten =
		100 * lab_noise_floor(cases[_i].design, values, 3, values + 3, 3, 10, 0.05);
	g_autoptr(LabNoise) noise = NULL, more = NULL;
	g_autoptr(GError) error = NULL;
	const LabNoiseRow *row;

	make_run(cases[_i].n_kernels, TRUE, cases[_i].clock, values);
	noise = lab_noise(store, "1", NULL, 0, &error);
	assert_no_error(error);
	ck_assert_uint_eq(noise->n, 3);
	ck_assert_uint_eq(noise->boots, 3);
	ck_assert_int_eq(noise->design, cases[_i].design);
	ck_assert_uint_eq(noise->rows->len, 1);
	row = noise->rows->pdata[0];
	ck_assert_str_eq(row->metric, "real-x");
	ck_assert_uint_eq(row->summary.n, 6);
	ck_assert_double_gt(wanted, 0);
	ck_assert_double_eq_tol(row->floor_pct, wanted, 1e-9);
	more = lab_noise(store, "latest", NULL, 10, &error);
	assert_no_error(error);
	row = more->rows->pdata[0];
	ck_assert_double_eq_tol(row->floor_pct, for_ten, 1e-9);
	ck_assert_double_lt(for_ten, wanted);
}
END_TEST

START_TEST(no_aa_run)
{
	g_autoptr(GError) error = NULL;

	make_run(1, FALSE, "exact", values);
	ck_assert_ptr_null(lab_noise(store, "1", NULL, 0, &error));
	ck_assert_int_eq(error->code, LAB_ERROR_USER);
	ck_assert_str_eq(error->message,
			 "run 1 is no A/A run; 'numalab run SCENARIO --aa' makes one");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("noise");
	TCase *tcase = tcase_create("noise");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, floors, 0, G_N_ELEMENTS(cases));
	tcase_add_test(tcase, no_aa_run);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
