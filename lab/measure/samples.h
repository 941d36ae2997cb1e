/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a boot left -> samples. Reads untrusted bytes: every length and checksum is checked. */
#pragma once
#include <gio/gio.h>

#include "lab/base/records.h"

/**
 * struct LabSample - the value of one metric in one boot
 * @metric: "real-xfsrepair", "user-xfsrepair", "syst-xfsrepair" (seconds), "maxrss-xfsrepair" (KiB), "minflt-", "majflt-", "csw-", "icsw-",
 *          "files/s-fsmark" (mean of fs_mark's own lines), "overhead-fsmark" (us), "touches-NAME"; counters as the kernel names them:
 *          "numa_hint_faults" (sum over the measured steps) and "numa_hint_faults:xfsrepair" (one step); numastat summed over
 *          nodes "numastat.numa_hit", per node "numastat.node0.numa_hit"; interrupts summed over CPUs "irq.TLB", "irq.CAL", "irq.RES", "irq.LOC", "irq.HYP"; of the host's tracepoints, over the whole boot,
 *          "host.async_pf_not_present", "host.async_pf_ready", "host.async_pf_interrupts"
 *          Events that were counted in steps (collect: stat), by perf's names: "perf.page-faults:xfsrepair", and "perf.page-faults" over
 *          all steps in which they were; one that the kernel or the CPU does not have is absent
 * @unit: "s", "KiB", "count", "files/s", "us"
 * @better: -1 lower, +1 higher, 0 not known (counters)
 */
typedef struct {
	char *metric;
	double value;
	const char *unit; /* static */
	int better;
} LabSample;
void lab_sample_free(LabSample *sample);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabSample, lab_sample_free)

/**
 * lab_samples_from_records() - array of LabSample, sorted by metric, of the steps with measure 1
 *
 * Counters that the kernel lacks are absent, never 0; so are those that went backwards, and the total of a counter that one of the
 * measured steps lacks. Of /proc/vmstat, levels (nr_free_pages) are left out: a difference of levels counts nothing.
 * Errors: LAB_ERROR_UNKNOWN when the records are not complete, or what they hold is not what agent/protocol.h says.
 */
GPtrArray *lab_samples_from_records(const LabRecords *records, GError **error);

/** lab_samples_add_count() - one more counter, kept sorted; @value below 0: it was not counted, and is left out */
void lab_samples_add_count(GPtrArray *samples, const char *metric, gint64 value);

/** lab_samples_write()/read() - samples.json of a boot */
gboolean lab_samples_write(const GPtrArray *samples, const char *path, GError **error);
GPtrArray *lab_samples_read(const char *path, GError **error);

/**
 * lab_records_extract() - write the payloads as plain files: DIR/steps/STEP/{begin,end,stdout,stderr,before/FILE,after/FILE,profile,stat,
 *                         series,hist/SYSTEM.EVENT}, DIR/{start,verify,fail,dmesg}; not samples and symbols of a profile
 *
 * Names come from a guest: one with anything but [A-Za-z0-9._/-], with a part that is empty or starts with ".", or that comes twice
 * (or is both file and directory) is LAB_ERROR_UNKNOWN, and nothing is written. Not synced: results.img is what counts.
 */
gboolean lab_records_extract(const LabRecords *records, const char *dir, GError **error);
