/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two sets of samples of one metric -> the relative difference of their means, with an interval.
 * No I/O. The unit is the boot: one sample is one boot.
 *
 * What is estimated is (mean of candidate - mean of baseline) / |mean of baseline|, as a fraction:
 * 0.02 is 2 %; plus: the candidate's figure is the larger one. Which sign is the better one is not
 * known here (judge.h).
 *
 * The interval is Fieller's: all differences that a t test does not refuse (E. C. Fieller, "Some
 * problems in interval estimation", JRSS B 16, 1954). Not a bootstrap: with 3 to 10 boots it draws
 * from 3 to 10 values, and its intervals are too short. Fieller's are exact for normal samples of
 * any number, and know when the baseline's mean may be 0, where a ratio says nothing.
 *
 * - Paired (exact clock: the same seeds on both kernels): the t test of candidate - ratio *
 *   baseline, boot by boot, n - 1 degrees of freedom.
 * - Unpaired: the same with the variances of both kernels (Welch), and Satterthwaite's degrees of
 *   freedom at the estimated ratio (Tamhane and Logan, J. Biopharm. Stat. 14, 2004).
 */
#pragma once
#include <glib.h>

typedef enum { LAB_DESIGN_UNPAIRED, LAB_DESIGN_PAIRED } LabDesign;

/**
 * struct LabInterval - of the relative difference, as a fraction; both ends belong to it
 * @low:  -INFINITY: no lower end
 * @high: INFINITY: no upper end
 */
typedef struct {
	double low, high;
} LabInterval;

/**
 * struct LabDifference - [0] is the baseline, [1] the candidate
 * @design:
 * @n:          boots used; paired: pairs, the same number twice
 * @mean:       in the metric's unit; NAN when its n is 0
 * @relative:   (mean[1] - mean[0]) / |mean[0]|. Both means 0: 0. mean[0] alone 0: INFINITY with the
 * sign of mean[1]. NAN when a mean is
 * @t:          of the test that both means are equal: paired t, or Welch's. No spread: 0 where the
 * means are equal, else INFINITY with the sign of the difference. NAN when an n is below 2
 * @df:         its degrees of freedom; NAN when an n is below 2
 * @p:          two-sided, of @t; 1 and 0 for t of 0 and INFINITY; NAN when an n is below 2
 * @variance:   of each mean (that of the samples / n); @covariance: of the two means, 0 when
 * unpaired; @difference_variance: of mean[1] - mean[0]. NAN when an n is below 2
 * @ratio_df:   degrees of freedom of the interval
 */
typedef struct {
	LabDesign design;
	guint n[2];
	double mean[2];
	double relative;
	double t, df, p;
	double variance[2], covariance, difference_variance;
	double ratio_df;
} LabDifference;

/**
 * lab_difference() - of two sets of samples
 * @design:
 * @baseline:    (nullable): only when @n_baseline is 0
 * @n_baseline:  boots of the baseline
 * @candidate:   (nullable): only when @n_candidate is 0
 * @n_candidate: boots of the candidate; paired: as many, and element i of both has the same seed
 *
 * NAN is a boot that does not have the metric: it is left out; paired: together with its partner.
 * Infinite values, and numbers that differ when paired, are errors of the caller (a critical, and
 * a difference of no boots). Magnitudes are to be between 1e-70 and 1e70, or 0.
 */
LabDifference lab_difference(LabDesign design, const double *baseline, guint n_baseline,
			     const double *candidate, guint n_candidate);

/**
 * lab_difference_interval() - at confidence 1 - @alpha
 * @d:
 * @alpha: above 0, below 1; 0.05: 95 %
 *
 * - No boots on a side: NAN, NAN. An n of 1 on a side: no ends, as one boot has no spread.
 * - No spread in either set (paired: in candidate - ratio * baseline): a point. Under the exact
 *   clock such data is real.
 * - The baseline's mean cannot be told from 0: the candidate may be any number of times larger, so
 *   one end is missing: "at least +40 %". Nor can the candidate's: none.
 * - The baseline is constantly 0: 0, 0 where the candidate is, too; a point at INFINITY with the
 *   sign of the candidate's mean where that can be told from 0; else no ends.
 */
LabInterval lab_difference_interval(const LabDifference *d, double alpha);

/**
 * lab_difference_p_above() - that the difference is above @threshold
 * @d:
 * @threshold: as a fraction, 0 or more
 *
 * Return: the smallest alpha at which the whole interval is above @threshold: two-sided. 1 when an
 * n is below 2.
 */
double lab_difference_p_above(const LabDifference *d, double threshold);

/** lab_difference_p_below() - the same, that the difference is below -@threshold */
double lab_difference_p_below(const LabDifference *d, double threshold);

/** lab_difference_p_within() - the same, that it is from -@threshold to @threshold, both ends
 * included */
double lab_difference_p_within(const LabDifference *d, double threshold);
