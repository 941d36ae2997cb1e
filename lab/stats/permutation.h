/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Permutation tests: a p value that asks for no distribution. No I/O. */
#pragma once
#include "lab/stats/difference.h"

/**
 * lab_permutation_p() - two-sided, of the test that it made no difference which kernel was booted
 * @design:      paired: R. A. Fisher's ("The Design of Experiments", 1935, section 21): each pair's
 * difference with either sign; unpaired: every division of all samples into two groups of these
 * sizes
 * @baseline:    and the rest: as for lab_difference()
 * @n_baseline:
 * @candidate:
 * @n_candidate:
 * @seed:        of the arrangements that are drawn where there are more than 200,000: 100,000 are
 *
 * Return: the share of arrangements whose means differ by as much as they do here, or more; where
 * arrangements are drawn, this one is counted among them (so p is never 0). The same arguments have
 * the same answer. NAN when no boot is left on a side, and for errors of the caller.
 *
 * The smallest p that n pairs can have is 2 / 2^n, and n and n boots 2 / (2n choose n): 3 boots
 * never reach 5 %.
 */
double lab_permutation_p(LabDesign design, const double *baseline, guint n_baseline,
			 const double *candidate, guint n_candidate, guint64 seed);
