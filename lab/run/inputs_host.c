/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host of a run's boots: this one, or another that is reached by libvirt. */
#include <sched.h>
#include <string.h>

#include "lab/base/error.h"
#include "lab/base/paths.h"
#include "lab/base/process.h"
#include "lab/guest/cpu_features.h"
#include "lab/guest/kvm_probe.h"
#include "lab/guest/placement.h"
#include "lab/run/engine.h"
#include "lab/run/inputs.h"

#define EMULATOR "qemu-system-x86_64"

/* "QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2)" -> "10.0.2" */
static gboolean find_emulator(LabInputs *in, GError **error)
{
	static const char prefix[] = "QEMU emulator version ";
	g_autofree char *path = g_find_program_in_path(EMULATOR);
	g_autofree char *out = NULL;

	if (!path) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
			    "%s is not in PATH; 'make deps' installs it", EMULATOR);
		return FALSE;
	}
	if (!lab_process_check((const char *[]){path, "--version", NULL}, NULL, &out, error))
		return FALSE;
	out[strcspn(out, "\n")] = 0;
	if (!g_str_has_prefix(out, prefix)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "%s --version said '%s'", path, out);
		return FALSE;
	}
	in->emulator = g_steal_pointer(&path);
	in->emulator_version = g_strndup(out + strlen(prefix), strcspn(out + strlen(prefix), " "));
	return TRUE;
}

static gboolean check_exact(const LabInputs *in, GError **error)
{
	char *end;
	guint64 major = g_ascii_strtoull(in->emulator_version, &end, 10);
	guint64 minor = *end == '.' ? g_ascii_strtoull(end + 1, NULL, 10) : 0;

	if (in->scenario->clock != LAB_CLOCK_EXACT || major > 8 || (major == 8 && minor >= 1))
		return TRUE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
		    "clock 'exact' needs QEMU 8.1 or newer, %s is %s; 'make deps' installs it",
		    in->emulator, in->emulator_version);
	return FALSE;
}

/*
 * A device that merely opens lets guests hang: ask it once for a run, with a guest of our own. @works: (out): also for libguestfs,
 * which is to use KVM only then
 */
static gboolean check_kvm(const LabScenario *scenario, gboolean remote, gboolean *works, GError **error)
{
	g_autofree char *self = lab_path_self();
	const char *argv[] = {self, "doctor", "--kvm-probe", LAB_KVM_DEVICE, NULL};
	g_autoptr(LabKvmProbe) probe = NULL;
	g_autofree char *why = NULL;

	*works = FALSE;
	if ((remote || scenario->clock != LAB_CLOCK_KVM) && scenario->boot != LAB_BOOT_DISK)
		return TRUE;
	probe = lab_kvm_probe(argv, error);
	if (!probe)
		return FALSE;
	*works = probe->state == LAB_KVM_WORKS;
	if (*works || remote || scenario->clock != LAB_CLOCK_KVM)
		return TRUE;
	why = lab_kvm_probe_text(probe);
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
		    "clock 'kvm' is not possible here: %s; clocks 'exact' and 'tcg' need no KVM",
		    why);
	return FALSE;
}

/* What numalab does on its own host beside libvirt. */
static gboolean check_remote(const LabScenario *s, const char *uri, GError **error)
{
	const char *what = NULL;

	if (s->memory_high_bytes || s->memory_max_bytes)
		what = "host-pressure: numalab cannot set limits on another host";
	for (guint i = 0; i < s->topology->n_nodes; i++)
		if (!s->topology->nodes[i].memory_bytes)
			what = "topology: nodes without memory need numalab's emulator, which is "
			       "not on another host";
	if (!what)
		return TRUE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "--connect %s: %s", uri, what);
	return FALSE;
}

static gboolean find_remote(LabInputs *in, GError **error)
{
	in->emulator = g_strdup(in->host->emulator);
	in->emulator_version = g_strdup(in->host->version);
	in->invariant_tsc = in->host->invariant_tsc;
	return lab_inputs_check_host(in, error) && check_exact(in, error);
}

gboolean lab_inputs_check_host(const LabInputs *in, GError **error)
{
	const LabScenario *s = in->scenario;

	return in->remote ? check_remote(s, in->options->connect, error)
			  : lab_placement_check(&s->pin, s->topology, "", NULL, error);
}

gboolean lab_inputs_find_host(LabInputs *in, gboolean *kvm_works, GError **error)
{
	const LabRunOptions *options = in->options;
	const LabScenario *s = in->scenario;

	in->remote = lab_connect_is_remote(options->connect);
	if (!in->remote && (!find_emulator(in, error) || !check_exact(in, error) ||
			    !lab_inputs_check_host(in, error)))
		return FALSE;
	if (!check_kvm(s, in->remote, kvm_works, error))
		return FALSE;
	in->invariant_tsc = lab_cpu_has_invariant_tsc();
	if (!options->connect)
		return TRUE;
	in->host = lab_connect_look(options->connect, options->pool, s->clock, error);
	return in->host && (!in->remote || find_remote(in, error));
}

static guint64 available_bytes(void)
{
	g_autofree char *text = NULL;
	const char *line;

	if (!g_file_get_contents("/proc/meminfo", &text, NULL, NULL))
		return G_MAXUINT64;
	line = strstr(text, "MemAvailable:");
	return line ? g_ascii_strtoull(line + strlen("MemAvailable:"), NULL, 10) * 1024
		    : G_MAXUINT64;
}

guint lab_inputs_at_once(const LabInputs *in)
{
	guint64 bytes = in->scenario->topology->memory_bytes + in->scenario->scratch_bytes;
	guint n = 1;
	cpu_set_t allowed;

	for (guint i = 0; in->points && i < in->points->len; i++) {
		const LabScenario *s = ((LabInputs *)in->points->pdata[i])->scenario;

		bytes = MAX(bytes, s->topology->memory_bytes + s->scratch_bytes);
	}
	if (in->remote)
		return lab_engine_at_once(in->scenario->clock, bytes, in->host->n_cpus,
					  in->host->free_bytes);
	if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
		n = (guint)CPU_COUNT(&allowed);
	return lab_engine_at_once(in->scenario->clock, bytes, n, available_bytes());
}
