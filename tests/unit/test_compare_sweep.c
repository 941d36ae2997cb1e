/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The comparison of a sweep: every point, the whole, and what is refused. */
#include "lab/verdict/compare.h"

#include <math.h>
#include <stdlib.h>

#include "tests/unit/store_fixture.h"

#define N_KERNELS 2
#define N_SEEDS 3

static const char *const digests[] = {"aaaaaaaaaaaa", "bbbbbbbbbbbb", NULL};
static const char *const labels[] = {"6.1.192", "6.12.95"};
static const char *const texts[] = {"debian:bookworm", "debian:bookworm-backports"};

/* Of the second kernel as a fraction of the first, at each point: worse but at one. */
static const double ratio[] = {1.10, 1.08, 0.95, 1.12};
static const char *const bhash[] = {"default", "default", "101073", "101073"};
static const char *const dirs[] = {"1", "2", "1", "2"};

static void add_point(LabPlan *plan, guint i, const char *digest)
{
	LabPlanPoint *point = g_new0(LabPlanPoint, 1);

	point->values = g_strdupv((char *[]){(char *)bhash[i], (char *)dirs[i], NULL});
	point->scenario_digest = g_strdup_printf("%s%u", digest, i);
	g_ptr_array_add(plan->points, point);
}

static LabPlan *make_plan(guint from, guint n_points, const char *digest)
{
	LabPlan *plan = empty_plan(digests);

	g_free(plan->scenario_digest);
	plan->scenario_digest = g_strdup_printf("%s of %u", digest, n_points);
	g_strfreev(plan->sweep);
	plan->sweep = g_strsplit("bhash dirs", " ", -1);
	for (guint p = 0; p < n_points; p++)
		add_point(plan, from + p, digest);
	for (guint seed = 1; seed <= N_SEEDS; seed++)
		for (guint p = n_points; p-- > 0;) /* not in their order */
			for (guint k = 0; k < N_KERNELS; k++) {
				g_autofree char *id =
					g_strdup_printf("k%u-p%u-s%u", k, p + 1, seed);

				add_plan_boot(plan, id, labels[k], texts[k], digests[k], seed);
				((LabPlanBoot *)plan->boots->pdata[plan->boots->len - 1])->point =
					p;
			}
	return plan;
}

static void add_sample(GPtrArray *samples, const char *metric, const char *unit, int better,
		       double value)
{
	LabSample *sample = g_new0(LabSample, 1);

	*sample = (LabSample){g_strdup(metric), value, unit, better};
	g_ptr_array_add(samples, sample);
}

static void complete(const LabRun *run, const LabPlanBoot *boot, guint from)
{
	g_autoptr(GPtrArray) samples =
		g_ptr_array_new_with_free_func((GDestroyNotify)lab_sample_free);
	guint point = from + boot->point;
	gboolean second = boot->kernel_digest[0] == 'b';
	double value =
		(10 + point) * (1 + 0.001 * (double)boot->seed) * (second ? ratio[point] : 1);
	g_autofree char *digest = g_strdup_printf("%s-%u", boot->id, run->id);

	add_sample(samples, "real-xfsrepair", "s", -1, value);
	add_sample(samples, "files/s-fsmark", "files/s", 1, 1000 / value);
	add_sample(samples, "numa_hint_faults", "count", 0, 100 * point + boot->seed);
	add_sample(samples, "numa_foreign", "count", 0, 0);
	complete_boot(run, boot, LAB_OUTCOME_OK, "", digest, samples);
}

/* @bad: (nullable): id of a boot that the lab failed */
static LabRun *make_run(guint from, guint n_points, const char *digest, const char *bad)
{
	g_autoptr(LabPlan) plan = make_plan(from, n_points, digest);
	g_autoptr(GError) error = NULL;
	LabRun *run = lab_store_create_run(store, plan, "",
					   "{\"steps\": [{\"name\": \"xfsrepair\"}]}", &error);

	assert_no_error(error);
	for (guint i = 0; i < run->plan->boots->len; i++) {
		const LabPlanBoot *boot = run->plan->boots->pdata[i];

		if (g_strcmp0(boot->id, bad))
			complete(run, boot, from);
		else
			complete_boot(run, boot, LAB_OUTCOME_INFRA, "QEMU ended", "", NULL);
	}
	lab_run_refresh(run);
	return run;
}

static LabCompare *compare(const char *by, const char *first, const char *second, GError **error)
{
	return lab_compare(store, (const char *const[]){first, second, NULL},
			   &(LabCompareOptions){.by = by}, error);
}

static LabCompare *compare_ok(const char *by, const char *first, const char *second)
{
	g_autoptr(GError) error = NULL;
	LabCompare *result = compare(by, first, second, &error);

	assert_no_error(error);
	return result;
}

static void check_golden(const char *name, const char *text)
{
	g_autofree char *path = g_strdup_printf("%s/compare/%s", TEST_DATA, name);
	g_autofree char *wanted = NULL;

	if (g_getenv("NUMALAB_GOLDEN")) {
		ck_assert(lab_file_write(path, text, -1, NULL));
		return;
	}
	wanted = lab_file_read(path, NULL, NULL);
	ck_assert_ptr_nonnull(wanted);
	ck_assert_str_eq(text, wanted);
}

START_TEST(every_point_is_there)
{
	g_autoptr(LabRun) run = make_run(0, 4, "d", NULL);
	g_autoptr(LabCompare) result = compare_ok(NULL, "1", NULL);
	g_autofree char *text = lab_compare_text(result, NULL, NULL),
			*csv = lab_compare_csv(result);
	g_autofree char *json = lab_compare_json(result), *layout = NULL;

	check_golden("sweep.txt", text);
	check_golden("sweep.csv", csv);
	check_golden("sweep.json", json);
	ck_assert_uint_eq(g_strv_length(result->points), 4);
	ck_assert_str_eq(result->points[3], "bhash=101073 dirs=2");
	/* Only where it is marked as such is the one that goes the other way. */
	for (guint i = 0; i < 4; i++)
		ck_assert_int_eq(lab_compare_is_against(result, result->times->pdata[i], 1),
				 i == 2);
	layout = lab_compare_text(result, &(LabTableOptions){.mmtests = TRUE}, NULL);
	ck_assert_ptr_null(strchr(layout, '!'));
}
END_TEST

START_TEST(whole)
{
	g_autoptr(LabRun) run = make_run(0, 4, "d", NULL);
	g_autoptr(LabCompare) result = compare_ok(NULL, "1", NULL);
	const LabCompareWhole *time = lab_compare_whole(result, "real-xfsrepair");
	const LabCompareWhole *rate = lab_compare_whole(result, "files/s-fsmark");
	double product = 1;

	for (guint i = 0; i < 4; i++)
		product *= ratio[i];
	ck_assert_double_eq_tol(time->gmean[1] / time->gmean[0], pow(product, 0.25), 1e-12);
	ck_assert_double_eq_tol(rate->gmean[1] / rate->gmean[0], pow(product, -0.25), 1e-12);
	ck_assert_ptr_null(lab_compare_whole(result, "real-nothing"));
}
END_TEST

static const LabCompareVerdict *verdict_at(const LabCompare *c, guint point)
{
	for (guint i = 0; i < c->verdicts->len; i++) {
		const LabCompareVerdict *v = c->verdicts->pdata[i];

		if (v->point == point)
			return v;
	}
	return NULL;
}

START_TEST(every_point_is_judged)
{
	static const char *const wanted[] = {"REGRESSION", "REGRESSION", "IMPROVEMENT",
					     "REGRESSION"};
	g_autoptr(LabRun) run = make_run(0, 4, "d", NULL);
	g_autoptr(LabCompare) result = compare_ok(NULL, "1", NULL);

	ck_assert_uint_eq(result->verdicts->len, 4);
	for (guint i = 0; i < 4; i++) {
		const LabCompareVerdict *v = verdict_at(result, i);

		ck_assert_str_eq(lab_compare_verdict_name(v), wanted[i]);
		ck_assert_uint_eq(v->difference.n[0], N_SEEDS);
		ck_assert_double_eq_tol(v->difference.relative, ratio[i] - 1, 1e-9);
		/* Of all of them together: the worst of four has a quarter. */
		ck_assert_double_le(v->judgement.alpha, LAB_COMPARE_ALPHA);
	}
	ck_assert_int_eq(lab_compare_exit_code(result), 1);
}
END_TEST

/* A boot that is not there takes its partner out, of its point alone. */
START_TEST(a_boot_that_failed)
{
	g_autoptr(LabRun) run = make_run(0, 4, "d", "k1-p2-s3");
	g_autoptr(LabCompare) result = compare_ok(NULL, "1", NULL);
	g_autofree char *text = lab_compare_text(result, NULL, NULL);

	for (guint i = 0; i < 4; i++)
		ck_assert_uint_eq(verdict_at(result, i)->difference.n[0], i == 1 ? 2 : 3);
	assert_contains(text, "6.12.95 bookworm-backports, run 1: 1 of 12 boots failed "
			      "(bhash=default dirs=2 seed 3: infra: "
			      "QEMU ended)");
	assert_contains(text, "run 1: bhash=default dirs=2 seed 3 left out of verdicts and stars");
}
END_TEST

START_TEST(by_a_key)
{
	g_autoptr(LabRun) run = make_run(0, 4, "d", NULL);
	g_autoptr(LabCompare) result = compare_ok("bhash", "1:6.1.192", NULL);
	g_autoptr(LabCompare) whole_path =
		compare_ok("steps.xfsrepair.options.bhash", "1:6.1.192", NULL);
	g_autofree char *text = lab_compare_text(result, NULL, NULL);
	const LabCompareColumn *column = result->columns->pdata[1];

	check_golden("sweep-by.txt", text);
	ck_assert_uint_eq(result->columns->len, 2);
	ck_assert_uint_eq(whole_path->columns->len, 2);
	ck_assert_str_eq(column->label[1], "bhash=101073");
	ck_assert_int_eq(column->design, LAB_DESIGN_PAIRED);
	ck_assert_str_eq(result->by, "bhash");
	ck_assert_uint_eq(g_strv_length(result->points), 2);
	ck_assert_str_eq(result->points[1], "dirs=2");
	/* 12 / 10, 13 / 11 */
	ck_assert_double_eq_tol(verdict_at(result, 0)->difference.relative, 0.2, 1e-9);
	ck_assert_double_eq_tol(verdict_at(result, 1)->difference.relative, 2.0 / 11, 1e-9);
}
END_TEST

static const LabCompareRow *counter(const LabCompare *result, const char *metric)
{
	for (guint i = 0; i < result->counters->len; i++) {
		const LabCompareRow *row = result->counters->pdata[i];

		if (!strcmp(row->metric, metric))
			return row;
	}
	return NULL;
}

START_TEST(some_points)
{
	g_autoptr(LabRun) run = make_run(0, 4, "d", NULL);
	g_autoptr(LabCompare) one = compare_ok(NULL, "1@bhash=101073,dirs=1", NULL);
	g_autoptr(LabCompare) two = compare_ok("dirs", "1:6.1.192@bhash=default", NULL);

	ck_assert_uint_eq(g_strv_length(one->points), 1);
	ck_assert_str_eq(one->points[0], "bhash=101073 dirs=1");
	ck_assert_uint_eq(one->wholes->len, 0);
	ck_assert_str_eq(lab_compare_verdict_name(one->verdicts->pdata[0]), "IMPROVEMENT");
	ck_assert_uint_eq(two->columns->len, 2);
	ck_assert_str_eq(two->points[0], "bhash=default");
	ck_assert_ptr_null(counter(two, "numa_foreign"));
	ck_assert_ptr_nonnull(counter(two, "numa_hint_faults"));
	ck_assert(g_strv_contains((const char *const *)two->notes, "0 in every boot: numa_foreign"));
}
END_TEST

/* Of two runs those points are compared that both have. */
START_TEST(two_runs)
{
	g_autoptr(LabRun) all = make_run(0, 4, "d", NULL), last = NULL, other = NULL;
	g_autoptr(LabCompare) result = NULL;
	g_autofree char *text = NULL;

	{
		/* Points 3 and 4 of the first run, which are its first and second. */
		g_autoptr(LabPlan) plan = make_plan(2, 2, "d");
		g_autoptr(GError) error = NULL;

		for (guint i = 0; i < 2; i++) {
			LabPlanPoint *point = plan->points->pdata[i];

			set_text(&point->scenario_digest, i ? "d3" : "d2");
		}
		last = lab_store_create_run(store, plan, "", "{}", &error);
		assert_no_error(error);
		for (guint i = 0; i < last->plan->boots->len; i++)
			complete(last, last->plan->boots->pdata[i], 2);
		lab_run_refresh(last);
	}
	result = compare_ok(NULL, "1:6.1.192", "2:6.12.95");
	text = lab_compare_text(result, NULL, NULL);
	assert_contains(text,
			"\nnot in every column: bhash=default dirs=1, bhash=default dirs=2\n");
	ck_assert_uint_eq(result->verdicts->len, 4);
	ck_assert_str_eq(lab_compare_verdict_name(verdict_at(result, 2)), "IMPROVEMENT");
	ck_assert_str_eq(lab_compare_verdict_name(verdict_at(result, 0)), "UNKNOWN");
	ck_assert_str_eq(verdict_at(result, 0)->missing,
			 "no boot of 6.12.95 bookworm-backports is there");
	/* The whole is of the points that both have. */
	ck_assert_double_eq_tol(lab_compare_whole(result, "real-xfsrepair")->gmean[1] /
					lab_compare_whole(result, "real-xfsrepair")->gmean[0],
				sqrt(ratio[2] * ratio[3]), 1e-12);
}
END_TEST

static void assert_refused(const char *by, const char *first, const char *second,
			   const char *wanted)
{
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(compare(by, first, second, &error));
	ck_assert_msg(g_error_matches(error, LAB_ERROR, LAB_ERROR_USER), "%s", error->message);
	assert_contains(error->message, wanted);
}

START_TEST(refused)
{
	g_autoptr(LabRun) run = make_run(0, 4, "d", NULL), other = make_run(0, 4, "e", NULL),
			  plain = NULL;
	g_autoptr(LabPlan) plan = empty_plan(digests);
	g_autoptr(GError) error = NULL;

	add_plan_boot(plan, "k0-s1", labels[0], texts[0], digests[0], 1);
	add_plan_boot(plan, "k1-s1", labels[1], texts[1], digests[1], 1);
	plain = lab_store_create_run(store, plan, "", "{}", &error);
	assert_no_error(error);
	complete(plain, plain->plan->boots->pdata[0], 0);
	assert_refused(NULL, "1@bhash=default", "1@bhash=101073",
		       "points with different settings cannot be compared, and no point is in "
		       "every column: "
		       "bhash=default dirs=1, ");
	assert_refused(NULL, "1", "2", "they have different settings at bhash=default dirs=1");
	assert_refused(NULL, "1", "3", "they are different experiments");
	assert_refused(NULL, "1@bhahs=default", NULL,
		       "run 1 sweeps bhash, dirs, not 'bhahs' (did you mean 'bhash'?)");
	assert_refused(NULL, "1@bhash=7", NULL,
		       "run 1 has no point with bhash=7: it has default, 101073");
	assert_refused(NULL, "1@bhash=default,dirs", NULL,
		       "after '@': wanted KEY=VALUE, found 'dirs'");
	assert_refused("dir", "1:6.1.192", NULL, "run 1 sweeps bhash, dirs, not 'dir'");
	assert_refused("dirs", "1", NULL,
		       "run 1 has 2 kernels: the values of a key are compared for one, 1:KERNEL");
	assert_refused("dirs", "3:6.1.192", NULL, "run 3 is no sweep: it has no values of 'dirs'");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("compare_sweep");
	TCase *tc = tcase_create("compare_sweep");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, every_point_is_there);
	tcase_add_test(tc, whole);
	tcase_add_test(tc, every_point_is_judged);
	tcase_add_test(tc, a_boot_that_failed);
	tcase_add_test(tc, by_a_key);
	tcase_add_test(tc, some_points);
	tcase_add_test(tc, two_runs);
	tcase_add_test(tc, refused);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
