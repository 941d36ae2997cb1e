/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether this guest is the machine that was asked for. */
#ifndef NUMALAB_AGENT_VERIFY_H
#define NUMALAB_AGENT_VERIFY_H

#include "agent/fault.h"
#include "agent/fields.h"
#include "agent/job.h"

/**
 * VERIFY_MISSING_BYTES - how much less than asked for a node may have
 *
 * "present" in /proc/zoneinfo leaves out what the firmware does not give as RAM: page 0 and 640 KiB
 * to 1 MiB on the node that holds them (388 KiB), and the ACPI tables and SeaBIOS' memory at the
 * top of RAM below 4 GiB (144 KiB seen; SeaBIOS takes up to 256 KiB, tables of many CPUs and
 * devices more). A node never has more than asked for.
 */
#define VERIFY_MISSING_BYTES (2ull << 20)

/**
 * VERIFY_FAKE_STEP_BYTES - granularity of numa=fake=N (FAKE_NODE_MIN_SIZE in the kernel)
 *
 * The kernel gives each node a multiple of it and some nodes one more, moves a border by more of
 * them where a hole or the end of ZONE_DMA32 is near, and leaves the rest to the last. So each node
 * may be off by two of them in both directions, and the sum must be right.
 */
#define VERIFY_FAKE_STEP_BYTES (32ull << 20)

/**
 * verify_machine() - compare the running kernel and its nodes with the job
 * @found: gets what was found, one key a fact
 * @fault: stage "verify"; the message names every difference with what was wanted and found
 *
 * Blocks on nothing. Return: 0 when all is as asked for, or -1.
 */
int verify_machine(const struct job *job, struct text *found, struct fault *fault);

#endif
