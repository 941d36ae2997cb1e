/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/stats/shift.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

LabInterval lab_shift_interval(const LabDifference *d, double alpha)
{
	double shift = d->mean[1] - d->mean[0], half;

	if (!d->n[0] || !d->n[1])
		return (LabInterval){NAN, NAN};
	if (d->n[0] < 2 || d->n[1] < 2)
		return (LabInterval){-INFINITY, INFINITY};
	if (d->difference_variance <= 0)
		return (LabInterval){shift, shift};
	half = gsl_cdf_tdist_Qinv(alpha / 2, d->df) * sqrt(d->difference_variance);
	return (LabInterval){shift - half, shift + half};
}
