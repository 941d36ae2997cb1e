/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of samples -> the figures of the lists' tables. No I/O. */
#pragma once
#include <glib.h>

typedef struct {
	guint n;
	double min, max, amean, stddev, coeffvar; /* stddev: of the sample (n-1), NAN when n < 2; coeffvar in percent, NAN when amean is 0 or n < 2 */
} LabSummary;

/** lab_summary() - NANs are an error of the caller; n may be 0: all fields NAN */
LabSummary lab_summary(const double *values, guint n);

/**
 * lab_change_pct() - MMTests' sign rule, from unrounded data: a plus is always better
 * @better: -1: (base-new)/base, +1: (new-base)/base; 0 as -1 (counters: fewer is a plus)
 * Return: percent; NAN when it has no meaning. base 0: NAN unless new is 0 too (then 0.0); new 0: +100 or -100 by the rule.
 */
double lab_change_pct(double base, double value, int better);
