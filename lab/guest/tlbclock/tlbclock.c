// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * numalab-tlbclock.so: preloaded into QEMU under the exact clock. Gives gettimeofday() a course that depends on QEMU's own
 * work alone.
 *
 * QEMU makes the TLB that it emulates for each CPU larger or smaller by how full it was within the last 100 ms of the
 * host's time (tlb_mmu_resize_locked() in accel/tcg/cputlb.c, QEMU 3.1 to at least 10.0), asking gettimeofday() at each
 * flush. The guest sees the size: Linux clears accessed bits, and adds rights to pages, without a flush, and what then
 * happens depends on whether the old entry is still there. A busy host so gives other guest times.
 *
 * Here time starts with the host's, stands still in the main thread, and advances in each other thread by STEP_US at each
 * call: the one thread of CPUs makes one call for each flush. QEMU asks gettimeofday() for nothing else that matters: guest
 * clocks are all by -icount and "-rtc clock=vm".
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/time.h>
#include <time.h>

#define US_PER_S 1000000
/* 334 flushes are a window of 100 ms. From 0 (TLBs only grow) to 30000 no difference in speed was seen. */
#define STEP_US 300

static int64_t start_us;
static __thread int64_t elapsed_us;
static __thread bool is_main_thread;

__attribute__((constructor)) static void start(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	start_us = (int64_t)now.tv_sec * US_PER_S + now.tv_nsec / 1000;
	is_main_thread = true;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	if (!is_main_thread)
		elapsed_us += STEP_US;
	now->tv_sec = (start_us + elapsed_us) / US_PER_S;
	now->tv_usec = (start_us + elapsed_us) % US_PER_S;
	return 0;
}
