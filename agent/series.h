/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of the kernel, looked at again and again while a step runs. */
#ifndef NUMALAB_AGENT_SERIES_H
#define NUMALAB_AGENT_SERIES_H

#include "agent/job.h"
#include "agent/records.h"

struct series {
	const struct job_step *step;
	int timer; /* -1: nothing to look at */
	char *text;
	size_t used;
};

/** series_open() - before the step */
void series_open(struct series *series, const struct job_step *step);

/** series_enable() - look now, and then whenever @series->timer can be read and series_look() is called */
void series_enable(struct series *series);
void series_look(struct series *series);

/** series_disable() - look for the last time */
void series_disable(struct series *series);

/** series_end() - record; frees all. Return: 0 or -1. */
int series_end(struct series *series, struct records *records, uint64_t clock_ns, struct fault *fault);

#endif
