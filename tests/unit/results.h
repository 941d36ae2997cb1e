/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes results.img files for tests, as agent/protocol.h has them. */
#pragma once
#include <glib.h>
#include <string.h>
#include <zlib.h>

#include "agent/protocol.h"

typedef struct {
	GByteArray *bytes;
	guint32 sequence;
} Results;

static inline void results_clear(Results *results)
{
	g_clear_pointer(&results->bytes, g_byte_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Results, results_clear)

static inline Results results_new(void)
{
	struct agent_results_header header = {
		.magic = AGENT_RESULTS_MAGIC, /* exactly 8 bytes: no NUL */
		.version = GUINT32_TO_LE(1),
		.device_bytes = GUINT64_TO_LE(4 << 20),
	};
	Results results = {.bytes = g_byte_array_new()};

	g_byte_array_append(results.bytes, (const guint8 *)&header, sizeof(header));
	return results;
}

static inline void results_seal(struct agent_record_header *header)
{
	header->header_crc32 = GUINT32_TO_LE((guint32)crc32_z(
		0, (const void *)header, offsetof(struct agent_record_header, header_crc32)));
}

static inline void results_align(Results *results)
{
	static const guint8 zeros[AGENT_RECORD_ALIGN];

	g_byte_array_append(results->bytes, zeros, -results->bytes->len & (AGENT_RECORD_ALIGN - 1));
}

static inline void results_add_bytes(Results *results, guint type, const void *name,
				     gsize name_bytes, const void *payload, gsize payload_bytes)
{
	struct agent_record_header header = {
		.magic = {'N', 'L', 'R', '1'},
		.type = GUINT32_TO_LE(type),
		.sequence = GUINT32_TO_LE(results->sequence++),
		.name_bytes = GUINT32_TO_LE((guint32)name_bytes),
		.payload_bytes = GUINT64_TO_LE((guint64)payload_bytes),
		.clock_ns = GUINT64_TO_LE(1000ull * results->sequence),
	};
	uLong crc = crc32_z(crc32_z(0, name, name_bytes), payload, payload_bytes);

	header.body_crc32 = GUINT32_TO_LE((guint32)crc);
	results_seal(&header);
	results_align(results);
	g_byte_array_append(results->bytes, (const guint8 *)&header, sizeof(header));
	g_byte_array_append(results->bytes, name, (guint)name_bytes);
	g_byte_array_append(results->bytes, payload, (guint)payload_bytes);
}

static inline void results_add(Results *results, guint type, const char *name, const char *payload)
{
	results_add_bytes(results, type, name, strlen(name), payload, strlen(payload));
}
