/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The initrd: the agent, the kernel's modules that are needed, and the job. An uncompressed cpio (newc), bit for bit reproducible. */
#pragma once
#include "lab/build/kernel.h"

/**
 * lab_initrd_modules() - modules to load for @wanted, dependencies first (libkmod: modules.dep, softdeps, builtins skipped)
 * @wanted: NULL-terminated names or aliases ("nd_pmem", "erofs", "fs-xfs"); one that is neither module nor builtin is an error that names it
 *
 * Return: (array, NULL-terminated) paths inside the initrd ("/numalab/modules/xfs.ko"), in load order; free with g_strfreev().
 */
char **lab_initrd_modules(const LabKernel *kernel, const char *const *wanted, GError **error);

/**
 * lab_initrd_write() - write @path: first the base (agent as /init, modules of @wanted; taken from the cache by digest), then the job
 * @agent_path: the static agent
 * @job: text of /numalab/job
 * @digest: (out) (optional): SHA-256 of the file
 */
gboolean lab_initrd_write(LabCache *cache, const LabKernel *kernel, const char *agent_path, const char *const *wanted,
			  const char *job, const char *path, char **digest, GError **error);
