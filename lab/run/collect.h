/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a complete boot's records to its samples and plain files. Private to lab/run. */
#pragma once
#include "lab/guest/boot.h"
#include "lab/run/inputs.h"

/**
 * lab_collect_boot() - read DIR/result.json, and leave samples.json (when the boot is ok) and
 * steps/ beside it
 *
 * Idempotent: a boot that was collected before is only read.
 * Errors: G_FILE_ERROR_NOENT when the boot is not complete; LAB_ERROR_INFRA when its files do not
 * fit its result.
 */
LabBootResult *lab_collect_boot(const char *dir, GError **error);

/**
 * lab_collect_disk() - after lab_collect_boot(), of a guest that booted from a disk: what it left on that when it failed
 *
 * Leaves log.tar.gz and steps.tar.gz in @dir, and removes the disk. Best effort: without them the result stands, and a note says why.
 */
void lab_collect_disk(const LabInputs *inputs, const char *dir, const LabBootResult *result);
