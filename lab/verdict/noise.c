/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/verdict/noise.h"

#include <math.h>
#include <string.h>

#include "lab/base/error.h"
#include "lab/base/json_writer.h"
#include "lab/verdict/compare_internal.h"

#define ALPHA 0.05

static void row_free(gpointer data)
{
	LabNoiseRow *row = data;

	g_free(row->metric);
	g_free(row->unit);
	g_free(row);
}

void lab_noise_free(LabNoise *noise)
{
	if (!noise)
		return;
	g_free(noise->kernel);
	g_free(noise->clock);
	g_clear_pointer(&noise->rows, g_ptr_array_unref);
	g_strfreev(noise->notes);
	g_free(noise);
}

/* One kernel: its first seeds against the others. Two: one against the other. */
static void sides(const LabCompareRow *row, const double *side[2], guint n[2])
{
	const GArray *first = row->values[0];

	if (row->n_columns == 1) {
		n[0] = first->len / 2;
		n[1] = first->len - n[0];
		side[0] = &g_array_index(first, double, 0);
		side[1] = side[0] + n[0];
		return;
	}
	for (guint i = 0; i < 2; i++) {
		n[i] = row->values[i]->len;
		side[i] = &g_array_index(row->values[i], double, 0);
	}
}

static LabSummary summary_of_all(const double *const side[2], const guint n[2])
{
	g_autofree double *all = g_new(double, n[0] + n[1] + 1);
	guint kept = 0;

	for (guint i = 0; i < 2; i++)
		for (guint j = 0; j < n[i]; j++)
			if (!isnan(side[i][j]))
				all[kept++] = side[i][j];
	return lab_summary(all, kept);
}

double lab_noise_row_floor(const LabCompareRow *row, LabDesign design, guint boots, double alpha)
{
	const double *side[2];
	guint n[2];

	sides(row, side, n);
	return lab_noise_floor(design, side[0], n[0], side[1], n[1], boots, alpha);
}

LabDesign lab_noise_design(const LabCompare *compare)
{
	return compare->columns->len == 2 && !strcmp(compare->clock, "exact") ? LAB_DESIGN_PAIRED
									      : LAB_DESIGN_UNPAIRED;
}

static void add_rows(LabNoise *noise, const LabCompare *compare, const GPtrArray *rows)
{
	for (guint i = 0; i < rows->len; i++) {
		const LabCompareRow *from = rows->pdata[i];
		LabNoiseRow *row = g_new0(LabNoiseRow, 1);
		const double *side[2];
		guint n[2];

		sides(from, side, n);
		row->metric = lab_compare_metric_name(compare, from->metric, from->point);
		row->unit = g_strdup(from->unit);
		row->summary = summary_of_all(side, n);
		row->floor_pct =
			100 * lab_noise_row_floor(from, noise->design, noise->boots, noise->alpha);
		g_ptr_array_add(noise->rows, row);
	}
}

static gboolean check(const LabRun *run, const LabCompare *compare, GError **error)
{
	if (!run->plan->is_aa)
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "run %u is no A/A run; 'numalab run SCENARIO --aa' makes one", run->id);
	else if (compare->columns->len > 2)
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
			    "run %u: an A/A run has one or two kernels, found %u", run->id,
			    compare->columns->len);
	else
		return TRUE;
	return FALSE;
}

LabNoise *lab_noise(LabStore *store, const char *name, const char *counters, guint boots,
		    GError **error)
{
	g_autoptr(LabRun) run = lab_store_find_run(store, name, error);
	const char *selections[] = {name, NULL};
	g_autoptr(GPtrArray) nothing = g_ptr_array_new();
	const LabCompareOptions options = {.counters = counters, .judge = nothing};
	g_autoptr(LabCompare) compare =
		run ? lab_compare(store, selections, &options, error) : NULL;
	const LabCompareColumn *column;
	LabNoise *noise;

	if (!compare || !check(run, compare, error))
		return NULL;
	column = compare->columns->pdata[0];
	noise = g_new0(LabNoise, 1);
	noise->run = run->id;
	noise->kernel = g_strdup(column->label[0]);
	noise->clock = g_strdup(compare->clock);
	noise->n = (compare->columns->len == 1 ? column->n_boots / 2 : column->n_boots) /
		   g_strv_length(compare->points);
	noise->boots = boots ? boots : noise->n;
	noise->design = lab_noise_design(compare);
	noise->alpha = ALPHA;
	noise->rows = g_ptr_array_new_with_free_func(row_free);
	noise->notes = g_strdupv(compare->notes);
	add_rows(noise, compare, compare->times);
	add_rows(noise, compare, compare->counters);
	return noise;
}

char *lab_noise_json(const LabNoise *noise)
{
	g_autoptr(LabJsonWriter) w = lab_json_writer_new();

	lab_json_writer_object(w, NULL, LAB_JSON_BLOCK);
	lab_json_writer_uint(w, "run", noise->run);
	lab_json_writer_string(w, "kernel", noise->kernel);
	lab_json_writer_string(w, "clock", noise->clock);
	lab_json_writer_string(w, "design",
			       noise->design == LAB_DESIGN_PAIRED ? "paired" : "unpaired");
	lab_json_writer_uint(w, "boots_a_side", noise->n);
	lab_json_writer_uint(w, "boots_compared", noise->boots);
	lab_json_writer_number(w, "alpha", noise->alpha);
	lab_json_writer_array(w, "metrics", LAB_JSON_BLOCK);
	for (guint i = 0; i < noise->rows->len; i++) {
		const LabNoiseRow *row = noise->rows->pdata[i];

		lab_json_writer_object(w, NULL, LAB_JSON_LINE);
		lab_json_writer_string(w, "metric", row->metric);
		lab_json_writer_string(w, "unit", row->unit);
		lab_json_writer_uint(w, "n", row->summary.n);
		lab_json_writer_number(w, "amean", row->summary.amean);
		lab_json_writer_number(w, "coeffvar_pct", row->summary.coeffvar);
		lab_json_writer_number(w, "floor_pct", row->floor_pct);
		lab_json_writer_end(w);
	}
	lab_json_writer_end(w);
	lab_json_writer_array(w, "notes", LAB_JSON_BLOCK);
	for (char **note = noise->notes; *note; note++)
		lab_json_writer_string(w, NULL, *note);
	lab_json_writer_end(w);
	lab_json_writer_end(w);
	return lab_json_writer_text(w);
}
