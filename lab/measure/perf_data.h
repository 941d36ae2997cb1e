/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A profile as perf's own file, so that perf can be asked what it makes of it. */
#pragma once
#include "lab/base/records.h"

/**
 * lab_perf_data_write() - perf.data and kallsyms of a step
 * @perf_data: for "perf report -i"; its format: tools/perf/Documentation/perf.data-file-format.txt
 * @kallsyms:  (nullable): for "perf report --kallsyms"
 *
 * Errors: LAB_ERROR_UNKNOWN: nothing was sampled in that step; G_FILE_ERROR.
 */
gboolean lab_perf_data_write(const LabRecords *records, const char *step, const char *perf_data,
			     const char *kallsyms, GError **error);
