/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to lab/guest, but for the host's own: what QEMU gives the CPUs of a guest under KVM, read back from it. */
#pragma once
#include <libvirt/libvirt.h>

#include "lab/guest/boot.h"

/** lab_cpu_has_invariant_tsc() - this host's: CPUID 0x80000007, EDX bit 8 (Linux: nonstop_tsc) */
gboolean lab_cpu_has_invariant_tsc(void);

/**
 * lab_cpu_features_read_back() - of QEMU's first CPU
 * @cpu: (out): "pmu=on invtsc=off"
 * @kvm: (out): QEMU's names of the KVM features that are on, sorted: "kvm-asyncpf kvm-steal-time kvmclock ..."
 *
 * Free both with g_free(). Errors: LAB_ERROR_INFRA: QEMU does not say, or says other than the job.
 */
gboolean lab_cpu_features_read_back(virDomainPtr domain, const LabBootJob *job, char **cpu,
				    char **kvm, GError **error);
