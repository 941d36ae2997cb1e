/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was sampled in a step (agent/protocol.h: AGENT_REC_PROFILE) -> call chains with names. All bytes come from a guest that is not
 * trusted: lengths are checked, what makes no sense is left out and counted.
 *
 * Names are those of perf report: symbols of the guest's own /proc/kallsyms; objects "[kernel.kallsyms]", "[xfs]" (a module), the base name
 * of a mapped file, "[unknown]". A file's own symbols are not looked up: an address in it is shown as one.
 */
#pragma once
#include <gio/gio.h>

#include "lab/base/records.h"

/** struct LabProfileFrame - interned: two frames of one profile are the same if their pointers are */
typedef struct {
	char *symbol; /* "flush_tlb_page"; "0x00000000000129a4" in a file without symbols */
	char *object;
	gboolean is_kernel;
} LabProfileFrame;

/**
 * struct LabProfileChain - samples that have all of this in common
 * @frames: of LabProfileFrame, borrowed; the first is where the CPU was
 * @weight: sum of the periods: nanoseconds of cpu-clock, or cycles
 */
typedef struct {
	const char *comm;
	guint n_frames;
	const LabProfileFrame **frames;
	guint64 n_samples, weight;
} LabProfileChain;

/**
 * struct LabProfile - of one step of one boot
 * @asked, @event: "auto" and "cpu-clock"; @event NULL: @why_not says why nothing was sampled
 * @chains:        of LabProfileChain, the heaviest first; ties in the order of their names
 * @n_lost:        samples that the kernel had no room for
 * @n_bad:         records that make no sense
 * @truncated:     it was cut at its greatest size
 * @has_symbols:   kallsyms are there
 */
typedef struct {
	char *step, *asked, *event, *why_not;
	guint64 n_samples, weight, n_lost, n_bad;
	gboolean truncated, has_symbols;
	GPtrArray *chains;
	GHashTable *frames, *comms; /* what is interned */
} LabProfile;

/** lab_profile_steps() - steps that were to be sampled; free with g_strfreev() */
char **lab_profile_steps(const LabRecords *records);

/** lab_profile_read() - Errors: LAB_ERROR_UNKNOWN: the step was not to be sampled, or has not come to its end. */
LabProfile *lab_profile_read(const LabRecords *records, const char *step, GError **error);
void lab_profile_free(LabProfile *profile);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabProfile, lab_profile_free)
