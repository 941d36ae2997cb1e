/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table: kernels side by side, as the lists are used to. A value first, then printed by the
 * forms below.
 */
#pragma once
#include "lab/stats/summary.h"
#include "lab/store/store.h"

/** struct LabCompareBoot - where a sample comes from; outcome, message, digest as in LabBootSamples
 */
typedef struct {
	guint run;
	char *id;
	guint64 seed;
	char *outcome, *message, *digest;
} LabCompareBoot;

/**
 * struct LabCompareColumn - a kernel of a run
 * @label:   two header lines: version ("6.1.192"), name ("bookworm")
 * @n_boots: planned; @n_ok: with samples
 * @origin:  "run 7"
 * @boots:   of LabCompareBoot, all that were planned, by seed
 */
typedef struct {
	char *label[2];
	char *kernel_digest, *kernel_text;
	guint run;
	guint n_boots, n_ok;
	char *origin;
	GPtrArray *boots;
} LabCompareColumn;

/**
 * struct LabCompareRow - a metric in every column
 * @metric, @unit, @better: as in LabSample
 * @values:  per column: doubles, one per boot of the column; NAN: this boot does not have it
 * @summary: per column, over the boots that have it; n 0: missing
 */
typedef struct {
	char *metric, *unit;
	int better;
	guint n_columns;
	GArray **values;
	LabSummary *summary;
} LabCompareRow;

/**
 * struct LabCompare
 * @title:    name of the baseline's scenario
 * @clock:    "exact", "tcg"
 * @columns:  of LabCompareColumn; the first is the baseline
 * @times:    of LabCompareRow: real-, user-, syst- of each step in the order of execution, then
 * rates (files/s-, touches-, overhead-)
 * @counters: of LabCompareRow, in the order asked for
 * @notes:    (array, NULL-terminated): what a reader must know: the clock and its limits, boots
 * that failed or are missing, what differs between runs
 */
typedef struct {
	char *title, *clock;
	GPtrArray *columns;
	GPtrArray *times;
	GPtrArray *counters;
	char **notes;
} LabCompare;

/**
 * lab_compare() - columns from runs
 * @selections: NULL-terminated "RUN" (all its kernels, in the scenario's order) or "RUN:KERNEL"
 * (version, name, the kernel as the scenario names it, or the start of its digest); the first
 * column is the baseline
 * @counters:   (nullable): NULL: the default set (NUMA balancing, allocation, migration, faults,
 * shootdowns); "all": everything that was measured; else names and patterns with * and ?, separated
 * by commas
 *
 * Columns are comparable when they are one experiment: LAB_ERROR_USER when scenarios (the message
 * says what differs) or clocks do; other differences (image, prepared file system, QEMU) become
 * notes. Other errors: LAB_ERROR_USER for a run, kernel or counter that is not there (with what
 * there is); LAB_ERROR_UNKNOWN when no boot of any column has samples.
 */
LabCompare *lab_compare(LabStore *store, const char *const *selections, const char *counters,
			GError **error);
void lab_compare_free(LabCompare *compare);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabCompare, lab_compare_free)

/**
 * lab_compare_text() - MMTests' table in plain ASCII; free with g_free()
 *
 * "Min      real-xfsrepair      497.64 (  0.00%)      456.87 (  8.19%)": rows Min, Amean, Stddev,
 * CoeffVar, Max over all of @times, then the means of the counters as whole numbers, then the
 * notes. Percentages: lab_change_pct() from unrounded data. Rows of one unit have one number of
 * decimals, so that the smallest of their means shows four digits: 2 where all are 10 or more, 3
 * from 1, 4 below. Missing data, and what one boot does not tell (Stddev), is "-".
 */
char *lab_compare_text(const LabCompare *compare);

/** lab_compare_csv() - a line per metric and column (RFC 4180, with heading); missing data is
 * empty. Free with g_free(). */
char *lab_compare_csv(const LabCompare *compare);

/** lab_compare_json() - all of it, with every sample's run, boot and seed; missing data is null.
 * Free with g_free(). */
char *lab_compare_json(const LabCompare *compare);
