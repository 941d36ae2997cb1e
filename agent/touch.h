/* SPDX-License-Identifier: GPL-2.0-or-later */
/* numa_touch: threads that touch the pages of one shared memory in a pseudo-random order. */
#ifndef NUMALAB_AGENT_TOUCH_H
#define NUMALAB_AGENT_TOUCH_H

#include <stdint.h>

#include "agent/job.h"

/**
 * touch_run() - run it in the calling process
 * @touches: (out): how many pages were touched, by all threads, the first touch of each page not
 * counted
 *
 * All pages are touched once by the calling thread first, so that the memory starts on its node (or
 * where that one overflows to) and NUMA balancing has something to do. Threads are not pinned. The
 * order of each thread depends on its number only.
 *
 * Return: 0, or -1 with a message on stderr.
 */
int touch_run(const struct job_touch *touch, uint64_t *touches);

#endif
