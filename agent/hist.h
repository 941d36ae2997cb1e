/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms that ftrace makes in the kernel: triggers of tracepoints, for a step. */
#ifndef NUMALAB_AGENT_HIST_H
#define NUMALAB_AGENT_HIST_H

#include "agent/job.h"
#include "agent/records.h"

/** hist_enable() - set the step's triggers */
void hist_enable(const struct job_step *step);

/** hist_end() - record what they counted, and remove them. One that this kernel does not take says so. Return: 0 or -1. */
int hist_end(const struct job_step *step, struct records *records, uint64_t clock_ns, struct fault *fault);

#endif
