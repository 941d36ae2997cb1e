/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMALAB_AGENT_CLOCK_H
#define NUMALAB_AGENT_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_read_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t clock_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

static inline struct timespec clock_timespec(uint64_t ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / 1000000000u),
		.tv_nsec = (long)(ns % 1000000000u),
	};
}

#endif
