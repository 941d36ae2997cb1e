/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The comparison for programs: JSON with everything, CSV with a line per metric and column. */
#include <math.h>
#include <string.h>

#include "lab/base/json_writer.h"
#include "lab/base/units.h"
#include "lab/verdict/compare.h"

static const char *better_name(int better)
{
	return better > 0 ? "higher" : better < 0 ? "lower" : "unknown";
}

static gboolean is_sweep(const LabCompare *compare)
{
	return compare->points[1] != NULL;
}

static void add_point(LabJsonWriter *w, const LabCompare *compare, guint point)
{
	if (is_sweep(compare))
		lab_json_writer_string(w, "point", compare->points[point]);
}

static void add_column(LabJsonWriter *w, const LabCompare *compare, const LabCompareColumn *column)
{
	lab_json_writer_object(w, NULL, LAB_JSON_BLOCK);
	lab_json_writer_string(w, "version", column->label[0]);
	lab_json_writer_string(w, "name", column->label[1]);
	lab_json_writer_string(w, "kernel", column->kernel_text);
	lab_json_writer_string(w, "kernel_digest", column->kernel_digest);
	lab_json_writer_uint(w, "run", column->run);
	lab_json_writer_uint(w, "n_boots", column->n_boots);
	lab_json_writer_uint(w, "n_ok", column->n_ok);
	lab_json_writer_array(w, "boots", LAB_JSON_BLOCK);
	for (guint i = 0; i < column->boots->len; i++) {
		const LabCompareBoot *boot = column->boots->pdata[i];

		lab_json_writer_object(w, NULL, LAB_JSON_LINE);
		lab_json_writer_string(w, "boot", boot->id);
		add_point(w, compare, boot->point);
		lab_json_writer_uint(w, "seed", boot->seed);
		lab_json_writer_string(w, "outcome", boot->outcome);
		lab_json_writer_string(w, "message", boot->message);
		lab_json_writer_string(w, "digest", boot->digest);
		lab_json_writer_end(w);
	}
	lab_json_writer_end(w);
	lab_json_writer_end(w);
}

static void add_changes(LabJsonWriter *w, const char *key, const LabSummary *base,
			const LabSummary *value, int better, int better_spread)
{
	lab_json_writer_object(w, key, LAB_JSON_LINE);
	lab_json_writer_number(w, "min", lab_change_pct(base->min, value->min, better));
	lab_json_writer_number(w, "amean", lab_change_pct(base->amean, value->amean, better));
	lab_json_writer_number(w, "stddev",
			       lab_change_pct(base->stddev, value->stddev, better_spread));
	lab_json_writer_number(w, "coeffvar",
			       lab_change_pct(base->coeffvar, value->coeffvar, better_spread));
	lab_json_writer_number(w, "max", lab_change_pct(base->max, value->max, better));
	lab_json_writer_end(w);
}

static void add_samples(LabJsonWriter *w, const LabCompareColumn *column, const GArray *values, guint point)
{
	lab_json_writer_array(w, "samples", LAB_JSON_BLOCK);
	for (guint i = 0; i < column->boots->len; i++) {
		const LabCompareBoot *boot = column->boots->pdata[i];

		if (boot->point != point)
			continue;
		lab_json_writer_object(w, NULL, LAB_JSON_LINE);
		lab_json_writer_uint(w, "run", boot->run);
		lab_json_writer_string(w, "boot", boot->id);
		lab_json_writer_uint(w, "seed", boot->seed);
		lab_json_writer_number(w, "value", g_array_index(values, double, i));
		lab_json_writer_end(w);
	}
	lab_json_writer_end(w);
}

static void add_cell(LabJsonWriter *w, const LabCompare *compare, const LabCompareRow *row, guint c)
{
	const LabSummary *summary = &row->summary[c];

	lab_json_writer_object(w, NULL, LAB_JSON_BLOCK);
	lab_json_writer_uint(w, "n", summary->n);
	lab_json_writer_number(w, "min", summary->min);
	lab_json_writer_number(w, "amean", summary->amean);
	lab_json_writer_number(w, "stddev", summary->stddev);
	lab_json_writer_number(w, "coeffvar", summary->coeffvar);
	lab_json_writer_number(w, "max", summary->max);
	if (row->rate)
		lab_json_writer_number(w, "hmean", row->mean[c]);
	lab_json_writer_string(w, "differs", c ? row->differs[c] ? "yes" : "no" : NULL);
	/* (value - base) / base; and where it is known what is better, with a plus for better */
	add_changes(w, "difference_pct", &row->summary[0], summary, +1, +1);
	if (row->better)
		add_changes(w, "better_pct", &row->summary[0], summary, row->better, -1);
	add_samples(w, compare->columns->pdata[c], row->values[c], row->point);
	lab_json_writer_end(w);
}

static void add_rows(LabJsonWriter *w, const char *key, const LabCompare *compare,
		     const GPtrArray *rows)
{
	lab_json_writer_array(w, key, LAB_JSON_BLOCK);
	for (guint i = 0; i < rows->len; i++) {
		const LabCompareRow *row = rows->pdata[i];

		lab_json_writer_object(w, NULL, LAB_JSON_BLOCK);
		lab_json_writer_string(w, "metric", row->metric);
		add_point(w, compare, row->point);
		lab_json_writer_string(w, "unit", row->unit);
		lab_json_writer_string(w, "better", better_name(row->better));
		lab_json_writer_array(w, "columns", LAB_JSON_BLOCK);
		for (guint c = 0; c < row->n_columns; c++)
			add_cell(w, compare, row, c);
		lab_json_writer_end(w);
		lab_json_writer_end(w);
	}
	lab_json_writer_end(w);
}

/* A percentage, or a probability, to 10 digits: what follows is the arithmetic of a library's
 * distribution functions, and another on another machine. */
static double ten_digits(double value)
{
	char buffer[G_ASCII_DTOSTR_BUF_SIZE];

	return isfinite(value)
		       ? g_ascii_strtod(g_ascii_formatd(buffer, sizeof(buffer), "%.10g", value),
					NULL)
		       : NAN;
}

/* (candidate - baseline) / |baseline|, whatever is better */
static LabInterval plain_interval(const LabCompareVerdict *v)
{
	LabInterval i = v->judgement.interval;

	return v->better > 0 ? i : (LabInterval){0 - i.high, 0 - i.low};
}

/* NULL: there is no floor */
static const char *below_floor(const LabCompareVerdict *v)
{
	return isnan(v->noise_floor) ? NULL : v->below_floor ? "yes" : "no";
}

static void add_verdict(LabJsonWriter *w, const LabCompare *compare, const LabCompareVerdict *v)
{
	LabInterval interval = plain_interval(v);

	lab_json_writer_object(w, NULL, LAB_JSON_LINE);
	lab_json_writer_uint(w, "column", v->column);
	lab_json_writer_string(w, "metric", v->metric);
	add_point(w, compare, v->point);
	lab_json_writer_string(w, "verdict", lab_compare_verdict_name(v));
	lab_json_writer_string(w, "better", better_name(v->better));
	lab_json_writer_number(w, "threshold_pct", ten_digits(100 * v->threshold));
	lab_json_writer_number(w, "difference_pct", ten_digits(100 * v->difference.relative));
	lab_json_writer_number(w, "low_pct", ten_digits(100 * interval.low));
	lab_json_writer_number(w, "high_pct", ten_digits(100 * interval.high));
	lab_json_writer_number(w, "confidence_pct", ten_digits(100 * (1 - v->judgement.alpha)));
	lab_json_writer_number(w, "p", ten_digits(v->judgement.p));
	lab_json_writer_string(w, "settled", v->judgement.settled ? "yes" : "no");
	lab_json_writer_string(w, "design",
			       v->difference.design == LAB_DESIGN_PAIRED ? "paired" : "unpaired");
	lab_json_writer_uint(w, "n_baseline", v->difference.n[0]);
	lab_json_writer_uint(w, "n_candidate", v->difference.n[1]);
	lab_json_writer_number(w, "noise_floor_pct", ten_digits(100 * v->noise_floor));
	lab_json_writer_string(w, "below_noise_floor", below_floor(v));
	lab_json_writer_uint(w, "boots_more", v->boots_more);
	lab_json_writer_string(w, "missing", v->missing);
	lab_json_writer_end(w);
}

static void add_verdicts(LabJsonWriter *w, const LabCompare *compare)
{
	lab_json_writer_number(w, "alpha", compare->alpha);
	lab_json_writer_string(w, "judged", compare->judged_by);
	if (compare->noise_run) {
		lab_json_writer_object(w, "noise", LAB_JSON_LINE);
		lab_json_writer_uint(w, "run", compare->noise_run);
		lab_json_writer_string(w, "kernel", compare->noise_kernel);
		lab_json_writer_end(w);
	}
	lab_json_writer_array(w, "verdicts", LAB_JSON_BLOCK);
	for (guint i = 0; i < compare->verdicts->len; i++)
		add_verdict(w, compare, compare->verdicts->pdata[i]);
	lab_json_writer_end(w);
}

/* Gmean over all points, and how it differs: as difference_pct of a row. */
static void add_sweep(LabJsonWriter *w, const LabCompare *compare)
{
	if (compare->by)
		lab_json_writer_string(w, "by", compare->by);
	if (!is_sweep(compare))
		return;
	lab_json_writer_array(w, "points", LAB_JSON_BLOCK);
	for (char **point = compare->points; *point; point++)
		lab_json_writer_string(w, NULL, *point);
	lab_json_writer_end(w);
	lab_json_writer_array(w, "wholes", LAB_JSON_BLOCK);
	for (guint i = 0; i < compare->wholes->len; i++) {
		const LabCompareWhole *whole = compare->wholes->pdata[i];

		lab_json_writer_object(w, NULL, LAB_JSON_BLOCK);
		lab_json_writer_string(w, "metric", whole->metric);
		lab_json_writer_array(w, "columns", LAB_JSON_BLOCK);
		for (guint c = 0; c < whole->n_columns; c++) {
			lab_json_writer_object(w, NULL, LAB_JSON_LINE);
			lab_json_writer_number(w, "gmean", whole->gmean[c]);
			lab_json_writer_number(w, "difference_pct",
					       lab_change_pct(whole->gmean[0], whole->gmean[c], +1));
			lab_json_writer_end(w);
		}
		lab_json_writer_end(w);
		lab_json_writer_end(w);
	}
	lab_json_writer_end(w);
}

char *lab_compare_json(const LabCompare *compare)
{
	g_autoptr(LabJsonWriter) w = lab_json_writer_new();

	lab_json_writer_object(w, NULL, LAB_JSON_BLOCK);
	lab_json_writer_string(w, "scenario", compare->title);
	lab_json_writer_string(w, "clock", compare->clock);
	lab_json_writer_array(w, "columns", LAB_JSON_BLOCK);
	for (guint c = 0; c < compare->columns->len; c++)
		add_column(w, compare, compare->columns->pdata[c]);
	lab_json_writer_end(w);
	add_sweep(w, compare);
	add_rows(w, "times", compare, compare->times);
	add_rows(w, "counters", compare, compare->counters);
	add_verdicts(w, compare);
	lab_json_writer_array(w, "notes", LAB_JSON_BLOCK);
	for (char **note = compare->notes; *note; note++)
		lab_json_writer_string(w, NULL, *note);
	lab_json_writer_end(w);
	lab_json_writer_end(w);
	return lab_json_writer_text(w);
}

static void append_number(GString *text, double value)
{
	g_autofree char *number = isnan(value) ? g_strdup("") : lab_format_number(value);

	g_string_append_printf(text, ",%s", number);
}

static void append_field(GString *text, const char *field)
{
	g_auto(GStrv) parts = NULL;
	g_autofree char *doubled = NULL;

	if (!strpbrk(field, ",\"\r\n")) {
		g_string_append(text, field);
		return;
	}
	parts = g_strsplit(field, "\"", -1);
	doubled = g_strjoinv("\"\"", parts);
	g_string_append_printf(text, "\"%s\"", doubled);
}

static const LabCompareVerdict *find_verdict(const LabCompare *compare, const LabCompareRow *row, guint c)
{
	for (guint i = 0; i < compare->verdicts->len; i++) {
		const LabCompareVerdict *v = compare->verdicts->pdata[i];

		if (v->column == c && v->point == row->point && strcmp(v->metric, row->metric) == 0)
			return v;
	}
	return NULL;
}

static void append_verdict(GString *text, const LabCompareVerdict *v)
{
	LabInterval interval;

	if (!v) {
		g_string_append(text, ",,,,,,,");
		return;
	}
	interval = plain_interval(v);
	g_string_append_printf(text, ",%s", lab_compare_verdict_name(v));
	append_number(text, ten_digits(100 * v->threshold));
	append_number(text, ten_digits(100 * interval.low));
	append_number(text, ten_digits(100 * interval.high));
	append_number(text, ten_digits(100 * (1 - v->judgement.alpha)));
	append_number(text, ten_digits(100 * v->noise_floor));
	g_string_append_printf(text, ",%s", below_floor(v) ? below_floor(v) : "");
}

static void append_row(GString *text, const LabCompare *compare, const LabCompareRow *row, guint c)
{
	const LabCompareColumn *column = compare->columns->pdata[c];
	const LabSummary *s = &row->summary[c];
	const char *fields[] = {row->metric, row->unit, better_name(row->better), column->label[0],
				column->label[1]};

	for (guint f = 0; f < G_N_ELEMENTS(fields); f++) {
		append_field(text, fields[f]);
		g_string_append_c(text, ',');
	}
	g_string_append_printf(text, "%u,%u", column->run, s->n);
	append_number(text, s->min);
	append_number(text, s->amean);
	append_number(text, s->stddev);
	append_number(text, s->coeffvar);
	append_number(text, s->max);
	append_number(text, lab_change_pct(row->summary[0].amean, s->amean, +1));
	append_number(text, row->better
				    ? lab_change_pct(row->summary[0].amean, s->amean, row->better)
				    : NAN);
	append_number(text, row->rate ? row->mean[c] : NAN);
	g_string_append_printf(text, ",%s", c ? row->differs[c] ? "yes" : "no" : "");
	append_verdict(text, find_verdict(compare, row, c));
	g_string_append_c(text, ',');
	append_field(text, compare->points[row->point]);
	g_string_append(text, "\r\n");
}

/* @judged_only: rows without a verdict are left out */
static void append_rows(GString *text, const LabCompare *compare, const GPtrArray *rows,
			gboolean judged_only)
{
	for (guint i = 0; i < rows->len; i++) {
		const LabCompareRow *row = rows->pdata[i];

		if (judged_only && !find_verdict(compare, row, 1))
			continue;
		for (guint c = 0; c < compare->columns->len; c++)
			append_row(text, compare, row, c);
	}
}

char *lab_compare_csv(const LabCompare *compare)
{
	GString *text = g_string_new(
		"metric,unit,better,version,name,run,n,min,amean,stddev,coeffvar,max,"
		"difference_pct,better_pct,hmean,differs,verdict,threshold_pct,"
		"low_pct,high_pct,confidence_pct,noise_floor_pct,below_noise_floor,point\r\n");

	append_rows(text, compare, compare->times, FALSE);
	append_rows(text, compare, compare->counters, FALSE);
	append_rows(text, compare, compare->others, TRUE);
	return g_string_free(text, FALSE);
}
