/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of compare, and by nobody else. */
#pragma once
#include "lab/verdict/compare.h"

/** struct LabCompareRun - a run that gives columns; boots: of LabBootSamples, in the order of the
 * plan */
typedef struct {
	LabRun *run;
	GPtrArray *boots;
} LabCompareRun;
void lab_compare_run_free(gpointer run);

/**
 * lab_compare_check() - are these runs one experiment?
 * @runs: of LabCompareRun, the baseline's first
 * @notes: of char*, added to
 *
 * Errors: LAB_ERROR_USER when they are not, saying what differs.
 */
gboolean lab_compare_check(const GPtrArray *runs, GPtrArray *notes, GError **error);

/** lab_compare_steps() - names of a run's steps, in the order of execution; free with g_strfreev()
 */
char **lab_compare_steps(const LabRun *run);

/**
 * lab_compare_columns() - columns of the selections, with their labels made unique, and points
 * @runs: of LabCompareRun, filled with each run once, in the order of the selections
 * @by:   as of LabCompareOptions
 * @compare: gets columns, points, by
 */
gboolean lab_compare_columns(LabCompare *compare, LabStore *store, const char *const *selections,
			     const char *by, GPtrArray *runs, GError **error);

/** lab_compare_keep() - which of a run's points have "KEY=VALUE,KEY=VALUE"; (nullable): all. Free with g_free(). */
gboolean *lab_compare_keep(const LabRun *run, const char *conditions, GError **error);

/** lab_compare_values() - of a key of the sweep, at those points. @name: (out): the key's, borrowed. Free with
 * g_strfreev(). */
char **lab_compare_values(const LabRun *run, const char *by, const gboolean *kept, const char **name, GError **error);

/** lab_compare_has_value() - @name: a key of the sweep */
gboolean lab_compare_has_value(const LabPlan *plan, guint point, const char *name, const char *value);

/** lab_compare_check_points() - is there a point that all columns have? Notes those that are not in all. */
gboolean lab_compare_check_points(const LabCompare *compare, GPtrArray *notes, GError **error);

/** lab_compare_ok_at() - boots with samples */
guint lab_compare_ok_at(const LabCompareColumn *column, guint point);

/** lab_compare_boot_name() - "bhash=101073 seed 2"; free with g_free() */
char *lab_compare_boot_name(const LabCompare *compare, const LabCompareBoot *boot);

/** lab_compare_metric_name() - "real-xfsrepair bhash=101073"; free with g_free() */
char *lab_compare_metric_name(const LabCompare *compare, const char *metric, guint point);

/** lab_compare_split() - takes rows of all boots, gives one for each point of each */
GPtrArray *lab_compare_split(const LabCompare *compare, GPtrArray *rows);

/** lab_compare_wholes() - fill wholes of @compare, whose times are there */
void lab_compare_wholes(LabCompare *compare);

/** lab_compare_pair() - design, partner and again of every column; @notes: boots without partner */
void lab_compare_pair(const LabCompare *compare, GPtrArray *notes);

/**
 * lab_compare_difference() - of a metric, by the design of @column
 * @reciprocal: of 1 / value, for values that are all above 0
 */
LabDifference lab_compare_difference(const LabCompare *compare, const LabCompareRow *row,
				     guint column, gboolean reciprocal);

/** lab_compare_row_new() - a row without values: all NAN */
LabCompareRow *lab_compare_row_new(const LabCompare *compare, const char *metric, const char *unit,
				   int better);
void lab_compare_row_free(LabCompareRow *row);
/** lab_compare_row_finish() - summary, mean and differs, from the values */
void lab_compare_row_finish(const LabCompare *compare, LabCompareRow *row);

/** lab_compare_rows() - fill times, counters and others of @compare, whose columns are there */
gboolean lab_compare_rows(LabCompare *compare, const GPtrArray *runs,
			  const LabCompareOptions *options, GPtrArray *notes, GError **error);

/** lab_compare_find_row() - among all that was measured; NULL: no boot has it */
const LabCompareRow *lab_compare_find_row(const LabCompare *compare, const char *metric, guint point);

/**
 * lab_compare_mmtests_rows() - MMTests' NUMA block
 * @rows:  char* -> LabCompareRow: what was measured
 * @into:  of LabCompareRow, added to
 * @taken: set of char*: names of the counters that the block has, under a name of its own
 */
void lab_compare_mmtests_rows(const LabCompare *compare, GHashTable *rows, GPtrArray *into,
			      GHashTable *taken);

/** lab_compare_judge() - fill verdicts of @compare, whose rows are there */
gboolean lab_compare_judge(LabCompare *compare, const LabRun *baseline,
			   const LabCompareOptions *options, GPtrArray *notes, GError **error);

/**
 * lab_compare_floors() - noise floors of the verdicts, where the store has an A/A run of this
 * experiment other than the one that is compared
 * @baseline: run of the first column
 * @notes:    which run it is, or why it is of no use
 */
void lab_compare_floors(LabCompare *compare, LabStore *store, const LabRun *baseline,
			GPtrArray *notes);

/** lab_compare_verdict_line() - one of them */
void lab_compare_verdict_line(const LabCompare *compare, const LabCompareVerdict *verdict, GString *text);

/** lab_compare_verdict_lines() - the verdicts, one a line, and by what rule; "" without any */
void lab_compare_verdict_lines(const LabCompare *compare, GString *text);
