/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/run/host.h"

#include "lab/base/error.h"
#include "lab/guest/host_state.h"
#include "lab/run/inputs.h"

/* libvirt tells nothing of governors, load or swap. */
static gboolean check_remote(const LabRunOptions *options, GError **error)
{
	if (!options->strict) {
		lab_run_note(options, "host: %s: its state is not known and not recorded",
			     options->connect);
		return TRUE;
	}
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
		    "%s: whether that host is at rest cannot be seen from here, and --strict takes "
		    "no other",
		    options->connect);
	return FALSE;
}

static gboolean has_pressure(const LabScenario *s)
{
	gboolean has = s->memory_high_bytes || s->memory_max_bytes;

	for (guint i = 0; s->points && i < s->points->len && !has; i++)
		has = has_pressure(((LabPoint *)s->points->pdata[i])->scenario);
	return has;
}

gboolean lab_run_check_host(const LabScenario *scenario, const LabRunOptions *options,
			    const char *root, GError **error)
{
	g_autoptr(LabHostState) state = NULL;
	g_autoptr(GPtrArray) findings = NULL;
	g_autoptr(GString) all = g_string_new(NULL);

	if (scenario->clock != LAB_CLOCK_KVM)
		return TRUE;
	if (lab_connect_is_remote(options->connect))
		return check_remote(options, error);
	state = lab_host_state_read(root);
	findings = lab_host_state_judge(state, has_pressure(scenario));
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
