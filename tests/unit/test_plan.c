/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/store/store.h"

#include <check.h>
#include <stdlib.h>

#include "tests/unit/lab_store.h"

/* ---- plan ---------------------------------------------------------------------------------------
 */

START_TEST(plan_round_trip)
{
	g_autoptr(LabPlan) plan = small_plan(), again = NULL;
	g_autofree char *json = lab_plan_json(plan), *json_again = NULL;
	g_autoptr(GError) error = NULL;
	const LabPlanBoot *boot;

	again = lab_plan_from_json(json, &error);
	assert_no_error(error);
	json_again = lab_plan_json(again);
	ck_assert_str_eq(json, json_again);
	ck_assert_str_eq(again->scenario_path, plan->scenario_path);
	ck_assert_ptr_null(again->prepared_digest);
	ck_assert_ptr_null(again->files_digest);
	ck_assert(again->order_seed == G_MAXUINT64);
	ck_assert_uint_eq(again->boots->len, 3);
	boot = again->boots->pdata[2];
	ck_assert_str_eq(boot->id, "6.1-s2");
	ck_assert(boot->seed == G_MAXUINT64);
	assert_contains(json, "\n  \"scenario_name\" : \"demo\",\n");
}
END_TEST

START_TEST(plan_digest)
{
	g_autoptr(LabPlan) plan = small_plan();
	g_autofree char *before = lab_plan_digest(plan);
	LabPlanBoot *boot = plan->boots->pdata[0];

	/* What may differ between two starts of the same experiment. */
	set_text(&plan->scenario_name, "other");
	set_text(&plan->scenario_path, "/elsewhere");
	set_text(&boot->kernel_label, "label");
	plan->order_seed = 7;
	plan->boots->pdata[0] = plan->boots->pdata[1];
	plan->boots->pdata[1] = boot;
	{
		g_autofree char *same = lab_plan_digest(plan);

		ck_assert_str_eq(before, same);
	}
	/* What makes another experiment. */
	for (int change = 0; change < 9; change++) {
		g_autoptr(LabPlan) other = small_plan();
		LabPlanBoot *first = other->boots->pdata[0];
		g_autofree char *digest = NULL;

		switch (change) {
		case 8:
			other->is_aa = TRUE;
			break;
		case 0:
			set_text(&other->scenario_digest, "x");
			break;
		case 1:
			set_text(&other->clock, "tcg");
			break;
		case 2:
			set_text(&other->image_digest, "x");
			break;
		case 3:
			set_text(&other->prepared_digest, "x");
			break;
		case 4:
			set_text(&other->qemu_version, "10.0.3");
			break;
		case 5:
			first->seed++;
			break;
		case 6:
			set_text(&other->files_digest, "x");
			break;
		case 7:
			g_ptr_array_remove_index(other->boots, 0);
			break;
		}
		digest = lab_plan_digest(other);
		ck_assert_msg(strcmp(before, digest) != 0, "change %d has the same digest", change);
	}
}
END_TEST

static void add_point(LabPlan *plan, const char *value, const char *digest)
{
	LabPlanPoint *point = g_new0(LabPlanPoint, 1);

	point->values = g_strsplit(value, " ", -1);
	point->scenario_digest = g_strdup(digest);
	g_ptr_array_add(plan->points, point);
}

static LabPlan *sweep_plan(void)
{
	LabPlan *plan = small_plan();

	g_strfreev(plan->sweep);
	plan->sweep = g_strsplit("bhash dirs", " ", -1);
	add_point(plan, "default 1", "d1");
	add_point(plan, "101073 2", "d2");
	((LabPlanBoot *)plan->boots->pdata[1])->point = 1;
	return plan;
}

START_TEST(plan_of_a_sweep)
{
	g_autoptr(LabPlan) plan = sweep_plan(), again = NULL, plain = small_plan();
	g_autofree char *json = lab_plan_json(plan), *digest = lab_plan_digest(plan), *other = NULL, *third = NULL;
	g_autofree char *plain_digest = lab_plan_digest(plain), *json_again = NULL, *label = NULL, *part = NULL;
	g_autofree char *boot = NULL;
	g_autoptr(GError) error = NULL;

	again = lab_plan_from_json(json, &error);
	assert_no_error(error);
	json_again = lab_plan_json(again);
	ck_assert_str_eq(json, json_again);
	label = lab_plan_point_label(again, 1, NULL);
	ck_assert_str_eq(label, "bhash=101073 dirs=2");
	part = lab_plan_point_label(again, 1, "bhash");
	ck_assert_str_eq(part, "dirs=2");
	boot = lab_plan_boot_label(again, again->boots->pdata[1]);
	assert_contains(boot, " bhash=101073 dirs=2 seed ");
	/* What makes another experiment. */
	ck_assert_str_ne(digest, plain_digest);
	((LabPlanBoot *)again->boots->pdata[1])->point = 0;
	other = lab_plan_digest(again);
	ck_assert_str_ne(digest, other);
	((LabPlanBoot *)again->boots->pdata[1])->point = 1;
	set_text(&((LabPlanPoint *)again->points->pdata[0])->prepared_digest, "x");
	third = lab_plan_digest(again);
	ck_assert_str_ne(digest, third);
}
END_TEST

static const struct {
	const char *find, *replace, *wanted;
} bad_sweeps[] = {
	{"\"point\" : 1", "\"point\" : 2", "the point of boot '"},
	{"\"point\" : 1", "\"point\" : -1", "'point' is missing or no number"},
	{"\"sweep\"", "\"sweet\"", "'sweep' is missing"},
	{"\"values\" : [\n        \"default\",", "\"values\" : [", "not as many values as 'sweep' has keys"},
	{"\"scenario_digest\" : \"d2\"", "\"scenario_digest\" : 2", "'scenario_digest'"},
	{"\"points\" : [", "\"points\" : [ 1, ", "'points' holds something else"},
};

START_TEST(plan_of_a_bad_sweep)
{
	g_autoptr(LabPlan) plan = sweep_plan(), read = NULL;
	g_autofree char *json = lab_plan_json(plan);
	g_autoptr(GString) text = g_string_new(json);
	g_autoptr(GError) error = NULL;

	ck_assert_msg(g_string_replace(text, bad_sweeps[_i].find, bad_sweeps[_i].replace, 1) > 0, "%s", json);
	read = lab_plan_from_json(text->str, &error);
	ck_assert_ptr_null(read);
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_INFRA));
	assert_contains(error->message, bad_sweeps[_i].wanted);
}
END_TEST

static const struct {
	const char *find, *replace, *wanted;
} bad_plans[] = {
	{"\"6.1-s1\"", "\"../x\"", "'../x' cannot be the id"},
	{"\"6.1-s1\"", "\"..\"", "'..' cannot be the id"},
	{"\"6.1-s1\"", "\"\"", "'' cannot be the id"},
	{"\"6.1-s1\"", "\"6.1-s2\"", "'6.1-s2' is there twice"},
	{"\"kernel_digest\" : \"bbbb\"", "\"kernel_digest\" : \"cccc\"", "not among the kernels"},
	{"\"clock\" : \"exact\"", "\"clock\" : 5", "'clock' is missing or no text"},
	{"\"clock\"", "\"glock\"", "'clock' is missing"},
	{"\"seed\" : 1", "\"seed\" : -1", "'seed' is missing or no number"},
	{"\"18446744073709551615\"", "\"18446744073709551616\"", "no number"},
	{"\"version\" : 1", "\"version\" : 2", "another version of numalab"},
	{"\"boots\"", "\"roots\"", "'boots' is missing"},
	{"\"kernels\"", "\"colonels\"", "'kernels' is missing"},
	{"{", "[", "plan: "},
	{"\"prepared_digest\" : null", "\"prepared_digest\" : []", "'prepared_digest'"},
	{"\"files_digest\" : null", "\"files_digest\" : 1", "'files_digest'"},
};

START_TEST(plan_bad)
{
	g_autoptr(LabPlan) plan = small_plan(), read = NULL;
	g_autofree char *json = lab_plan_json(plan);
	g_autoptr(GString) text = g_string_new(json);
	g_autoptr(GError) error = NULL;

	ck_assert_uint_gt(g_string_replace(text, bad_plans[_i].find, bad_plans[_i].replace, 1), 0);
	read = lab_plan_from_json(text->str, &error);
	ck_assert_ptr_null(read);
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_INFRA));
	assert_contains(error->message, bad_plans[_i].wanted);
}
END_TEST

START_TEST(plan_empty)
{
	static const char *const texts[] = {"", "null", "3", "[]", "{}", "{\"version\": \"x\"}"};

	for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
		g_autoptr(GError) error = NULL;

		ck_assert_ptr_null(lab_plan_from_json(texts[i], &error));
		ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_INFRA));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("plan");
	TCase *tcase = tcase_create("plan");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tcase, plan_round_trip);
	tcase_add_test(tcase, plan_digest);
	tcase_add_test(tcase, plan_of_a_sweep);
	tcase_add_loop_test(tcase, plan_of_a_bad_sweep, 0, G_N_ELEMENTS(bad_sweeps));
	tcase_add_loop_test(tcase, plan_bad, 0, G_N_ELEMENTS(bad_plans));
	tcase_add_test(tcase, plan_empty);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
