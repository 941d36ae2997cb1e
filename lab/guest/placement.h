/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where on the host a guest under KVM is placed (lab/spec/placement.h): can this host do it, and has it done so? */
#pragma once
#include <libvirt/libvirt.h>

#include "lab/base/cpuset.h"
#include "lab/guest/boot.h"

/**
 * lab_placement_check() - before any boot
 * @root: in front of /sys: "" but for tests
 * @allowed: (nullable): host CPUs that may be used; NULL: those that this process may use
 *
 * Errors: LAB_ERROR_INFRA at what the person wrote: a CPU that is not online or not allowed, a node without memory, too
 * few free huge pages (with how many there are, are wanted, and how to reserve them).
 */
gboolean lab_placement_check(const LabPlacement *placement, const LabTopology *topology,
			     const char *root, const LabCpuSet *allowed, GError **error);

/** lab_placement_allowed() - host CPUs that a thread may use; 0: this process. FALSE: it is gone */
gboolean lab_placement_allowed(pid_t thread, LabCpuSet *allowed);

/**
 * lab_placement_check_thread() - may it run on @wanted (a CPU list), and nowhere else?
 * @what: for the error: "QEMU's main thread"
 * @thread: <= 0: gone
 *
 * Return: where it may run; free with g_free(). NULL: LAB_ERROR_INFRA.
 */
char *lab_placement_check_thread(const char *what, pid_t thread, const char *wanted,
				 GError **error);

/**
 * lab_placement_read_back() - of a started guest: where its threads may run
 * @text: (out): "cpus=2,3 emulator=0-1", NULL when neither was asked for; free with g_free()
 *
 * Errors: LAB_ERROR_INFRA: elsewhere than asked for.
 */
gboolean lab_placement_read_back(virDomainPtr domain, const LabPlacement *asked, pid_t qemu,
				 char **text, GError **error);

/** lab_placement_ask() - as lab_placement_read_back(), of a guest on another host, by what libvirt sees there */
gboolean lab_placement_ask(virDomainPtr domain, const LabPlacement *asked, char **text,
			   GError **error);
