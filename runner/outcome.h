/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once
#include "lab/store/store.h"

/** outcome_exit_code() - of a run's boots: 0 all ok; 3 when one is INFRA or missing, else 5 (kernel), else 4 (step); or COMMAND_FAILED with @error */
int outcome_exit_code(const LabRun *run, GError **error);
