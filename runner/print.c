/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runner/print.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct _PrintTable {
	guint n_columns;
	gboolean *right;
	GPtrArray *cells; /* of char *, headings first, row by row */
};

static gboolean colour_on;

PrintTable *print_table_new(const char *heading, ...)
{
	PrintTable *table = g_new0(PrintTable, 1);
	g_autoptr(GArray) right = g_array_new(FALSE, TRUE, sizeof(gboolean));
	va_list ap;

	table->cells = g_ptr_array_new_with_free_func(g_free);
	va_start(ap, heading);
	for (const char *h = heading; h; h = va_arg(ap, const char *)) {
		gboolean to_right = *h == '>';

		g_array_append_val(right, to_right);
		g_ptr_array_add(table->cells, g_strdup(h + to_right));
	}
	va_end(ap);
	table->n_columns = right->len;
	table->right = (gboolean *)g_array_free(g_steal_pointer(&right), FALSE);
	return table;
}

void print_table_add(PrintTable *table, const char *cell, ...)
{
	guint n = 0;
	va_list ap;

	va_start(ap, cell);
	for (const char *c = cell; c && n < table->n_columns; c = va_arg(ap, const char *), n++) {
		char *clean = print_clean(c);

		g_ptr_array_add(table->cells, g_strdelimit(clean, "\n\t", ' '));
	}
	va_end(ap);
	for (; n < table->n_columns; n++)
		g_ptr_array_add(table->cells, g_strdup("-"));
}

char *print_table_text(const PrintTable *table)
{
	g_autoptr(GString) s = g_string_new(NULL);
	g_autofree gsize *widths = g_new0(gsize, table->n_columns);

	for (guint i = 0; i < table->cells->len; i++) {
		gsize w = (gsize)g_utf8_strlen(table->cells->pdata[i], -1);

		widths[i % table->n_columns] = MAX(widths[i % table->n_columns], w);
	}
	for (guint i = 0; i < table->cells->len; i++) {
		const char *cell = table->cells->pdata[i];
		guint column = i % table->n_columns;
		int pad = (int)(widths[column] - (gsize)g_utf8_strlen(cell, -1));

		if (table->right[column])
			g_string_append_printf(s, "%*s%s", pad, "", cell);
		else
			g_string_append_printf(s, "%s%*s", cell, pad, "");
		if (column + 1 < table->n_columns) {
			g_string_append(s, "  ");
			continue;
		}
		while (s->len && s->str[s->len - 1] == ' ')
			g_string_truncate(s, s->len - 1);
		g_string_append_c(s, '\n');
	}
	return g_string_free(g_steal_pointer(&s), FALSE);
}

void print_table(const PrintTable *table)
{
	g_autofree char *text = print_table_text(table);

	if (table->cells->len > table->n_columns)
		fputs(text, stdout);
}

void print_table_free(PrintTable *table)
{
	if (!table)
		return;
	g_ptr_array_unref(table->cells);
	g_free(table->right);
	g_free(table);
}

void print_json(JsonNode *root)
{
	g_autoptr(JsonGenerator) generator = json_generator_new();
	g_autofree char *text = NULL;

	json_generator_set_pretty(generator, TRUE);
	json_generator_set_indent(generator, 2);
	json_generator_set_root(generator, root);
	text = json_generator_to_data(generator, NULL);
	puts(text);
}

void print_json_builder(JsonBuilder *builder)
{
	g_autoptr(JsonNode) root = json_builder_get_root(builder);

	print_json(root);
}

char *print_clean(const char *text)
{
	char *clean = g_utf8_make_valid(text, -1);
	g_autoptr(GString) s = g_string_new(NULL);

	for (const char *p = clean; *p; p = g_utf8_next_char(p)) {
		gunichar c = g_utf8_get_char(p);

		if (c == '\n' || c == '\t')
			g_string_append_c(s, (char)c);
		else if (c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xfffd ||
			 !g_unichar_isprint(c))
			g_string_append_c(s, '?');
		else
			g_string_append_unichar(s, c);
	}
	g_free(clean);
	return g_string_free(g_steal_pointer(&s), FALSE);
}

char *print_size(guint64 bytes)
{
	return g_strdup_printf("%" G_GUINT64_FORMAT " MiB", (bytes + (1 << 20) - 1) >> 20);
}

/* One paragraph: words joined to lines, or its lines as they are. */
static void wrap_paragraph(GString *out, const char *paragraph, guint width, guint indent)
{
	g_auto(GStrv) words = NULL;
	gsize column = 0;

	if (*paragraph == ' ') {
		g_auto(GStrv) lines = g_strsplit(paragraph, "\n", -1);

		for (char **l = lines; *l; l++)
			g_string_append_printf(out, "%s%*s%s", l == lines ? "" : "\n", (int)indent,
					       "", *l);
		return;
	}
	words = g_strsplit_set(paragraph, " \n", -1);
	g_string_append_printf(out, "%*s", (int)indent, "");
	for (char **w = words; *w; w++) {
		gsize length = strlen(*w);

		if (!length)
			continue;
		if (column && column + 1 + length > width) {
			g_string_append_printf(out, "\n%*s", (int)indent, "");
			column = 0;
		}
		g_string_append_printf(out, "%s%s", column ? " " : "", *w);
		column += length + (column ? 1 : 0);
	}
}

char *print_wrap(const char *text, guint width, guint indent)
{
	g_autoptr(GString) out = g_string_new(NULL);
	g_auto(GStrv) paragraphs = g_strsplit(text, "\n\n", -1);

	for (char **p = paragraphs; *p; p++) {
		if (p != paragraphs)
			g_string_append(out, "\n\n");
		wrap_paragraph(out, *p, width, indent);
	}
	return g_string_free(g_steal_pointer(&out), FALSE);
}

void print_set_colour(gboolean on)
{
	colour_on = on;
}

const char *print_colour(PrintColour colour)
{
	static const char *const codes[] = {
		[PRINT_PLAIN] = "\033[0m",
		[PRINT_GOOD] = "\033[32m",
		[PRINT_BAD] = "\033[31m",
		[PRINT_DIM] = "\033[2m",
	};

	return colour_on ? codes[colour] : "";
}
