/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/collect.h"
#include "agent/fields.h"
#include "agent/files.h"
#include "agent/keeper.h"
#include "agent/output.h"
#include "agent/progress.h"
#include "agent/snapshot.h"
#include "agent/steps.h"

enum { STDOUT, STDERR, N_OUTPUTS };

static struct output outputs[N_OUTPUTS];
static struct collect collect;

/* All that is known of a step after it. */
struct step_report {
	struct keeper_result *result;
	bool oom_known; /* this kernel counts OOM kills (4.13 and newer) */
	uint64_t oom_kills;
	struct snapshot before, after;
	uint64_t clock_ns;
	size_t output_bytes[N_OUTPUTS];
};

static bool read_oom_kills(uint64_t *count)
{
	char *vmstat = file_read("/proc/vmstat", NULL);
	bool known = vmstat && counter_find(vmstat, "oom_kill", count);

	free(vmstat);
	return known;
}

/* Reap all that has ended: as PID 1 the agent inherits every orphan. Return: whether @keeper was
 * among it. */
static bool reap_keeper(pid_t keeper)
{
	bool found = false;
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		found |= pid == keeper;
	return found || (pid < 0 && errno == ECHILD);
}

static const char *const output_names[N_OUTPUTS] = {"stdout", "stderr"};

/* Of a guest with a disk of its own: what the step says survives the guest. Return: a descriptor, or -1. */
static int open_copy(const struct job_step *step, int output)
{
	char path[256];

	snprintf(path, sizeof(path), AGENT_KEEP_DIR "/%s.%s", step->name, output_names[output]);
	return open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
}

/* Return: how long poll() may wait, milliseconds. */
static int sync_copies(void)
{
	int wait_ms = -1;

	for (int i = 0; i < N_OUTPUTS; i++) {
		int ms = output_sync(&outputs[i]);

		if (ms >= 0 && (wait_ms < 0 || ms < wait_ms))
			wait_ms = ms;
	}
	return wait_ms;
}

/* Read the step's outputs, and what is collected, until its keeper has ended. */
static void follow(pid_t keeper, const int read_ends[N_OUTPUTS], int child_fd)
{
	struct pollfd fds[N_OUTPUTS + 1 + COLLECT_FDS_MAX] = {
		{.fd = read_ends[STDOUT], .events = POLLIN},
		{.fd = read_ends[STDERR], .events = POLLIN},
		{.fd = child_fd, .events = POLLIN},
	};
	size_t n_collect = collect_fds(&collect, fds + N_OUTPUTS + 1);

	for (;;) {
		struct signalfd_siginfo info;

		if (poll(fds, N_OUTPUTS + 1 + n_collect, sync_copies()) < 0 && errno != EINTR)
			return;
		for (int i = 0; i < N_OUTPUTS; i++)
			if (fds[i].revents && !output_drain(&outputs[i], fds[i].fd))
				fds[i].fd = -1;
		collect_ready(&collect, fds + N_OUTPUTS + 1, n_collect);
		if (!fds[N_OUTPUTS].revents)
			continue;
		while (read(child_fd, &info, sizeof(info)) > 0)
			;
		if (reap_keeper(keeper))
			break;
	}
	for (int i = 0; i < N_OUTPUTS; i++)
		output_drain(&outputs[i], read_ends[i]);
}

/* Run @step between two snapshots. Return: 0 when @report is filled, or -1. */
static int execute(const struct job_step *step, int child_fd, struct step_report *report,
		   struct records *records, struct fault *fault)
{
	int ends[N_OUTPUTS][2] = {{-1, -1}, {-1, -1}};
	int read_ends[N_OUTPUTS];
	uint64_t oom_before = 0, oom_after = 0;
	pid_t keeper;

	for (int i = 0; i < N_OUTPUTS; i++) {
		output_start(&outputs[i], open_copy(step, i));
		if (pipe2(ends[i], O_CLOEXEC) || fcntl(ends[i][0], F_SETFL, O_NONBLOCK))
			return fault_set(fault, "step", "pipe: %s", strerror(errno));
		read_ends[i] = ends[i][0];
	}
	report->oom_known = read_oom_kills(&oom_before);
	collect_open(&collect, step, records);
	if (step->measure)
		snapshot_take(&report->before);
	collect_enable(&collect);
	keeper = keeper_start(step, report->result, ends[STDOUT][1], ends[STDERR][1]);
	for (int i = 0; i < N_OUTPUTS; i++)
		close(ends[i][1]);
	if (keeper > 0)
		follow(keeper, read_ends, child_fd);
	collect_disable(&collect);
	if (step->measure)
		snapshot_take(&report->after);
	report->clock_ns = clock_ns();
	read_oom_kills(&oom_after);
	report->oom_kills = oom_after - oom_before;
	for (int i = 0; i < N_OUTPUTS; i++) {
		close(ends[i][0]);
		output_end(&outputs[i]);
		report->output_bytes[i] = output_straighten(&outputs[i]);
	}
	if (keeper < 0)
		return fault_set(fault, "step", "fork: %s", strerror(errno));
	return 0;
}

static uint64_t timeval_ns(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_usec * 1000u;
}

static void add_usage(struct text *text, const struct keeper_result *result)
{
	const struct rusage *usage = &result->usage;

	text_add_number(text, "wall_ns", result->wall_ns);
	text_add_number(text, "user_ns", timeval_ns(&usage->ru_utime));
	text_add_number(text, "system_ns", timeval_ns(&usage->ru_stime));
	text_add_number(text, "maxrss_kib", (uint64_t)usage->ru_maxrss);
	text_add_number(text, "minor_faults", (uint64_t)usage->ru_minflt);
	text_add_number(text, "major_faults", (uint64_t)usage->ru_majflt);
	text_add_number(text, "voluntary_switches", (uint64_t)usage->ru_nvcsw);
	text_add_number(text, "involuntary_switches", (uint64_t)usage->ru_nivcsw);
}

static int record_end(const struct job_step *step, const struct step_report *report,
		      struct records *records, struct fault *fault)
{
	const struct keeper_result *result = report->result;
	int status = result->wait_status;
	bool exited = result->done && WIFEXITED(status);
	char data[2048], exit_text[16];
	struct text text = {.data = data, .size = sizeof(data)};

	/* A keeper that was killed took what it knew with it. */
	snprintf(exit_text, sizeof(exit_text), "%d", exited ? WEXITSTATUS(status) : -1);
	text_add(&text, "exit", exit_text);
	text_add_number(&text, "signal",
			result->done && WIFSIGNALED(status) ? (uint64_t)WTERMSIG(status) : 0);
	text_add_number(&text, "timeout", result->timed_out);
	if (result->done)
		add_usage(&text, result);
	if (report->oom_known)
		text_add_number(&text, "oom_kills", report->oom_kills);
	if (result->touched)
		text_add_number(&text, "touches", result->touches);
	text_add_number(&text, "stdout_bytes", outputs[STDOUT].total_bytes);
	text_add_number(&text, "stderr_bytes", outputs[STDERR].total_bytes);
	return records_add(records, AGENT_REC_STEP_END, step->name, text.data, text.used,
			   report->clock_ns, fault);
}

static int record_outputs(const struct job_step *step, const struct step_report *report,
			  struct records *records, struct fault *fault)
{
	for (int i = 0; i < N_OUTPUTS; i++) {
		char name[96];

		snprintf(name, sizeof(name), "%s/%s", step->name, output_names[i]);
		if (records_add(records, AGENT_REC_OUTPUT, name, outputs[i].ring,
				report->output_bytes[i], report->clock_ns, fault))
			return -1;
	}
	return 0;
}

/* Whether the step succeeded. Return: 0, or -1 with the reason and its last words in @fault. */
static int judge(const struct job_step *step, const struct step_report *report, struct fault *fault)
{
	const struct keeper_result *result = report->result;
	int status = result->wait_status;
	char last[400];

	fault_set(fault, "step", "%s", "");
	if (!result->done)
		fault_add(fault, "step %s: its keeper process was killed", step->name);
	else if (result->timed_out)
		fault_add(fault, "step %s: did not end within %.3f s and was killed", step->name,
			  (double)step->timeout_ns / 1e9);
	else if (WIFSIGNALED(status))
		fault_add(fault, "step %s: killed by signal %d (%s)", step->name, WTERMSIG(status),
			  strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		fault_add(fault, "step %s: exit status %d", step->name, WEXITSTATUS(status));
	if (result->stuck)
		fault_add(fault, "step %s: processes that a kill does not end", step->name);
	if (report->oom_kills && !step->oom_kills_allowed)
		fault_add(fault, "step %s: the guest ran out of memory (%llu OOM kills)",
			  step->name, (unsigned long long)report->oom_kills);
	if (!fault->message[0])
		return 0;
	snprintf(fault->step, sizeof(fault->step), "%s", step->name);
	for (int i = STDERR; i >= STDOUT; i--) {
		output_last_line(&outputs[i], report->output_bytes[i], last, sizeof(last));
		if (!*last)
			continue;
		fault_add(fault, "last line of %s: %s", i == STDERR ? "stderr" : "stdout", last);
		break;
	}
	return -1;
}

static int run_step(const struct job *job, size_t index, int child_fd, struct records *records,
		    struct fault *fault)
{
	const struct job_step *step = &job->steps[index];
	struct step_report report = {0};
	struct text text;
	char data[256];
	int status;

	text = (struct text){.data = data, .size = sizeof(data)};
	text_add_number(&text, "index", index);
	text_add(&text, "kind", step->kind_name);
	text_add_number(&text, "measure", step->measure);
	if (records_add(records, AGENT_REC_STEP_BEGIN, step->name, text.data, text.used, clock_ns(),
			fault))
		return -1;
	progress_say("step %zu %zu %s", index + 1, job->n_steps, step->name);
	report.result = mmap(NULL, sizeof(*report.result), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (report.result == MAP_FAILED)
		return fault_set(fault, "step", "memory: %s", strerror(errno));
	status = execute(step, child_fd, &report, records, fault);
	if (!status &&
	    (collect_end(&collect, records, report.clock_ns, fault) ||
	     snapshot_record(&report.before, records, step->name, "before", fault) ||
	     snapshot_record(&report.after, records, step->name, "after", fault) ||
	     record_end(step, &report, records, fault) ||
	     record_outputs(step, &report, records, fault) || judge(step, &report, fault)))
		status = -1;
	snapshot_free(&report.before);
	snapshot_free(&report.after);
	munmap(report.result, sizeof(*report.result));
	if (!status)
		progress_say("step-end %zu %zu %s", index + 1, job->n_steps, step->name);
	return status;
}

int steps_run(const struct job *job, struct records *records, struct fault *fault)
{
	struct fault ignored;
	sigset_t children;
	int child_fd, status = 0;

	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	child_fd = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
	if (child_fd < 0)
		return fault_set(fault, "step", "signalfd: %s", strerror(errno));
	for (size_t i = 0; i < job->n_steps && !status; i++)
		status = run_step(job, i, child_fd, records, fault);
	close(child_fd);
	/* A profile of a step that failed wants its names, too. */
	if (status)
		collect_job_end(job, records, &ignored);
	else
		status = collect_job_end(job, records, fault);
	return status;
}
