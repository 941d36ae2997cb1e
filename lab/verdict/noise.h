/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The noise floor of each metric: what an A/A run, a kernel against itself, shows for a difference. */
#pragma once
#include "lab/stats/noise.h"
#include "lab/verdict/compare.h"

/**
 * struct LabNoiseRow
 * @summary:   of all boots
 * @floor_pct: lab_noise_floor(), percent; NAN: too few boots
 */
typedef struct {
	char *metric, *unit;
	LabSummary summary;
	double floor_pct;
} LabNoiseRow;

/**
 * struct LabNoise
 * @n:     boots on each side; @boots: of each kernel in the comparison that the floors are for
 * @design: paired: two kernels of the same sources under the exact clock, seed by seed
 * @rows:  of LabNoiseRow: times and rates, then counters
 * @notes: NULL-terminated, as of the comparison
 */
typedef struct {
	guint run;
	char *kernel, *clock;
	guint n, boots;
	LabDesign design;
	double alpha;
	GPtrArray *rows;
	char **notes;
} LabNoise;

/**
 * lab_noise() - of an A/A run
 * @run:      "9", "latest"
 * @counters: as lab_compare()
 * @boots:    0: as many as the run had on each side
 *
 * Errors: LAB_ERROR_USER: it is no A/A run; those of lab_compare().
 */
LabNoise *lab_noise(LabStore *store, const char *run, const char *counters, guint boots,
		    GError **error);
void lab_noise_free(LabNoise *noise);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabNoise, lab_noise_free)

/** lab_noise_design() - of an A/A run, from its comparison */
LabDesign lab_noise_design(const LabCompare *compare);

/**
 * lab_noise_row_floor() - lab_noise_floor() of a metric
 * @row:    of the comparison of an A/A run alone: one column or two
 * @design: paired only where lab_noise_design() is
 */
double lab_noise_row_floor(const LabCompareRow *row, LabDesign design, guint boots, double alpha);

/** lab_noise_json() - free with g_free() */
char *lab_noise_json(const LabNoise *noise);
