/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Is the host at rest? Private to lab/run. */
#pragma once
#include "lab/run/run.h"

/**
 * lab_run_check_host() - a note for each rule that the host breaks; nothing to do but with clock kvm
 * @root: in front of /proc and /sys: "" but for tests
 *
 * Errors: LAB_ERROR_INFRA with all of them, one a line, when the options are strict.
 */
gboolean lab_run_check_host(const LabScenario *scenario, const LabRunOptions *options,
			    const char *root, GError **error);
