/* SPDX-License-Identifier: GPL-2.0-or-later */
/* results.img -> records. Its bytes come from a guest that may have gone wrong in any way. */
#include "lab/base/records.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "agent/protocol.h"
#include "lab/base/error.h"

/* Longest name that is believed; the agent's are far shorter. */
#define NAME_MAX_BYTES 1024u

typedef struct {
	int fd;
	guint64 size;
	guint64 at; /* where the next record starts */
	guint32 sequence;
	gboolean failed; /* a FAIL record was seen */
	const char *path;
} Reader;

static void reader_clear(Reader *reader)
{
	if (reader->fd >= 0)
		close(reader->fd);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Reader, reader_clear)

static void record_free(gpointer data)
{
	LabRecord *record = data;

	g_free(record->name);
	g_bytes_unref(record->payload);
	g_free(record);
}

void lab_records_free(LabRecords *records)
{
	if (!records)
		return;
	g_ptr_array_unref(records->records);
	g_free(records->damage);
	g_free(records);
}

static gboolean fail(const char *path, GError **error)
{
	int saved = errno;

	g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(saved), "cannot read %s: %s", path,
		    g_strerror(saved));
	return FALSE;
}

/* Exactly @length bytes; the caller knows that the file has them. */
static gboolean read_at(const Reader *reader, void *into, gsize length, guint64 at, GError **error)
{
	char *to = into;

	while (length) {
		gssize n = pread(reader->fd, to, length, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = EIO;
		if (n <= 0)
			return fail(reader->path, error);
		to += n;
		at += (guint64)n;
		length -= (gsize)n;
	}
	return TRUE;
}

static gboolean is_zero(const void *data, gsize length)
{
	const guchar *byte = data;

	while (length && *byte == 0) {
		byte++;
		length--;
	}
	return !length;
}

static guint32 crc_of(const void *data, gsize length)
{
	return (guint32)crc32_z(0, data, length);
}

/* NULL when the header can be believed. */
static const char *header_damage(const struct agent_record_header *header, const Reader *reader)
{
	guint64 room = reader->size - reader->at - sizeof(*header);
	guint32 name_bytes = GUINT32_FROM_LE(header->name_bytes);
	guint32 type = GUINT32_FROM_LE(header->type);

	if (memcmp(header->magic, AGENT_RECORD_MAGIC, sizeof(header->magic)) != 0)
		return "no record starts here";
	if (GUINT32_FROM_LE(header->header_crc32) !=
	    crc_of(header, offsetof(struct agent_record_header, header_crc32)))
		return "checksum of the header is wrong";
	if (GUINT32_FROM_LE(header->sequence) != reader->sequence)
		return "sequence number is wrong";
	if (type < AGENT_REC_START || type > AGENT_REC_LAST)
		return "unknown type";
	if (name_bytes > NAME_MAX_BYTES)
		return "name is too long";
	if (name_bytes > room || GUINT64_FROM_LE(header->payload_bytes) > room - name_bytes)
		return "reaches beyond the end of the file";
	if (reader->failed && type == AGENT_REC_END)
		return "an end after a failure";
	return NULL;
}

/*
 * One record. @record stays NULL, with or without @damage, when there is no good one; FALSE only
 * when reading fails.
 */
static gboolean next_record(Reader *reader, LabRecord **record, const char **damage, GError **error)
{
	struct agent_record_header header;
	g_autofree char *body = NULL;
	gsize name_bytes, body_bytes;

	if (reader->size <= reader->at)
		return TRUE;
	if (reader->size - reader->at < sizeof(header)) {
		*damage = "the file ends within its header";
		return TRUE;
	}
	if (!read_at(reader, &header, sizeof(header), reader->at, error))
		return FALSE;
	if (is_zero(&header, sizeof(header)))
		return TRUE;
	*damage = header_damage(&header, reader);
	if (*damage)
		return TRUE;
	name_bytes = GUINT32_FROM_LE(header.name_bytes);
	body_bytes = name_bytes + (gsize)GUINT64_FROM_LE(header.payload_bytes);
	body = g_try_malloc(body_bytes + 1);
	if (!body) {
		errno = ENOMEM;
		return fail(reader->path, error);
	}
	if (!read_at(reader, body, body_bytes, reader->at + sizeof(header), error))
		return FALSE;
	if (crc_of(body, body_bytes) != GUINT32_FROM_LE(header.body_crc32)) {
		*damage = "checksum of the body is wrong";
		return TRUE;
	}
	if (memchr(body, 0, name_bytes)) {
		*damage = "its name contains a zero byte";
		return TRUE;
	}
	*record = g_new0(LabRecord, 1);
	(*record)->type = GUINT32_FROM_LE(header.type);
	(*record)->clock_ns = GUINT64_FROM_LE(header.clock_ns);
	(*record)->name = g_strndup(body, name_bytes);
	(*record)->payload = g_bytes_new(body + name_bytes, body_bytes - name_bytes);
	reader->at += sizeof(header) + body_bytes;
	return TRUE;
}

static gboolean read_header(Reader *reader, GError **error)
{
	struct agent_results_header header;

	if (reader->size >= sizeof(header)) {
		if (!read_at(reader, &header, sizeof(header), 0, error))
			return FALSE;
		if (memcmp(header.magic, AGENT_RESULTS_MAGIC, sizeof(header.magic)) == 0 &&
		    GUINT32_FROM_LE(header.version) == 1) {
			reader->at = sizeof(header);
			return TRUE;
		}
		if (memcmp(header.magic, AGENT_RESULTS_MAGIC, sizeof(header.magic)) == 0) {
			g_set_error(error, LAB_ERROR, LAB_ERROR_UNKNOWN,
				    "%s: wanted results of version 1, found version %u",
				    reader->path, GUINT32_FROM_LE(header.version));
			return FALSE;
		}
	}
	g_set_error(error, LAB_ERROR, LAB_ERROR_UNKNOWN,
		    "%s has no results: the agent in the guest never wrote its header",
		    reader->path);
	return FALSE;
}

LabRecords *lab_records_read(const char *path, GError **error)
{
	g_auto(Reader) reader = {.fd = open(path, O_RDONLY | O_CLOEXEC), .path = path};
	g_autoptr(LabRecords) records = NULL;
	const char *damage = NULL;
	struct stat st;

	if (reader.fd < 0 || fstat(reader.fd, &st) < 0) {
		fail(path, error);
		return NULL;
	}
	reader.size = (guint64)st.st_size;
	if (!read_header(&reader, error))
		return NULL;
	records = g_new0(LabRecords, 1);
	records->records = g_ptr_array_new_with_free_func(record_free);
	records->used_bytes = reader.at;
	while (!records->complete) {
		LabRecord *record = NULL;

		if (!next_record(&reader, &record, &damage, error))
			return NULL;
		if (!record)
			break;
		g_ptr_array_add(records->records, record);
		records->used_bytes = reader.at;
		records->complete = record->type == AGENT_REC_END;
		reader.failed |= record->type == AGENT_REC_FAIL;
		reader.at =
			(reader.at + AGENT_RECORD_ALIGN - 1) & ~(guint64)(AGENT_RECORD_ALIGN - 1);
		reader.sequence++;
	}
	if (damage)
		records->damage = g_strdup_printf("record %u: %s", reader.sequence, damage);
	return g_steal_pointer(&records);
}

const LabRecord *lab_records_find(const LabRecords *records, guint type, const char *name)
{
	for (guint i = 0; i < records->records->len; i++) {
		const LabRecord *record = records->records->pdata[i];

		if (record->type == type && (!name || g_str_equal(record->name, name)))
			return record;
	}
	return NULL;
}

/* Percent-decoding as in the job; a lone '%' is empty. NULL: not so encoded, or a zero byte. */
static char *decode(const char *text, gsize length)
{
	g_autoptr(GString) plain = g_string_sized_new(length);

	if (length == 1 && *text == '%')
		return g_strdup("");
	for (gsize i = 0; i < length; i++) {
		int high, low;

		if (text[i] != '%') {
			g_string_append_c(plain, text[i]);
			continue;
		}
		if (length - i < 3)
			return NULL;
		high = g_ascii_xdigit_value(text[i + 1]);
		low = g_ascii_xdigit_value(text[i + 2]);
		if (high < 0 || low < 0 || (high | low) == 0)
			return NULL;
		g_string_append_c(plain, (char)(high << 4 | low));
		i += 2;
	}
	return g_string_free(g_steal_pointer(&plain), FALSE);
}

char *lab_record_value(const LabRecord *record, const char *key)
{
	gsize left, key_length = strlen(key);
	const char *at = g_bytes_get_data(record->payload, &left);

	while (left) {
		const char *end = memchr(at, '\n', left);
		gsize length = end ? (gsize)(end - at) : left;

		if (length > key_length && at[key_length] == ' ' &&
		    memcmp(at, key, key_length) == 0) {
			const char *value = at + key_length + 1;

			length -= key_length + 1;
			return memchr(value, 0, length) ? NULL : decode(value, length);
		}
		length += end != NULL;
		at += length;
		left -= length;
	}
	return NULL;
}
