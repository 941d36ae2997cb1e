/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Processes that race, processes that are killed, disks that are full. */
#include "lab/store/store.h"

#include <check.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/prctl.h>
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
		g_autoptr(LabPlan) plan = small_plan();
		g_autoptr(LabRun) run = lab_store_create_run(store, plan, "x", "{}", NULL);
		guint id = run ? run->id : 0;

		if (run) {
			for (guint b = 0; b < 3; b++)
				complete_small(run, b, LAB_OUTCOME_OK);
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
	list = lab_store_list(store, NULL, &error);
	ck_assert_uint_eq(list->len, N_CHILDREN * N_RUNS);
	ck_assert_int_eq(query_index(root, "SELECT count(*) FROM runs"), N_CHILDREN * N_RUNS);
	ck_assert_int_eq(query_index(root, "SELECT count(*) FROM samples"),
			 N_CHILDREN * N_RUNS * 3);
}
END_TEST

static void child_holds(int fd)
{
	g_autoptr(LabStore) store = lab_store_open(root, NULL);
	g_autoptr(LabRun) run = create_run(store);

	complete_small(run, 0, LAB_OUTCOME_OK);
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
	g_autoptr(LabPlan) plan = small_plan();
	g_autofree char *digest = lab_plan_digest(plan);
	g_autoptr(LabRun) run = lab_store_resume_run(store, digest, NULL);
	guint id = run ? run->id : 0;

	if (write(fd, &id, sizeof(id)) == sizeof(id))
		pause(); /* holds what it got */
}

START_TEST(resumed_once)
{
	g_autoptr(LabStore) store = lab_store_open(root, NULL);
	g_autoptr(LabRun) run = create_run(store);
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
		g_autoptr(LabRun) run = create_run(store);

		for (guint b = 0; b < 3; b++)
			complete_small(run, b, LAB_OUTCOME_OK);
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
		list = lab_store_list(store, NULL, &error);
		assert_no_error(error);
		ck_assert(lab_store_sweep(store, FALSE, NULL, &error));
		run = create_run(store);
		ck_assert(run->id > ((LabRun *)list->pdata[list->len - 1])->id);
	}
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
	g_autoptr(LabPlan) plan = small_plan();
	g_autoptr(LabRun) run = NULL, next = NULL;
	g_autoptr(GPtrArray) list = NULL, swept = NULL;

	ck_assert_int_eq(mount("numalab-test", root, "tmpfs", 0, "size=1m"), 0);
	store = lab_store_open(root, &error);
	run = create_run(store);
	complete_all(run, LAB_OUTCOME_OK);
	fill_disk(filler);

	ck_assert_ptr_null(lab_store_create_run(store, plan, "x", "{}", &error));
	ck_assert_int_eq(lab_error_exit_code(error), LAB_ERROR_INFRA);
	assert_contains(error->message, "No space left");
	assert_contains(error->message, "--store");
	g_clear_error(&error);
	ck_assert(!lab_store_finish_run(store, run, &error));
	ck_assert_int_eq(lab_error_exit_code(error), LAB_ERROR_INFRA);
	assert_contains(error->message, "free some room");
	g_clear_error(&error);

	/* A new process can look at a full store, and remove from it. */
	lab_store_free(g_steal_pointer(&store));
	store = lab_store_open(root, &error);
	assert_no_error(error);
	list = lab_store_list(store, NULL, &error);
	assert_no_error(error);
	ck_assert_uint_eq(list->len, 1);
	ck_assert_int_eq(((LabRun *)list->pdata[0])->state, LAB_RUN_DONE);
	ck_assert(lab_store_sweep(store, TRUE, &swept, &error));
	ck_assert_uint_eq(swept->len, 0);

	g_unlink(filler);
	ck_assert(lab_store_finish_run(store, run, &error));
	ck_assert_int_eq(query_index(root, "SELECT count(*) FROM samples"), 3);
	next = create_run(store);
	ck_assert_uint_eq(next->id, 2);
	fill_disk(filler);
	ck_assert(lab_store_remove_run(store, run, &error));
	assert_no_error(error);
}
END_TEST

/* A mount of our own, which goes with the process. */
static gboolean own_mounts(void)
{
	return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

static gboolean can_mount(void)
{
	pid_t pid = fork();
	int status = 1;

	if (pid == 0)
		_exit(!own_mounts());
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

static void setup_mount(void)
{
	setup();
	ck_assert(own_mounts());
}

static void teardown_mount(void)
{
	umount2(root, MNT_DETACH);
	teardown();
}

int main(void)
{
	Suite *suite = suite_create("store_faults");
	TCase *tcase = tcase_create("processes");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, many_processes_create);
	tcase_add_test(tcase, killed_runner);
	tcase_add_test(tcase, resumed_once);
	tcase_add_test(tcase, killed_anywhere);
	if (can_mount()) {
		TCase *full = tcase_create("full");

		tcase_add_checked_fixture(full, setup_mount, teardown_mount);
		tcase_add_test(full, disk_full);
		suite_add_tcase(suite, full);
	} else {
		printf("skip store_faults: disk_full needs the right to mount a tmpfs\n");
	}
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
