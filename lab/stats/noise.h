/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What one kernel, compared with itself, shows for a difference. No I/O. */
#pragma once
#include "lab/stats/difference.h"

/**
 * lab_noise_floor() - of one metric, from an A/A run
 * @design: as the comparison that the floor is for
 * @a:      samples of the kernel; NAN is left out, as in lab_difference()
 * @n_a:
 * @b:      samples of the same kernel: other seeds, or built once more
 * @n_b:
 * @boots:  of each kernel in the comparison that the floor is for; 1 or more
 * @alpha:  0.05
 *
 * The bound that the relative difference of a kernel with itself, estimated from @boots boots and
 * @boots boots, keeps within in 1 - @alpha of all comparisons: t's quantile times the standard error
 * of such a difference. The spread is taken about no difference (unpaired: of all samples about
 * their common mean, n_a + n_b - 1 degrees of freedom; paired: of the differences about 0, n
 * degrees), so what sets two builds of one source apart is noise, too. As more boots do not take
 * that away, the floor is never below the difference that the A/A run itself shows.
 *
 * Return: a fraction. 0 when no two samples differ. INFINITY when their mean is 0 and they differ.
 * NAN when fewer than 2 boots are left on a side, and for errors of the caller.
 */
double lab_noise_floor(LabDesign design, const double *a, guint n_a, const double *b, guint n_b,
		       guint boots, double alpha);
