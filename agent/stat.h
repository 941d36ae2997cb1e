/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counting of events over a step, on all CPUs: what perf stat -a does. */
#ifndef NUMALAB_AGENT_STAT_H
#define NUMALAB_AGENT_STAT_H

#include "agent/job.h"
#include "agent/perf_event.h"
#include "agent/records.h"

struct stat_event {
	char name[2 * PERF_NAME_MAX];
	int *fds; /* one for each CPU; NULL: not supported */
};

struct stat_set {
	struct stat_event *events;
	size_t n_events, n_cpus;
};

/** stat_open() - before the step; nothing is counted yet. An event that is not possible is one that stat_end() says so of. */
void stat_open(struct stat_set *set, const struct job_step *step);
void stat_enable(struct stat_set *set);
void stat_disable(struct stat_set *set);

/** stat_end() - record the counts; frees all. Return: 0 or -1. */
int stat_end(struct stat_set *set, const struct job_step *step, struct records *records,
	     uint64_t clock_ns, struct fault *fault);

#endif
