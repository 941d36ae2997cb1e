// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/progress.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

#define MAGIC "nl1"
#define CRC_DIGITS 8
#define LINE_MAX_BYTES 600u

static const char *const words[] = {
	[LAB_PROGRESS_AGENT] = "agent",	      [LAB_PROGRESS_START] = "start",
	[LAB_PROGRESS_VERIFIED] = "verified", [LAB_PROGRESS_STEP] = "step",
	[LAB_PROGRESS_STEP_END] = "step-end", [LAB_PROGRESS_END] = "end",
	[LAB_PROGRESS_FAIL] = "fail",
};

static gboolean parse_number(const char *text, guint *value)
{
	guint64 n;

	if (!g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT16, &n, NULL))
		return FALSE;
	*value = (guint)n;
	return TRUE;
}

static gboolean parse_step(char **fields, LabProgressLine *line)
{
	if (g_strv_length(fields) != 4 || !parse_number(fields[1], &line->step) ||
	    !parse_number(fields[2], &line->n_steps) || !*fields[3] ||
	    strspn(fields[3], G_CSET_a_2_z G_CSET_DIGITS "._-") != strlen(fields[3]) ||
	    line->step < 1 || line->step > line->n_steps)
		return FALSE;
	g_strlcpy(line->name, fields[3], sizeof line->name);
	return TRUE;
}

/* "WORD ARGS" */
static gboolean parse_body(const char *body, LabProgressLine *line)
{
	g_auto(GStrv) fields = g_strsplit(body, " ", -1);
	LabProgressLine found = {0};

	for (gsize i = 0; i < G_N_ELEMENTS(words); i++) {
		if (g_strcmp0(fields[0], words[i]))
			continue;
		found.word = (LabProgressWord)i;
		if ((i == LAB_PROGRESS_STEP || i == LAB_PROGRESS_STEP_END) &&
		    !parse_step(fields, &found))
			return FALSE;
		*line = found;
		return TRUE;
	}
	return FALSE;
}

gboolean lab_progress_parse(const char *text, gsize length, LabProgressLine *line)
{
	g_autofree char *copy = NULL;
	const char *body;
	guint64 crc, sequence;

	if (length && text[length - 1] == '\r')
		length--;
	if (!length || length > LINE_MAX_BYTES || memchr(text, 0, length))
		return FALSE;
	copy = g_strndup(text, length);
	g_auto(GStrv) head = g_strsplit(copy, " ", 4);
	if (g_strv_length(head) != 4 || strcmp(head[0], MAGIC) ||
	    !g_ascii_string_to_unsigned(head[1], 10, 0, G_MAXUINT32, &sequence, NULL) ||
	    strlen(head[2]) != CRC_DIGITS ||
	    !g_ascii_string_to_unsigned(head[2], 16, 0, G_MAXUINT32, &crc, NULL))
		return FALSE;
	body = head[3];
	return crc == crc32_z(0, (const Bytef *)body, strlen(body)) && parse_body(body, line);
}
