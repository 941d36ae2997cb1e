/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All that is collected while a step runs, beside the snapshots around it. */
#ifndef NUMALAB_AGENT_COLLECT_H
#define NUMALAB_AGENT_COLLECT_H

#include <poll.h>

#include "agent/profile.h"
#include "agent/series.h"
#include "agent/stat.h"

#define COLLECT_FDS_MAX (PERF_CPUS_MAX + 1)

struct collect {
	const struct job_step *step;
	struct profile profile;
	struct stat_set stat;
	struct series series;
};

/** collect_open() - before the first snapshot: opens and allocates, so that little is left to do at the step's very start */
void collect_open(struct collect *collect, const struct job_step *step, struct records *records);
void collect_enable(struct collect *collect);

/** collect_fds() - to be polled. Return: how many, at most COLLECT_FDS_MAX. */
size_t collect_fds(const struct collect *collect, struct pollfd *fds);

/** collect_ready() - after poll(), with the same @fds */
void collect_ready(struct collect *collect, const struct pollfd *fds, size_t n);
void collect_disable(struct collect *collect);

/** collect_end() - record; frees all. Return: 0 or -1. */
int collect_end(struct collect *collect, struct records *records, uint64_t clock_ns, struct fault *fault);

/** collect_job_end() - what is recorded once, after the last step */
int collect_job_end(const struct job *job, struct records *records, struct fault *fault);

#endif
