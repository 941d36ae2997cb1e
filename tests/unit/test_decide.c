/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Looks at a run that grows: what is decided, when, and that it stays. */
#include "lab/verdict/decide.h"

#include <math.h>
#include <stdlib.h>

#include "tests/unit/store_fixture.h"

#define N_MAX 8

/* real-x of the boots of each kernel */
typedef struct {
	const char *name;
	double values[2][N_MAX];
	guint n_looks;	      /* until it is over */
	const char *lines[3]; /* of each look, from the colon */
	const char *verdict;  /* begin of the text */
	int exit_code;
} Case;

static guint kernel_of(const LabPlanBoot *boot)
{
	return boot->id[1] == '1';
}

static LabPlan *plan_of(guint n_boots)
{
	const char *const kernels[] = {"aaaa", "bbbb", NULL};
	LabPlan *plan = empty_plan(kernels);

	set_text(&plan->clock, "tcg");
	for (guint s = 0; s < n_boots; s++)
		for (guint k = 0; k < 2; k++) {
			g_autofree char *id = g_strdup_printf("k%u-s%u", k, s + 1);

			add_plan_boot(plan, id, k ? "6.12" : "6.1", k ? "dir:b" : "dir:a",
				      kernels[k], s + 1);
		}
	return plan;
}

static void complete_case(LabRun *run, const Case *c)
{
	g_autoptr(GError) error = NULL;

	for (guint i = 0; i < run->plan->boots->len; i++) {
		const LabPlanBoot *boot = run->plan->boots->pdata[i];
		g_autoptr(GPtrArray) samples =
			g_ptr_array_new_with_free_func((GDestroyNotify)lab_sample_free);
		LabSample *sample = g_new0(LabSample, 1);

		*sample = (LabSample){g_strdup("real-x"),
				      c->values[kernel_of(boot)][boot->seed - 1], "s", -1};
		g_ptr_array_add(samples, sample);
		complete_boot(run, boot, LAB_OUTCOME_OK, "", boot->id, samples);
	}
	lab_store_finish_run(store, run, &error);
	assert_no_error(error);
}

static const Case cases[] = {
	{"at once",
	 {{10, 10.01, 10.02}, {12, 12.01, 12.02}},
	 1,
	 {"1 of 1 metrics decided"},
	 "REGRESSION real-x: 19.98 % worse",
	 1},
	{"at the second look",
	 {{10, 10.2, 9.8, 10.01, 10.02}, {11, 11.6, 10.4, 11.01, 11.0}},
	 2,
	 {"0 of 1 metrics decided", "1 of 1 metrics decided"},
	 "REGRESSION real-x",
	 1},
	{"never: the difference is as large as the threshold",
	 {{10, 10.1, 9.9, 10.05, 9.95, 10, 10.1, 9.9},
	  {10.2, 10.3, 10.1, 10.25, 10.15, 10.2, 10.3, 10.1}},
	 3,
	 {"0 of 1 metrics decided", "0 of 1 metrics decided", "0 of 1 metrics decided"},
	 "UNKNOWN real-x",
	 4},
	{"the same",
	 {{10, 10.01, 10.02}, {10.01, 10.02, 10.0}},
	 1,
	 {"1 of 1 metrics decided"},
	 "SAME real-x: equal",
	 0},
};

START_TEST(looks)
{
	const Case *c = &cases[_i];
	g_autoptr(LabDecide) d = lab_decide_new(store, N_MAX, NULL);
	g_autoptr(LabPlan) first = NULL;
	g_autoptr(GError) error = NULL;
	g_autoptr(LabRun) run = NULL;
	g_autofree char *text = NULL;
	gboolean go_on = TRUE;
	const guint *boots;
	guint n;

	boots = lab_decide_looks(d, &n);
	ck_assert_uint_eq(n, 3);
	ck_assert(boots[0] == 3 && boots[1] == 5 && boots[2] == 8);
	first = plan_of(boots[0]);
	run = lab_store_create_run(store, first, "", "{\"steps\": [{\"name\": \"x\"}]}", &error);
	assert_no_error(error);
	for (guint look = 0; look < c->n_looks; look++) {
		g_autofree char *line = NULL;

		ck_assert_msg(go_on, "%s: over after %u looks", c->name, look);
		complete_case(run, c);
		line = lab_decide_look(d, run->id, look, &go_on, &error);
		assert_no_error(error);
		assert_contains(line, c->lines[look]);
		if (look + 1 < c->n_looks) {
			g_autoptr(LabPlan) larger = plan_of(boots[look + 1]);

			ck_assert(lab_run_grow(run, larger, &error));
		}
	}
	ck_assert_msg(!go_on, "%s: it goes on", c->name);
	text = lab_decide_text(d);
	ck_assert_msg(g_str_has_prefix(text, c->verdict), "%s: %s", c->name, text);
	ck_assert_int_eq(lab_decide_exit_code(d), c->exit_code);
}
END_TEST

/* A verdict of an early look is not taken back by boots that come for another metric's sake. */
START_TEST(stays)
{
	static const double x[2][N_MAX] = {{10, 10.01, 10.02, 9, 12}, {12, 12.01, 12.02, 12, 9}};
	static const double y[2][N_MAX] = {{5, 5.5, 4.5, 5, 5}, {5, 4.5, 5.6, 5, 5}};
	g_autoptr(LabDecide) d = lab_decide_new(store, N_MAX, NULL);
	g_autoptr(LabPlan) plan = plan_of(3), larger = plan_of(5);
	g_autoptr(GError) error = NULL;
	g_autoptr(LabRun) run = lab_store_create_run(
		store, plan, "", "{\"steps\": [{\"name\": \"x\"}, {\"name\": \"y\"}]}", &error);
	g_autofree char *text = NULL, *json = NULL;

	for (guint look = 0; look < 2; look++) {
		g_autofree char *line = NULL;
		gboolean go_on = FALSE;

		for (guint i = 0; i < run->plan->boots->len; i++) {
			const LabPlanBoot *boot = run->plan->boots->pdata[i];
			g_autoptr(GPtrArray) samples =
				g_ptr_array_new_with_free_func((GDestroyNotify)lab_sample_free);

			for (guint m = 0; m < 2; m++) {
				LabSample *sample = g_new0(LabSample, 1);

				*sample = (LabSample){
					g_strdup(m ? "real-y" : "real-x"),
					(m ? y : x)[kernel_of(boot)][boot->seed - 1], "s", -1};
				g_ptr_array_add(samples, sample);
			}
			complete_boot(run, boot, LAB_OUTCOME_OK, "", boot->id, samples);
		}
		lab_store_finish_run(store, run, &error);
		line = lab_decide_look(d, run->id, look, &go_on, &error);
		assert_no_error(error);
		ck_assert(go_on);
		assert_contains(line, "1 of 2 metrics decided");
		if (!look)
			ck_assert(lab_run_grow(run, larger, &error));
	}
	text = lab_decide_text(d);
	assert_contains(text, "REGRESSION real-x: 19.98 % worse");
	assert_contains(text, "3 and 3 boots");
	assert_contains(text, "UNKNOWN real-y");
	assert_contains(text, "5 and 5 boots");
	json = lab_decide_json(d);
	assert_contains(json, "\"verdict\": \"REGRESSION\"");
	ck_assert_int_eq(lab_decide_exit_code(d), 1);
}
END_TEST

START_TEST(one_kernel)
{
	const char *const kernels[] = {"aaaa", NULL};
	g_autoptr(LabDecide) d = lab_decide_new(store, 3, NULL);
	g_autoptr(LabPlan) plan = empty_plan(kernels);
	g_autoptr(GError) error = NULL;
	g_autoptr(LabRun) run = NULL;
	gboolean go_on;
	const Case c = {.values = {{1, 2, 3}}};

	add_plan_boot(plan, "k0-s1", "6.1", "dir:a", "aaaa", 1);
	run = lab_store_create_run(store, plan, "", "{\"steps\": [{\"name\": \"x\"}]}", &error);
	complete_case(run, &c);
	ck_assert_ptr_null(lab_decide_look(d, run->id, 0, &go_on, &error));
	ck_assert_int_eq(error->code, LAB_ERROR_USER);
	assert_contains(error->message, "wanted two kernels and a metric to judge, found 1 kernel");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("decide");
	TCase *tcase = tcase_create("decide");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, looks, 0, G_N_ELEMENTS(cases));
	tcase_add_test(tcase, stays);
	tcase_add_test(tcase, one_kernel);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
