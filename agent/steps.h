/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMALAB_AGENT_STEPS_H
#define NUMALAB_AGENT_STEPS_H

#include "agent/fault.h"
#include "agent/job.h"
#include "agent/records.h"

/**
 * steps_run() - run the job's steps in order and record each
 * @fault: stage "step": a step that did not exit with 0, timed out, or lost a process to the OOM
 * killer
 *
 * SIGCHLD must be blocked. Return: 0 when all succeeded, or -1 after the records of the one that
 * did not.
 */
int steps_run(const struct job *job, struct records *records, struct fault *fault);

#endif
