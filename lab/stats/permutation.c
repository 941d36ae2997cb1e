/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/stats/permutation.h"

#include <gsl/gsl_combination.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <gsl/gsl_sf_gamma.h>
#include <math.h>

#include "lab/stats/difference_internal.h"

#define MOST_ARRANGEMENTS 200000
#define DRAWN_ARRANGEMENTS 100000
/* Arrangements that are equal without rounding are equal: of the sum of magnitudes. */
#define ROUNDING 1e-12

G_DEFINE_AUTOPTR_CLEANUP_FUNC(gsl_rng, gsl_rng_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(gsl_combination, gsl_combination_free)

/* An arrangement is as far out as the real one when |sum of what it chose - @centre| is at least
 * @limit. */
typedef struct {
	const double *values;
	guint n;
	double centre, limit;
	guint64 hits, arrangements;
} Count;

static void count_sum(Count *c, double sum)
{
	c->hits += fabs(sum - c->centre) >= c->limit;
	c->arrangements++;
}

static gsl_rng *seeded(guint64 seed)
{
	gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

	gsl_rng_set(rng, seed);
	return rng;
}

static double p_of(const Count *c, gboolean drawn)
{
	return (double)(c->hits + drawn) / (double)(c->arrangements + drawn);
}

static double sum_of_signs(const double *values, guint n, guint64 signs)
{
	double sum = 0;

	for (guint i = 0; i < n; i++)
		sum += signs >> i & 1 ? -values[i] : values[i];
	return sum;
}

static double drawn_signs(const double *values, guint n, gsl_rng *rng)
{
	double sum = 0;

	for (guint i = 0; i < n; i++)
		sum += gsl_rng_uniform_int(rng, 2) ? -values[i] : values[i];
	return sum;
}

/* @values: candidate - baseline of each pair */
static double flip_signs(const double *values, guint n, guint64 seed)
{
	gboolean drawn = n >= 64 || G_GUINT64_CONSTANT(1) << n > MOST_ARRANGEMENTS;
	g_autoptr(gsl_rng) rng = seeded(seed);
	Count c = {values, n, 0, fabs(sum_of_signs(values, n, 0)), 0, 0};

	for (guint i = 0; i < n; i++)
		c.limit -= ROUNDING * fabs(values[i]);
	if (drawn)
		for (guint i = 0; i < DRAWN_ARRANGEMENTS; i++)
			count_sum(&c, drawn_signs(values, n, rng));
	else
		for (guint64 signs = 0; signs < G_GUINT64_CONSTANT(1) << n; signs++)
			count_sum(&c, sum_of_signs(values, n, signs));
	return p_of(&c, drawn);
}

static void every_group(Count *c, guint group)
{
	g_autoptr(gsl_combination) chosen = gsl_combination_calloc(c->n, group);

	do {
		double sum = 0;

		for (guint i = 0; i < group; i++)
			sum += c->values[gsl_combination_get(chosen, i)];
		count_sum(c, sum);
	} while (gsl_combination_next(chosen) == GSL_SUCCESS);
}

static void drawn_groups(Count *c, guint group, guint64 seed)
{
	g_autofree double *chosen = g_new(double, group);
	g_autoptr(gsl_rng) rng = seeded(seed);

	for (guint drawn = 0; drawn < DRAWN_ARRANGEMENTS; drawn++) {
		double sum = 0;

		gsl_ran_choose(rng, chosen, group, (void *)c->values, c->n, sizeof(double));
		for (guint i = 0; i < group; i++)
			sum += chosen[i];
		count_sum(c, sum);
	}
}

/* @values: the baseline's @n_baseline, then the candidate's. The sum of one group tells the other's
 * and so the difference of the means. */
static double divide(double *values, guint n_baseline, guint n, guint64 seed)
{
	gboolean drawn = gsl_sf_lnchoose(n, n_baseline) > log(MOST_ARRANGEMENTS);
	double sum = 0, total = 0, magnitude = 0;
	Count c = {values, n};

	for (guint i = 0; i < n; i++)
		total += values[i];
	/* about their mean, so that a large one costs no digits */
	for (guint i = 0; i < n; i++) {
		values[i] -= total / n;
		magnitude += fabs(values[i]) + 1e-3 * fabs(total / n);
		sum += i < n_baseline ? values[i] : 0;
	}
	c.limit = fabs(sum) - ROUNDING * magnitude;
	if (drawn)
		drawn_groups(&c, n_baseline, seed);
	else
		every_group(&c, n_baseline);
	return p_of(&c, drawn);
}

double lab_permutation_p(LabDesign design, const double *baseline, guint n_baseline,
			 const double *candidate, guint n_candidate, guint64 seed)
{
	gboolean paired = design == LAB_DESIGN_PAIRED;
	g_autofree double *values = g_new(double, n_baseline + n_candidate + 1);
	guint n[2];

	if (!lab_samples_check(design, baseline, n_baseline, candidate, n_candidate))
		return NAN;
	n[0] = lab_samples_copy(values, baseline, paired ? candidate : NULL, n_baseline);
	n[1] = lab_samples_copy(values + n[0], candidate, paired ? baseline : NULL, n_candidate);
	if (!n[0] || !n[1])
		return NAN;
	if (!paired)
		return divide(values, n[0], n[0] + n[1], seed);
	for (guint i = 0; i < n[0]; i++)
		values[i] = values[n[0] + i] - values[i];
	return flip_signs(values, n[0], seed);
}
