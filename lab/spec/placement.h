/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where on the host a guest under KVM is placed. Nothing of it is chosen by numalab. */
#pragma once
#include <glib.h>

#include "lab/base/error.h"

/**
 * struct LabPlacement - the key pin of a scenario
 * @cpus:     (nullable): host CPU of each CPU of the guest, in order: "2,3,2,3"
 * @emulator: (nullable): host CPUs of QEMU's other threads, in the kernel's list form: "0-1"
 * @nodes:    (nullable): host node of each node of the guest: "0,0,1,1"
 * @hugepage_bytes: size of the pages that hold the guest's memory; 0: the host's choice
 * @cpus_origin, @emulator_origin, @nodes_origin, @hugepages_origin: where each is written; their paths are interned
 */
typedef struct {
	char *cpus, *emulator, *nodes;
	guint64 hugepage_bytes;
	LabOrigin cpus_origin, emulator_origin, nodes_origin, hugepages_origin;
} LabPlacement;

/** lab_placement_copy() - into @to, whose strings are not freed */
void lab_placement_copy(const LabPlacement *from, LabPlacement *to);
/** lab_placement_clear() - free the strings */
void lab_placement_clear(LabPlacement *placement);

/**
 * lab_placement_list() - the numbers of @cpus or @nodes
 * @text: (nullable): none
 *
 * Return: array of guint; free with g_array_unref().
 */
GArray *lab_placement_list(const char *text);
