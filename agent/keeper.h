/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The process between the agent and a step. It is the subreaper of everything that the step starts,
 * so that all of it is accounted, timed out and ended in one place; the agent only reads the step's
 * outputs meanwhile.
 */
#ifndef NUMALAB_AGENT_KEEPER_H
#define NUMALAB_AGENT_KEEPER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "agent/job.h"

/* In memory shared by agent, keeper and step. */
struct keeper_result {
	bool done; /* the keeper came to its end; the rest is valid */
	bool timed_out;
	bool stuck;	  /* processes that a kill did not end within KEEPER_KILL_NS */
	bool touched;	  /* @touches is valid */
	int wait_status;  /* of the step's first process */
	uint64_t wall_ns; /* from before it was made to after it was reaped */
	uint64_t touches;
	struct rusage usage; /* of the whole tree */
};

#define KEEPER_KILL_NS 10000000000ull

/**
 * keeper_start() - start @step
 * @result: shared memory, zeroed
 * @out, @err: write ends of the pipes for its output
 *
 * When the step's first process ends, what it left running is killed: nothing of a step runs into
 * the next. Only children whose parent ignores SIGCHLD escape the accounting (the kernel drops
 * their usage). Return: the keeper's process id, or -1 with errno set.
 */
pid_t keeper_start(const struct job_step *step, struct keeper_result *result, int out, int err);

#endif
