/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Differences of figures that are shares already, and for which a relative difference says little. No I/O. */
#pragma once
#include "lab/stats/difference.h"

/**
 * lab_shift_interval() - of mean[1] - mean[0], in the metric's unit, at confidence 1 - @alpha: the t interval (paired, or Welch's)
 *
 * No spread: a point. NAN, NAN without boots on a side; no ends when a side has one boot.
 */
LabInterval lab_shift_interval(const LabDifference *difference, double alpha);
