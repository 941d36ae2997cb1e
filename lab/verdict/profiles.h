/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles of the boots of a kernel, put together: shares of symbols with their spread, call chains, and what differs between two. */
#pragma once
#include "lab/measure/profile.h"
#include "lab/stats/shift.h"
#include "lab/stats/summary.h"
#include "lab/store/store.h"

/**
 * struct LabCallNode - a caller, and its callers
 * @symbol: borrowed
 * @share:  of the kernel's samples, percent, mean over boots
 * @children: of LabCallNode, the largest share first; NULL: none
 */
typedef struct LabCallNode LabCallNode;
struct LabCallNode {
	const char *symbol;
	double share;
	GPtrArray *children;
};

/**
 * struct LabProfileRow - a function of a command
 * @shares:  percent, one for each boot, 0 where it was not seen
 * @summary: of them
 * @root:    of its callers; its own symbol
 */
typedef struct {
	const char *comm, *object, *symbol; /* borrowed */
	gboolean is_kernel;
	double *shares;
	LabSummary summary;
	LabCallNode *root;
} LabProfileRow;

/**
 * struct LabProfiles - of one kernel and step
 * @label:    "6.1.192", "bookworm"
 * @event:    what was sampled in all boots; more than one, where boots differ: joined by ", "
 * @fault_entry: (nullable): the kernel's entry of page faults, where one was sampled: "async_page_fault" up to Linux 5.7 where KVM offers
 * asynchronous page faults, "page_fault" up to 5.7 where it does not, "asm_exc_page_fault" from 5.8 on (arch/x86/entry)
 * @boots:    of LabProfile: one for each boot that has samples
 * @seeds:    of these
 * @rows:     of LabProfileRow, the largest share first
 * @notes:    NULL-terminated: the clock's; boots that are missing, cut or without samples
 */
typedef struct {
	guint run;
	gboolean is_exact; /* its clock */
	char *label[2];
	char *step, *event;
	const char *fault_entry;
	GPtrArray *boots;
	GArray *seeds; /* of guint64 */
	GPtrArray *rows;
	char **notes;
	guint64 n_samples;
	GHashTable *keys; /* private: row by its key */
} LabProfiles;

/**
 * lab_profiles_read() - of each kernel that is selected, and each step
 * @selections: as lab_compare()
 * @step:       (nullable): all that were sampled
 *
 * Return: array of LabProfiles, step by step and kernel by kernel. Errors: those of lab_compare(), LAB_ERROR_USER: nothing was sampled,
 * or not in that step (with the steps that were).
 */
GPtrArray *lab_profiles_read(LabStore *store, const char *const *selections, const char *step,
			     GError **error);

/**
 * lab_profiles_text() - as perf report --stdio --no-children -g shows it; free with g_free()
 * @limit_pct: smaller shares are left out
 * @chains: FALSE: symbols alone
 */
char *lab_profiles_text(const LabProfiles *profiles, double limit_pct, gboolean chains);

/** lab_profiles_folded() - "command;caller;...;function SAMPLES" lines, sorted; a kernel's function ends in "_[k]". Free with g_free(). */
char *lab_profiles_folded(const LabProfiles *profiles);

/**
 * lab_profiles_export() - each boot's profile as perf's own file
 * @dir: made; gets BOOT.STEP.data and BOOT.STEP.kallsyms, for "perf report -i ... --kallsyms ..."; of more than one run: RUN.BOOT...
 *
 * Return: paths of the data files; free with g_strfreev(). Errors: as lab_profiles_read(); G_FILE_ERROR.
 */
char **lab_profiles_export(LabStore *store, const char *const *selections, const char *step,
			   const char *dir, GError **error);

/** lab_profiles_json() - of all of them: rows with every boot's share, and chains. Free with g_free(). */
char *lab_profiles_json(const GPtrArray *all);

/** lab_profiles_paired() - do their boots belong together, seed by seed? */
gboolean lab_profiles_paired(const LabProfiles *before, const LabProfiles *after);

/** struct LabProfileShift - a function, of all commands, in two kernels; points: of percent */
typedef struct {
	const char *object, *symbol; /* borrowed */
	gboolean is_kernel;
	double share[2];      /* percent, means */
	LabInterval interval; /* of the difference, points, 95 % */
	double p;
} LabProfileShift;

/**
 * lab_profiles_diff() - functions by how much their share has changed
 *
 * Under the exact clock boots with the same seed belong together.
 *
 * Return: array of LabProfileShift (g_free()), the largest change first.
 */
GPtrArray *lab_profiles_diff(const LabProfiles *before, const LabProfiles *after);

/** lab_profiles_diff_text() - @limit_pct: shares smaller than that in both are left out. Free with g_free(). */
char *lab_profiles_diff_text(const LabProfiles *before, const LabProfiles *after, double limit_pct);
