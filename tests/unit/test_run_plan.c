/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lab/run/plan.h"

static LabKernel kernels[] = {
	{.digest = "aaaaaaaaaaaa", .text = "debian:bookworm", .label = "6.1.192"},
	{.digest = "bbbbbbbbbbbb", .text = "debian:sid", .label = "7.2.1"},
	{.digest = "cccccccccccc", .text = "dir:/tree", .label = "7.2.1"},
};

static LabPlan *make_with(const LabRunOptions *options, const char *digest, guint n_kernels, guint n_seeds)
{
	static guint64 seeds[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
				  11, 12, 13, 14, 15, 16, 17, 18, 19, 20};
	LabImage image = {.digest = "image"};
	LabScenario scenario = {.path = "s.yaml",
				.name = "s",
				.digest = (char *)digest,
				.seeds = seeds,
				.n_seeds = n_seeds};
	LabInputs in = {.scenario = &scenario, .options = options, .image = &image, .emulator_version = "10.0.2"};
	LabPlan *plan;

	in.kernels = g_ptr_array_new();
	for (guint i = 0; i < n_kernels; i++)
		g_ptr_array_add(in.kernels, &kernels[i]);
	plan = lab_plan_make(&in, 0);
	g_ptr_array_unref(in.kernels);
	return plan;
}

static LabPlan *make(const char *digest, guint n_kernels, guint n_seeds)
{
	return make_with(&(LabRunOptions){0}, digest, n_kernels, n_seeds);
}

static const LabPlanBoot *boot(const LabPlan *plan, guint i)
{
	return g_ptr_array_index(plan->boots, i);
}

START_TEST(every_kernel_once_in_each_block)
{
	g_autoptr(LabPlan) plan = make("0123456789abcdef", 3, 20);

	ck_assert_uint_eq(plan->boots->len, 60);
	for (guint block = 0; block < 20; block++) {
		guint seen = 0;

		for (guint i = 0; i < 3; i++) {
			const LabPlanBoot *b = boot(plan, block * 3 + i);

			ck_assert_uint_eq(b->seed, block + 1);
			seen |= 1u << (b->kernel_digest[0] - 'a');
		}
		ck_assert_uint_eq(seen, 7);
	}
	ck_assert_str_eq(plan->kernels[0], kernels[0].digest);
	ck_assert_str_eq(plan->kernels[2], kernels[2].digest);
	ck_assert_ptr_null(plan->kernels[3]);
}
END_TEST

/* Two seeds of the one kernel in each block: one that the scenario has, and one above them all. */
START_TEST(a_kernel_against_itself)
{
	g_autoptr(LabPlan) plan = make_with(&(LabRunOptions){.aa = TRUE}, "0123456789abcdef", 1, 20);
	g_autoptr(LabPlan) usual = make("0123456789abcdef", 1, 20);
	g_autoptr(LabPlan) two = make_with(&(LabRunOptions){.aa = TRUE}, "0123456789abcdef", 2, 20);
	guint other_first = 0;

	ck_assert(plan->is_aa && two->is_aa && !usual->is_aa);
	ck_assert_uint_eq(plan->boots->len, 40);
	for (guint block = 0; block < 20; block++) {
		guint64 a = boot(plan, 2 * block)->seed, b = boot(plan, 2 * block + 1)->seed;

		ck_assert_uint_eq(MIN(a, b), block + 1);
		ck_assert_uint_eq(MAX(a, b), block + 21);
		other_first += a > b;
	}
	ck_assert_uint_gt(other_first, 3);
	ck_assert_uint_lt(other_first, 17);
	/* Two builds: the seeds that there are. */
	ck_assert_uint_eq(two->boots->len, 40);
	ck_assert_uint_eq(boot(two, 0)->seed, boot(two, 1)->seed);
}
END_TEST

/* Every kernel at every point in each block, in an order of its own; and the same boots again in the same places. */
START_TEST(points_are_interleaved)
{
	static guint64 seeds[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	LabImage image = {.digest = "image"};
	LabScenario at[] = {{.digest = (char *)"d1"}, {.digest = (char *)"d2"}, {.digest = (char *)"d3"}};
	const char *values[][2] = {{"1", NULL}, {"2", NULL}, {"4", NULL}}, *sweep[] = {"dirs", NULL};
	LabPoint points[3];
	LabScenario scenario = {.path = (char *)"s.yaml", .name = (char *)"s", .digest = (char *)"0123456789abcdef",
				.seeds = seeds, .n_seeds = 10, .sweep = (char **)sweep};
	LabInputs of_points[3], in = {.scenario = &scenario, .options = &(LabRunOptions){0}, .image = &image,
				      .emulator_version = (char *)"10.0.2"};
	g_autoptr(LabPlan) plan = NULL;
	guint first[3] = {0};

	scenario.points = g_ptr_array_new();
	in.points = g_ptr_array_new();
	in.kernels = g_ptr_array_new();
	for (guint i = 0; i < 3; i++) {
		points[i] = (LabPoint){(char **)values[i], &at[i]};
		of_points[i] = (LabInputs){.scenario = &at[i]};
		g_ptr_array_add(scenario.points, &points[i]);
		g_ptr_array_add(in.points, &of_points[i]);
	}
	g_ptr_array_add(in.kernels, &kernels[0]);
	g_ptr_array_add(in.kernels, &kernels[1]);
	plan = lab_plan_make(&in, 0);
	ck_assert_uint_eq(plan->boots->len, 60);
	ck_assert_str_eq(((LabPlanPoint *)plan->points->pdata[2])->scenario_digest, "d3");
	for (guint block = 0; block < 10; block++) {
		guint seen = 0;

		first[boot(plan, block * 6)->point]++;
		for (guint i = 0; i < 6; i++) {
			const LabPlanBoot *b = boot(plan, block * 6 + i);
			g_autofree char *id = g_strdup_printf("%s-p%u-s%u", b->kernel_label, b->point + 1, block + 1);

			ck_assert_str_eq(b->id, id);
			ck_assert_uint_eq(b->seed, block + 1);
			seen |= 1u << (b->point * 2 + (guint)(b->kernel_digest[0] - 'a'));
		}
		ck_assert_uint_eq(seen, 63);
	}
	for (guint i = 0; i < 3; i++)
		ck_assert_uint_lt(first[i], 10);
	g_ptr_array_unref(in.kernels);
	g_ptr_array_unref(in.points);
	g_ptr_array_unref(scenario.points);
}
END_TEST

START_TEST(no_kernel_is_always_first)
{
	g_autoptr(LabPlan) plan = make("0123456789abcdef", 2, 20);
	guint first = 0;

	for (guint block = 0; block < 20; block++)
		first += boot(plan, block * 2)->kernel_digest[0] == 'a';
	ck_assert_uint_gt(first, 3);
	ck_assert_uint_lt(first, 17);
}
END_TEST

START_TEST(same_scenario_same_order)
{
	g_autoptr(LabPlan) a = make("0123456789abcdef", 3, 20), b = make("0123456789abcdef", 3, 20);
	g_autoptr(LabPlan) other = make("fedcba9876543210", 3, 20);
	guint differ = 0;

	ck_assert_str_eq(a->digest, b->digest);
	ck_assert_str_ne(a->digest, other->digest);
	for (guint i = 0; i < a->boots->len; i++) {
		ck_assert_str_eq(boot(a, i)->id, boot(b, i)->id);
		differ += strcmp(boot(a, i)->id, boot(other, i)->id) != 0;
	}
	ck_assert_uint_gt(differ, 0);
	ck_assert_uint_ne(a->order_seed, other->order_seed);
}
END_TEST

/* Two trees of one version share a label, and must not share a directory. */
START_TEST(ids_are_unique)
{
	g_autoptr(LabPlan) plan = make("0123456789abcdef", 3, 20);
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; i < plan->boots->len; i++)
		ck_assert_msg(g_hash_table_add(seen, boot(plan, i)->id), "%s twice",
			      boot(plan, i)->id);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("plan");
	TCase *tc = tcase_create("plan");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tc, every_kernel_once_in_each_block);
	tcase_add_test(tc, no_kernel_is_always_first);
	tcase_add_test(tc, points_are_interleaved);
	tcase_add_test(tc, a_kernel_against_itself);
	tcase_add_test(tc, same_scenario_same_order);
	tcase_add_test(tc, ids_are_unique);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
