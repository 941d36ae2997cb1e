/* SPDX-License-Identifier: GPL-2.0-or-later */
/* MMTests' table: "Min      real-xfsrepair      497.64 (  0.00%)      456.87 (  8.19%)". */
#include <stdio.h>
#include <string.h>

#include "lab/verdict/compare_internal.h"
#include "lab/verdict/compare_lines.h"

/* The least widths are those of MMTests: "%12.2f (%6.2f%%)". */
#define VALUE_WIDTH 12
#define PERCENT_WIDTH 6
#define PERCENT_EXTRA 4 /* " (" and "%)" */
/* Of its table of counters: that of its longest name there, "Compaction migrate scanned". */
#define COUNTER_LABEL_WIDTH 26
/* Of its table of durations. */
#define DURATION_LABEL_WIDTH 8

/**
 * struct Layout - of a table
 * @label: width of the labels; @value, @percent: per column, of the figures; percent -1: the column
 * has none, and no room for them
 */
typedef struct {
	int label;
	int *value, *percent;
} Layout;

static void layout_clear(Layout *layout)
{
	g_clear_pointer(&layout->value, g_free);
	g_clear_pointer(&layout->percent, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Layout, layout_clear)

static const LabCompareCell *cell_at(const GPtrArray *lines, guint i, guint c)
{
	const LabCompareLine *line = lines->pdata[i];

	return &g_array_index(line->cells, LabCompareCell, c);
}

/* A column grows with what it holds, and with its head, so that two never touch. */
static void widen(const LabCompare *compare, const GPtrArray *lines, guint c, Layout *layout)
{
	const LabCompareColumn *column = compare->columns->pdata[c];
	int head = (int)MAX(strlen(column->label[0]), strlen(column->label[1])) + 1;
	int *value = &layout->value[c], *percent = &layout->percent[c];

	for (guint i = 0; i < lines->len; i++) {
		const LabCompareCell *cell = cell_at(lines, i, c);

		*value = MAX(*value, (int)strlen(cell->value) + 1);
		if (cell->percent)
			*percent = MAX(*percent, (int)strlen(cell->percent));
	}
	*value = MAX(*value, head - *percent - PERCENT_EXTRA);
}

static Layout new_layout(const LabCompare *compare, const GPtrArray *lines, int label, int percent)
{
	Layout layout = {label, g_new(int, compare->columns->len),
			 g_new(int, compare->columns->len)};

	for (guint i = 0; i < lines->len; i++)
		layout.label =
			MAX(layout.label, (int)strlen(((LabCompareLine *)lines->pdata[i])->label));
	for (guint c = 0; c < compare->columns->len; c++) {
		layout.value[c] = VALUE_WIDTH;
		layout.percent[c] = percent;
	}
	return layout;
}

static void end_line(GString *text)
{
	while (text->len && text->str[text->len - 1] == ' ')
		g_string_truncate(text, text->len - 1);
	g_string_append_c(text, '\n');
}

static void append_cell(GString *text, const LabCompareCell *cell, int value, int percent,
			gboolean stars)
{
	gboolean star = stars && cell->star;
	char end = stars && cell->against ? '!' : star ? '*' : ')';

	g_string_append_printf(text, "%*s", value, cell->value);
	if (percent < 0)
		return;
	if (!cell->percent)
		g_string_append_printf(text, "%*s", percent + PERCENT_EXTRA, "");
	else if (strcmp(cell->percent, "-") == 0)
		g_string_append_printf(text, " %c%*s%c", star ? '*' : '(', percent + 1, "-", end);
	else
		g_string_append_printf(text, " %c%*s%%%c", star ? '*' : '(', percent, cell->percent,
				       end);
}

static void append_table(GString *text, const LabCompare *compare, const GPtrArray *lines,
			 const Layout *layout, gboolean stars)
{
	guint n = compare->columns->len;

	for (guint h = 0; h < 2; h++) {
		g_string_append_printf(text, "%*s", layout->label, "");
		for (guint c = 0; c < n; c++) {
			const LabCompareColumn *column = compare->columns->pdata[c];
			int percent = layout->percent[c];

			g_string_append_printf(text, "%*s",
					       layout->value[c] +
						       (percent < 0 ? 0 : percent + PERCENT_EXTRA),
					       column->label[h]);
		}
		end_line(text);
	}
	for (guint i = 0; i < lines->len; i++) {
		const LabCompareLine *line = lines->pdata[i];

		g_string_append_printf(text, "%-*s", layout->label, line->label);
		for (guint c = 0; c < n; c++)
			append_cell(text, cell_at(lines, i, c), layout->value[c],
				    layout->percent[c], stars);
		end_line(text);
	}
}

/* Times and counters in one table. */
static void append_own(GString *text, const LabCompare *compare, GPtrArray *times,
		       GPtrArray *counters)
{
	g_autoptr(GPtrArray) lines = g_ptr_array_new();
	g_auto(Layout) layout = {};

	g_ptr_array_extend(lines, times, NULL, NULL);
	g_ptr_array_extend(lines, counters, NULL, NULL);
	layout = new_layout(compare, lines, 0, PERCENT_WIDTH);
	for (guint c = 0; c < compare->columns->len; c++)
		widen(compare, lines, c, &layout);
	append_table(text, compare, lines, &layout, TRUE);
}

/* As MMTests prints them: what is too long for its column moves the rest of its line. */
static void append_mmtests(GString *text, const LabCompare *compare, const GPtrArray *times,
			   const GPtrArray *counters)
{
	g_auto(Layout) of_times = new_layout(compare, times, 0, PERCENT_WIDTH);
	g_auto(Layout) of_counters = new_layout(compare, counters, COUNTER_LABEL_WIDTH, -1);
	g_autoptr(GPtrArray) durations = lab_compare_duration_lines(compare);
	g_auto(Layout) of_durations = new_layout(compare, durations, DURATION_LABEL_WIDTH, -1);

	append_table(text, compare, times, &of_times, FALSE);
	if (durations->len) {
		g_string_append_c(text, '\n');
		append_table(text, compare, durations, &of_durations, FALSE);
	}
	if (!counters->len)
		return;
	g_string_append_c(text, '\n');
	append_table(text, compare, counters, &of_counters, FALSE);
	g_string_append_c(text, '\n');
}

/* What marks of the table mean, where it has them. */
static void append_legend(GString *text, const LabCompare *compare, const GPtrArray *lines)
{
	gboolean star = FALSE, against = FALSE;

	for (guint i = 0; i < lines->len; i++)
		for (guint c = 0; c < compare->columns->len; c++) {
			star |= cell_at(lines, i, c)->star;
			against |= cell_at(lines, i, c)->against;
		}
	if (star)
		g_string_append(text,
				"* differs from the first column: t test at 95 %, each row by "
				"itself: without any change, 1 row in 20 has it\n");
	if (against)
		g_string_append(text, "! another sign than the sweep as a whole (Gmean, of all points)\n");
}

char *lab_compare_text(const LabCompare *compare, const LabTableOptions *options, GError **error)
{
	static const LabTableOptions defaults = {};
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GPtrArray) times = NULL, counters = NULL;

	options = options ? options : &defaults;
	times = lab_compare_time_lines(compare, options, error);
	if (!times)
		return NULL;
	counters = lab_compare_counter_lines(compare, options->mmtests);
	g_string_append_printf(text, "%s\n", compare->title);
	if (options->mmtests)
		append_mmtests(text, compare, times, counters);
	else
		append_own(text, compare, times, counters);
	if (!options->mmtests)
		append_legend(text, compare, times);
	for (char **note = compare->notes; *note; note++)
		g_string_append_printf(text, "%s\n", *note);
	lab_compare_verdict_lines(compare, text);
	return g_string_free(g_steal_pointer(&text), FALSE);
}
