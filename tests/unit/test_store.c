/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/store/store.h"

#include <check.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <utime.h>

#include "tests/unit/lab_store.h"

static char *root;

static void setup(void)
{
	root = g_dir_make_tmp("numalab-store-XXXXXX", NULL);
	ck_assert_ptr_nonnull(root);
}

static void teardown(void)
{
	lab_dir_remove(root, NULL);
	g_clear_pointer(&root, g_free);
}

/* ---- runs ---------------------------------------------------------------------------------------
 */

static LabPlan *larger_plan(guint64 seed)
{
	LabPlan *plan = small_plan();

	add_plan_boot(plan, "6.1-s3", "6.1", "debian:bookworm", "aaaa", seed);
	return plan;
}

/* More boots of the same experiment; what there is stays, and another process sees them. */
START_TEST(grows)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabStore) store = lab_store_open(root, &error);
	g_autoptr(LabRun) run = create_run(store);
	g_autoptr(LabPlan) larger = larger_plan(3), other = larger_plan(3);
	g_autoptr(LabRun) again = NULL;
	LabPlanBoot *first = other->boots->pdata[0];

	first->seed++;
	ck_assert(!lab_run_grow(run, other, &error));
	ck_assert_int_eq(error->code, LAB_ERROR_INFRA);
	assert_contains(error->message, "of another experiment");
	g_clear_error(&error);
	ck_assert_uint_eq(run->plan->boots->len, 3);
	ck_assert(lab_run_grow(run, larger, &error));
	assert_no_error(error);
	ck_assert_uint_eq(run->plan->boots->len, 4);
	ck_assert_uint_eq(run->n_missing, 4);
	again = lab_store_find_run(store, "1", &error);
	assert_no_error(error);
	ck_assert_uint_eq(again->plan->boots->len, 4);
	/* Not by one who does not hold it. */
	ck_assert(!lab_run_grow(again, larger, &error));
}
END_TEST

START_TEST(create_and_read)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabStore) store = lab_store_open(root, &error);
	g_autoptr(LabRun) run = create_run(store), found = NULL;
	g_autofree char *yaml = g_build_filename(run->dir, "scenario.yaml", NULL);
	g_autofree char *text = lab_file_read(yaml, NULL, &error);

	ck_assert_uint_eq(run->id, 1);
	ck_assert_int_eq(run->state, LAB_RUN_RUNNING);
	ck_assert_uint_eq(run->n_missing, 3);
	ck_assert_str_eq(text, "name: demo\n");
	ck_assert(run->started_us > 0 && run->started_us <= g_get_real_time());
	ck_assert_ptr_nonnull(run->plan->digest);

	found = lab_store_find_run(store, "1", &error);
	ck_assert_int_eq(found->state, LAB_RUN_RUNNING);
	ck_assert(found->started_us == run->started_us);
	lab_run_unlock(run);
	lab_run_refresh(found);
	ck_assert_int_eq(found->state, LAB_RUN_PLANNED);

	complete_small(run, 1, LAB_OUTCOME_OK);
	complete_small(run, 2, LAB_OUTCOME_KERNEL);
	lab_run_refresh(found);
	ck_assert_uint_eq(found->n_ok, 1);
	ck_assert_uint_eq(found->n_failed, 1);
	ck_assert_uint_eq(found->n_missing, 1);
	ck_assert_int_eq(found->state, LAB_RUN_PLANNED);
	ck_assert(found->ended_us == 0);

	complete_small(run, 0, LAB_OUTCOME_OK);
	lab_run_refresh(found);
	ck_assert_int_eq(found->state, LAB_RUN_FAILED);
	ck_assert(found->ended_us >= found->started_us);
	complete_small(run, 2, LAB_OUTCOME_OK);
	lab_run_refresh(found);
	ck_assert_int_eq(found->state, LAB_RUN_DONE);
}
END_TEST

START_TEST(boots_of_a_run)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabStore) store = lab_store_open(root, &error);
	g_autoptr(LabRun) run = create_run(store);
	g_autofree char *samples = g_build_filename(run->dir, "boots/6.12-s1/samples.json", NULL);
	g_autoptr(GPtrArray) boots = NULL;
	const LabBootSamples *boot;
	const LabSample *sample;

	complete_small(run, 1, LAB_OUTCOME_OK);
	complete_small(run, 0, LAB_OUTCOME_KERNEL);
	boots = lab_run_boots(run, &error);
	ck_assert_uint_eq(boots->len, 3);
	boot = boots->pdata[0];
	ck_assert_str_eq(boot->boot->id, "6.12-s1");
	ck_assert_str_eq(boot->outcome, "kernel");
	ck_assert_str_eq(boot->message, "kernel panic");
	ck_assert_ptr_null(boot->samples);
	boot = boots->pdata[1];
	ck_assert_str_eq(boot->outcome, "ok");
	ck_assert_str_eq(boot->digest, "d19e57");
	ck_assert_uint_eq(boot->samples->len, 1);
	sample = boot->samples->pdata[0];
	ck_assert_str_eq(sample->metric, "real-xfsrepair");
	ck_assert_double_eq(sample->value, 6.25);
	boot = boots->pdata[2];
	ck_assert_str_eq(boot->outcome, "missing");
	ck_assert_ptr_null(boot->samples);

	/* ok, and then its samples are damaged: never a boot without samples that counts */
	complete_small(run, 0, LAB_OUTCOME_OK);
	ck_assert(lab_file_write(samples, "{", -1, &error));
	g_clear_pointer(&boots, g_ptr_array_unref);
	boots = lab_run_boots(run, &error);
	boot = boots->pdata[0];
	ck_assert_str_eq(boot->outcome, "infra");
	assert_contains(boot->message, "samples.json");
	ck_assert_ptr_null(boot->samples);
}
END_TEST

START_TEST(names)
{
	static const struct {
		const char *name;
		guint id;
		const char *wanted;
	} cases[] = {
		{"1", 1, NULL},
		{"3", 3, NULL},
		{"5", 5, NULL},
		{"latest", 5, NULL},
		{"latest~0", 5, NULL},
		{"latest~1", 3, NULL},
		{"latest~3", 1, NULL},
		{"latest~4", 0, "there are runs 1-3, 5"},
		{"4", 0, "no run 4 in "},
		{"0", 0, "wanted a run"},
		{"01", 0, "found '01'"},
		{"-1", 0, "found '-1'"},
		{"lates", 0, "there are runs 1-3, 5"},
		{"latest~", 0, "no run latest~"},
		{"", 0, "found ''"},
		{"4294967297", 0, "there are runs"},
		{"../1", 0, "found '../1'"},
	};
	g_autoptr(GError) error = NULL;
	g_autoptr(LabStore) store = lab_store_open(root, &error);

	ck_assert_ptr_null(lab_store_find_run(store, "latest", &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_USER));
	assert_contains(error->message, "there are none yet");
	for (int i = 0; i < 5; i++) {
		g_autoptr(LabRun) run = create_run(store);

		if (i == 3)
			ck_assert(lab_store_remove_run(store, run, NULL));
	}
	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) failure = NULL;
		g_autoptr(LabRun) run = lab_store_find_run(store, cases[i].name, &failure);

		ck_assert_msg((run ? run->id : 0) == cases[i].id, "%s", cases[i].name);
		if (!run) {
			ck_assert(g_error_matches(failure, LAB_ERROR, LAB_ERROR_USER));
			assert_contains(failure->message, cases[i].wanted);
		}
	}
}
END_TEST

START_TEST(remove_and_number)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabStore) store = lab_store_open(root, &error);
	g_autoptr(LabRun) one = create_run(store), two = create_run(store), three = NULL,
			  other = NULL;
	g_autoptr(GPtrArray) list = NULL;

	/* held by another descriptor: refused, untouched */
	other = lab_store_find_run(store, "2", &error);
	ck_assert(!lab_store_remove_run(store, other, &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_USER));
	assert_contains(error->message, "run 2 is being run");
	g_clear_error(&error);
	ck_assert(g_file_test(two->dir, G_FILE_TEST_IS_DIR));

	ck_assert(lab_store_remove_run(store, two, &error));
	ck_assert(!g_file_test(two->dir, G_FILE_TEST_EXISTS));
	/* a second removal finds nothing to do */
	ck_assert(lab_store_remove_run(store, other, &error));
	three = create_run(store);
	ck_assert_uint_eq(three->id, 3);
	list = lab_store_list(store, NULL, &error);
	ck_assert_uint_eq(list->len, 2);
	ck_assert_uint_eq(((LabRun *)list->pdata[0])->id, 1);
	ck_assert_uint_eq(((LabRun *)list->pdata[1])->id, 3);
}
END_TEST

START_TEST(resume)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabStore) store = lab_store_open(root, &error);
	g_autoptr(LabRun) one = create_run(store), two = create_run(store),
			  done = create_run(store);
	g_autoptr(LabRun) resumed = NULL, second = NULL;
	g_autofree char *digest = g_strdup(one->plan->digest);

	/* all held */
	ck_assert_ptr_null(lab_store_resume_run(store, digest, &error));
	assert_no_error(error);
	/* complete: not to be resumed although it is the newest */
	complete_all(done, LAB_OUTCOME_KERNEL);
	lab_run_unlock(done);
	lab_run_unlock(one);
	lab_run_unlock(two);
	ck_assert_ptr_null(lab_store_resume_run(store, "another plan", &error));
	assert_no_error(error);
	resumed = lab_store_resume_run(store, digest, &error);
	ck_assert_uint_eq(resumed->id, 2);
	ck_assert_int_eq(resumed->state, LAB_RUN_RUNNING);
	second = lab_store_resume_run(store, digest, &error);
	ck_assert_uint_eq(second->id, 1);
	ck_assert_ptr_null(lab_store_resume_run(store, digest, &error));
	assert_no_error(error);
}
END_TEST

START_TEST(what_crashes_leave)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabStore) store = lab_store_open(root, &error);
	g_autoptr(LabRun) run = create_run(store), next = NULL;
	g_autofree char *half = g_build_filename(root, "runs/7/boots", NULL);
	g_autofree char *trash = g_build_filename(root, "runs/.removed-3/boots/x", NULL);
	g_autofree char *foreign = g_build_filename(root, "runs/notes", NULL);
	g_autoptr(GPtrArray) list = NULL, paths = NULL, swept = NULL;

	ck_assert(lab_dir_make(half, NULL) && lab_dir_make(trash, NULL) &&
		  lab_dir_make(foreign, NULL));
	list = lab_store_list(store, NULL, &error);
	ck_assert_uint_eq(list->len, 1);
	ck_assert(lab_store_sweep(store, TRUE, &paths, &error));
	ck_assert_uint_eq(paths->len, 2);
	ck_assert(g_file_test(half, G_FILE_TEST_IS_DIR) && g_file_test(trash, G_FILE_TEST_IS_DIR));
	next = create_run(store);
	ck_assert_uint_eq(next->id, 8);
	ck_assert(lab_store_sweep(store, FALSE, &swept, &error));
	ck_assert_uint_eq(swept->len, 2);
	ck_assert(!g_file_test(half, G_FILE_TEST_EXISTS) &&
		  !g_file_test(trash, G_FILE_TEST_EXISTS));
	ck_assert(g_file_test(foreign, G_FILE_TEST_EXISTS));
	ck_assert(g_file_test(run->dir, G_FILE_TEST_EXISTS));
}
END_TEST

/* ---- the index ----------------------------------------------------------------------------------
 */

START_TEST(index_content)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabStore) store = lab_store_open(root, &error);
	g_autoptr(LabRun) run = create_run(store), planned = create_run(store);

	complete_all(run, LAB_OUTCOME_STEP);
	ck_assert(lab_store_finish_run(store, run, &error));
	ck_assert_int_eq(run->state, LAB_RUN_FAILED);
	ck_assert_int_eq(
		query_index(root, "SELECT count(*) FROM runs WHERE id = 1 AND state = 'failed'"),
		1);
	ck_assert_int_eq(query_index(root, "SELECT count(*) FROM boots WHERE outcome = 'ok'"), 2);
	ck_assert_int_eq(
		query_index(root, "SELECT count(*) FROM samples WHERE metric = 'real-xfsrepair'"),
		2);
	ck_assert_int_eq(query_index(root, "SELECT value * 100 FROM samples WHERE boot = '6.1-s1'"),
			 625);
	ck_assert_int_eq(
		query_index(
			root,
			"SELECT seed = '18446744073709551615' FROM boots WHERE boot = '6.1-s2'"),
		1);
	/* its end stays, whatever becomes of the files' times */
	{
		g_autofree char *dir = lab_run_boot_dir(run, run->plan->boots->pdata[2]);
		g_autofree char *result = g_build_filename(dir, "result.json", NULL);
		struct utimbuf times = {4000000000, 4000000000};
		gint64 ended_us = run->ended_us;

		ck_assert_int_eq(g_utime(result, &times), 0);
		lab_run_refresh(run);
		ck_assert_int_eq(run->ended_us, ended_us);
	}
	/* again: the same, not twice */
	ck_assert(lab_store_finish_run(store, run, &error));
	ck_assert_int_eq(query_index(root, "SELECT count(*) FROM samples"), 2);
	ck_assert(lab_store_remove_run(store, run, &error));
	ck_assert_int_eq(query_index(root, "SELECT count(*) FROM runs"), 0);
	ck_assert_int_eq(query_index(root, "SELECT count(*) FROM samples"), 0);
}
END_TEST

static void damage_delete(const char *path)
{
	ck_assert_int_eq(g_unlink(path), 0);
}

static void damage_garbage(const char *path)
{
	ck_assert(
		lab_file_write(path,
			       "this is no database, it is a text that is longer than a header of "
			       "SQLite, which has 100 bytes, so that it is really read",
			       -1, NULL));
}

static void damage_truncate(const char *path)
{
	ck_assert_int_eq(truncate(path, 3000), 0);
}

static void damage_empty(const char *path)
{
	ck_assert_int_eq(truncate(path, 0), 0);
}

static void damage_pages(const char *path)
{
	int fd = open(path, O_RDWR);
	char junk[2048];

	memset(junk, 0x5a, sizeof(junk));
	for (off_t at = 4096; at < 8 * 4096; at += 4096)
		ck_assert_int_eq(pwrite(fd, junk, sizeof(junk), at), sizeof(junk));
	close(fd);
}

static void damage_version(const char *path)
{
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, "PRAGMA user_version = 99", 0, 0, 0), SQLITE_OK);
	sqlite3_close(db);
}

static void damage_table(const char *path)
{
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(db, "DROP TABLE samples; DELETE FROM runs", 0, 0, 0),
			 SQLITE_OK);
	sqlite3_close(db);
}

static void (*const damages[])(const char *path) = {
	damage_delete, damage_garbage, damage_truncate, damage_empty,
	damage_pages,  damage_version, damage_table,
};

/* _i: kind of damage; the store is opened before or after it happened */
START_TEST(index_damage)
{
	g_autofree char *path = g_build_filename(root, "index.sqlite", NULL);
	g_autoptr(GError) error = NULL;
	g_autoptr(LabStore) store = lab_store_open(root, &error), before = NULL;
	g_autoptr(LabRun) run = create_run(store);
	g_autoptr(GPtrArray) list = NULL;

	complete_all(run, LAB_OUTCOME_OK);
	ck_assert(lab_store_finish_run(store, run, &error));
	g_clear_pointer(&store, lab_store_free);
	damages[_i](path);
	store = lab_store_open(root, &error);
	assert_no_error(error);
	list = lab_store_list(store, NULL, &error);
	assert_no_error(error);
	ck_assert_uint_eq(list->len, 1);
	ck_assert_int_eq(query_index(root, "SELECT count(*) FROM runs"), 1);
	ck_assert_int_eq(query_index(root, "SELECT count(*) FROM boots"), 3);
	ck_assert_int_eq(query_index(root, "SELECT count(*) FROM samples"), 3);
}
END_TEST

START_TEST(index_follows_directories)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabStore) store = lab_store_open(root, &error);
	g_autoptr(LabRun) one = create_run(store), two = create_run(store);
	g_autoptr(GPtrArray) list = NULL, again = NULL;

	complete_all(one, LAB_OUTCOME_OK);
	complete_all(two, LAB_OUTCOME_OK);
	list = lab_store_list(store, NULL, &error);
	ck_assert_int_eq(query_index(root, "SELECT count(*) FROM runs"), 2);
	ck_assert(lab_dir_remove(one->dir, NULL)); /* by hand */
	again = lab_store_list(store, NULL, &error);
	ck_assert_uint_eq(again->len, 1);
	ck_assert_int_eq(query_index(root, "SELECT id FROM runs"), 2);
	ck_assert_int_eq(query_index(root, "SELECT count(*) FROM samples"), 3);
}
END_TEST

/* ---- places that do not work --------------------------------------------------------------------
 */

START_TEST(root_is_a_file)
{
	g_autofree char *path = g_build_filename(root, "file", NULL);
	g_autoptr(GError) error = NULL;

	ck_assert(lab_file_write(path, "x", -1, NULL));
	ck_assert_ptr_null(lab_store_open(path, &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_INFRA));
	assert_contains(error->message, path);
}
END_TEST

START_TEST(damaged_plan)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabStore) store = lab_store_open(root, &error);
	g_autoptr(LabRun) one = create_run(store), two = create_run(store);
	g_autofree char *plan = g_build_filename(one->dir, "plan.json", NULL);
	g_autoptr(GPtrArray) list = NULL, damaged = NULL;

	ck_assert(lab_file_write(plan, "{", -1, NULL));
	list = lab_store_list(store, &damaged, &error);
	assert_no_error(error);
	ck_assert_uint_eq(list->len, 1);
	ck_assert_uint_eq(((LabRun *)list->pdata[0])->id, 2);
	ck_assert_uint_eq(damaged->len, 1);
	assert_contains((char *)damaged->pdata[0], "runs/1/plan.json: plan: ");
	ck_assert_ptr_null(lab_store_find_run(store, "1", &error));
	assert_contains(error->message, "runs/1/plan.json: plan: ");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("store");
	TCase *tcase = tcase_create("store");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, create_and_read);
	tcase_add_test(tcase, grows);
	tcase_add_test(tcase, boots_of_a_run);
	tcase_add_test(tcase, names);
	tcase_add_test(tcase, remove_and_number);
	tcase_add_test(tcase, resume);
	tcase_add_test(tcase, what_crashes_leave);
	tcase_add_test(tcase, index_content);
	tcase_add_loop_test(tcase, index_damage, 0, G_N_ELEMENTS(damages));
	tcase_add_test(tcase, index_follows_directories);
	tcase_add_test(tcase, root_is_a_file);
	tcase_add_test(tcase, damaged_plan);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
