/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What this machine has of what numalab needs. Every check has a deadline; none changes anything.
 */
#pragma once
#include <gio/gio.h>

#include "lab/guest/kvm_probe.h"

typedef enum { DOCTOR_OK, DOCTOR_NOTE, DOCTOR_MISSING } DoctorState;

/**
 * struct DoctorCheck - one thing looked at
 * @section: "program", "place", "user", "host" (what disturbs clock kvm, where KVM works); static
 * @name: "qemu-system-x86_64"
 * @state: NOTE: not as good as it could be, but nothing fails for it
 * @clock: without it there is no exact clock
 * @found, @wanted: for people
 * @fix: (nullable): command that mends it
 */
typedef struct {
	const char *section;
	char *name;
	DoctorState state;
	gboolean clock;
	char *found, *wanted, *fix;
} DoctorCheck;

typedef struct {
	GPtrArray *checks;  /* of DoctorCheck */
	char *qemu_version; /* "10.0.2", or NULL */
	gboolean exact, tcg;
	char *exact_why, *tcg_why; /* what they need and have, or what is missing */
	LabKvmProbe *kvm;
} Doctor;

/**
 * doctor_examine() - look at everything
 * @store, @cache: absolute paths; need not exist
 *
 * Errors: only when no child can be started at all.
 */
Doctor *doctor_examine(const char *store, const char *cache, GError **error);
void doctor_free(Doctor *doctor);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Doctor, doctor_free)

const char *doctor_state_name(DoctorState state);
