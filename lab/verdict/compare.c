/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/verdict/compare.h"

#include <math.h>
#include <string.h>

#include "lab/base/error.h"
#include "lab/verdict/compare_internal.h"

#define MAX_NAMED 3 /* boots or metrics that a note names */

void lab_compare_free(LabCompare *compare)
{
	if (!compare)
		return;
	g_free(compare->title);
	g_free(compare->clock);
	g_strfreev(compare->points);
	g_free(compare->by);
	g_clear_pointer(&compare->wholes, g_ptr_array_unref);
	g_clear_pointer(&compare->columns, g_ptr_array_unref);
	g_clear_pointer(&compare->times, g_ptr_array_unref);
	g_clear_pointer(&compare->counters, g_ptr_array_unref);
	g_clear_pointer(&compare->others, g_ptr_array_unref);
	g_clear_pointer(&compare->verdicts, g_ptr_array_unref);
	g_free(compare->noise_kernel);
	g_strfreev(compare->notes);
	g_free(compare);
}

void lab_compare_run_free(gpointer data)
{
	LabCompareRun *entry = data;

	lab_run_free(entry->run);
	g_ptr_array_unref(entry->boots);
	g_free(entry);
}

static gboolean is_missing(const LabCompareBoot *boot)
{
	return strcmp(boot->outcome, "missing") == 0;
}

static gboolean is_failed(const LabCompareBoot *boot)
{
	return !is_missing(boot) && strcmp(boot->outcome, "ok") != 0;
}

/* "6.12.95: 1 of 3 boots failed (seed 2: kernel: panic - not syncing)" */
static void note_boots(const LabCompare *compare, const LabCompareColumn *column, gboolean (*select)(const LabCompareBoot *),
		       const char *what, GPtrArray *notes)
{
	g_autoptr(GString) text = g_string_new(NULL);
	guint n = 0;

	for (guint i = 0; i < column->boots->len; i++) {
		const LabCompareBoot *boot = column->boots->pdata[i];
		g_autofree char *name = NULL;

		if (!select(boot) || ++n > MAX_NAMED)
			continue;
		name = lab_compare_boot_name(compare, boot);
		g_string_append_printf(text, "%s%s: %s%s%s",
				       n > 1 ? "; " : "", name,
				       is_missing(boot) ? "" : boot->outcome,
				       is_missing(boot) ? "" : ": ", boot->message);
	}
	if (n > MAX_NAMED)
		g_string_append_printf(text, "; and %u more", n - MAX_NAMED);
	if (n)
		g_ptr_array_add(notes,
				g_strdup_printf("%s %s, %s: %u of %u boots %s (%s)",
						column->label[0], column->label[1], column->origin,
						n, column->n_boots, what, text->str));
}

/* Seeds are there to give different samples; where they did not, n is less than it looks. */
static void note_identical(const LabCompareColumn *column, GPtrArray *notes)
{
	for (guint i = 0; i < column->boots->len; i++)
		for (guint j = i + 1; j < column->boots->len; j++) {
			const LabCompareBoot *a = column->boots->pdata[i];
			const LabCompareBoot *b = column->boots->pdata[j];

			if (a->point != b->point || !*a->digest || strcmp(a->digest, b->digest) != 0)
				continue;
			g_ptr_array_add(notes,
					g_strdup_printf("%s %s, %s: seeds %" G_GUINT64_FORMAT
							" and %" G_GUINT64_FORMAT
							" gave identical boots: they are one "
							"sample, not two",
							column->label[0], column->label[1],
							column->origin, a->seed, b->seed));
			return;
		}
}

/* Metrics that only some of a column's good boots have: their mean is of fewer boots. */
static void note_partial(const LabCompare *compare, const GPtrArray *rows, guint c,
			 GPtrArray *notes)
{
	const LabCompareColumn *column = compare->columns->pdata[c];
	g_autoptr(GString) names = g_string_new(NULL);
	guint n = 0;

	for (guint i = 0; i < rows->len; i++) {
		const LabCompareRow *row = rows->pdata[i];
		guint n_ok = lab_compare_ok_at(column, row->point);
		g_autofree char *name = lab_compare_metric_name(compare, row->metric, row->point);

		if (!row->summary[c].n || row->summary[c].n == n_ok || ++n > MAX_NAMED)
			continue;
		g_string_append_printf(names, "%s%s (%u of %u)", n > 1 ? ", " : "", name, row->summary[c].n, n_ok);
	}
	if (n > MAX_NAMED)
		g_string_append_printf(names, " and %u more", n - MAX_NAMED);
	if (n)
		g_ptr_array_add(notes, g_strdup_printf("%s %s, %s: not in every boot: %s",
						       column->label[0], column->label[1],
						       column->origin, names->str));
}

static void add_notes(const LabCompare *compare, GPtrArray *notes)
{
	for (guint c = 0; c < compare->columns->len; c++) {
		const LabCompareColumn *column = compare->columns->pdata[c];

		note_boots(compare, column, is_failed, "failed", notes);
		note_boots(compare, column, is_missing, "missing", notes);
		note_identical(column, notes);
		note_partial(compare, compare->times, c, notes);
		note_partial(compare, compare->counters, c, notes);
	}
}

/* Messages of boots come from outside; a note is one line of plain ASCII. */
static void clean(char *text)
{
	for (; *text; text++)
		if (!g_ascii_isprint(*text))
			*text = '?';
}

static gboolean has_samples(const LabCompare *compare, GError **error)
{
	const LabCompareBoot *first = NULL;
	g_autofree char *message = NULL;

	for (guint c = 0; c < compare->columns->len; c++) {
		const LabCompareColumn *column = compare->columns->pdata[c];

		if (column->n_ok)
			return TRUE;
		if (!first)
			first = column->boots->pdata[0];
	}
	message = g_strdup(first->message);
	clean(message);
	g_set_error(error, LAB_ERROR, LAB_ERROR_UNKNOWN,
		    "nothing to compare, no boot has samples; run %u, boot %s: %s: %s", first->run,
		    first->id, first->outcome, message);
	return FALSE;
}

static char **take_notes(GPtrArray *notes)
{
	g_autoptr(GStrvBuilder) lines = g_strv_builder_new();

	for (guint i = 0; i < notes->len; i++) {
		clean(notes->pdata[i]);
		g_strv_builder_add(lines, notes->pdata[i]);
	}
	return g_strv_builder_end(lines);
}

LabCompare *lab_compare(LabStore *store, const char *const *selections,
			const LabCompareOptions *options, GError **error)
{
	static const LabCompareOptions defaults = {};
	g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func(lab_compare_run_free);
	g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(LabCompare) compare = g_new0(LabCompare, 1);
	const LabCompareRun *base;

	options = options ? options : &defaults;
	if (!lab_compare_columns(compare, store, selections, options->by, runs, error))
		return NULL;
	if (!compare->columns->len) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "wanted a run to compare");
		return NULL;
	}
	base = runs->pdata[0];
	compare->title = g_strdup(base->run->plan->scenario_name);
	compare->clock = g_strdup(base->run->plan->clock);
	g_ptr_array_add(notes, lab_plan_clock_note(base->run->plan));
	if (!lab_compare_check(runs, notes, error) || !lab_compare_check_points(compare, notes, error) ||
	    !has_samples(compare, error))
		return NULL;
	lab_compare_pair(compare, notes);
	if (!lab_compare_rows(compare, runs, options, notes, error) ||
	    !lab_compare_judge(compare, base->run, options, notes, error))
		return NULL;
	/* An A/A run has the points, with all keys. */
	if (!compare->by)
		lab_compare_floors(compare, store, base->run, notes);
	add_notes(compare, notes);
	compare->notes = take_notes(notes);
	return g_steal_pointer(&compare);
}
