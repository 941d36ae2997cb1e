/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/stats/summary.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>

LabSummary lab_summary(const double *values, guint n)
{
	LabSummary s = {n, NAN, NAN, NAN, NAN, NAN};

	if (!n)
		return s;
	gsl_stats_minmax(&s.min, &s.max, values, 1, n);
	/* The mean of doubles may round to outside of them. */
	s.amean = CLAMP(gsl_stats_mean(values, 1, n), s.min, s.max);
	if (n < 2)
		return s;
	s.stddev = gsl_stats_sd_m(values, 1, n, s.amean);
	if (s.amean != 0)
		s.coeffvar = 100 * s.stddev / fabs(s.amean);
	return s;
}

double lab_change_pct(double base, double value, int better)
{
	double difference = better > 0 ? value - base : base - value;

	if (base == 0)
		return value == 0 ? 0 : NAN;
	return 100 * difference / fabs(base);
}
