/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of lab/build/disk*.c share. */
#pragma once
#include "lab/build/disk_tool.h"

#define LAB_DISK_KIND "disk"
#define LAB_DISK_FILE "disk.qcow2"

/** lab_disk_describe() - write disk.json of an entry; lab_disk_load() - read the entry. Errors: LAB_ERROR_INFRA. */
gboolean lab_disk_describe(const char *dir, const char *name, const char *digest, const char *root,
			   const LabDiskSaid *said, GError **error);
LabDiskImage *lab_disk_load(const char *dir, GError **error);
