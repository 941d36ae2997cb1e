// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/guard.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/base/private_dir.h"
#include "lab/guest/pressure.h"

#define CANCEL_MS 10000

/* Counts SIGCHLD. A handler, because a signalfd would lose those that another thread of the process
 * takes. */
static int child_event = -1;

static void on_child(int number)
{
	int saved = errno;

	eventfd_write(child_event, 1);
	errno = saved;
}

static void fill_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
}

static gpointer cancel_on_signal(gpointer data)
{
	sigset_t set;
	int which;

	fill_signals(&set);
	while (sigwait(&set, &which) == 0)
		g_cancellable_cancel(data);
	return NULL;
}

/* In the worker: signals stay blocked in every thread but one, which turns them into a
 * cancellation. */
static int run_worker(const LabGuard *guard, LabGuardWork work, gpointer data)
{
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	g_autoptr(GThread) thread = NULL;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != guard->pid)
		return LAB_ERROR_INFRA;
	signal(SIGCHLD, SIG_DFL);
	thread = g_thread_new("signals", cancel_on_signal, cancellable);
	return work(guard, cancellable, data);
}

/* The parent of a process, or -1: field 4 of /proc/PID/stat, after the name in parentheses. */
static pid_t parent_of(const char *pid)
{
	g_autofree char *path = g_build_filename("/proc", pid, "stat", NULL);
	g_autofree char *text = NULL;
	const char *end;

	if (!g_file_get_contents(path, &text, NULL, NULL) || !(end = strrchr(text, ')')) ||
	    strlen(end) < 5)
		return -1;
	return (pid_t)atol(end + 4);
}

static void kill_children(void)
{
	g_autoptr(GDir) proc = g_dir_open("/proc", 0, NULL);
	const char *name;

	while (proc && (name = g_dir_read_name(proc)))
		if (g_ascii_isdigit(*name) && parent_of(name) == getpid())
			kill((pid_t)atol(name), SIGKILL);
}

/* Children of killed children become ours in turn. */
static void end_children(void)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) >= 0 || errno == EINTR)
		if (pid == 0) {
			kill_children();
			while (waitpid(-1, NULL, 0) < 0 && errno == EINTR)
				;
		}
}

/*
 * Blocks until the worker has ended. QEMU, reparented to us, is reaped here too, and at once:
 * libvirt takes a zombie for a process that will not die.
 */
static int wait_worker(pid_t worker, GCancellable *cancellable)
{
	struct pollfd fds[] = {
		{.fd = child_event, .events = POLLIN},
		{.fd = cancellable ? g_cancellable_get_fd(cancellable) : -1, .events = POLLIN},
	};
	int timeout_ms = -1, status;
	eventfd_t count;

	for (;;) {
		pid_t pid;
		int ready;

		while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
			if (pid == worker)
				return WIFEXITED(status) ? WEXITSTATUS(status)
							 : 128 + WTERMSIG(status);
		ready = poll(fds, G_N_ELEMENTS(fds), timeout_ms);
		if (ready == 0)
			kill(worker, SIGKILL);
		if (ready > 0 && fds[0].revents)
			eventfd_read(child_event, &count);
		if (ready > 0 && fds[1].revents) {
			kill(worker, SIGTERM);
			fds[1].fd = -1;
			timeout_ms = CANCEL_MS;
		}
	}
}

static gboolean run(const LabGuard *guard, LabGuardWork work, gpointer data,
		    GCancellable *cancellable, int *status, GError **error)
{
	sigset_t set, old;
	pid_t worker;

	fill_signals(&set);
	fflush(NULL);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	worker = prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 ? -1 : fork();
	if (worker == 0)
		exit(run_worker(guard, work, data));
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (worker < 0) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
			    "cannot start a process for the boot: %s", g_strerror(errno));
		return FALSE;
	}
	*status = wait_worker(worker, cancellable);
	end_children();
	lab_pressure_remove(guard->pid);
	return TRUE;
}

/* Between these two SIGCHLD is ours. */
static gboolean listen_to_children(struct sigaction *old, GError **error)
{
	const struct sigaction action = {.sa_handler = on_child,
					 .sa_flags = SA_RESTART | SA_NOCLDSTOP};

	child_event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (child_event >= 0 && sigaction(SIGCHLD, &action, old) == 0)
		return TRUE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "cannot watch child processes: %s",
		    g_strerror(errno));
	return FALSE;
}

static void stop_listening(const struct sigaction *old)
{
	sigaction(SIGCHLD, old, NULL);
	close(child_event);
	child_event = -1;
}

gboolean lab_guard_run(LabGuardWork work, gpointer data, GCancellable *cancellable, int *status,
		       GError **error)
{
	LabGuard guard = {.pid = getpid(), .start_us = g_get_monotonic_time()};
	g_autofree char *root = NULL;
	struct sigaction old;
	gboolean ok;
	int lock;

	if (!listen_to_children(&old, error))
		return FALSE;
	root = lab_private_dir_new(&lock, error);
	guard.root = root;
	ok = root && run(&guard, work, data, cancellable, status, error);
	if (root)
		lab_private_dir_remove(root, lock);
	stop_listening(&old);
	return ok;
}
