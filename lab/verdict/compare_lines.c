/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows -> lines: "Min      real-xfsrepair", "497.64", "  0.00", ... */
#include "lab/verdict/compare_lines.h"

#include <math.h>
#include <string.h>

#include "lab/base/error.h"
#include "lab/base/suggest.h"
#include "lab/verdict/compare_internal.h"

#define OF_SWEEPS "mean,coeffvar" /* rows, where there is one for each point */
#define STATISTIC_WIDTH 9 /* of the longest of MMTests' usual names, and a blank */

/* What a line shows of each row; rates have a mean of their own. */
typedef enum { MIN_ROWS, MEAN_ROWS, STDDEV_ROWS, COEFFVAR_ROWS, PERCENTILE_ROWS, MAX_ROWS } What;

static const char *const row_names[] = {
	[MIN_ROWS] = "min",	      [MEAN_ROWS] = "mean",	[STDDEV_ROWS] = "stddev",
	[COEFFVAR_ROWS] = "coeffvar", [PERCENTILE_ROWS] = NULL, [MAX_ROWS] = "max",
};

typedef struct {
	What what;
	char name[24];
	gboolean of_times, of_rates;
	double percent;
} Statistic;

static void clear_cell(gpointer data)
{
	LabCompareCell *cell = data;

	g_free(cell->value);
	g_free(cell->percent);
}

static void free_line(gpointer data)
{
	LabCompareLine *line = data;

	g_free(line->label);
	g_array_unref(line->cells);
	g_free(line);
}

static LabCompareLine *add_line(GPtrArray *lines, char *label)
{
	LabCompareLine *line = g_new(LabCompareLine, 1);

	line->label = label;
	line->cells = g_array_new(FALSE, TRUE, sizeof(LabCompareCell));
	g_array_set_clear_func(line->cells, clear_cell);
	g_ptr_array_add(lines, line);
	return line;
}

/* ---- which statistics ------------------------------------------------------------------------ */

static void add_statistic(GArray *all, What what, const char *name, gboolean of_times,
			  gboolean of_rates, double percent)
{
	Statistic s = {
		.what = what, .of_times = of_times, .of_rates = of_rates, .percent = percent};

	g_strlcpy(s.name, name, sizeof(s.name));
	g_array_append_val(all, s);
}

static gboolean wanted(char **rows, What what)
{
	return !rows || g_strv_contains((const char *const *)rows, row_names[what]);
}

/* "" is one word that is empty, too. */
static char **split(const char *list)
{
	return *list ? g_strsplit(list, ",", -1) : g_strdupv((char *[]){(char *)"", NULL});
}

static gboolean check_rows(char **rows, GError **error)
{
	static const char *const names[] = {"min", "mean", "stddev", "coeffvar", "max", NULL};

	for (char **row = rows; row && *row; row++)
		if (lab_word_index(names, g_strstrip(*row)) < 0) {
			g_autofree char *hint = lab_suggest_text(*row, names);

			g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
				    "wanted rows of min, mean, stddev, coeffvar, max, found '%s'%s",
				    *row, hint);
			return FALSE;
		}
	return TRUE;
}

/* MMTests' names: its quartiles have names of their own (lib/MMTests/Stat.pm, stat_names). */
static void add_percentile(GArray *all, const char *text, double percent)
{
	const char *name = percent == 25   ? "1st-qrtle"
			   : percent == 50 ? "2nd-qrtle"
			   : percent == 75 ? "3rd-qrtle"
					   : NULL;
	g_autofree char *other = g_strconcat("Max-", text, NULL);

	add_statistic(all, PERCENTILE_ROWS, name ? name : other, TRUE, TRUE, percent);
}

static gboolean add_percentiles(GArray *all, const char *list, GError **error)
{
	g_auto(GStrv) texts = split(list);

	for (char **text = texts; *text; text++) {
		double percent;
		char *end;

		percent = g_ascii_strtod(g_strstrip(*text), &end);
		if (!g_ascii_isdigit(**text) || (*text)[strspn(*text, G_CSET_DIGITS ".")] || *end ||
		    !(percent >= 0 && percent <= 100) || strlen(*text) > 8) {
			g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
				    "wanted percentiles from 0 to 100, like 50,90,99, found '%s'",
				    *text);
			return FALSE;
		}
		add_percentile(all, *text, percent);
	}
	return TRUE;
}

static GArray *choose_statistics(const LabCompare *compare, const LabTableOptions *options, GError **error)
{
	const char *list = options->rows ? options->rows : compare->points[1] ? OF_SWEEPS : NULL;
	g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(Statistic));
	g_auto(GStrv) rows = list ? split(list) : NULL;

	if (!check_rows(rows, error))
		return NULL;
	if (wanted(rows, MIN_ROWS))
		add_statistic(all, MIN_ROWS, "Min", TRUE, TRUE, 0);
	if (wanted(rows, MEAN_ROWS)) {
		add_statistic(all, MEAN_ROWS, "Amean", TRUE, FALSE, 0);
		add_statistic(all, MEAN_ROWS, "Hmean", FALSE, TRUE, 0);
	}
	if (wanted(rows, STDDEV_ROWS))
		add_statistic(all, STDDEV_ROWS, "Stddev", TRUE, TRUE, 0);
	if (wanted(rows, COEFFVAR_ROWS))
		add_statistic(all, COEFFVAR_ROWS, "CoeffVar", TRUE, TRUE, 0);
	if (options->percentiles && !add_percentiles(all, options->percentiles, error))
		return NULL;
	if (wanted(rows, MAX_ROWS))
		add_statistic(all, MAX_ROWS, "Max", TRUE, TRUE, 0);
	return g_steal_pointer(&all);
}

/* ---- figures --------------------------------------------------------------------------------- */

static double percentile(const GArray *values, double percent)
{
	g_autofree double *there = g_new(double, values->len + 1);
	guint n = 0;

	for (guint i = 0; i < values->len; i++)
		if (!isnan(g_array_index(values, double, i)))
			there[n++] = g_array_index(values, double, i);
	return lab_percentile(there, n, percent);
}

static double figure(const LabCompareRow *row, guint c, const Statistic *s)
{
	switch (s->what) {
	case MIN_ROWS:
		return row->summary[c].min;
	case MEAN_ROWS:
		return row->mean[c];
	case STDDEV_ROWS:
		return row->summary[c].stddev;
	case COEFFVAR_ROWS:
		return row->summary[c].coeffvar;
	case PERCENTILE_ROWS:
		return percentile(row->values[c], s->percent);
	case MAX_ROWS:
		return row->summary[c].max;
	}
	g_return_val_if_reached(NAN);
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

/* Of any locale. Zero has no sign here: -0.001 with two decimals is "0.00". NAN, what is missing, is "-". */
static char *number(double value, int n_decimals)
{
	g_autofree char *format = g_strdup_printf("%%.%df", n_decimals);
	char buffer[512]; /* the longest double has 309 digits before the point */

	if (isnan(value))
		return g_strdup("-");
	g_ascii_formatd(buffer, sizeof(buffer), format, value);
	if (*buffer == '-' && strspn(buffer, "-0.") == strlen(buffer))
		return g_strdup(buffer + 1);
	return g_strdup(buffer);
}

static LabCompareCell make_cell(const LabCompare *compare, const LabCompareRow *row, guint c,
				const Statistic *s, int n_decimals)
{
	gboolean spread = s->what == STDDEV_ROWS || s->what == COEFFVAR_ROWS;
	double value = figure(row, c, s);
	double percent = lab_change_pct(figure(row, 0, s), value, spread ? -1 : row->better);

	if (isnan(value))
		return (LabCompareCell){.value = number(value, n_decimals)};
	return (LabCompareCell){
		.value = number(value, n_decimals),
		.percent = number(percent, 2),
		.star = s->what == MEAN_ROWS && row->differs[c],
		.against = s->what == MEAN_ROWS && lab_compare_is_against(compare, row, c),
	};
}

/* Below a metric's points: what they are together. */
static void add_whole(const LabCompare *compare, const LabCompareRow *row, int width, GPtrArray *lines)
{
	const LabCompareWhole *whole = lab_compare_whole(compare, row->metric);
	LabCompareLine *line;

	if (!whole || compare->points[row->point + 1])
		return;
	line = add_line(lines, g_strdup_printf("%-*s%s", width, "Gmean", row->metric));
	for (guint c = 0; c < whole->n_columns; c++) {
		double percent = lab_change_pct(whole->gmean[0], whole->gmean[c], whole->better);
		LabCompareCell cell = {
			.value = number(whole->gmean[c], decimals(compare, whole->unit)),
			.percent = isnan(whole->gmean[c]) ? NULL : number(percent, 2)};

		g_array_append_val(line->cells, cell);
	}
}

GPtrArray *lab_compare_time_lines(const LabCompare *compare, const LabTableOptions *options,
				  GError **error)
{
	g_autoptr(GArray) statistics = choose_statistics(compare, options, error);
	GPtrArray *lines;
	int width = STATISTIC_WIDTH;

	if (!statistics)
		return NULL;
	lines = g_ptr_array_new_with_free_func(free_line);
	for (guint i = 0; i < statistics->len; i++) {
		const Statistic *s = &g_array_index(statistics, Statistic, i);

		width = MAX(width, (int)strlen(s->name) + 1);
	}
	for (guint i = 0; i < statistics->len; i++) {
		const Statistic *s = &g_array_index(statistics, Statistic, i);

		for (guint r = 0; r < compare->times->len; r++) {
			const LabCompareRow *row = compare->times->pdata[r];
			g_autofree char *name = lab_compare_metric_name(compare, row->metric, row->point);
			LabCompareLine *line;

			if (!(row->rate ? s->of_rates : s->of_times))
				continue;
			line = add_line(lines, g_strdup_printf("%-*s%s", width, s->name, name));
			for (guint c = 0; c < row->n_columns; c++) {
				LabCompareCell cell =
					make_cell(compare, row, c, s, decimals(compare, row->unit));

				g_array_append_val(line->cells, cell);
			}
			if (s->what == MEAN_ROWS)
				add_whole(compare, row, width, lines);
		}
	}
	return lines;
}

/* What all rows of times with @prefix are together, in the mean: there is no line if there are none. */
static void add_duration(const LabCompare *compare, const char *name, const char *prefix, GPtrArray *lines)
{
	g_autofree double *sums = g_new0(double, compare->columns->len);
	gboolean found = FALSE;
	LabCompareLine *line;

	for (guint r = 0; r < compare->times->len; r++) {
		const LabCompareRow *row = compare->times->pdata[r];

		if (!g_str_has_prefix(row->metric, prefix))
			continue;
		found = TRUE;
		for (guint c = 0; c < row->n_columns; c++)
			sums[c] += row->summary[c].amean;
	}
	if (!found)
		return;
	line = add_line(lines, g_strdup(name));
	for (guint c = 0; c < compare->columns->len; c++) {
		LabCompareCell cell = {.value = number(sums[c], 2)};

		g_array_append_val(line->cells, cell);
	}
}

GPtrArray *lab_compare_duration_lines(const LabCompare *compare)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(free_line);

	add_duration(compare, "User", "user-", lines);
	add_duration(compare, "System", "syst-", lines);
	add_duration(compare, "Elapsed", "real-", lines);
	return lines;
}

GPtrArray *lab_compare_counter_lines(const LabCompare *compare, gboolean truncate)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(free_line);

	for (guint r = 0; r < compare->counters->len; r++) {
		const LabCompareRow *row = compare->counters->pdata[r];
		LabCompareLine *line =
			add_line(lines, lab_compare_metric_name(compare, row->metric, row->point));

		for (guint c = 0; c < row->n_columns; c++) {
			double mean = row->summary[c].amean;
			LabCompareCell cell = {.value = number(truncate ? trunc(mean) : mean, 0)};

			g_array_append_val(line->cells, cell);
		}
	}
	return lines;
}
