/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sets of samples -> the figures of the lists' tables. No I/O.
 *
 * The formulas are those of MMTests (lib/MMTests/Stat.pm), as it is today: Stddev divides by n - 1.
 * Older tables (those of 2015, tests/data/mmtests/) divide by n: with three boots their Stddev and
 * CoeffVar are smaller by the factor sqrt(2/3), and the percentages are the same.
 */
#pragma once
#include <glib.h>

/**
 * struct LabSummary - of one metric over the boots of one kernel; in the metric's unit, but for
 * @coeffvar
 * @n:        boots that have the metric
 * @min:      and @max, @amean: NAN when n is 0
 * @stddev:   of the sample (n - 1); NAN when n < 2
 * @coeffvar: 100 * stddev / |amean|, percent; NAN when n < 2 or amean is 0
 */
typedef struct {
	guint n;
	double min, max, amean, stddev, coeffvar;
} LabSummary;

/**
 * lab_summary() - figures of @n values, each of them finite (the caller leaves out what is missing)
 * @values: (nullable): only when @n is 0
 */
LabSummary lab_summary(const double *values, guint n);

/**
 * lab_change_pct() - MMTests' sign rule, from unrounded data: a plus is always better
 * @base:   figure of the baseline
 * @value:  figure of the candidate, same unit
 * @better: +1 (higher is better): (value - base) / |base|; -1 (lower is better), and 0 (not known):
 * (base - value) / |base|
 *
 * The magnitude of @base is used, so that a plus is also better where a figure is negative.
 * Return: percent. @value 0: +100 where lower is better, else -100. @base 0: 0 when @value is 0
 * too, else NAN, as no percentage can say it. NAN when either is NAN.
 */
double lab_change_pct(double base, double value, int better);

/**
 * lab_hmean() - harmonic mean of @n finite values: for rates (files/s), of which each boot did the
 * same work
 *
 * Return: NAN when @n is 0 or a value is not above 0, as MMTests' Hmean.
 */
double lab_hmean(const double *values, guint n);

/**
 * lab_gmean() - geometric mean of @n finite values: for ratios
 *
 * Return: NAN when @n is 0 or a value is not above 0. (MMTests multiplies: a 0 makes its Gmean 0.)
 */
double lab_gmean(const double *values, guint n);

/**
 * lab_percentile() - of @n finite values: one of them, the nearest by rank
 * @percent: 0 (the smallest) to 100 (the largest)
 *
 * MMTests' rule (calc_quartiles() of lib/MMTests/Stat.pm): of the sorted values, counted from 0,
 * the one at (n - 1) * percent / 100, rounded to the nearest, halves up. Its quartiles are those of
 * 25, 50 and 75, its Max-90 that of 90.
 *
 * Return: NAN when @n is 0 or @percent is out of its range.
 */
double lab_percentile(const double *values, guint n, double percent);
