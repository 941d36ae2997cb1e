/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many boots a verdict takes, from the boots that there are. No I/O. */
#pragma once
#include "lab/stats/difference.h"

/**
 * lab_stats_power() - probability that a verdict is had from @boots boots of each kernel
 * @d:         its means and spread are taken for the true ones
 * @threshold: as for lab_judge()
 * @alpha:     at which the metric is to be judged: as it was, LabJudgement.alpha; or the last
 * look's
 * @boots:     2 or more
 *
 * For normal samples: that the interval lies wholly in the part (judge.h) where the estimate is.
 * NAN when an n of @d is below 2.
 */
double lab_stats_power(const LabDifference *d, double threshold, double alpha, guint boots);

/**
 * lab_stats_boots_needed() - boots of each kernel, in all, that settle a metric with power 80 %
 * @d:         as for lab_stats_power(): a spread seen in few boots is itself uncertain, and so is
 * the answer
 * @threshold:
 * @alpha:
 * @max_boots: not more than these
 *
 * Return: 0: cannot be told: an n below 2, more than @max_boots, or any number (the estimate lies
 * at the threshold).
 */
guint lab_stats_boots_needed(const LabDifference *d, double threshold, double alpha,
			     guint max_boots);
