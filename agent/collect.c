/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <sys/resource.h>

#include "agent/collect.h"
#include "agent/hist.h"

void collect_open(struct collect *collect, const struct job_step *step, struct records *records)
{
	/* Each event is a descriptor on each CPU. The step has the limit that it has without them. */
	static const struct rlimit many = {65536, 65536};
	struct rlimit usual;

	getrlimit(RLIMIT_NOFILE, &usual);
	setrlimit(RLIMIT_NOFILE, &many);
	collect->step = step;
	profile_open(&collect->profile, step, records);
	stat_open(&collect->stat, step);
	series_open(&collect->series, step);
	setrlimit(RLIMIT_NOFILE, &usual);
}

void collect_enable(struct collect *collect)
{
	hist_enable(collect->step);
	series_enable(&collect->series);
	stat_enable(&collect->stat);
	profile_enable(&collect->profile);
}

size_t collect_fds(const struct collect *collect, struct pollfd *fds)
{
	size_t n = profile_fds(&collect->profile, fds);

	fds[n] = (struct pollfd){.fd = collect->series.timer, .events = POLLIN};
	return n + 1;
}

void collect_ready(struct collect *collect, const struct pollfd *fds, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++)
		if (fds[i].revents)
			profile_drain(&collect->profile, i);
	if (n && fds[n - 1].revents)
		series_look(&collect->series);
}

void collect_disable(struct collect *collect)
{
	profile_disable(&collect->profile);
	stat_disable(&collect->stat);
	series_disable(&collect->series);
}

int collect_end(struct collect *collect, struct records *records, uint64_t clock_ns, struct fault *fault)
{
	const struct job_step *step = collect->step;
	int status = profile_end(&collect->profile, clock_ns, fault);

	/* All of them, for all free what they hold. */
	status |= stat_end(&collect->stat, step, records, clock_ns, fault);
	status |= series_end(&collect->series, records, clock_ns, fault);
	status |= hist_end(step, records, clock_ns, fault);
	return status ? -1 : 0;
}

int collect_job_end(const struct job *job, struct records *records, struct fault *fault)
{
	for (size_t i = 0; i < job->n_steps; i++)
		if (job->steps[i].collect.profile_event)
			return profile_symbols(records, fault);
	return 0;
}
