/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Published sets of samples, and how the tests of lab/stats compare figures. */
#pragma once
#include <check.h>
#include <math.h>

#define assert_within(got, want, tolerance)                                                        \
	ck_assert_msg(isnan(want)   ? isnan(got)                                                   \
		      : isinf(want) ? (got) == (want)                                              \
				    : fabs((got) - (want)) <= (tolerance),                         \
		      "%s is %.17g, wanted %.17g", #got, (double)(got), (double)(want))
#define assert_near(got, want) assert_within(got, want, 1e-9 * (1 + fabs((double)(want))))

/* Student, "The probable error of a mean", Biometrika 6, 1908: more hours of sleep by two drugs, the
 * same ten patients (R's data set sleep) */
static const double sleep_1[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
static const double sleep_2[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};

/* Darwin, "The effects of cross and self fertilisation", 1876: heights of 15 pairs of Zea mays, in
 * eighths of an inch; Fisher, "The Design of Experiments", 1935, chapter III */
static const double darwin_self[] = {139, 163, 160, 160, 147, 149, 149, 122,
				     132, 144, 130, 144, 102, 124, 144};
static const double darwin_crossed[] = {188, 96,  168, 176, 153, 172, 177, 163,
					146, 173, 186, 168, 177, 184, 96};
