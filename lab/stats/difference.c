/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/stats/difference_internal.h"

#include <float.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#include "lab/stats/summary.h"

/* Sums of what would be 0 without rounding are below this part of the sums of magnitudes. */
#define ROUNDING (64 * DBL_EPSILON)

static double or_zero(double value, double magnitude)
{
	return fabs(value) <= ROUNDING * magnitude ? 0 : value;
}

/* Of mean[1] - @ratio * mean[0] */
static double variance_at(const LabDifference *d, double ratio)
{
	double own = d->variance[1] + ratio * ratio * d->variance[0];

	return MAX(0, or_zero(own - 2 * ratio * d->covariance, own));
}

/* Satterthwaite's degrees of freedom of a sum of two variances; that of a constant does not count.
 */
static double satterthwaite(const double variance[2], const guint n[2])
{
	double sum = variance[0] + variance[1];

	if (sum == 0)
		return n[0] + n[1] - 2;
	return sum * sum /
	       (variance[0] * variance[0] / (n[0] - 1) + variance[1] * variance[1] / (n[1] - 1));
}

static void set_ratio_df(LabDifference *d)
{
	/* of mean[0] * candidate - mean[1] * baseline: the ratio's, also where it is infinite */
	double weighted[2] = {d->mean[1] * d->mean[1] * d->variance[0],
			      d->mean[0] * d->mean[0] * d->variance[1]};

	if (d->design == LAB_DESIGN_PAIRED)
		d->ratio_df = d->n[0] - 1;
	else if (weighted[0] + weighted[1] > 0)
		d->ratio_df = satterthwaite(weighted, d->n);
	else
		d->ratio_df = satterthwaite(d->variance, d->n);
}

static void set_test(LabDifference *d)
{
	double difference = d->mean[1] - d->mean[0];

	d->df = d->design == LAB_DESIGN_PAIRED ? d->n[0] - 1 : satterthwaite(d->variance, d->n);
	d->t = difference != 0 ? difference / sqrt(d->difference_variance) : 0;
	d->p = isinf(d->t) ? 0 : 2 * gsl_cdf_tdist_Q(fabs(d->t), d->df);
}

static void set_relative(LabDifference *d)
{
	double difference = d->mean[1] - d->mean[0];

	d->relative = difference == 0 ? 0 : difference / fabs(d->mean[0]);
}

static const LabDifference no_boots = {
	.mean = {NAN, NAN},
	.relative = NAN,
	.t = NAN,
	.df = NAN,
	.p = NAN,
	.variance = {NAN, NAN},
	.covariance = NAN,
	.difference_variance = NAN,
	.ratio_df = NAN,
};

static gboolean none_infinite(const double *values, guint n)
{
	for (guint i = 0; i < n; i++)
		if (isinf(values[i]))
			return FALSE;
	return TRUE;
}

gboolean lab_samples_check(LabDesign design, const double *baseline, guint n_baseline,
			   const double *candidate, guint n_candidate)
{
	g_return_val_if_fail(design != LAB_DESIGN_PAIRED || n_baseline == n_candidate, FALSE);
	g_return_val_if_fail(none_infinite(baseline, n_baseline), FALSE);
	g_return_val_if_fail(none_infinite(candidate, n_candidate), FALSE);
	return TRUE;
}

guint lab_samples_copy(double *to, const double *values, const double *partner, guint n)
{
	guint used = 0;

	for (guint i = 0; i < n; i++)
		if (!isnan(values[i]) && !(partner && isnan(partner[i])))
			to[used++] = values[i];
	return used;
}

static double variance_of_mean(const LabSummary *s)
{
	return s->stddev * s->stddev / s->n;
}

/* That of candidate - baseline, from the differences themselves: nothing cancels. */
static double paired_variance(const double *baseline, const double *candidate, guint n)
{
	g_autofree double *differences = g_new(double, n);
	LabSummary s;

	for (guint i = 0; i < n; i++)
		differences[i] = candidate[i] - baseline[i];
	s = lab_summary(differences, n);
	return variance_of_mean(&s);
}

static void set_spread(LabDifference *d, const double *baseline, const double *candidate)
{
	d->difference_variance = d->variance[0] + d->variance[1];
	d->covariance = 0;
	if (d->design == LAB_DESIGN_PAIRED) {
		d->covariance = gsl_stats_covariance_m(baseline, 1, candidate, 1, d->n[0],
						       d->mean[0], d->mean[1]) /
				d->n[0];
		d->difference_variance = paired_variance(baseline, candidate, d->n[0]);
	}
	set_test(d);
	set_ratio_df(d);
}

LabDifference lab_difference(LabDesign design, const double *baseline, guint n_baseline,
			     const double *candidate, guint n_candidate)
{
	gboolean paired = design == LAB_DESIGN_PAIRED;
	g_autofree double *a = g_new(double, n_baseline + 1), *b = g_new(double, n_candidate + 1);
	LabDifference d = no_boots;
	LabSummary s[2];

	d.design = design;
	if (!lab_samples_check(design, baseline, n_baseline, candidate, n_candidate))
		return d;
	d.n[0] = lab_samples_copy(a, baseline, paired ? candidate : NULL, n_baseline);
	d.n[1] = lab_samples_copy(b, candidate, paired ? baseline : NULL, n_candidate);
	s[0] = lab_summary(a, d.n[0]);
	s[1] = lab_summary(b, d.n[1]);
	for (int i = 0; i < 2; i++) {
		d.mean[i] = s[i].amean;
		d.variance[i] = variance_of_mean(&s[i]);
	}
	set_relative(&d);
	if (lab_difference_has_spread(&d))
		set_spread(&d, a, b);
	return d;
}

LabDifference lab_difference_with_boots(const LabDifference *d, guint boots)
{
	LabDifference more = *d;

	for (int i = 0; i < 2; i++) {
		more.variance[i] *= (double)d->n[i] / boots;
		more.n[i] = boots;
	}
	more.covariance *= (double)d->n[0] / boots;
	more.difference_variance *= (double)d->n[0] / boots;
	if (d->design == LAB_DESIGN_UNPAIRED)
		more.difference_variance = more.variance[0] + more.variance[1];
	set_test(&more);
	set_ratio_df(&more);
	return more;
}

double lab_difference_t(const LabDifference *d, double ratio)
{
	double scaled = ratio * d->mean[0];
	double difference = or_zero(d->mean[1] - scaled, fabs(d->mean[1]) + fabs(scaled));

	return difference == 0 ? 0 : difference / sqrt(variance_at(d, ratio));
}

gboolean lab_difference_is_point_at(const LabDifference *d, double ratio)
{
	return lab_difference_t(d, ratio) == 0 && variance_at(d, ratio) == 0;
}

/* Ratios from @root[0] to @root[1] are refused, those outside are not: the baseline's mean may be
 * 0, that of the candidate is not, and its sign is that of every refused difference. */
static LabInterval one_ended(const LabDifference *d, const double root[2])
{
	double between = root[0] + (root[1] - root[0]) / 2;

	if (d->mean[1] - between * d->mean[0] > 0)
		return (LabInterval){MIN(root[1] - 1, 1 - root[0]), INFINITY};
	return (LabInterval){-INFINITY, MAX(root[0] - 1, 1 - root[1])};
}

/* The ratios r with (mean[1] - r * mean[0])^2 <= q * (variance at r), that is
 * a * r^2 - 2 * b * r + c <= 0; @q: the square of t's quantile */
static LabInterval fieller(const LabDifference *d, double q)
{
	const double *m = d->mean, *v = d->variance;
	double cov = d->covariance, own = m[0] * m[0] * v[1] + m[1] * m[1] * v[0];
	double a = m[0] * m[0] - q * v[0];
	double b = m[0] * m[1] - q * cov;
	/* b^2 - a * c, without the parts that cancel */
	double root = q * or_zero(own - 2 * m[0] * m[1] * cov, own) -
		      q * q * or_zero(v[0] * v[1] - cov * cov, v[0] * v[1]);
	double ends[2];

	if (a == 0 || (a < 0 && root <= 0))
		return (LabInterval){-INFINITY, INFINITY};
	if (root <= 0)
		return (LabInterval){d->relative, d->relative};
	ends[0] = b / a - sqrt(root) / fabs(a);
	ends[1] = b / a + sqrt(root) / fabs(a);
	if (a < 0)
		return one_ended(d, ends);
	if (m[0] < 0)
		return (LabInterval){1 - ends[1], 1 - ends[0]};
	return (LabInterval){ends[0] - 1, ends[1] - 1};
}

LabInterval lab_difference_interval(const LabDifference *d, double alpha)
{
	double t, point;

	if (!d->n[0] || !d->n[1])
		return (LabInterval){NAN, NAN};
	if (!lab_difference_has_spread(d))
		return (LabInterval){-INFINITY, INFINITY};
	t = gsl_cdf_tdist_Qinv(alpha / 2, d->ratio_df);
	if (d->mean[0] != 0 || d->variance[0] > 0)
		return fieller(d, t * t);
	if (fabs(d->mean[1]) <= t * sqrt(d->variance[1]) && d->variance[1] > 0)
		return (LabInterval){-INFINITY, INFINITY};
	point = d->mean[1] == 0 ? 0 : copysign(INFINITY, d->mean[1]);
	return (LabInterval){point, point};
}

static double upper_tail(const LabDifference *d, double ratio)
{
	double t = lab_difference_t(d, ratio);

	return isinf(t) ? t < 0 : gsl_cdf_tdist_Q(t, d->ratio_df);
}

static double lower_tail(const LabDifference *d, double ratio)
{
	double t = lab_difference_t(d, ratio);

	return isinf(t) ? t > 0 : gsl_cdf_tdist_P(t, d->ratio_df);
}

/* Above mean + threshold * |mean| is above it with both signs: which one the baseline's mean has
 * need not be known. */
double lab_difference_p_above(const LabDifference *d, double threshold)
{
	if (!lab_difference_has_spread(d))
		return 1;
	return MIN(1, 2 * MAX(upper_tail(d, 1 + threshold), upper_tail(d, 1 - threshold)));
}

double lab_difference_p_below(const LabDifference *d, double threshold)
{
	if (!lab_difference_has_spread(d))
		return 1;
	return MIN(1, 2 * MAX(lower_tail(d, 1 + threshold), lower_tail(d, 1 - threshold)));
}

double lab_difference_p_within(const LabDifference *d, double threshold)
{
	double sign = d->mean[0] < 0 ? -1 : 1;
	double low = 1 - sign * threshold, high = 1 + sign * threshold; /* times mean[0] */
	double p_low, p_high;

	if (!lab_difference_has_spread(d))
		return 1;
	p_low = lab_difference_is_point_at(d, low) ? 0 : upper_tail(d, low);
	p_high = lab_difference_is_point_at(d, high) ? 0 : lower_tail(d, high);
	return MIN(1, 2 * MAX(p_low, p_high));
}
