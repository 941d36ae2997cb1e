/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which differences are smaller than what a kernel shows against itself. */
#include <math.h>
#include <string.h>

#include "lab/verdict/compare_internal.h"
#include "lab/verdict/noise.h"

/* What is compared cannot be its own measure: that run, where both sides of a verdict are of it */
static guint own_run(const LabCompare *compare, const LabRun *baseline)
{
	for (guint c = 1; c < compare->columns->len; c++)
		if (((LabCompareColumn *)compare->columns->pdata[c])->run == baseline->id)
			return baseline->id;
	return 0;
}

/* By its label: an A/A run of the experiment may have been of other points. */
static const LabCompareRow *find_row(const LabCompare *aa, const char *metric, const char *point)
{
	for (guint p = 0; aa->points[p]; p++)
		if (strcmp(aa->points[p], point) == 0)
			return lab_compare_find_row(aa, metric, p);
	return NULL;
}

static void add_floor(const LabCompare *compare, const LabCompare *aa, LabCompareVerdict *v)
{
	const LabCompareRow *row = find_row(aa, v->metric, compare->points[v->point]);
	gboolean paired = v->difference.design == LAB_DESIGN_PAIRED &&
			  lab_noise_design(aa) == LAB_DESIGN_PAIRED;

	if (v->missing || !row)
		return;
	v->noise_floor =
		lab_noise_row_floor(row, paired ? LAB_DESIGN_PAIRED : LAB_DESIGN_UNPAIRED,
				    MIN(v->difference.n[0], v->difference.n[1]), LAB_COMPARE_ALPHA);
	/* Without an end it is of no use: the mean was 0. */
	if (isinf(v->noise_floor))
		v->noise_floor = NAN;
	v->below_floor = fabs(v->difference.relative) < v->noise_floor;
}

static void note_run(const LabCompare *compare, const LabRun *run, GPtrArray *notes)
{
	const LabCompareColumn *base = compare->columns->pdata[0];
	gboolean own =
		g_strv_contains((const char *const *)run->plan->kernels, base->kernel_digest);

	g_ptr_array_add(notes, g_strdup_printf("noise floors: of A/A run %u (%s, %s)", run->id,
					       compare->noise_kernel,
					       own ? "the baseline's kernel"
						   : "another kernel than the baseline's"));
}

void lab_compare_floors(LabCompare *compare, LabStore *store, const LabRun *baseline,
			GPtrArray *notes)
{
	const LabCompareColumn *base = compare->columns->pdata[0];
	g_autoptr(GPtrArray) nothing = g_ptr_array_new();
	g_autoptr(GError) error = NULL;
	g_autoptr(LabCompare) aa = NULL;
	g_autoptr(LabRun) run = NULL;
	g_autofree char *name = NULL;

	if (!compare->verdicts->len)
		return;
	run = lab_store_find_aa(store, baseline, base->kernel_digest, own_run(compare, baseline),
				&error);
	if (run) {
		name = g_strdup_printf("%u", run->id);
		aa = lab_compare(store, (const char *const[]){name, NULL},
				 &(LabCompareOptions){.judge = nothing}, &error);
	}
	if (error)
		g_ptr_array_add(notes, g_strdup_printf("no noise floors: %s", error->message));
	if (!aa)
		return;
	base = aa->columns->pdata[0];
	compare->noise_run = run->id;
	compare->noise_kernel = g_strdup_printf("%s %s", base->label[0], base->label[1]);
	for (guint i = 0; i < compare->verdicts->len; i++)
		add_floor(compare, aa, compare->verdicts->pdata[i]);
	note_run(compare, run, notes);
}
