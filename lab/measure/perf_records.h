/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to lab/measure: the records of perf's rings, as the kernel wrote them (include/uapi/linux/perf_event.h), of all CPUs in order. */
#pragma once
#include "lab/base/records.h"

/** enum LabPerfType - PERF_RECORD_ of the kernel; others are left out */
typedef enum {
	LAB_PERF_LOST = 2,
	LAB_PERF_COMM = 3,
	LAB_PERF_EXIT = 4,
	LAB_PERF_FORK = 7,
	LAB_PERF_SAMPLE = 9,
	LAB_PERF_MMAP2 = 10,
	LAB_PERF_LOST_SAMPLES = 13,
} LabPerfType;

/**
 * struct LabPerfRecord - @data, @size: whole, with its header; borrowed from the records of the boot
 * @time_ns: CLOCK_MONOTONIC
 */
typedef struct {
	guint64 time_ns;
	guint type, misc, size;
	const guint8 *data;
} LabPerfRecord;

/**
 * lab_perf_records() - of a step's profile, by time, and where that is the same in the order of the chunks
 * @n_bad: (out): chunks whose rest makes no sense, and records too short for what they are
 *
 * Return: array of LabPerfRecord; free with g_array_unref(), before @records.
 */
GArray *lab_perf_records(const LabRecords *records, const char *step, guint64 *n_bad);

guint32 lab_perf_u32(const LabPerfRecord *record, guint offset);
guint64 lab_perf_u64(const LabPerfRecord *record, guint offset);

/** lab_perf_string() - from @offset to a NUL, at most to the record's last 24 bytes (its sample_id). Free with g_free(). */
char *lab_perf_string(const LabPerfRecord *record, guint offset);

/** struct LabPerfSample - @ips: @n_ips numbers of 8 bytes, not aligned, callers' after those of what they call */
typedef struct {
	guint64 ip, period;
	guint32 pid, tid;
	guint64 n_ips;
	const guint8 *ips;
} LabPerfSample;

/** lab_perf_sample() - FALSE: it makes no sense */
gboolean lab_perf_sample(const LabPerfRecord *record, LabPerfSample *sample);
