/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The points of a sweep: which are selected, rows for each, and what they are as a whole. */
#include <math.h>
#include <string.h>

#include "lab/base/error.h"
#include "lab/base/suggest.h"
#include "lab/spec/scenario.h"
#include "lab/verdict/compare_internal.h"

#define SHOWN 1e-4 /* a difference of 0.01 % is the smallest that is printed */

/* ---- selection ---------------------------------------------------------------------------------- */

/* @word: "bhash", or a path that ends in it; -1: there is no such key, and @error says which there are */
static int find_key(const LabRun *run, const char *word, GError **error)
{
	char **keys = run->plan->sweep;
	g_autofree char *all = g_strjoinv(", ", keys), *hint = NULL;

	for (guint i = 0; keys[i]; i++)
		if (lab_sweep_is_key(word, keys[i]))
			return (int)i;
	hint = lab_suggest_text(word, (const char *const *)keys);
	if (*keys)
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "run %u sweeps %s, not '%s'%s",
			    run->id, all, word, hint);
	else
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "run %u is no sweep: it has no values of '%s'", run->id, word);
	return -1;
}

static const char *value_of(const LabPlan *plan, guint point, int key)
{
	return ((const LabPlanPoint *)plan->points->pdata[point])->values[key];
}

/* Of the points in @kept, each value once, in their order */
static char **values_of(const LabPlan *plan, int key, const gboolean *kept)
{
	g_autoptr(GStrvBuilder) values = g_strv_builder_new();
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; i < lab_plan_n_points(plan); i++)
		if (kept[i] && g_hash_table_add(seen, (gpointer)value_of(plan, i, key)))
			g_strv_builder_add(values, value_of(plan, i, key));
	return g_strv_builder_end(values);
}

static gboolean *all_kept(const LabPlan *plan)
{
	gboolean *kept = g_new(gboolean, lab_plan_n_points(plan));

	for (guint i = 0; i < lab_plan_n_points(plan); i++)
		kept[i] = TRUE;
	return kept;
}

static void no_value(const LabRun *run, const char *condition, int key, GError **error)
{
	g_autofree gboolean *all = all_kept(run->plan);
	g_auto(GStrv) values = values_of(run->plan, key, all);
	g_autofree char *there = g_strjoinv(", ", values);

	g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "run %u has no point with %s: it has %s",
		    run->id, condition, there);
}

/* "bhash=101073": takes all other points away */
static gboolean keep(const LabRun *run, const char *condition, gboolean *kept, GError **error)
{
	const char *equals = strchr(condition, '=');
	g_autofree char *word = g_strndup(condition, (gsize)(equals ? equals - condition : 0));
	int key = equals ? find_key(run, word, error) : -1;
	gboolean any = FALSE;

	if (!equals)
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "after '@': wanted KEY=VALUE, found '%s'", condition);
	if (key < 0)
		return FALSE;
	for (guint i = 0; i < lab_plan_n_points(run->plan); i++) {
		gboolean is = !strcmp(value_of(run->plan, i, key), equals + 1);

		any |= is;
		kept[i] &= is;
	}
	if (!any)
		no_value(run, condition, key, error);
	return any;
}

gboolean *lab_compare_keep(const LabRun *run, const char *conditions, GError **error)
{
	guint n = lab_plan_n_points(run->plan);
	g_autofree gboolean *kept = all_kept(run->plan);
	g_auto(GStrv) parts = conditions ? g_strsplit(conditions, ",", -1) : NULL;
	gboolean any = FALSE;

	for (char **part = parts; part && *part; part++)
		if (!keep(run, *part, kept, error))
			return NULL;
	for (guint i = 0; i < n; i++)
		any |= kept[i];
	if (any)
		return g_steal_pointer(&kept);
	g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "run %u has no point with all of %s", run->id,
		    conditions);
	return NULL;
}

char **lab_compare_values(const LabRun *run, const char *by, const gboolean *kept,
			  const char **name, GError **error)
{
	int key = find_key(run, by, error);

	if (key < 0)
		return NULL;
	*name = run->plan->sweep[key];
	return values_of(run->plan, key, kept);
}

gboolean lab_compare_has_value(const LabPlan *plan, guint point, const char *name,
			       const char *value)
{
	for (guint i = 0; plan->sweep[i]; i++)
		if (!strcmp(plan->sweep[i], name))
			return !strcmp(value_of(plan, point, (int)i), value);
	return FALSE;
}

/* ---- which are compared -------------------------------------------------------------------------- */

static gboolean has_point(const LabCompareColumn *column, guint point)
{
	for (guint b = 0; b < column->boots->len; b++)
		if (((const LabCompareBoot *)column->boots->pdata[b])->point == point)
			return TRUE;
	return FALSE;
}

gboolean lab_compare_check_points(const LabCompare *compare, GPtrArray *notes, GError **error)
{
	g_autoptr(GString) absent = g_string_new(NULL);
	guint n_common = 0, n_absent = 0;

	for (guint p = 0; compare->points[p]; p++) {
		gboolean common = TRUE;

		for (guint c = 0; c < compare->columns->len; c++)
			common &= has_point(compare->columns->pdata[c], p);
		n_common += common;
		if (!common)
			g_string_append_printf(absent, "%s%s", n_absent++ ? ", " : "",
					       compare->points[p]);
	}
	if (!n_common) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "points with different settings cannot be compared, and no point is in "
			    "every column: "
			    "%s; 'numalab compare RUN --by KEY' compares the values of a key that "
			    "was swept",
			    absent->str);
		return FALSE;
	}
	if (n_absent)
		g_ptr_array_add(notes, g_strdup_printf("not in every column: %s", absent->str));
	return TRUE;
}

guint lab_compare_ok_at(const LabCompareColumn *column, guint point)
{
	guint n = 0;

	for (guint b = 0; b < column->boots->len; b++) {
		const LabCompareBoot *boot = column->boots->pdata[b];

		n += boot->point == point && !strcmp(boot->outcome, "ok");
	}
	return n;
}

char *lab_compare_boot_name(const LabCompare *compare, const LabCompareBoot *boot)
{
	const char *point = compare->points[boot->point];

	return g_strdup_printf("%s%sseed %" G_GUINT64_FORMAT, point, *point ? " " : "", boot->seed);
}

char *lab_compare_metric_name(const LabCompare *compare, const char *metric, guint point)
{
	const char *label = compare->points[point];

	return g_strconcat(metric, *label ? " " : "", label, NULL);
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static LabCompareRow *row_at(const LabCompare *compare, const LabCompareRow *all, guint point)
{
	LabCompareRow *row = lab_compare_row_new(compare, all->metric, all->unit, all->better);

	row->point = point;
	for (guint c = 0; c < row->n_columns; c++) {
		const LabCompareColumn *column = compare->columns->pdata[c];

		for (guint b = 0; b < column->boots->len; b++)
			if (((const LabCompareBoot *)column->boots->pdata[b])->point == point)
				g_array_index(row->values[c], double, b) =
					g_array_index(all->values[c], double, b);
	}
	lab_compare_row_finish(compare, row);
	return row;
}

GPtrArray *lab_compare_split(const LabCompare *compare, GPtrArray *rows)
{
	guint n = g_strv_length(compare->points);
	GPtrArray *split;

	if (n == 1)
		return rows;
	split = g_ptr_array_new_with_free_func((GDestroyNotify)lab_compare_row_free);
	for (guint i = 0; i < rows->len; i++)
		for (guint p = 0; p < n; p++)
			g_ptr_array_add(split, row_at(compare, rows->pdata[i], p));
	g_ptr_array_unref(rows);
	return split;
}

static void whole_free(gpointer data)
{
	LabCompareWhole *whole = data;

	g_free(whole->metric);
	g_free(whole->gmean);
	g_free(whole);
}

static gboolean everywhere(const LabCompareRow *row)
{
	for (guint c = 0; c < row->n_columns; c++)
		if (isnan(row->mean[c]))
			return FALSE;
	return TRUE;
}

/* @rows: of all points of one metric */
static LabCompareWhole *whole_new(LabCompareRow *const *rows, guint n)
{
	LabCompareWhole *whole = g_new0(LabCompareWhole, 1);

	whole->metric = g_strdup(rows[0]->metric);
	whole->unit = rows[0]->unit;
	whole->better = rows[0]->better;
	whole->n_columns = rows[0]->n_columns;
	whole->gmean = g_new(double, whole->n_columns);
	for (guint c = 0; c < whole->n_columns; c++) {
		g_autofree double *means = g_new(double, n);
		guint kept = 0;

		for (guint p = 0; p < n; p++)
			if (everywhere(rows[p]))
				means[kept++] = rows[p]->mean[c];
		whole->gmean[c] = lab_gmean(means, kept);
	}
	return whole;
}

void lab_compare_wholes(LabCompare *compare)
{
	guint n = g_strv_length(compare->points);

	compare->wholes = g_ptr_array_new_with_free_func(whole_free);
	for (guint i = 0; n > 1 && i < compare->times->len; i += n)
		g_ptr_array_add(compare->wholes,
				whole_new((LabCompareRow *const *)compare->times->pdata + i, n));
}

const LabCompareWhole *lab_compare_whole(const LabCompare *compare, const char *metric)
{
	for (guint i = 0; i < compare->wholes->len; i++) {
		const LabCompareWhole *whole = compare->wholes->pdata[i];

		if (!strcmp(whole->metric, metric))
			return whole;
	}
	return NULL;
}

gboolean lab_compare_is_against(const LabCompare *compare, const LabCompareRow *row, guint c)
{
	const LabCompareWhole *whole = lab_compare_whole(compare, row->metric);
	double here, all;

	if (!whole || !c)
		return FALSE;
	here = (row->mean[c] - row->mean[0]) / fabs(row->mean[0]);
	all = whole->gmean[c] / whole->gmean[0] - 1;
	return fabs(here) >= SHOWN && fabs(all) >= SHOWN && (here > 0) != (all > 0);
}
