/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run must remember to be made again elsewhere: pins.json in its directory. Private to
 * lab/run. */
#pragma once
#include "lab/build/kernel.h"
#include "lab/run/run.h"

/** lab_pins_write() - exact kernel specs (package and version), scenario's file and overrides, and
 * where its files are */
gboolean lab_pins_write(const LabRun *run, const GPtrArray *kernels, const LabScenario *scenario,
			GError **error);

/** lab_pins_kernels() - array of LabKernelSpec, in the order of the scenario */
GPtrArray *lab_pins_kernels(const LabRun *run, GError **error);

/** lab_pins_scenario() - the scenario of a run again, from the run's own copy; an error when its
 * digest is not the run's */
LabScenario *lab_pins_scenario(const LabRun *run, GError **error);
