/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
#include "lab/stats/difference.h"

/** lab_samples_check() - FALSE, and a critical, for errors of the caller: lab_difference() */
gboolean lab_samples_check(LabDesign design, const double *baseline, guint n_baseline,
			   const double *candidate, guint n_candidate);

/** lab_samples_copy() - of @n @values those that are not NAN and, with @partner (nullable), whose
 * partner is not; @to: room for @n. Return: how many */
guint lab_samples_copy(double *to, const double *values, const double *partner, guint n);

/** lab_difference_has_spread() - two or more boots on both sides: there are tests and intervals */
static inline gboolean lab_difference_has_spread(const LabDifference *d)
{
	return d->n[0] >= 2 && d->n[1] >= 2;
}

/** lab_difference_t() - of the test that mean[1] = @ratio * mean[0]; no spread: 0, or INFINITY with
 * its sign */
double lab_difference_t(const LabDifference *d, double ratio);

/** lab_difference_is_point_at() - no spread, and mean[1] = @ratio * mean[0]: on the end of a part,
 * and so within the threshold */
gboolean lab_difference_is_point_at(const LabDifference *d, double ratio);

/** lab_difference_with_boots() - what @boots of each kernel would give if means and spread were as
 * they are; 2 or more, and so is each n of @d */
LabDifference lab_difference_with_boots(const LabDifference *d, guint boots);
