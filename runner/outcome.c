/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runner/outcome.h"

#include "lab/base/error.h"
#include "lab/guest/boot.h"
#include "runner/command.h"

int outcome_exit_code(const LabRun *run, GError **error)
{
	g_autoptr(GPtrArray) boots = lab_run_boots(run, error);
	gboolean kernel = FALSE, step = FALSE;

	if (!boots)
		return COMMAND_FAILED;
	for (guint i = 0; i < boots->len; i++) {
		const LabBootSamples *boot = g_ptr_array_index(boots, i);
		LabOutcome outcome;

		if (!lab_outcome_parse(boot->outcome, &outcome) || outcome == LAB_OUTCOME_INFRA)
			return LAB_ERROR_INFRA;
		kernel |= outcome == LAB_OUTCOME_KERNEL;
		step |= outcome == LAB_OUTCOME_STEP;
	}
	return kernel ? LAB_ERROR_KERNEL : step ? LAB_ERROR_UNKNOWN : 0;
}
