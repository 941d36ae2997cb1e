/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a complete boot's records to its samples and plain files. Private to lab/run. */
#pragma once
#include "lab/guest/boot.h"

/**
 * lab_collect_boot() - read DIR/result.json, and leave samples.json (when the boot is ok) and
 * steps/ beside it
 *
 * Idempotent: a boot that was collected before is only read.
 * Errors: G_FILE_ERROR_NOENT when the boot is not complete; LAB_ERROR_INFRA when its files do not
 * fit its result.
 */
LabBootResult *lab_collect_boot(const char *dir, GError **error);
