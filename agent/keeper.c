/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/builtin.h"
#include "agent/clock.h"
#include "agent/files.h"
#include "agent/keeper.h"

/* Never returns. In the child: become the step. */
static void step_main(const struct job_step *step, struct keeper_result *result)
{
	sigset_t none;

	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	file_write("/proc/self/oom_score_adj", "0");
	if (chdir("/mnt")) {
		fprintf(stderr, "/mnt: %m\n");
		_exit(126);
	}
	if (step->kind != JOB_STEP_EXEC)
		_exit(builtin_run(step, result));
	execvp(step->args[0], step->args);
	fprintf(stderr, "%s: %m\n", step->args[0]);
	_exit(errno == ENOENT ? 127 : 126);
}

/*
 * Reap whatever has ended. Return: 1 when @child was among it, -1 when no child is left, else 0.
 */
static int reap(pid_t child, int *status)
{
	for (;;) {
		int one;
		pid_t pid = waitpid(-1, &one, WNOHANG);

		if (pid < 0)
			return -1;
		if (!pid)
			return 0;
		if (pid == child) {
			*status = one;
			return 1;
		}
	}
}

/* Wait for a child to end. @deadline_ns 0: for ever. Return: 0, or -1 at the deadline. */
static int wait_child(uint64_t deadline_ns)
{
	sigset_t children;

	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	for (;;) {
		uint64_t now = deadline_ns ? clock_ns() : 0;
		struct timespec left = {0};

		if (deadline_ns && now >= deadline_ns)
			return -1;
		if (deadline_ns)
			left = clock_timespec(deadline_ns - now);
		if (sigtimedwait(&children, NULL, deadline_ns ? &left : NULL) == SIGCHLD)
			return 0;
		if (errno != EINTR && errno != EAGAIN)
			return -1;
	}
}

/* Kill the keeper's children: orphans of the step are, too, by and by, for it is a subreaper. */
static void kill_children(void)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char path[300];
		char *stat;
		const char *name_end;
		int parent;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/stat", entry->d_name);
		stat = file_read(path, NULL);
		name_end = stat ? strrchr(stat, ')') : NULL;
		if (name_end && sscanf(name_end, ") %*c %d", &parent) == 1 && parent == getpid())
			kill((pid_t)strtol(entry->d_name, NULL, 10), SIGKILL);
		free(stat);
	}
	if (dir)
		closedir(dir);
}

/* End all that is left of the step. Where the agent is PID 1 that is everything but the agent and the keeper. */
static void end_rest(struct keeper_result *result, pid_t child, bool child_runs)
{
	uint64_t deadline_ns = 0;

	for (;;) {
		int status = 0;
		int reaped = reap(child_runs ? child : 0, &status);

		if (reaped > 0) {
			result->wait_status = status;
			child_runs = false;
			continue;
		}
		if (reaped < 0)
			return;
		/* Again each time: a process may have forked between the kill and its death. */
		if (getppid() == 1)
			kill(-1, SIGKILL);
		else
			kill_children();
		if (!deadline_ns)
			deadline_ns = clock_ns() + KEEPER_KILL_NS;
		if (wait_child(deadline_ns)) {
			result->stuck = true;
			return;
		}
	}
}

/* Never returns. */
static void keeper_main(const struct job_step *step, struct keeper_result *result)
{
	uint64_t start_ns = clock_ns();
	uint64_t deadline_ns = step->timeout_ns ? start_ns + step->timeout_ns : 0;
	pid_t child = fork();
	bool ended = false;

	if (!child)
		step_main(step, result);
	if (child < 0) {
		fprintf(stderr, "fork: %m\n");
		_exit(1);
	}
	setpgid(child, child);
	while (!ended && !result->timed_out) {
		ended = reap(child, &result->wait_status) > 0;
		if (!ended && wait_child(deadline_ns))
			result->timed_out = true;
	}
	result->wall_ns = clock_ns() - start_ns;
	end_rest(result, child, !ended);
	getrusage(RUSAGE_CHILDREN, &result->usage);
	result->done = true;
	_exit(0);
}

pid_t keeper_start(const struct job_step *step, struct keeper_result *result, int out, int err)
{
	pid_t pid = fork();
	sigset_t mask;

	if (pid)
		return pid;
	/* The agent's handlers would report the keeper's end as the agent's. */
	for (int signal_number = 1; signal_number < NSIG; signal_number++)
		signal(signal_number, SIG_DFL);
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(1);
	/* The kernel's OOM killer must take the step. */
	file_write("/proc/self/oom_score_adj", "-1000");
	keeper_main(step, result);
	_exit(1);
}
