/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of the table, before they are laid out. Private to compare. */
#pragma once
#include "lab/verdict/compare.h"

/** struct LabCompareCell - @percent: NULL: none; @star: the row differs; @against: the sweep as a whole has another sign */
typedef struct {
	char *value;
	char *percent;
	gboolean star, against;
} LabCompareCell;

/** struct LabCompareLine - @cells: of LabCompareCell, one a column */
typedef struct {
	char *label;
	GArray *cells;
} LabCompareLine;

/** lab_compare_time_lines() - a line for each statistic and row of times: array of LabCompareLine.
 * Errors: LAB_ERROR_USER for what @options name. */
GPtrArray *lab_compare_time_lines(const LabCompare *compare, const LabTableOptions *options,
				  GError **error);

/** lab_compare_duration_lines() - MMTests' User, System, Elapsed: the mean times of all steps together, in s; "-" for a kernel that
 * lacks a step's. A kind that no step has is left out. */
GPtrArray *lab_compare_duration_lines(const LabCompare *compare);

/** lab_compare_counter_lines() - a line for each counter: its means; @truncate: as "%d" does */
GPtrArray *lab_compare_counter_lines(const LabCompare *compare, gboolean truncate);
