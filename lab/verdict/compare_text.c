/* SPDX-License-Identifier: GPL-2.0-or-later */
/* MMTests' table: "Min      real-xfsrepair      497.64 (  0.00%)      456.87 (  8.19%)". */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/verdict/compare.h"

/* The least widths are those of MMTests: "%12.2f (%6.2f%%)". */
#define STATISTIC_WIDTH 9
#define VALUE_WIDTH 12
#define PERCENT_WIDTH 6
#define PERCENT_EXTRA 4 /* " (" and "%)" */

static const struct {
	const char *name;
	gsize offset;
	gboolean spread;
} statistics[] = {
	{"Min", offsetof(LabSummary, min), FALSE},
	{"Amean", offsetof(LabSummary, amean), FALSE},
	{"Stddev", offsetof(LabSummary, stddev), TRUE},
	{"CoeffVar", offsetof(LabSummary, coeffvar), TRUE},
	{"Max", offsetof(LabSummary, max), FALSE},
};

typedef struct {
	char *value;
	char *percent; /* NULL: none */
} Cell;

typedef struct {
	char *label;
	GArray *cells; /* of Cell, one a column */
} Line;

static void clear_cell(gpointer data)
{
	Cell *cell = data;

	g_free(cell->value);
	g_free(cell->percent);
}

static void free_line(gpointer data)
{
	Line *line = data;

	g_free(line->label);
	g_array_unref(line->cells);
	g_free(line);
}

static Line *add_line(GPtrArray *lines, char *label)
{
	Line *line = g_new(Line, 1);

	line->label = label;
	line->cells = g_array_new(FALSE, TRUE, sizeof(Cell));
	g_array_set_clear_func(line->cells, clear_cell);
	g_ptr_array_add(lines, line);
	return line;
}

static double statistic(const LabCompareRow *row, guint column, guint which)
{
	return G_STRUCT_MEMBER(double, &row->summary[column], statistics[which].offset);
}

/* So that the smallest mean other than 0 of all rows of this unit shows four digits. */
static int decimals(const LabCompare *compare, const char *unit)
{
	double smallest = INFINITY;

	for (guint i = 0; i < compare->times->len; i++) {
		const LabCompareRow *row = compare->times->pdata[i];

		for (guint c = 0; strcmp(row->unit, unit) == 0 && c < row->n_columns; c++) {
			double mean = fabs(row->summary[c].amean);

			if (mean > 0 && mean < smallest)
				smallest = mean;
		}
	}
	return smallest >= 10 ? 2 : smallest >= 1 ? 3 : 4;
}

/* Of any locale. Zero has no sign here: -0.001 with two decimals is "0.00". */
static char *number(double value, int n_decimals)
{
	g_autofree char *format = g_strdup_printf("%%.%df", n_decimals);
	char buffer[512]; /* the longest double has 309 digits before the point */

	g_ascii_formatd(buffer, sizeof(buffer), format, value);
	if (*buffer == '-' && strspn(buffer, "-0.") == strlen(buffer))
		return g_strdup(buffer + 1);
	return g_strdup(buffer);
}

static void add_statistic(GPtrArray *lines, const LabCompareRow *row, guint which, int n_decimals)
{
	Line *line = add_line(lines, g_strdup_printf("%-*s%s", STATISTIC_WIDTH,
						     statistics[which].name, row->metric));
	int better = statistics[which].spread ? -1 : row->better;
	double base = statistic(row, 0, which);

	for (guint c = 0; c < row->n_columns; c++) {
		double value = statistic(row, c, which);
		double percent = lab_change_pct(base, value, better);
		Cell cell = {NULL, NULL};

		if (isnan(value)) {
			cell.value = g_strdup("-");
		} else {
			cell.value = number(value, n_decimals);
			cell.percent = isnan(percent) ? g_strdup("-") : number(percent, 2);
		}
		g_array_append_val(line->cells, cell);
	}
}

static void add_counter(GPtrArray *lines, const LabCompareRow *row)
{
	Line *line = add_line(lines, g_strdup(row->metric));

	for (guint c = 0; c < row->n_columns; c++) {
		double mean = row->summary[c].amean;
		Cell cell = {isnan(mean) ? g_strdup("-") : number(mean, 0), NULL};

		g_array_append_val(line->cells, cell);
	}
}

static GPtrArray *make_lines(const LabCompare *compare)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(free_line);

	for (guint which = 0; which < G_N_ELEMENTS(statistics); which++)
		for (guint i = 0; i < compare->times->len; i++) {
			const LabCompareRow *row = compare->times->pdata[i];

			add_statistic(lines, row, which, decimals(compare, row->unit));
		}
	for (guint i = 0; i < compare->counters->len; i++)
		add_counter(lines, compare->counters->pdata[i]);
	return lines;
}

/* A column is wide enough for a blank, its longest value, its longest percentage, and its heads. */
static void measure(const LabCompare *compare, const GPtrArray *lines, guint c, int *value,
		    int *percent)
{
	const LabCompareColumn *column = compare->columns->pdata[c];
	int head = (int)MAX(strlen(column->label[0]), strlen(column->label[1])) + 1;

	*value = VALUE_WIDTH;
	*percent = PERCENT_WIDTH;
	for (guint i = 0; i < lines->len; i++) {
		const Cell *cell = &g_array_index(((Line *)lines->pdata[i])->cells, Cell, c);

		*value = MAX(*value, (int)strlen(cell->value) + 1);
		if (cell->percent)
			*percent = MAX(*percent, (int)strlen(cell->percent));
	}
	*value = MAX(*value, head - *percent - PERCENT_EXTRA);
}

static void end_line(GString *text)
{
	while (text->len && text->str[text->len - 1] == ' ')
		g_string_truncate(text, text->len - 1);
	g_string_append_c(text, '\n');
}

static void append_cell(GString *text, const Cell *cell, int value, int percent)
{
	g_string_append_printf(text, "%*s", value, cell->value);
	if (!cell->percent)
		g_string_append_printf(text, "%*s", percent + PERCENT_EXTRA, "");
	else if (strcmp(cell->percent, "-") == 0)
		g_string_append_printf(text, " (%*s)", percent + 1, "-");
	else
		g_string_append_printf(text, " (%*s%%)", percent, cell->percent);
}

static void append_table(GString *text, const LabCompare *compare, const GPtrArray *lines)
{
	guint n = compare->columns->len;
	g_autofree int *value = g_new(int, n), *percent = g_new(int, n);
	int label = STATISTIC_WIDTH;

	for (guint i = 0; i < lines->len; i++)
		label = MAX(label, (int)strlen(((Line *)lines->pdata[i])->label));
	for (guint c = 0; c < n; c++)
		measure(compare, lines, c, &value[c], &percent[c]);
	for (guint h = 0; h < 2; h++) {
		g_string_append_printf(text, "%*s", label, "");
		for (guint c = 0; c < n; c++)
			g_string_append_printf(
				text, "%*s", value[c] + percent[c] + PERCENT_EXTRA,
				((LabCompareColumn *)compare->columns->pdata[c])->label[h]);
		end_line(text);
	}
	for (guint i = 0; i < lines->len; i++) {
		const Line *line = lines->pdata[i];

		g_string_append_printf(text, "%-*s", label, line->label);
		for (guint c = 0; c < n; c++)
			append_cell(text, &g_array_index(line->cells, Cell, c), value[c],
				    percent[c]);
		end_line(text);
	}
}

char *lab_compare_text(const LabCompare *compare)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GPtrArray) lines = make_lines(compare);

	g_string_append_printf(text, "%s\n", compare->title);
	append_table(text, compare, lines);
	for (char **note = compare->notes; *note; note++)
		g_string_append_printf(text, "%s\n", *note);
	return g_string_free(g_steal_pointer(&text), FALSE);
}
