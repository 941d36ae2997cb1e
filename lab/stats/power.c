/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/stats/power.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <math.h>

#include "lab/stats/difference_internal.h"

#define POWER 0.8
#define MIN_BOOTS 2
/* The standard deviation that will be seen is integrated over, in so many parts. */
#define PARTS 128

/* How far the estimate is from the ends of its part, in standard errors; INFINITY: there is none */
typedef struct {
	double low, high;
} Distance;

static double from(const LabDifference *d, double ratio)
{
	return lab_difference_is_point_at(d, ratio) ? INFINITY : lab_difference_t(d, ratio);
}

static double to(const LabDifference *d, double ratio)
{
	return lab_difference_is_point_at(d, ratio) ? INFINITY : -lab_difference_t(d, ratio);
}

static Distance distance(const LabDifference *d, double threshold)
{
	double sign = d->mean[0] < 0 ? -1 : 1;
	double at[2] = {lab_difference_t(d, 1 - threshold), lab_difference_t(d, 1 + threshold)};

	/* as in lab_difference_p_above(), _below() and _within() */
	if (d->relative > threshold && MIN(at[0], at[1]) > 0)
		return (Distance){MIN(at[0], at[1]), INFINITY};
	if (d->relative < -threshold && MAX(at[0], at[1]) < 0)
		return (Distance){INFINITY, -MAX(at[0], at[1])};
	return (Distance){from(d, 1 - sign * threshold), to(d, 1 + sign * threshold)};
}

/* Density of s, the standard deviation seen, where the true one is 1 */
static double density(double s, double df)
{
	return 2 * df * s * gsl_ran_chisq_pdf(df * s * s, df);
}

double lab_stats_power(const LabDifference *d, double threshold, double alpha, guint boots)
{
	LabDifference then;
	Distance far;
	double quantile, lowest, step, sum = 0, all = 0;

	if (!lab_difference_has_spread(d))
		return NAN;
	then = lab_difference_with_boots(d, boots);
	far = distance(&then, threshold);
	quantile = gsl_cdf_tdist_Qinv(alpha / 2, then.ratio_df);
	lowest = MAX(0, 1 - 6 / sqrt(2 * then.ratio_df));
	step = (1 + 6 / sqrt(2 * then.ratio_df) - lowest) / PARTS;
	for (guint i = 0; i < PARTS; i++) {
		double s = lowest + (i + 0.5) * step, weight = density(s, then.ratio_df);
		double settled = gsl_cdf_ugaussian_P(far.low - quantile * s) +
				 gsl_cdf_ugaussian_P(far.high - quantile * s) - 1;

		sum += weight * MAX(0, settled);
		all += weight;
	}
	return sum / all;
}

guint lab_stats_boots_needed(const LabDifference *d, double threshold, double alpha,
			     guint max_boots)
{
	guint low = MIN_BOOTS, high = max_boots;

	if (!lab_difference_has_spread(d) || max_boots < MIN_BOOTS ||
	    lab_stats_power(d, threshold, alpha, max_boots) < POWER)
		return 0;
	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (lab_stats_power(d, threshold, alpha, middle) >= POWER)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}
