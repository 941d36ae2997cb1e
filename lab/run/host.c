/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/run/host.h"

#include "lab/base/error.h"
#include "lab/guest/host_state.h"
#include "lab/run/inputs.h"

gboolean lab_run_check_host(const LabScenario *scenario, const LabRunOptions *options,
			    const char *root, GError **error)
{
	g_autoptr(LabHostState) state = NULL;
	g_autoptr(GPtrArray) findings = NULL;
	g_autoptr(GString) all = g_string_new(NULL);

	if (scenario->clock != LAB_CLOCK_KVM)
		return TRUE;
	state = lab_host_state_read(root);
	findings = lab_host_state_judge(state,
					scenario->memory_high_bytes || scenario->memory_max_bytes);
	for (guint i = 0; i < findings->len; i++) {
		const LabHostFinding *f = findings->pdata[i];
		g_autofree char *line = g_strdup_printf("%s: %s, wanted %s (%s)", f->rule, f->found,
							f->wanted, f->fix);

		if (!options->strict)
			lab_run_note(options, "host: %s", line);
		g_string_append_printf(all, "\n  %s", line);
	}
	if (!options->strict || !findings->len)
		return TRUE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
		    "the host is not at rest, and --strict takes no other:%s", all->str);
	return FALSE;
}
