/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs made of numbers, in a store of their own, for the tests of compare. */
#pragma once
#include <math.h>

#include "lab/verdict/compare.h"
#include "tests/unit/store_fixture.h"

/* ---- making runs --------------------------------------------------------------------------------
 */

/* A kernel of a run: label, text, and what each boot gave. NAN: this boot does not have it. */
typedef struct {
	const char *label, *text;
} Kernel;

typedef struct {
	const char *metric, *unit;
	int better;
	double values[8][6]; /* per kernel, per boot */
} Metric;

typedef struct {
	const char *name;
	guint n_boots;
	Kernel kernels[8];
	Metric metrics[12];
	/* what became of some boots instead: "1/2": boot 2 of kernel 1 (from 0), 'f'ailed or
	 * 'm'issing, 'i'nfra */
	struct {
		guint kernel, boot;
		char what;
	} bad[6];
	const char *yaml; /* (nullable): the scenario as written */
} Case;

static const char scenario[] G_GNUC_UNUSED =
	"{\"settings\": {\"thp\": \"madvise\", \"x\": [1, 2]},"
	" \"prepare\": [{\"name\": \"mkfs\"}, {\"name\": \"fsmark\"}],"
	" \"steps\": [{\"name\": \"xfsrepair\"}, {\"name\": \"a-late-step\"}]}";

static inline LabPlan *case_plan(const Case *c)
{
	const char *digests[9] = {};
	g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(g_free);
	LabPlan *plan;

	for (guint k = 0; c->kernels[k].label; k++) {
		digests[k] = g_strdup_printf("%c%c%06u%056u", 'a' + k, 'a' + k, k, 7u);
		g_ptr_array_add(all, (char *)digests[k]);
	}
	plan = empty_plan(digests);
	set_text(&plan->scenario_name, c->name);
	for (guint b = 0; b < c->n_boots; b++)
		for (guint k = 0; digests[k]; k++) {
			g_autofree char *id = g_strdup_printf("k%u-s%u", k, b + 1);

			add_plan_boot(plan, id, c->kernels[k].label, c->kernels[k].text, digests[k],
				      b + 1);
		}
	return plan;
}

static inline char what_became(const Case *c, guint kernel, guint boot)
{
	for (guint i = 0; i < G_N_ELEMENTS(c->bad); i++)
		if (c->bad[i].what && c->bad[i].kernel == kernel && c->bad[i].boot == boot)
			return c->bad[i].what;
	return 'o';
}

static inline void complete_case_boot(const LabRun *run, const Case *c, const LabPlanBoot *boot)
{
	guint k = (guint)g_ascii_strtoull(boot->id + 1, NULL, 10), b = (guint)boot->seed - 1;
	g_autoptr(GPtrArray) samples =
		g_ptr_array_new_with_free_func((GDestroyNotify)lab_sample_free);
	g_autofree char *digest = g_strdup_printf("%s-digest", boot->id);

	for (guint m = 0; m < G_N_ELEMENTS(c->metrics) && c->metrics[m].metric; m++) {
		const Metric *metric = &c->metrics[m];
		LabSample *sample;

		if (isnan(metric->values[k][b]))
			continue;
		sample = g_new0(LabSample, 1);
		*sample = (LabSample){g_strdup(metric->metric), metric->values[k][b], metric->unit,
				      metric->better};
		g_ptr_array_add(samples, sample);
	}
	switch (what_became(c, k, b)) {
	case 'f':
		complete_boot(run, boot, LAB_OUTCOME_KERNEL,
			      "Kernel panic - not syncing: \xc3\xa9\n!", "", NULL);
		break;
	case 'i':
		complete_boot(run, boot, LAB_OUTCOME_INFRA, "QEMU ended", "", NULL);
		break;
	case 'o':
		complete_boot(run, boot, LAB_OUTCOME_OK, "", digest, samples);
		break;
	}
}

static inline LabRun *make_run(const Case *c, void (*change)(LabPlan *plan), const char *canonical)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabPlan) plan = case_plan(c);
	LabRun *run;

	if (change)
		change(plan);
	run = lab_store_create_run(store, plan, c->yaml ? c->yaml : "", canonical, &error);
	assert_no_error(error);
	for (guint i = 0; i < run->plan->boots->len; i++)
		complete_case_boot(run, c, run->plan->boots->pdata[i]);
	lab_run_refresh(run);
	return run;
}

static inline LabCompare *compare(const char *counters, const char *first, ...)
{
	g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
	g_auto(GStrv) selections = NULL;
	g_autoptr(GError) error = NULL;
	LabCompare *result;
	va_list ap;

	va_start(ap, first);
	for (const char *selection = first; selection; selection = va_arg(ap, const char *))
		g_strv_builder_add(builder, selection);
	va_end(ap);
	selections = g_strv_builder_end(builder);
	result = lab_compare(store, (const char *const *)selections,
			     &(LabCompareOptions){.counters = counters}, &error);
	assert_no_error(error);
	return result;
}
