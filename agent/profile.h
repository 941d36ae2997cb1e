/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sampling of a step, on all CPUs: what perf record -a -g does, without perf in the guest. Memory is that of the rings and of one
 * copy of a ring; what is sampled goes to the results device while the step runs, so that nodes which are full do not matter.
 */
#ifndef NUMALAB_AGENT_PROFILE_H
#define NUMALAB_AGENT_PROFILE_H

#include <poll.h>
#include <stdbool.h>

#include "agent/perf_event.h"
#include "agent/records.h"
#include "agent/job.h"

struct profile_ring {
	int fd;
	unsigned cpu;
	struct perf_event_mmap_page *page; /* the ring is behind it */
};

struct profile {
	const struct job_step *step;
	struct records *records;
	struct perf_event_attr attr;
	const char *event;	      /* NULL: none could be opened */
	struct profile_ring rings[PERF_CPUS_MAX];
	size_t n_rings;
	char *copy;
	uint64_t bytes; /* recorded so far */
	bool truncated;
	int error; /* errno of what could not be opened */
};

/** profile_open() - before the step; nothing is sampled yet. Never fails: what is not possible is said in profile_end()'s record. */
void profile_open(struct profile *profile, const struct job_step *step, struct records *records);

/** profile_enable() - sample from now on */
void profile_enable(struct profile *profile);

/** profile_fds() - what follows must be polled for POLLIN, and profile_drain() called. Return: how many. */
size_t profile_fds(const struct profile *profile, struct pollfd *fds);

/** profile_drain() - record what ring @i has */
void profile_drain(struct profile *profile, size_t i);

/** profile_disable() - sample no more */
void profile_disable(struct profile *profile);

/** profile_end() - record the rest and what it is; frees all. Return: 0 or -1. */
int profile_end(struct profile *profile, uint64_t clock_ns, struct fault *fault);

/** profile_symbols() - record the kernel's text symbols, for profiles of this boot */
int profile_symbols(struct records *records, struct fault *fault);

#endif
