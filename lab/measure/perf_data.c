/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/measure/perf_data.h"

#include <linux/perf_event.h>
#include <string.h>

#include "agent/protocol.h"
#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/base/units.h"
#include "lab/measure/kallsyms.h"
#include "lab/measure/perf_records.h"

#define MAGIC "PERFILE2"

struct section {
	guint64 offset, size;
};

struct file_header {
	char magic[8];
	guint64 size, attr_size;
	struct section attrs, data, event_types;
	guint64 features[4];
};

struct file_attr {
	struct perf_event_attr attr;
	struct section ids;
};

static guint64 value_of(const LabRecord *end, const char *key)
{
	g_autofree char *text = lab_record_value(end, key);
	guint64 value = 0;

	if (text)
		lab_parse_uint(text, G_MAXUINT64, &value, NULL);
	return value;
}

/* What agent/profile.c asked for. */
static struct perf_event_attr attributes(const LabRecord *end)
{
	guint64 frequency = value_of(end, "frequency");

	return (struct perf_event_attr){
		.type = (guint32)value_of(end, "type"),
		.size = sizeof(struct perf_event_attr),
		.config = value_of(end, "config"),
		.sample_period = frequency ? frequency : value_of(end, "period"),
		.freq = frequency != 0,
		.sample_type = value_of(end, "sample_type"),
		.disabled = 1,
		.exclude_idle = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.task = 1,
		.sample_id_all = 1,
	};
}

/* perf makes such records of the kernel and its modules when it starts. */
static void add_kernel_mapping(GByteArray *data, const LabKallsymsPart *part, guint64 end)
{
	gboolean kernel = !strcmp(part->name, "[kernel.kallsyms]");
	g_autofree char *name = g_strconcat(part->name, kernel ? "_text" : "", NULL);
	gsize name_bytes = (strlen(name) + 8) / 8 * 8;
	struct {
		struct perf_event_header header;
		guint32 pid, tid;
		guint64 start, length, offset;
	} record = {
		.header = {PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL,
			   (guint16)(sizeof(record) + name_bytes + 24)},
		.pid = G_MAXUINT32,
		.start = part->start,
		.length = end - part->start,
		.offset = kernel ? part->start : 0,
	};
	gsize at = data->len;

	if (name_bytes > 256)
		return;
	g_byte_array_set_size(data, (guint)(at + record.header.size));
	memset(data->data + at, 0, record.header.size);
	memcpy(data->data + at, &record, sizeof record);
	memcpy(data->data + at + sizeof record, name, strlen(name));
}

static void add_mappings(GByteArray *data, const LabRecords *records)
{
	g_autoptr(LabKallsyms) symbols = lab_kallsyms_read(records);
	g_autoptr(GArray) parts = symbols ? lab_kallsyms_parts(symbols) : NULL;
	gboolean kernel = FALSE;

	for (guint i = 0; parts && i < parts->len; i++) {
		const LabKallsymsPart *part = &g_array_index(parts, LabKallsymsPart, i);
		gboolean own = !strcmp(part->name, "[kernel.kallsyms]");

		/* The kernel's own is one, up to the modules. */
		if (!own || !kernel)
			add_kernel_mapping(data, part, part->end);
		kernel |= own;
	}
}

static gboolean write_kallsyms(const LabRecords *records, const char *path, GError **error)
{
	g_autoptr(GByteArray) text = g_byte_array_new();

	for (guint i = 0; i < records->records->len; i++) {
		const LabRecord *record = records->records->pdata[i];
		gsize length;
		const guint8 *data = g_bytes_get_data(record->payload, &length);

		if (record->type == AGENT_REC_SYMBOLS)
			g_byte_array_append(text, data, (guint)length);
	}
	return lab_file_write(path, text->data, text->len, error);
}

gboolean lab_perf_data_write(const LabRecords *records, const char *step, const char *perf_data,
			     const char *kallsyms, GError **error)
{
	const LabRecord *end = lab_records_find(records, AGENT_REC_PROFILE_END, step);
	g_autoptr(GByteArray) data = g_byte_array_new();
	struct file_header header = {.magic = MAGIC};
	struct file_attr attr = {0};
	g_autoptr(GArray) all = NULL;
	guint64 n_bad;

	if (!end) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_UNKNOWN, "step %s was not sampled", step);
		return FALSE;
	}
	attr.attr = attributes(end);
	header.size = sizeof header;
	header.attr_size = sizeof attr;
	header.attrs = (struct section){sizeof header, sizeof attr};
	g_byte_array_append(data, (guint8 *)&header, sizeof header);
	g_byte_array_append(data, (guint8 *)&attr, sizeof attr);
	header.data.offset = data->len;
	add_mappings(data, records);
	all = lab_perf_records(records, step, &n_bad);
	for (guint i = 0; i < all->len; i++) {
		const LabPerfRecord *record = &g_array_index(all, LabPerfRecord, i);

		g_byte_array_append(data, record->data, record->size);
	}
	header.data.size = data->len - header.data.offset;
	memcpy(data->data, &header, sizeof header);
	return lab_file_write(perf_data, data->data, data->len, error) &&
	       (!kallsyms || write_kallsyms(records, kallsyms, error));
}
