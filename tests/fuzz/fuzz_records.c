/* SPDX-License-Identifier: GPL-2.0-or-later */
/* results.img, as a guest that went wrong may leave it; once as it is, once with the checksums made
 * right, so that what is behind them is reached. */
#include "tests/fuzz/driver.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <zlib.h>

#include "agent/protocol.h"
#include "lab/base/file.h"
#include "lab/measure/profile.h"
#include "lab/measure/samples.h"

/* Follows the records as a reader does, and makes magic, sequence and checksums right wherever they
 * fit in. */
static void seal(GByteArray *file)
{
	gsize at = sizeof(struct agent_results_header);

	if (file->len < at)
		return;
	memcpy(file->data, AGENT_RESULTS_MAGIC, 8);
	for (guint32 sequence = 0; file->len - at >= sizeof(struct agent_record_header);
	     sequence++) {
		struct agent_record_header header;
		gsize room = file->len - at - sizeof(header), name, payload;

		memcpy(&header, file->data + at, sizeof(header));
		memcpy(header.magic, AGENT_RECORD_MAGIC, 4);
		header.sequence = GUINT32_TO_LE(sequence);
		name = GUINT32_FROM_LE(header.name_bytes);
		payload = GUINT64_FROM_LE(header.payload_bytes);
		if (name <= room && payload <= room - name)
			header.body_crc32 = GUINT32_TO_LE((guint32)crc32_z(
				0, file->data + at + sizeof(header), name + payload));
		header.header_crc32 = GUINT32_TO_LE(
			(guint32)crc32_z(0, (const void *)&header,
					 offsetof(struct agent_record_header, header_crc32)));
		memcpy(file->data + at, &header, sizeof(header));
		if (name > room || payload > room - name)
			return;
		at += sizeof(header) + name + payload;
		at = (at + AGENT_RECORD_ALIGN - 1) & ~(gsize)(AGENT_RECORD_ALIGN - 1);
		if (at > file->len)
			return;
	}
}

/* Whatever the names are, nothing appears beside the directory that was given. */
static void extract(const LabRecords *records)
{
	g_autofree char *top = g_dir_make_tmp("fuzz-records-XXXXXX", NULL);
	g_autofree char *inner = g_build_filename(top, "boot", NULL);
	g_autoptr(GDir) dir = NULL;
	const char *name;

	g_assert_nonnull(top);
	lab_records_extract(records, inner, NULL);
	dir = g_dir_open(top, 0, NULL);
	while ((name = g_dir_read_name(dir)))
		g_assert_cmpstr(name, ==, "boot");
	g_assert_true(lab_dir_remove(top, NULL));
}

/* Shares are shares, and every chain has a frame. */
static void read_profiles(const LabRecords *records)
{
	g_auto(GStrv) steps = lab_profile_steps(records);

	for (char **step = steps; *step; step++) {
		g_autoptr(LabProfile) profile = lab_profile_read(records, *step, NULL);
		guint64 n = 0;

		g_assert_nonnull(profile);
		for (guint i = 0; i < profile->chains->len; i++) {
			const LabProfileChain *chain = profile->chains->pdata[i];

			g_assert_cmpuint(chain->n_frames, >, 0);
			n += chain->n_samples;
		}
		g_assert_cmpuint(n, ==, profile->n_samples);
	}
}

static void try_file(const guint8 *data, gsize size)
{
	static guint times;
	int fd = memfd_create("results", MFD_CLOEXEC);
	g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
	g_autoptr(LabRecords) records = NULL;
	g_autoptr(GPtrArray) samples = NULL;

	g_assert_cmpint(write(fd, data, size), ==, (gssize)size);
	records = lab_records_read(path, NULL);
	close(fd);
	if (!records)
		return;
	g_assert_cmpuint(records->used_bytes, <=, size);
	g_assert_false(records->complete && records->damage);
	for (guint i = 0; i < records->records->len; i++) {
		g_autofree char *value = lab_record_value(records->records->pdata[i], "wall_ns");
	}
	samples = lab_samples_from_records(records, NULL);
	g_assert_true(!samples || records->complete);
	for (guint i = 0; samples && i < samples->len; i++) {
		const LabSample *sample = samples->pdata[i];

		g_assert_true(sample->value >= 0 && sample->value <= 0x1p64);
	}
	read_profiles(records);
	if (times++ % 32 == 0)
		extract(records);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(GByteArray) sealed = g_byte_array_new();

	try_file(data, size);
	g_byte_array_append(sealed, data, (guint)size);
	seal(sealed);
	try_file(sealed->data, sealed->len);
	return 0;
}
