/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Nothing outlives a guard: a worker starts a "QEMU" as libvirt does (twice forked, by the wrapper), and then worker or guard end
 * in every way. The QEMU here is a shell that says "ready" and sleeps.
 */
#include <check.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/base/file.h"
#include "lab/base/private_dir.h"
#include "lab/guest/guard.h"

#define WRAPPER TEST_BUILD "/numalab-emulator"
#define PATIENCE_MS 20000

typedef enum { RETURN, EXIT_BY_SIGNAL, WAIT_CANCEL, WAIT_FOREVER } Ending;

typedef struct {
	Ending ending;
	gboolean
		late_parent; /* the process between worker and QEMU exits only when the wrapper runs */
	int report;	     /* the worker writes "WORKER QEMU ROOT\n" when QEMU is ready */
} Plan;

static void become_qemu(pid_t guard, int output)
{
	g_autofree char *pid = g_strdup_printf("%d", (int)guard);

	setsid();
	dup2(output, STDOUT_FILENO);
	setenv("NUMALAB_GUARD", pid, 1);
	setenv("NUMALAB_QEMU", "/bin/sh", 1);
	execl(WRAPPER, WRAPPER, "-c", "echo $$; exec sleep 1000", NULL);
	_exit(99);
}

/* As libvirt: fork, fork again, the one in between exits. Return: the pid of QEMU, when it has said so. */
static pid_t start_qemu(const LabGuard *guard, gboolean late_parent)
{
	int executed[2], output[2], go[2], status;
	char text[32] = "";
	pid_t between;

	if (pipe2(executed, O_CLOEXEC) < 0 || pipe2(output, O_CLOEXEC) < 0 ||
	    pipe2(go, O_CLOEXEC) < 0)
		return -1;
	between = fork();
	if (between == 0) {
		if (fork() == 0)
			become_qemu(guard->pid, output[1]);
		close(executed[1]);
		close(go[1]);
		if (late_parent && read(go[0], text, 1) < 0)
			_exit(98);
		_exit(0);
	}
	close(executed[1]);
	close(output[1]);
	/* End of file: the wrapper has been executed. */
	if (read(executed[0], text, 1) < 0)
		return -1;
	close(go[1]);
	waitpid(between, &status, 0);
	if (read(output[0], text, sizeof text - 1) <= 0)
		return -1;
	return (pid_t)atol(text);
}

static int work(const LabGuard *guard, GCancellable *cancellable, gpointer data)
{
	const Plan *plan = data;
	pid_t qemu = start_qemu(guard, plan->late_parent);
	struct pollfd cancelled = {.fd = g_cancellable_get_fd(cancellable), .events = POLLIN};

	dprintf(plan->report, "%d %d %s\n", (int)getpid(), (int)qemu, guard->root);
	switch (plan->ending) {
	case RETURN:
		return 7;
	case EXIT_BY_SIGNAL:
		raise(SIGKILL);
		break;
	case WAIT_CANCEL:
		return poll(&cancelled, 1, -1) == 1 ? 8 : 9;
	case WAIT_FOREVER:
		for (;;)
			pause();
	}
	return 10;
}

typedef struct {
	int worker, qemu; /* pidfds */
	char *root;
	pid_t qemu_pid;
} Seen;

/* Blocks until the worker has reported. */
static Seen read_report(int fd)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_auto(GStrv) words = NULL;
	Seen seen;
	char c;

	while (read(fd, &c, 1) == 1 && c != '\n')
		g_string_append_c(text, c);
	words = g_strsplit(text->str, " ", 3);
	ck_assert_uint_eq(g_strv_length(words), 3);
	seen.qemu_pid = (pid_t)atol(words[1]);
	seen.worker = (int)syscall(SYS_pidfd_open, (pid_t)atol(words[0]), 0);
	seen.qemu = (int)syscall(SYS_pidfd_open, seen.qemu_pid, 0);
	seen.root = g_strdup(words[2]);
	return seen;
}

static gboolean ends(int pidfd)
{
	struct pollfd fd = {.fd = pidfd, .events = POLLIN};

	return pidfd < 0 || poll(&fd, 1, PATIENCE_MS) == 1;
}

static const struct {
	Ending ending;
	gboolean late_parent;
	int status;
} worker_ends[] = {
	{RETURN, FALSE, 7},
	{RETURN, TRUE, 7},
	{EXIT_BY_SIGNAL, FALSE, 128 + SIGKILL},
	{EXIT_BY_SIGNAL, TRUE, 128 + SIGKILL},
};

START_TEST(worker_end)
{
	Plan plan = {worker_ends[_i].ending, worker_ends[_i].late_parent};
	g_autoptr(GError) error = NULL;
	int report[2], status = -1;
	Seen seen;

	ck_assert_int_eq(pipe2(report, O_CLOEXEC), 0);
	plan.report = report[1];
	ck_assert(lab_guard_run(work, &plan, NULL, &status, &error));
	ck_assert_int_eq(status, worker_ends[_i].status);
	seen = read_report(report[0]);
	ck_assert_int_gt(seen.qemu_pid, 0);
	/* Reaped: there is no such process, not even a zombie. */
	ck_assert_int_eq(kill(seen.qemu_pid, 0), -1);
	ck_assert_int_eq(errno, ESRCH);
	ck_assert(!g_file_test(seen.root, G_FILE_TEST_EXISTS));
	g_free(seen.root);
}
END_TEST

START_TEST(cancelled)
{
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	Plan plan = {WAIT_CANCEL, FALSE};
	int report[2], status = -1;

	ck_assert_int_eq(pipe2(report, O_CLOEXEC), 0);
	plan.report = report[1];
	g_cancellable_cancel(cancellable);
	ck_assert(lab_guard_run(work, &plan, cancellable, &status, NULL));
	ck_assert_int_eq(status, 8);
}
END_TEST

/* A guard in a process of its own; nothing of it may be left when it is killed. */
static void kill_guard(gboolean late_parent, gboolean worker_too)
{
	Plan plan = {WAIT_FOREVER, late_parent};
	int report[2], status;
	Seen seen;
	pid_t guard;

	ck_assert_int_eq(pipe2(report, O_CLOEXEC), 0);
	plan.report = report[1];
	guard = fork();
	if (guard == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(lab_guard_run(work, &plan, NULL, &status, NULL) ? 0 : 1);
	}
	seen = read_report(report[0]);
	ck_assert(seen.worker >= 0 && seen.qemu >= 0);
	if (worker_too)
		syscall(SYS_pidfd_send_signal, seen.worker, SIGKILL, NULL, 0);
	kill(guard, SIGKILL);
	ck_assert_int_eq(waitpid(guard, &status, 0), guard);
	ck_assert(ends(seen.qemu));
	ck_assert(ends(seen.worker));
	g_free(seen.root);
}

START_TEST(guard_killed)
{
	kill_guard(_i & 1, _i & 2);
}
END_TEST

START_TEST(stale_root)
{
	Plan plan = {WAIT_FOREVER, FALSE};
	int report[2], status, lock;
	g_autofree char *root = NULL;
	Seen seen;
	pid_t guard;

	ck_assert_int_eq(pipe2(report, O_CLOEXEC), 0);
	plan.report = report[1];
	guard = fork();
	if (guard == 0)
		_exit(lab_guard_run(work, &plan, NULL, &status, NULL) ? 0 : 1);
	seen = read_report(report[0]);
	root = lab_private_dir_new(&lock, NULL);
	/* Another's, in use. */
	ck_assert(g_file_test(seen.root, G_FILE_TEST_IS_DIR));
	ck_assert_str_ne(root, seen.root);
	lab_private_dir_remove(root, lock);
	g_clear_pointer(&root, g_free);
	kill(guard, SIGKILL);
	waitpid(guard, &status, 0);
	ck_assert(ends(seen.worker) && ends(seen.qemu));
	ck_assert(g_file_test(seen.root, G_FILE_TEST_IS_DIR));
	root = lab_private_dir_new(&lock, NULL);
	ck_assert(!g_file_test(seen.root, G_FILE_TEST_EXISTS));
	lab_private_dir_remove(root, lock);
	ck_assert(!g_file_test(root, G_FILE_TEST_EXISTS));
	g_free(seen.root);
}
END_TEST

static char *unlocked_beside(const char *root, const char *name, time_t age)
{
	g_autofree char *parent = g_path_get_dirname(root);
	char *path = g_build_filename(parent, name, NULL);
	g_autofree char *inside = g_build_filename(path, "lib", NULL);
	const struct timeval then = {.tv_sec = time(NULL) - age};

	ck_assert_int_eq(g_mkdir_with_parents(inside, 0700), 0);
	ck_assert_int_eq(utimes(path, (struct timeval[]){then, then}), 0);
	return path;
}

/* A maker may be about to lock it; one that has not for a minute is dead. */
START_TEST(unlocked_root)
{
	int lock, next;
	g_autofree char *root = lab_private_dir_new(&lock, NULL);
	g_autofree char *fresh = unlocked_beside(root, "numalab-boot-test01", 5);
	g_autofree char *old = unlocked_beside(root, "numalab-boot-test02", 90);
	g_autofree char *other = lab_private_dir_new(&next, NULL);

	ck_assert(g_file_test(fresh, G_FILE_TEST_IS_DIR));
	ck_assert(!g_file_test(old, G_FILE_TEST_EXISTS));
	lab_dir_remove(fresh, NULL);
	lab_private_dir_remove(other, next);
	lab_private_dir_remove(root, lock);
}
END_TEST

/* A guard that is gone before the wrapper looks: the wrapper must not become QEMU. */
START_TEST(guard_gone_before)
{
	pid_t gone = fork(), between;
	int status, output[2];
	char c;

	if (gone == 0)
		_exit(0);
	waitpid(gone, &status, 0);
	ck_assert_int_eq(pipe2(output, O_CLOEXEC), 0);
	between = fork();
	if (between == 0) {
		close(STDERR_FILENO);
		become_qemu(gone, output[1]);
	}
	close(output[1]);
	ck_assert_int_eq(waitpid(between, &status, 0), between);
	ck_assert_int_eq(WEXITSTATUS(status), 125);
	ck_assert_int_eq(read(output[0], &c, 1), 0);
}
END_TEST

/* Asked by libvirt about its capabilities, it is QEMU and nothing else. */
START_TEST(wrapper_alone)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, STDOUT_FILENO);
		unsetenv("NUMALAB_GUARD");
		unsetenv("NUMALAB_QEMU");
		execl(WRAPPER, WRAPPER, "--version", NULL);
		_exit(99);
	}
	waitpid(pid, &status, 0);
	ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

/* What the wrapper's QEMU has preloaded. @option: the last argument of QEMU */
static char *preloaded(const char *option)
{
	char *argv[] = {(char *)WRAPPER, (char *)"-c", (char *)"echo \"$LD_PRELOAD\"",
			(char *)option, NULL};
	g_auto(GStrv) environment = g_environ_setenv(g_get_environ(), "NUMALAB_QEMU", "/bin/sh", TRUE);
	char *output = NULL;
	int status = -1;

	ck_assert(g_spawn_sync(NULL, argv, environment, G_SPAWN_DEFAULT, NULL, NULL, &output, NULL,
			       &status, NULL));
	ck_assert_int_eq(status, 0);
	return g_strchomp(output);
}

START_TEST(exact_preload)
{
	g_autofree char *exact = preloaded("-icount"), *other = preloaded("-name");

	ck_assert_str_eq(exact, TEST_BUILD "/numalab-tlbclock.so");
	ck_assert_str_eq(other, "");
}
END_TEST

#define CALLS 5
#define STEP_US 300

typedef struct {
	int (*now)(struct timeval *, void *);
	gint64 us[CALLS];
} Clock;

static gpointer ask(gpointer data)
{
	Clock *clock = data;

	for (int i = 0; i < CALLS; i++) {
		struct timeval now;

		ck_assert_int_eq(clock->now(&now, NULL), 0);
		clock->us[i] = (gint64)now.tv_sec * G_USEC_PER_SEC + now.tv_usec;
		g_usleep(2000);
	}
	return NULL;
}

/* The host's time goes on between calls; that of the library only by calls, and not in the main thread. */
START_TEST(tlb_clock)
{
	void *library = dlopen(TEST_BUILD "/numalab-tlbclock.so", RTLD_NOW | RTLD_LOCAL);
	Clock main_thread = {0}, thread = {0};

	ck_assert_msg(library != NULL, "%s", dlerror());
	*(void **)&main_thread.now = dlsym(library, "gettimeofday");
	ck_assert(main_thread.now != NULL);
	thread.now = main_thread.now;
	ask(&main_thread);
	g_thread_join(g_thread_new("cpus", ask, &thread));
	for (int i = 0; i < CALLS; i++) {
		ck_assert_int_eq(main_thread.us[i], main_thread.us[0]);
		ck_assert_int_eq(thread.us[i], main_thread.us[0] + (i + 1) * STEP_US);
	}
	ck_assert_int_lt(ABS(g_get_real_time() - main_thread.us[0]), 60 * G_USEC_PER_SEC);
	dlclose(library);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("guard");
	TCase *tcase = tcase_create("guard");
	SRunner *runner = srunner_create(suite);

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, worker_end, 0, G_N_ELEMENTS(worker_ends));
	tcase_add_test(tcase, cancelled);
	tcase_add_loop_test(tcase, guard_killed, 0, 4);
	tcase_add_test(tcase, stale_root);
	tcase_add_test(tcase, unlocked_root);
	tcase_add_test(tcase, guard_gone_before);
	tcase_add_test(tcase, wrapper_alone);
	tcase_add_test(tcase, exact_preload);
	tcase_add_test(tcase, tlb_clock);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
