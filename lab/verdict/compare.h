/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table: two or more kernels side by side, as the lists are used to. A value first, then printed by the forms below. */
#pragma once
#include "lab/stats/summary.h"
#include "lab/store/store.h"

typedef struct {
	char *label[2]; /* two header lines: version, name */
	char *kernel_digest;
	guint n_boots, n_ok; /* in this column */
	char *origin;	/* "run 7" */
} LabCompareColumn;

typedef struct {
	char *metric, *unit;
	int better;
	GArray **values;     /* per column: doubles, one per boot that has it, in seed order */
	LabSummary *summary; /* per column; n == 0: missing */
} LabCompareRow;

typedef struct {
	char *title;	    /* scenario's name */
	GPtrArray *columns; /* of LabCompareColumn */
	GPtrArray *times;   /* of LabCompareRow: real-, user-, syst- of each step, then files/s-... */
	GPtrArray *counters; /* of LabCompareRow */
	char **notes;	    /* NULL-terminated: clock and its limits, missing boots, different prepared file systems ... */
} LabCompare;

/**
 * lab_compare() - columns from runs
 * @selections: NULL-terminated "RUN", "RUN:KERNEL" (label, spec text or start of digest); the first column is the baseline
 * @counters: (nullable): NULL: the default set (numa_* and pg* NUMA counters of vmstat, irq.TLB/CAL/RES); "all": all
 */
LabCompare *lab_compare(LabStore *store, const char *const *selections, const char *counters, GError **error);
void lab_compare_free(LabCompare *compare);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabCompare, lab_compare_free)

/**
 * lab_compare_text() - plain ASCII: "Min      real-xfsrepair         497.64 (  0.00%)      456.87 (  8.19%)", rows Min, Amean, Stddev, CoeffVar, Max
 * over all metrics; counters' means below; missing data as "-", never as 0. Free with g_free().
 */
char *lab_compare_text(const LabCompare *compare);
char *lab_compare_csv(const LabCompare *compare);
char *lab_compare_json(const LabCompare *compare);
