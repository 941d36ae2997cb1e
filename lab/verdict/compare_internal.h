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
 * lab_compare_columns() - columns of the selections, with their labels made unique
 * @runs: of LabCompareRun, filled with each run once, in the order of the selections
 */
GPtrArray *lab_compare_columns(LabStore *store, const char *const *selections, GPtrArray *runs,
			       GError **error);

/** lab_compare_rows() - fill @times and @counters of @compare, whose columns are there */
gboolean lab_compare_rows(LabCompare *compare, const GPtrArray *runs, const char *counters,
			  GPtrArray *notes, GError **error);
