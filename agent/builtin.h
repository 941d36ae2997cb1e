/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMALAB_AGENT_BUILTIN_H
#define NUMALAB_AGENT_BUILTIN_H

#include "agent/job.h"
#include "agent/keeper.h"

/**
 * builtin_run() - do a step that is not a program: mkdir, mount, umount, drop_caches, numa_touch
 *
 * Runs in the step's own process. Return: its exit status, after a message on stderr when that is
 * not 0.
 */
int builtin_run(const struct job_step *step, struct keeper_result *result);

/**
 * mount_options() - split mount options into flags and what the file system gets
 * @options: comma-separated; @data: (out): at least as large
 *
 * Return: MS_ flags for mount().
 */
unsigned long mount_options(const char *options, char *data, size_t size);

#endif
