/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/store/store.h"

#include <check.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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

static LabPlan *new_plan(void)
{
	static const char *const kernels[] = {"aaaa", "bbbb", NULL};
	LabPlan *plan = empty_plan(kernels);

	add_plan_boot(plan, "6.12-s1", "6.12", "debian:trixie", "bbbb", 1);
	add_plan_boot(plan, "6.1-s1", "6.1", "debian:bookworm", "aaaa", 1);
	add_plan_boot(plan, "6.1-s2", "6.1", "debian:bookworm", "aaaa", G_MAXUINT64);
	return plan;
}

static LabRun *create(LabStore *store)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabPlan) plan = new_plan();
	LabRun *run = lab_store_create_run(store, plan, "name: demo\n", "{}", &error);

	assert_no_error(error);
	ck_assert_ptr_nonnull(run);
	return run;
}

static void complete(const LabRun *run, guint i, LabOutcome outcome)
{
	g_autoptr(GPtrArray) samples = g_ptr_array_new();
	LabSample sample = {(char *)"real-xfsrepair", 5.25 + i, "s", -1};
	gboolean ok = outcome == LAB_OUTCOME_OK;

	g_ptr_array_add(samples, &sample);
	complete_boot(run, run->plan->boots->pdata[i], outcome, ok ? "" : "kernel panic",
		      ok ? "d19e57" : "", ok ? samples : NULL);
}

static void complete_all(const LabRun *run, LabOutcome last)
{
	complete(run, 0, LAB_OUTCOME_OK);
	complete(run, 1, LAB_OUTCOME_OK);
	complete(run, 2, last);
}

/* ---- plan ---------------------------------------------------------------------------------------
 */

START_TEST(plan_round_trip)
{
	g_autoptr(LabPlan) plan = new_plan(), again = NULL;
	g_autofree char *json = lab_plan_json(plan), *json_again = NULL;
	g_autoptr(GError) error = NULL;
	const LabPlanBoot *boot;

	again = lab_plan_from_json(json, &error);
	assert_no_error(error);
	json_again = lab_plan_json(again);
	ck_assert_str_eq(json, json_again);
	ck_assert_str_eq(again->scenario_path, plan->scenario_path);
	ck_assert_ptr_null(again->prepared_digest);
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
	g_autoptr(LabPlan) plan = new_plan();
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
	for (int change = 0; change < 7; change++) {
		g_autoptr(LabPlan) other = new_plan();
		LabPlanBoot *first = other->boots->pdata[0];
		g_autofree char *digest = NULL;

		switch (change) {
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
			g_ptr_array_remove_index(other->boots, 0);
			break;
		}
		digest = lab_plan_digest(other);
		ck_assert_msg(strcmp(before, digest) != 0, "change %d has the same digest", change);
	}
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
};

START_TEST(plan_bad)
{
	g_autoptr(LabPlan) plan = new_plan(), read = NULL;
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

/* ---- runs ---------------------------------------------------------------------------------------
 */

START_TEST(create_and_read)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabStore) store = lab_store_open(root, &error);
	g_autoptr(LabRun) run = create(store), found = NULL;
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

	complete(run, 1, LAB_OUTCOME_OK);
	complete(run, 2, LAB_OUTCOME_KERNEL);
	lab_run_refresh(found);
	ck_assert_uint_eq(found->n_ok, 1);
	ck_assert_uint_eq(found->n_failed, 1);
	ck_assert_uint_eq(found->n_missing, 1);
	ck_assert_int_eq(found->state, LAB_RUN_PLANNED);
	ck_assert(found->ended_us == 0);

	complete(run, 0, LAB_OUTCOME_OK);
	lab_run_refresh(found);
	ck_assert_int_eq(found->state, LAB_RUN_FAILED);
	ck_assert(found->ended_us >= found->started_us);
	complete(run, 2, LAB_OUTCOME_OK);
	lab_run_refresh(found);
	ck_assert_int_eq(found->state, LAB_RUN_DONE);
}
END_TEST

START_TEST(boots_of_a_run)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabStore) store = lab_store_open(root, &error);
	g_autoptr(LabRun) run = create(store);
	g_autofree char *samples = g_build_filename(run->dir, "boots/6.12-s1/samples.json", NULL);
	g_autoptr(GPtrArray) boots = NULL;
	const LabBootSamples *boot;
	const LabSample *sample;

	complete(run, 1, LAB_OUTCOME_OK);
	complete(run, 0, LAB_OUTCOME_KERNEL);
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
	complete(run, 0, LAB_OUTCOME_OK);
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
		g_autoptr(LabRun) run = create(store);

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
	g_autoptr(LabRun) one = create(store), two = create(store), three = NULL, other = NULL;
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
	three = create(store);
	ck_assert_uint_eq(three->id, 3);
	list = lab_store_list(store, &error);
	ck_assert_uint_eq(list->len, 2);
	ck_assert_uint_eq(((LabRun *)list->pdata[0])->id, 1);
	ck_assert_uint_eq(((LabRun *)list->pdata[1])->id, 3);
}
END_TEST

START_TEST(resume)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabStore) store = lab_store_open(root, &error);
	g_autoptr(LabRun) one = create(store), two = create(store), done = create(store);
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
	g_autoptr(LabRun) run = create(store), next = NULL;
	g_autofree char *half = g_build_filename(root, "runs/7/boots", NULL);
	g_autofree char *trash = g_build_filename(root, "runs/.removed-3/boots/x", NULL);
	g_autofree char *foreign = g_build_filename(root, "runs/notes", NULL);
	g_autoptr(GPtrArray) list = NULL, paths = NULL, swept = NULL;

	ck_assert(lab_dir_make(half, NULL) && lab_dir_make(trash, NULL) &&
		  lab_dir_make(foreign, NULL));
	list = lab_store_list(store, &error);
	ck_assert_uint_eq(list->len, 1);
	ck_assert(lab_store_sweep(store, TRUE, &paths, &error));
	ck_assert_uint_eq(paths->len, 2);
	ck_assert(g_file_test(half, G_FILE_TEST_IS_DIR) && g_file_test(trash, G_FILE_TEST_IS_DIR));
	next = create(store);
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

static gint64 query(const char *sql)
{
	g_autofree char *path = g_build_filename(root, "index.sqlite", NULL);
	sqlite3_stmt *statement = NULL;
	gint64 value = -1;
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s",
		      sqlite3_errmsg(db));
	if (sqlite3_step(statement) == SQLITE_ROW)
		value = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return value;
}

START_TEST(index_content)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabStore) store = lab_store_open(root, &error);
	g_autoptr(LabRun) run = create(store), planned = create(store);

	complete_all(run, LAB_OUTCOME_STEP);
	ck_assert(lab_store_finish_run(store, run, &error));
	ck_assert_int_eq(run->state, LAB_RUN_FAILED);
	ck_assert_int_eq(query("SELECT count(*) FROM runs WHERE id = 1 AND state = 'failed'"), 1);
	ck_assert_int_eq(query("SELECT count(*) FROM boots WHERE outcome = 'ok'"), 2);
	ck_assert_int_eq(query("SELECT count(*) FROM samples WHERE metric = 'real-xfsrepair'"), 2);
	ck_assert_int_eq(query("SELECT value * 100 FROM samples WHERE boot = '6.1-s1'"), 625);
	ck_assert_int_eq(
		query("SELECT seed = '18446744073709551615' FROM boots WHERE boot = '6.1-s2'"), 1);
	/* again: the same, not twice */
	ck_assert(lab_store_finish_run(store, run, &error));
	ck_assert_int_eq(query("SELECT count(*) FROM samples"), 2);
	ck_assert(lab_store_remove_run(store, run, &error));
	ck_assert_int_eq(query("SELECT count(*) FROM runs"), 0);
	ck_assert_int_eq(query("SELECT count(*) FROM samples"), 0);
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
	g_autoptr(LabRun) run = create(store);
	g_autoptr(GPtrArray) list = NULL;

	complete_all(run, LAB_OUTCOME_OK);
	ck_assert(lab_store_finish_run(store, run, &error));
	g_clear_pointer(&store, lab_store_free);
	damages[_i](path);
	store = lab_store_open(root, &error);
	assert_no_error(error);
	list = lab_store_list(store, &error);
	assert_no_error(error);
	ck_assert_uint_eq(list->len, 1);
	ck_assert_int_eq(query("SELECT count(*) FROM runs"), 1);
	ck_assert_int_eq(query("SELECT count(*) FROM boots"), 3);
	ck_assert_int_eq(query("SELECT count(*) FROM samples"), 3);
}
END_TEST

START_TEST(index_follows_directories)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabStore) store = lab_store_open(root, &error);
	g_autoptr(LabRun) one = create(store), two = create(store);
	g_autoptr(GPtrArray) list = NULL, again = NULL;

	complete_all(one, LAB_OUTCOME_OK);
	complete_all(two, LAB_OUTCOME_OK);
	list = lab_store_list(store, &error);
	ck_assert_int_eq(query("SELECT count(*) FROM runs"), 2);
	ck_assert(lab_dir_remove(one->dir, NULL)); /* by hand */
	again = lab_store_list(store, &error);
	ck_assert_uint_eq(again->len, 1);
	ck_assert_int_eq(query("SELECT id FROM runs"), 2);
	ck_assert_int_eq(query("SELECT count(*) FROM samples"), 3);
}
END_TEST

/* ---- other processes ----------------------------------------------------------------------------
 */

static pid_t spawn(void (*child)(int fd), int *read_end)
{
	int pipes[2];
	pid_t pid;

	ck_assert_int_eq(pipe(pipes), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pipes[0]);
		child(pipes[1]);
		_exit(0);
	}
	close(pipes[1]);
	*read_end = pipes[0];
	return pid;
}

#define N_CHILDREN 6
#define N_RUNS 8

static void child_creates(int fd)
{
	g_autoptr(LabStore) store = lab_store_open(root, NULL);

	for (int i = 0; i < N_RUNS; i++) {
		g_autoptr(LabPlan) plan = new_plan();
		g_autoptr(LabRun) run = lab_store_create_run(store, plan, "x", "{}", NULL);
		guint id = run ? run->id : 0;

		if (run) {
			for (guint b = 0; b < 3; b++)
				complete(run, b, LAB_OUTCOME_OK);
			if (!lab_store_finish_run(store, run, NULL))
				id = 0;
		}
		if (write(fd, &id, sizeof(id)) != sizeof(id))
			_exit(1);
	}
}

START_TEST(many_processes_create)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
	g_autoptr(GError) error = NULL;
	g_autoptr(LabStore) store = NULL;
	g_autoptr(GPtrArray) list = NULL;
	pid_t pids[N_CHILDREN];
	int fds[N_CHILDREN];

	for (int i = 0; i < N_CHILDREN; i++)
		pids[i] = spawn(child_creates, &fds[i]);
	for (int i = 0; i < N_CHILDREN; i++) {
		guint id;
		int n = 0;

		while (read(fds[i], &id, sizeof(id)) == sizeof(id)) {
			n++;
			ck_assert_uint_ne(id, 0);
			ck_assert_msg(g_hash_table_add(seen, GUINT_TO_POINTER(id)), "%u twice", id);
		}
		ck_assert_int_eq(n, N_RUNS);
		ck_assert_int_eq(waitpid(pids[i], NULL, 0), pids[i]);
	}
	store = lab_store_open(root, &error);
	list = lab_store_list(store, &error);
	ck_assert_uint_eq(list->len, N_CHILDREN * N_RUNS);
	ck_assert_int_eq(query("SELECT count(*) FROM runs"), N_CHILDREN * N_RUNS);
	ck_assert_int_eq(query("SELECT count(*) FROM samples"), N_CHILDREN * N_RUNS * 3);
}
END_TEST

static void child_holds(int fd)
{
	g_autoptr(LabStore) store = lab_store_open(root, NULL);
	g_autoptr(LabRun) run = create(store);

	complete(run, 0, LAB_OUTCOME_OK);
	if (write(fd, run->plan->digest, 64) == 64)
		pause();
}

START_TEST(killed_runner)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabStore) store = lab_store_open(root, &error);
	g_autoptr(LabRun) run = NULL, resumed = NULL;
	char digest[65] = {};
	int fd;
	pid_t pid = spawn(child_holds, &fd);

	ck_assert_int_eq(read(fd, digest, 64), 64);
	run = lab_store_find_run(store, "latest", &error);
	ck_assert_int_eq(run->state, LAB_RUN_RUNNING);
	ck_assert_ptr_null(lab_store_resume_run(store, digest, &error));
	assert_no_error(error);
	ck_assert(!lab_store_remove_run(store, run, NULL));
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	lab_run_refresh(run);
	ck_assert_int_eq(run->state, LAB_RUN_PLANNED);
	resumed = lab_store_resume_run(store, digest, &error);
	assert_no_error(error);
	ck_assert_uint_eq(resumed->id, run->id);
	ck_assert_uint_eq(resumed->n_ok, 1);
	ck_assert_uint_eq(resumed->n_missing, 2);
}
END_TEST

static void child_resumes(int fd)
{
	g_autoptr(LabStore) store = lab_store_open(root, NULL);
	g_autoptr(LabPlan) plan = new_plan();
	g_autofree char *digest = lab_plan_digest(plan);
	g_autoptr(LabRun) run = lab_store_resume_run(store, digest, NULL);
	guint id = run ? run->id : 0;

	if (write(fd, &id, sizeof(id)) == sizeof(id))
		pause(); /* holds what it got */
}

START_TEST(resumed_once)
{
	g_autoptr(LabStore) store = lab_store_open(root, NULL);
	g_autoptr(LabRun) run = create(store);
	pid_t pids[N_CHILDREN];
	int fds[N_CHILDREN], got = 0;

	lab_run_unlock(run);
	for (int i = 0; i < N_CHILDREN; i++)
		pids[i] = spawn(child_resumes, &fds[i]);
	for (int i = 0; i < N_CHILDREN; i++) {
		guint id = 99;

		/* looking at the run at the same time keeps nobody from it */
		lab_run_refresh(run);
		ck_assert_int_eq(read(fds[i], &id, sizeof(id)), sizeof(id));
		got += id == 1;
	}
	ck_assert_int_eq(got, 1);
	for (int i = 0; i < N_CHILDREN; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}
END_TEST

static void child_creates_for_ever(int fd)
{
	g_autoptr(LabStore) store = lab_store_open(root, NULL);

	for (;;) {
		g_autoptr(LabRun) run = create(store);

		for (guint b = 0; b < 3; b++)
			complete(run, b, LAB_OUTCOME_OK);
		lab_store_finish_run(store, run, NULL);
		if (write(fd, "x", 1) != 1)
			_exit(1);
	}
}

/* Killed in the middle of anything: what is there can be read, and work goes on. */
START_TEST(killed_anywhere)
{
	g_autoptr(GRand) rand = g_rand_new_with_seed(4);

	for (int i = 0; i < 25; i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(LabStore) store = NULL;
		g_autoptr(GPtrArray) list = NULL;
		g_autoptr(LabRun) run = NULL;
		char byte;
		int fd;
		pid_t pid = spawn(child_creates_for_ever, &fd);

		for (int n = g_rand_int_range(rand, 1, 6); n > 0; n--)
			ck_assert_int_eq(read(fd, &byte, 1), 1);
		kill(pid, SIGKILL);
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
		close(fd);
		store = lab_store_open(root, &error);
		assert_no_error(error);
		list = lab_store_list(store, &error);
		assert_no_error(error);
		ck_assert(lab_store_sweep(store, FALSE, NULL, &error));
		run = create(store);
		ck_assert(run->id > ((LabRun *)list->pdata[list->len - 1])->id);
	}
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
	g_autoptr(LabRun) run = create(store);
	g_autofree char *plan = g_build_filename(run->dir, "plan.json", NULL);

	ck_assert(lab_file_write(plan, "{", -1, NULL));
	ck_assert_ptr_null(lab_store_list(store, &error));
	assert_contains(error->message, "runs/1/plan.json: plan: ");
	g_clear_error(&error);
	ck_assert_ptr_null(lab_store_find_run(store, "latest", &error));
	assert_contains(error->message, "runs/1/plan.json: plan: ");
}
END_TEST

static void fill_disk(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0644);
	static char block[4096];

	memset(block, 'x', sizeof(block));
	while (write(fd, block, sizeof(block)) > 0)
		;
	close(fd);
}

/* On a tmpfs of 1 MiB: an error that says what to do, and nothing half made. Needs root. */
START_TEST(disk_full)
{
	g_autofree char *filler = g_build_filename(root, "filler", NULL);
	g_autoptr(GError) error = NULL;
	g_autoptr(LabStore) store = NULL;
	g_autoptr(LabPlan) plan = new_plan();
	g_autoptr(LabRun) run = NULL, next = NULL;
	g_autoptr(GPtrArray) list = NULL, swept = NULL;

	ck_assert_int_eq(mount("numalab-test", root, "tmpfs", 0, "size=1m"), 0);
	store = lab_store_open(root, &error);
	run = create(store);
	complete_all(run, LAB_OUTCOME_OK);
	fill_disk(filler);

	ck_assert_ptr_null(lab_store_create_run(store, plan, "x", "{}", &error));
	ck_assert_int_eq(lab_error_exit_code(error), LAB_ERROR_INFRA);
	assert_contains(error->message, "No space left");
	assert_contains(error->message, "--store");
	g_clear_error(&error);
	ck_assert(!lab_store_finish_run(store, run, &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_INFRA));
	assert_contains(error->message, "free some room");
	g_clear_error(&error);

	/* A new process can look at a full store, and remove from it. */
	lab_store_free(g_steal_pointer(&store));
	store = lab_store_open(root, &error);
	assert_no_error(error);
	list = lab_store_list(store, &error);
	assert_no_error(error);
	ck_assert_uint_eq(list->len, 1);
	ck_assert_int_eq(((LabRun *)list->pdata[0])->state, LAB_RUN_DONE);
	ck_assert(lab_store_sweep(store, TRUE, &swept, &error));
	ck_assert_uint_eq(swept->len, 0);

	g_unlink(filler);
	ck_assert(lab_store_finish_run(store, run, &error));
	ck_assert_int_eq(query("SELECT count(*) FROM samples"), 3);
	next = create(store);
	ck_assert_uint_eq(next->id, 2);
	fill_disk(filler);
	ck_assert(lab_store_remove_run(store, run, &error));
	assert_no_error(error);
}
END_TEST

/* A mount of our own, which goes with the process. */
static void setup_mount(void)
{
	setup();
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		_exit(1);
}

static void teardown_mount(void)
{
	umount2(root, MNT_DETACH);
	teardown();
}

int main(void)
{
	Suite *suite = suite_create("store");
	TCase *plans = tcase_create("plan"), *runs = tcase_create("runs"),
	      *full = tcase_create("full");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(plans, plan_round_trip);
	tcase_add_test(plans, plan_digest);
	tcase_add_loop_test(plans, plan_bad, 0, G_N_ELEMENTS(bad_plans));
	tcase_add_test(plans, plan_empty);
	suite_add_tcase(suite, plans);
	tcase_add_checked_fixture(runs, setup, teardown);
	tcase_set_timeout(runs, 60);
	tcase_add_test(runs, create_and_read);
	tcase_add_test(runs, boots_of_a_run);
	tcase_add_test(runs, names);
	tcase_add_test(runs, remove_and_number);
	tcase_add_test(runs, resume);
	tcase_add_test(runs, what_crashes_leave);
	tcase_add_test(runs, index_content);
	tcase_add_loop_test(runs, index_damage, 0, G_N_ELEMENTS(damages));
	tcase_add_test(runs, index_follows_directories);
	tcase_add_test(runs, many_processes_create);
	tcase_add_test(runs, killed_runner);
	tcase_add_test(runs, resumed_once);
	tcase_add_test(runs, killed_anywhere);
	tcase_add_test(runs, root_is_a_file);
	tcase_add_test(runs, damaged_plan);
	suite_add_tcase(suite, runs);
	if (geteuid() == 0) {
		tcase_add_checked_fixture(full, setup_mount, teardown_mount);
		tcase_add_test(full, disk_full);
		suite_add_tcase(suite, full);
	} else {
		printf("skip store: disk_full needs root for a tmpfs\n");
	}
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
