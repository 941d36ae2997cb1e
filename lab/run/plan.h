/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of boots of a run, in the order to be executed. Private to lab/run. */
#pragma once
#include "lab/run/inputs.h"

/**
 * lab_plan_make() - every kernel, at every point, with every seed
 * @n_seeds: 0: those of the scenario; else so many: its first, and above them all the next numbers. A plan of more seeds begins
 * with the boots of one of fewer
 *
 * Seeds are blocks: within a block kernels and points are in a random order, drawn from a seed that is
 * derived from the scenario and recorded, so that no kernel is always first and a run that stops
 * early has as many boots of each. An A/A run of one kernel has two seeds in a block: one of the scenario, and one above them all.
 */
LabPlan *lab_plan_make(const LabInputs *inputs, guint n_seeds);
