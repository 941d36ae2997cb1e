/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adding boots until the verdicts are there, without spoiling the error rate. No I/O.
 *
 * Boots come in looks: 3 of each kernel, then half as many again each time, up to the budget. Who
 * looks several times at 5 % is wrong more often than that. So the looks share alpha, each in
 * proportion to its boots, and the errors of all looks sum up to alpha at most (Bonferroni):
 * whatever the rule that stops, however the looks depend on each other, for t distributed figures
 * of 3 boots as for normal ones, and with Holm's rule at each look. The boundaries of Pocock, or of
 * Lan and DeMets, would cost a little less, but are derived for normal figures. Equal shares settle
 * less (docs/statistics.md has the figures of this rule): an early look of few boots is decided by
 * its degrees of freedom more than by its alpha.
 */
#pragma once
#include <glib.h>

/**
 * struct LabLook
 * @boots: of each kernel, those of the looks before included
 * @alpha: to judge this look at: lab_judge()
 */
typedef struct {
	guint boots;
	double alpha;
} LabLook;

/** lab_sequential_looks() - how many there are up to @max_boots of each kernel; 0 for 0 */
guint lab_sequential_looks(guint max_boots);

/**
 * lab_sequential_look() - one of them
 * @max_boots: 1 or more: the budget, of each kernel; fixed before the first boot
 * @look:      from 0 to lab_sequential_looks() - 1
 * @alpha:     of the whole: 0.05
 *
 * All metrics are judged at each look; a verdict that was given at one stays.
 */
LabLook lab_sequential_look(guint max_boots, guint look, double alpha);
