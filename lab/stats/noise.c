/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/stats/noise.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "lab/stats/difference_internal.h"

static double sum_of_squares(const LabDifference *d, int side)
{
	return d->variance[side] * d->n[side] * (d->n[side] - 1);
}

/* Of the difference of one boot and one boot, both of the same mean; @df: (out) */
static double variance_of_difference(const LabDifference *d, double mean, double *df)
{
	double sum = 0;

	if (d->design == LAB_DESIGN_PAIRED) {
		double n = d->n[0], shift = d->mean[1] - d->mean[0];

		*df = n;
		return d->difference_variance * (n - 1) + shift * shift;
	}
	for (int i = 0; i < 2; i++)
		sum += sum_of_squares(d, i) + d->n[i] * (d->mean[i] - mean) * (d->mean[i] - mean);
	*df = d->n[0] + d->n[1] - 1;
	return 2 * sum / *df;
}

double lab_noise_floor(LabDesign design, const double *a, guint n_a, const double *b, guint n_b,
		       guint boots, double alpha)
{
	LabDifference d = lab_difference(design, a, n_a, b, n_b);
	double mean, variance, df, floor;

	if (!lab_difference_has_spread(&d))
		return NAN;
	mean = (d.mean[0] * d.n[0] + d.mean[1] * d.n[1]) / (d.n[0] + d.n[1]);
	variance = variance_of_difference(&d, mean, &df);
	if (variance == 0)
		return 0;
	floor = gsl_cdf_tdist_Qinv(alpha / 2, df) * sqrt(variance / boots);
	return MAX(floor, fabs(d.mean[1] - d.mean[0])) / fabs(mean);
}
