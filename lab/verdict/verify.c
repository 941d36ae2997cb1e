/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/verdict/verify.h"

#include <string.h>

#include "agent/protocol.h"
#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/base/records.h"
#include "lab/guest/boot.h"

#define SHOWN 100 /* bytes of a line that are shown */

void lab_verify_free(LabVerify *verify)
{
	if (!verify)
		return;
	g_free(verify->digest[0]);
	g_free(verify->digest[1]);
	g_free(verify->where);
	g_free(verify);
}

/* A span of bytes from a guest; never assumed to be text. */
typedef struct {
	const char *data;
	gsize length;
} Bytes;

static Bytes bytes_of(GBytes *from)
{
	Bytes bytes = {NULL, 0};

	if (from)
		bytes.data = g_bytes_get_data(from, &bytes.length);
	return bytes;
}

static gboolean equal(Bytes a, Bytes b)
{
	return a.length == b.length && (!a.length || memcmp(a.data, b.data, a.length) == 0);
}

/* Takes the next line, without its newline, off @rest. */
static Bytes next_line(Bytes *rest)
{
	const char *end = rest->length ? memchr(rest->data, '\n', rest->length) : NULL;
	Bytes line = {rest->data, end ? (gsize)(end - rest->data) : rest->length};
	gsize used = line.length + (end != NULL);

	rest->data += used;
	rest->length -= used;
	return line;
}

static char *show(Bytes bytes)
{
	GString *text = g_string_new("'");

	for (gsize i = 0; i < MIN(bytes.length, SHOWN); i++)
		g_string_append_c(text, g_ascii_isprint(bytes.data[i]) ? bytes.data[i] : '?');
	g_string_append(text, bytes.length > SHOWN ? "...'" : "'");
	return g_string_free(text, FALSE);
}

/* What differs may stand beyond what is shown of long lines: then both start near it. */
static void skip_common(Bytes *a, Bytes *b)
{
	gsize common = 0, skip;

	while (common < MIN(a->length, b->length) && a->data[common] == b->data[common])
		common++;
	if (common < SHOWN / 2)
		return;
	skip = common - SHOWN / 4;
	*a = (Bytes){a->data + skip, a->length - skip};
	*b = (Bytes){b->data + skip, b->length - skip};
}

/* "line 34: 'numa_hit 5012' / 'numa_hit 5013'"; NULL when equal */
static char *line_difference(Bytes a, Bytes b)
{
	if (equal(a, b))
		return NULL;
	for (guint line = 1; a.length || b.length; line++) {
		gboolean more_a = a.length > 0, more_b = b.length > 0;
		Bytes in_a = next_line(&a), in_b = next_line(&b);
		g_autofree char *text_a = NULL, *text_b = NULL;

		if (more_a && more_b && equal(in_a, in_b))
			continue;
		if (more_a && more_b)
			skip_common(&in_a, &in_b);
		text_a = more_a ? show(in_a) : g_strdup("nothing");
		text_b = more_b ? show(in_b) : g_strdup("nothing");
		return g_strdup_printf("line %u: %s / %s", line, text_a, text_b);
	}
	return g_strdup("the last line: with and without newline");
}

static const char *type_name(guint type)
{
	static const char *const names[] = {
		[AGENT_REC_START] = "start",
		[AGENT_REC_VERIFY] = "verify",
		[AGENT_REC_STEP_BEGIN] = "step begin",
		[AGENT_REC_SNAPSHOT] = "snapshot",
		[AGENT_REC_STEP_END] = "step end",
		[AGENT_REC_OUTPUT] = "output",
		[AGENT_REC_LOG] = "log",
		[AGENT_REC_FAIL] = "fail",
		[AGENT_REC_END] = "end",
		[AGENT_REC_PROFILE] = "profile",
		[AGENT_REC_PROFILE_END] = "profile end",
		[AGENT_REC_SYMBOLS] = "symbols",
		[AGENT_REC_STAT] = "stat",
		[AGENT_REC_SERIES] = "series",
		[AGENT_REC_HIST] = "hist",
	};

	return type < G_N_ELEMENTS(names) && names[type] ? names[type] : "unknown type";
}

/* "xfsrepair/after/vmstat"; what has no file's name gets its type's: "step end xfsrepair" */
static char *record_name(const LabRecord *record)
{
	g_autofree char *name = g_strdup(record->name ? record->name : "");

	for (char *c = name; *c; c++)
		if (!g_ascii_isprint(*c))
			*c = '?';
	if (record->type == AGENT_REC_SNAPSHOT || record->type == AGENT_REC_OUTPUT ||
	    record->type == AGENT_REC_LOG)
		return g_steal_pointer(&name);
	return g_strdup_printf("%s%s%s", type_name(record->type), *name ? " " : "", name);
}

/* NULL when equal */
static char *record_difference(guint i, const LabRecord *a, const LabRecord *b)
{
	g_autofree char *name_a = record_name(a), *name_b = record_name(b);
	g_autofree char *lines = NULL, *clock = NULL;

	if (a->type != b->type || g_strcmp0(a->name, b->name) != 0)
		return g_strdup_printf("record %u: %s / %s", i, name_a, name_b);
	lines = line_difference(bytes_of(a->payload), bytes_of(b->payload));
	if (a->clock_ns != b->clock_ns)
		clock = g_strdup_printf("clock %" G_GUINT64_FORMAT " ns / %" G_GUINT64_FORMAT " ns",
					a->clock_ns, b->clock_ns);
	if (lines && clock)
		return g_strdup_printf("record %u, %s, %s (%s)", i, name_a, lines, clock);
	if (lines || clock)
		return g_strdup_printf("record %u, %s, %s", i, name_a, lines ? lines : clock);
	return NULL;
}

/* The record that only one of the two has. */
static char *extra_record(const LabRecords *records, guint i, gboolean first)
{
	g_autofree char *name = record_name(records->records->pdata[i]);

	return g_strdup_printf("record %u: %s / %s", i, first ? name : "nothing",
			       first ? "nothing" : name);
}

static char *records_difference(const LabRecords *a, const LabRecords *b)
{
	guint both = MIN(a->records->len, b->records->len);

	for (guint i = 0; i < both; i++) {
		char *where = record_difference(i, a->records->pdata[i], b->records->pdata[i]);

		if (where)
			return where;
	}
	if (a->records->len > both)
		return extra_record(a, both, TRUE);
	if (b->records->len > both)
		return extra_record(b, both, FALSE);
	if (g_strcmp0(a->damage, b->damage) != 0)
		return g_strdup_printf("results.img: %s / %s", a->damage ? a->damage : "undamaged",
				       b->damage ? b->damage : "undamaged");
	return NULL;
}

static char *byte_difference(const char *name, Bytes a, Bytes b)
{
	gsize at = 0;

	if (equal(a, b))
		return NULL;
	while (at < MIN(a.length, b.length) && a.data[at] == b.data[at])
		at++;
	if (at == MIN(a.length, b.length))
		return g_strdup_printf("%s: %zu bytes / %zu bytes", name, a.length, b.length);
	return g_strdup_printf("%s, byte %zu: 0x%02x / 0x%02x", name, at, (guint8)a.data[at],
			       (guint8)b.data[at]);
}

static GBytes *read_bytes(const char *dir, const char *name, GError **error)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	gsize length;
	char *data = lab_file_read(path, &length, error);

	return data ? g_bytes_new_take(data, length) : NULL;
}

/*
 * Where the first difference is: of the records, then of whatever else is in their file. @where is
 * NULL when there is none. Results that cannot be read as records (a guest that never came so far)
 * are compared as bytes.
 */
static gboolean results_difference(const char *dir, const char *again, char **where, GError **error)
{
	g_autofree char *path_a = g_build_filename(dir, "results.img", NULL);
	g_autofree char *path_b = g_build_filename(again, "results.img", NULL);
	g_autoptr(GBytes) a = read_bytes(dir, "results.img", error);
	g_autoptr(GBytes) b = a ? read_bytes(again, "results.img", error) : NULL;
	g_autoptr(LabRecords) records_a = NULL, records_b = NULL;

	if (!b)
		return FALSE;
	*where = NULL;
	if (g_bytes_equal(a, b))
		return TRUE;
	records_a = lab_records_read(path_a, NULL);
	records_b = lab_records_read(path_b, NULL);
	if (records_a && records_b)
		*where = records_difference(records_a, records_b);
	if (!*where)
		*where = byte_difference("results.img", bytes_of(a), bytes_of(b));
	return TRUE;
}

static gboolean console_difference(const char *dir, const char *again, char **where, GError **error)
{
	g_autoptr(GBytes) a = read_bytes(dir, "console.log", error);
	g_autoptr(GBytes) b = a ? read_bytes(again, "console.log", error) : NULL;
	g_autofree char *lines = NULL;

	if (!b)
		return FALSE;
	lines = line_difference(bytes_of(a), bytes_of(b));
	*where = lines ? g_strdup_printf("console.log, %s", lines) : NULL;
	return TRUE;
}

static char *outcome_difference(const LabBootResult *a, const LabBootResult *b)
{
	Bytes message_a = {a->message, strlen(a->message)};
	Bytes message_b = {b->message, strlen(b->message)};
	g_autofree char *text_a = show(message_a), *text_b = show(message_b);

	if (a->outcome == b->outcome)
		return NULL;
	return g_strdup_printf("outcome: %s %s / %s %s", lab_outcome_name(a->outcome),
			       *a->message ? text_a : "", lab_outcome_name(b->outcome),
			       *b->message ? text_b : "");
}

LabVerify *lab_verify_dirs(const char *dir, const char *again, GError **error)
{
	g_autoptr(LabBootResult) a = lab_boot_result_read(dir, error);
	g_autoptr(LabBootResult) b = a ? lab_boot_result_read(again, error) : NULL;
	g_autofree char *results = NULL, *console = NULL, *outcome = NULL;
	LabVerify *verify;

	if (!b || !results_difference(dir, again, &results, error) ||
	    !console_difference(dir, again, &console, error))
		return NULL;
	outcome = outcome_difference(a, b);
	verify = g_new0(LabVerify, 1);
	verify->digest[0] = g_strdup(a->digest);
	verify->digest[1] = g_strdup(b->digest);
	verify->identical = !results && !console && !outcome;
	verify->where = results	  ? g_steal_pointer(&results)
			: console ? g_steal_pointer(&console)
			: outcome ? g_steal_pointer(&outcome)
				  : g_strdup("");
	return verify;
}
