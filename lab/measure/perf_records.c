/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/measure/perf_records.h"

#include <string.h>

#include "agent/protocol.h"

#define HEADER 8u
/* sample_id_all with TID, TIME, CPU, at the end of all but samples: pid, tid, time, cpu, reserved */
#define SAMPLE_ID 24u
#define SAMPLE_ID_TIME 8u
/* IP, TID, TIME, CPU, PERIOD, and the number of the chain's entries */
#define SAMPLE_TIME 24u
#define SAMPLE_FIXED (HEADER + 48u)

guint32 lab_perf_u32(const LabPerfRecord *record, guint offset)
{
	guint32 value;

	memcpy(&value, record->data + offset, sizeof value);
	return GUINT32_FROM_LE(value);
}

guint64 lab_perf_u64(const LabPerfRecord *record, guint offset)
{
	guint64 value;

	memcpy(&value, record->data + offset, sizeof value);
	return GUINT64_FROM_LE(value);
}

char *lab_perf_string(const LabPerfRecord *record, guint offset)
{
	if (offset + SAMPLE_ID > record->size)
		return g_strdup("");
	return g_strndup((const char *)record->data + offset, record->size - SAMPLE_ID - offset);
}

/* Bytes that a record of this type has at least; 0: it is of no use here. */
static guint least(guint type)
{
	switch (type) {
	case LAB_PERF_LOST:
		return HEADER + 16 + SAMPLE_ID;
	case LAB_PERF_LOST_SAMPLES:
		return HEADER + 8 + SAMPLE_ID;
	case LAB_PERF_COMM:
		return HEADER + 8 + SAMPLE_ID;
	case LAB_PERF_EXIT:
	case LAB_PERF_FORK:
		return HEADER + 24 + SAMPLE_ID;
	case LAB_PERF_MMAP2:
		return HEADER + 64 + SAMPLE_ID;
	case LAB_PERF_SAMPLE:
		return SAMPLE_FIXED;
	default:
		return 0;
	}
}

static void add_chunk(GArray *all, const guint8 *data, gsize length, guint64 *n_bad)
{
	for (gsize at = sizeof(struct agent_profile_chunk); at < length;) {
		LabPerfRecord record = {.data = data + at, .size = HEADER};
		guint32 sizes;

		if (length - at < HEADER) {
			++*n_bad;
			return;
		}
		record.type = lab_perf_u32(&record, 0);
		sizes = lab_perf_u32(&record, 4);
		record.misc = sizes & 0xffff;
		record.size = sizes >> 16;
		if (record.size < HEADER || record.size > length - at) {
			++*n_bad;
			return;
		}
		at += record.size;
		if (!least(record.type))
			continue;
		if (record.size < least(record.type)) {
			++*n_bad;
			continue;
		}
		record.time_ns =
			lab_perf_u64(&record, record.type == LAB_PERF_SAMPLE
						      ? SAMPLE_TIME
						      : record.size - SAMPLE_ID + SAMPLE_ID_TIME);
		g_array_append_val(all, record);
	}
}

static int by_time(gconstpointer left, gconstpointer right, gpointer data)
{
	const LabPerfRecord *a = left, *b = right;

	return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

GArray *lab_perf_records(const LabRecords *records, const char *step, guint64 *n_bad)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(LabPerfRecord));

	*n_bad = 0;
	for (guint i = 0; i < records->records->len; i++) {
		const LabRecord *record = records->records->pdata[i];
		gsize length;
		const guint8 *data = g_bytes_get_data(record->payload, &length);

		if (record->type == AGENT_REC_PROFILE && !strcmp(record->name, step))
			add_chunk(all, data, length, n_bad);
	}
	/* Stable (GLib's is, by documentation): equal times stay as they came. */
	g_array_sort_with_data(all, by_time, NULL);
	return all;
}

gboolean lab_perf_sample(const LabPerfRecord *record, LabPerfSample *sample)
{
	*sample = (LabPerfSample){.ip = lab_perf_u64(record, 8),
				  .pid = lab_perf_u32(record, 16),
				  .tid = lab_perf_u32(record, 20),
				  .period = lab_perf_u64(record, 40),
				  .n_ips = lab_perf_u64(record, 48),
				  .ips = record->data + SAMPLE_FIXED};
	return sample->n_ips <= (record->size - SAMPLE_FIXED) / 8;
}
