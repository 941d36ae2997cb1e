/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples from known distributions, for tests that count how often lab/stats is wrong. */
#pragma once
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

#include "lab/stats/difference.h"

#define MAX_SIMULATED 64

typedef enum { SHAPE_NORMAL, SHAPE_LOGNORMAL, SHAPE_T3, SHAPE_TWO_POINTS, N_SHAPES } Shape;

/*
 * Two kernels. The mean of the baseline is 100.
 * @spread:      standard deviation of the baseline's boots, relative to the mean; @spread_ratio: of
 * the candidate's to that
 * @change:      of the candidate's mean, relative
 * @correlation: of the two boots of a seed; paired only
 */
typedef struct {
	LabDesign design;
	guint n;
	Shape shape;
	double spread, spread_ratio, change, correlation;
} Kernels;

/* Mean 0, standard deviation 1 */
static inline double simulated_deviate(gsl_rng *rng, Shape shape)
{
	const double sigma2 = 0.25; /* of the logarithm: skewness 1.75 */

	switch (shape) {
	case SHAPE_LOGNORMAL:
		return (exp(gsl_ran_gaussian_ziggurat(rng, sqrt(sigma2))) - exp(sigma2 / 2)) /
		       sqrt(expm1(sigma2) * exp(sigma2));
	case SHAPE_T3:
		return gsl_ran_gaussian_ziggurat(rng, 1) / sqrt(gsl_ran_chisq(rng, 3));
	case SHAPE_TWO_POINTS: /* four boots in five at one point, the fifth at another */
		return (gsl_rng_uniform(rng) < 0.2 ? 2 : -0.5) * sqrt(0.99) +
		       gsl_ran_gaussian_ziggurat(rng, 0.1);
	default:
		return gsl_ran_gaussian_ziggurat(rng, 1);
	}
}

/* What all metrics of a boot share comes in as @shared */
static inline void simulate_samples(gsl_rng *rng, const Kernels *k, double *baseline,
				    double *candidate)
{
	double own = sqrt(1 - k->correlation), common = sqrt(k->correlation);

	for (guint i = 0; i < k->n; i++) {
		double shared = common > 0 ? common * simulated_deviate(rng, k->shape) : 0;
		double a = shared + own * simulated_deviate(rng, k->shape);
		double b = shared + own * simulated_deviate(rng, k->shape);

		baseline[i] = 100 * (1 + k->spread * a);
		candidate[i] = 100 * (1 + k->change) * (1 + k->spread * k->spread_ratio * b);
	}
}

static inline LabDifference simulate(gsl_rng *rng, const Kernels *k)
{
	double baseline[MAX_SIMULATED], candidate[MAX_SIMULATED];

	simulate_samples(rng, k, baseline, candidate);
	return lab_difference(k->design, baseline, k->n, candidate, k->n);
}
