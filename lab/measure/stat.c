/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/measure/stat.h"

#include <string.h>

#include "lab/base/error.h"
#include "lab/base/units.h"

#define EVENTS_MAX 4096

static void count_free(gpointer data)
{
	LabStatCount *count = data;

	g_free(count->event);
	g_free(count);
}

/* "COUNT ENABLED RUNNING" */
static gboolean parse_count(const char *text, LabStatCount *count)
{
	g_auto(GStrv) parts = g_strsplit(text, " ", 4);
	guint64 values[3];

	if (g_strv_length(parts) != 3)
		return FALSE;
	for (guint i = 0; i < 3; i++)
		if (!lab_parse_uint(parts[i], G_MAXUINT64, &values[i], NULL))
			return FALSE;
	if (values[2] > values[1])
		return FALSE;
	count->supported = TRUE;
	count->count = values[0];
	count->running_ppm = 1000000;
	/* Never on a CPU in all that time: nothing is known. */
	if (values[1] && !values[2])
		count->supported = FALSE;
	else if (values[2] < values[1]) {
		count->count = (guint64)((unsigned __int128)values[0] * values[1] / values[2]);
		count->running_ppm =
			(guint)((unsigned __int128)values[2] * 1000000 / values[1]);
	}
	return TRUE;
}

static LabStatCount *parse_line(const char *line)
{
	g_auto(GStrv) fields = g_strsplit(line, " ", 3);
	g_autofree char *value = NULL;
	LabStatCount *count;

	if (g_strv_length(fields) != 2)
		return NULL;
	count = g_new0(LabStatCount, 1);
	count->event = g_uri_unescape_string(fields[0], NULL);
	value = g_uri_unescape_string(fields[1], NULL);
	if (count->event && value && *count->event && strlen(count->event) < 256 &&
	    !count->event[strspn(count->event, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "_.:-*?")] &&
	    (!strcmp(value, "not-supported") || parse_count(value, count)))
		return count;
	count_free(count);
	return NULL;
}

GPtrArray *lab_stat_parse(GBytes *text, const char *step, GError **error)
{
	g_autoptr(GPtrArray) counts = g_ptr_array_new_with_free_func(count_free);
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
	gsize length;
	const char *data = g_bytes_get_data(text, &length);
	g_autofree char *copy = g_strndup(data ? data : "", length);
	g_auto(GStrv) lines = g_strsplit(copy, "\n", EVENTS_MAX);

	for (guint i = 0; lines[i] && *lines[i]; i++) {
		LabStatCount *count = parse_line(lines[i]);

		if (count)
			g_ptr_array_add(counts, count);
		if (count && g_hash_table_add(seen, count->event))
			continue;
		g_set_error(error, LAB_ERROR, LAB_ERROR_UNKNOWN,
			    "%s: stat, line %u: wanted an event and its count, each event once", step,
			    i + 1);
		return NULL;
	}
	return g_steal_pointer(&counts);
}
