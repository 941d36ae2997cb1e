/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to lab/guest: a host short of memory for one guest. QEMU goes into a control group (version 2) of its own
 * with memory.high and memory.max, so that the host takes pages of the guest away, and the guest has to wait for them
 * when it touches them again.
 */
#pragma once
#include "lab/guest/boot.h"

/**
 * lab_pressure_apply() - limit @qemu as the job says; nothing to do for one that says nothing
 * @dir:   the boot's directory
 * @guard: names the group: one for each boot
 *
 * Errors: LAB_ERROR_INFRA: the host has no swap (then memory.high merely stops the guest), no control groups
 * version 2 with the memory controller, or they may not be written; @dir is not on a tmpfs: a guest's writes to its
 * results, a file that it shares with the host, would be held back by the limit (the host's balance_dirty_pages()),
 * for minutes, with QEMU's memory map locked.
 */
gboolean lab_pressure_apply(const LabBootJob *job, const char *dir, pid_t qemu, pid_t guard,
			    GError **error);

/** lab_pressure_oom_kills() - how often the host killed within the group; 0 without one */
guint64 lab_pressure_oom_kills(const LabBootJob *job, pid_t guard);

/** lab_pressure_remove() - the groups of @guard and of guards that are gone; their processes must have ended */
void lab_pressure_remove(pid_t guard);
