/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/stats/summary.h"

#include <gsl/gsl_sort_double.h>
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

static gboolean all_above_0(const double *values, guint n)
{
	for (guint i = 0; i < n; i++)
		if (!(values[i] > 0))
			return FALSE;
	return n > 0;
}

double lab_hmean(const double *values, guint n)
{
	double sum = 0;

	if (!all_above_0(values, n))
		return NAN;
	for (guint i = 0; i < n; i++)
		sum += 1 / values[i];
	return n / sum;
}

double lab_gmean(const double *values, guint n)
{
	double sum = 0;

	if (!all_above_0(values, n))
		return NAN;
	for (guint i = 0; i < n; i++)
		sum += log(values[i]);
	return exp(sum / n);
}

double lab_percentile(const double *values, guint n, double percent)
{
	g_autofree double *sorted = NULL;

	if (!n || !(percent >= 0 && percent <= 100))
		return NAN;
	sorted = g_memdup2(values, n * sizeof(*values));
	gsl_sort(sorted, 1, n);
	return sorted[(guint)((n - 1) * (percent / 100) + 0.5)];
}
