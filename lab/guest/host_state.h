/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of the host decides how fast a guest under KVM is, besides its hardware: recorded for each boot, judged once a run. */
#pragma once
#include <glib.h>

#define LAB_HOST_STATE_FILE "host.json"
#define LAB_HOST_LOAD_MAX_PCT 50 /* of one CPU, over a minute */

/**
 * struct LabHostState - all (nullable): NULL is what this host does not tell, never a guess
 * @kernel_release: "6.12.95-amd64"
 * @microcode:      revision, of the first CPU: "0x2b000639"
 * @governors:      those of all CPUs, each once, sorted: "performance powersave"
 * @turbo:          "on", "off": frequencies above the nominal one (intel_pstate, cpufreq's boost)
 * @smt:            "on", "off": are threads of one core in use?
 * @load:           over the last minute: "0.07"
 * @other_guests:   processes of QEMU: "2"
 * @swap_used_kib:  "0"; swap that there is not is not used
 * @thp:            "always", "madvise", "never"
 * @ksm:            /sys/kernel/mm/ksm/run: "0" stopped, "1" running, "2" stopped and undone
 */
typedef struct {
	char *kernel_release, *microcode, *governors, *turbo, *smt, *load, *other_guests,
		*swap_used_kib, *thp, *ksm;
} LabHostState;

/**
 * lab_host_state_read() - now
 * @root: in front of /proc and /sys: "" but for tests
 */
LabHostState *lab_host_state_read(const char *root);
void lab_host_state_free(LabHostState *state);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabHostState, lab_host_state_free)

/** lab_host_state_write() - DIR/host.json: an object of strings and nulls */
gboolean lab_host_state_write(const LabHostState *state, const char *dir, GError **error);

/** struct LabHostFinding - a rule that a host does not keep; all for people, static but for @found */
typedef struct {
	const char *rule;   /* "governor" */
	char *found;	    /* "powersave" */
	const char *wanted; /* "performance" */
	const char *fix;    /* a command, or what to do */
} LabHostFinding;

/**
 * lab_host_state_judge() - the rules that it does not keep
 * @swap_is_wanted: the run itself takes the guest's memory away (host-pressure)
 *
 * What is not known breaks no rule. Return: array of LabHostFinding; free with g_ptr_array_unref().
 */
GPtrArray *lab_host_state_judge(const LabHostState *state, gboolean swap_is_wanted);
