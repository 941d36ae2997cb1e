/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The initrd: the agent as /init, the kernel's modules that are needed, and the job. Uncompressed
 * cpio (newc), bit for bit reproducible: two archives one after the other, which is what
 * Documentation/driver-api/early-userspace/buffer-format.rst allows; the second holds the job.
 */
#pragma once
#include "lab/build/kernel.h"

/**
 * lab_initrd_modules() - modules to load for @wanted, in load order
 * @wanted: NULL-terminated names or aliases ("nd_pmem", "erofs", "fs-xfs")
 *
 * As modprobe would: dependencies (modules.dep) and soft dependencies first, what is built in left
 * out; but nothing of the host's modprobe.d. A soft dependency may name a driver that the guest's
 * CPU lacks (crc32c_intel): who loads them takes ENODEV as no failure.
 *
 * Return: (array, NULL-terminated) paths inside the initrd ("/numalab/modules/xfs.ko"); free with
 * g_strfreev().
 * Errors: LAB_ERROR_KERNEL: one of @wanted is neither a module nor built in, and which;
 * LAB_ERROR_INFRA: the module indices cannot be read.
 */
char **lab_initrd_modules(const LabKernel *kernel, const char *const *wanted, GError **error);

/**
 * lab_initrd_write() - write @path: first the base (agent, modules of @wanted; taken from the cache
 * by digest), then the job
 * @agent_path: the static agent
 * @wanted: as lab_initrd_modules()
 * @job: text of /numalab/job
 * @digest: (out) (optional): SHA-256 of the file
 *
 * Modules are as they were in the package, decompressed. Errors: as lab_initrd_modules();
 * G_FILE_ERROR.
 */
gboolean lab_initrd_write(LabCache *cache, const LabKernel *kernel, const char *agent_path,
			  const char *const *wanted, const char *job, const char *path,
			  char **digest, GError **error);
