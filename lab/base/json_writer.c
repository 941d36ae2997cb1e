/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/base/json_writer.h"

#include <math.h>

#include "lab/base/units.h"

typedef struct {
	char close;
	LabJsonLayout layout;
	gboolean empty;
} Level;

struct _LabJsonWriter {
	GString *text;
	GArray *levels; /* of Level */
};

LabJsonWriter *lab_json_writer_new(void)
{
	LabJsonWriter *writer = g_new(LabJsonWriter, 1);

	writer->text = g_string_new(NULL);
	writer->levels = g_array_new(FALSE, FALSE, sizeof(Level));
	return writer;
}

void lab_json_writer_free(LabJsonWriter *writer)
{
	if (!writer)
		return;
	g_string_free(writer->text, TRUE);
	g_array_unref(writer->levels);
	g_free(writer);
}

static Level *innermost(LabJsonWriter *writer)
{
	return writer->levels->len ? &g_array_index(writer->levels, Level, writer->levels->len - 1)
				   : NULL;
}

static void new_line(LabJsonWriter *writer)
{
	g_string_append_printf(writer->text, "\n%*s", 2 * (int)writer->levels->len, "");
}

static void append_string(GString *text, const char *value)
{
	g_autofree char *valid = g_utf8_make_valid(value, -1);

	g_string_append_c(text, '"');
	for (const char *c = valid; *c; c++)
		if (*c == '"' || *c == '\\')
			g_string_append_printf(text, "\\%c", *c);
		else if ((guint8)*c < 0x20 || *c == 0x7f)
			g_string_append_printf(text, "\\u%04x", *c);
		else
			g_string_append_c(text, *c);
	g_string_append_c(text, '"');
}

/* What comes before a value: comma, line, key. */
static void begin_value(LabJsonWriter *writer, const char *key)
{
	Level *level = innermost(writer);

	if (level && !level->empty)
		g_string_append(writer->text, level->layout == LAB_JSON_LINE ? ", " : ",");
	if (level && level->layout == LAB_JSON_BLOCK)
		new_line(writer);
	if (level)
		level->empty = FALSE;
	if (key) {
		append_string(writer->text, key);
		g_string_append(writer->text, ": ");
	}
}

static void begin(LabJsonWriter *writer, const char *key, LabJsonLayout layout,
		  const char *brackets)
{
	Level *outer = innermost(writer);
	Level level = {brackets[1], layout, TRUE};

	/* Nothing in a line breaks it. */
	if (outer && outer->layout == LAB_JSON_LINE)
		level.layout = LAB_JSON_LINE;
	begin_value(writer, key);
	g_string_append_c(writer->text, brackets[0]);
	g_array_append_val(writer->levels, level);
}

void lab_json_writer_object(LabJsonWriter *writer, const char *key, LabJsonLayout layout)
{
	begin(writer, key, layout, "{}");
}

void lab_json_writer_array(LabJsonWriter *writer, const char *key, LabJsonLayout layout)
{
	begin(writer, key, layout, "[]");
}

void lab_json_writer_end(LabJsonWriter *writer)
{
	Level level = *innermost(writer);

	g_array_set_size(writer->levels, writer->levels->len - 1);
	if (level.layout == LAB_JSON_BLOCK && !level.empty)
		new_line(writer);
	g_string_append_c(writer->text, level.close);
}

void lab_json_writer_string(LabJsonWriter *writer, const char *key, const char *value)
{
	begin_value(writer, key);
	if (value)
		append_string(writer->text, value);
	else
		g_string_append(writer->text, "null");
}

void lab_json_writer_uint(LabJsonWriter *writer, const char *key, guint64 value)
{
	begin_value(writer, key);
	g_string_append_printf(writer->text, "%" G_GUINT64_FORMAT, value);
}

void lab_json_writer_number(LabJsonWriter *writer, const char *key, double value)
{
	g_autofree char *text = isfinite(value) ? lab_format_number(value) : g_strdup("null");

	begin_value(writer, key);
	g_string_append(writer->text, text);
}

char *lab_json_writer_text(const LabJsonWriter *writer)
{
	return g_strdup_printf("%s\n", writer->text->str);
}
