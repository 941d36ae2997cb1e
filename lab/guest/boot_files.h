/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to lab/guest: the files of a boot's directory. */
#pragma once
#include "lab/base/records.h"
#include "lab/guest/boot.h"

/** lab_boot_files_prepare() - remove what an earlier try left, check the job's inputs, make what
 * QEMU opens. Errors: LAB_ERROR_INFRA. */
gboolean lab_boot_files_prepare(const LabBootJob *job, const char *dir, GError **error);

/**
 * lab_boot_files_collect() - after QEMU is gone: read, cut results.img, make all durable
 * @records: (out) (nullable result): NULL when the agent wrote no header
 * @console: (out): free with g_free()
 */
gboolean lab_boot_files_collect(const LabBootJob *job, const char *dir, LabRecords **records,
				char **console, gsize *console_length, GError **error);

/** lab_boot_files_more_scratch() - path of scratch disk @number, from 2. Free with g_free(). */
char *lab_boot_files_more_scratch(const char *dir, guint number);

/** lab_boot_files_digest() - of `cat results.img console.log`. Free with g_free(). */
char *lab_boot_files_digest(const char *dir, GError **error);

/** lab_boot_files_pid() - what a file of libvirt's says of its QEMU; -1: unknown */
pid_t lab_boot_files_pid(const char *path);

/** lab_boot_files_arguments() - write qemu.args from the running process. Best effort: FALSE when
 * it is gone. */
gboolean lab_boot_files_arguments(const char *dir, pid_t qemu);

/**
 * lab_boot_files_check_room() - after QEMU ended by itself: whether a full disk may be why
 *
 * QEMU maps the files it writes, and dies when they cannot grow. Errors: LAB_ERROR_INFRA when there is no room left in @dir.
 */
gboolean lab_boot_files_check_room(const char *dir, GError **error);
