/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The whole chain: scenario -> kernels, image, prepared file system -> plan -> boots -> store. The
 * only module that knows it all. */
#pragma once
#include "lab/build/kernel.h"
#include "lab/spec/scenario.h"
#include "lab/store/store.h"

/** enum LabRunEventKind - what a caller may show; all strings are borrowed for the call */
typedef enum {
	LAB_EVENT_NOTE,	       /* text: a line that stays ("image xfs 3f1c09 cached") */
	LAB_EVENT_STAGE,       /* text: what is being done; fraction or < 0 */
	LAB_EVENT_BOOTS,       /* done, total, text: "6.12.95 seed 2  xfsrepair"; eta_us, or < 0 */
	LAB_EVENT_BOOT_FAILED, /* text: one line; stays */
} LabRunEventKind;

typedef struct {
	LabRunEventKind kind;
	const char *text;
	double fraction;
	guint done, total;
	gint64 eta_us;
} LabRunEvent;

typedef void (*LabRunNotify)(const LabRunEvent *event, gpointer data);

typedef struct {
	const char *store_root, *cache_root; /* (nullable) overrides */
	guint jobs; /* boots at once; 0: as many as do not disturb each other (exact: host CPUs;
		       tcg: 1) */
	const char *connect; /* (nullable): libvirt's URI: a daemon, of this host or another */
	const char *pool;    /* of another host: its storage pool for the guests' files */
	gboolean offline;    /* never ask a mirror */
	gboolean fresh;	     /* do not resume */
	gboolean aa; /* one kernel, as many seeds again; or two kernels of the same sources */
	gboolean strict; /* of clock kvm: no run on a host that breaks a rule (lab/run/host.h) */
	LabRunNotify notify;
	gpointer data;
	GCancellable *cancellable;
} LabRunOptions;

/** lab_run_judge() - array of LabJudge: which metrics decide by the scenario of a run, as it was run;
 * empty where it says nothing. Errors: LAB_ERROR_USER, G_FILE_ERROR. */
GPtrArray *lab_run_judge(const LabRun *run, GError **error);

/** lab_run_scenario() - run or resume; returns the run when every boot is complete (some may have
 * failed: look at it) */
LabRun *lab_run_scenario(const LabScenario *scenario, const LabRunOptions *options, GError **error);

/**
 * LabRunLook - all boots of a look are there, and in the store
 * @look:  from 0
 * @go_on: (out): FALSE: no more boots
 */
typedef gboolean (*LabRunLook)(const LabRun *run, guint look, gboolean *go_on, gpointer data, GError **error);

/**
 * lab_run_looks() - as lab_run_scenario(), but with boots added to one run until @on_look has enough
 * @n_looks: 0: the scenario's seeds, and no look
 * @looks:   boots of each kernel at each look, growing: the scenario's seeds, and then the next numbers above them
 * @on_look: called with @data
 *
 * A run that was interrupted goes on, with the looks that are before it.
 */
LabRun *lab_run_looks(const LabScenario *scenario, guint n_looks, const guint *looks, LabRunLook on_look, gpointer data,
		      const LabRunOptions *options, GError **error);

/** struct LabAgain - one boot, booted again */
typedef struct {
	char *boot_id;
	gboolean identical;
	char *digest; /* of this time */
	char *where;  /* first difference, "" when identical */
} LabAgain;
void lab_again_free(LabAgain *again);

/** LabAgainCompare - first difference of two complete boot directories ("" when there is none), or
 * NULL with @error */
typedef char *(*LabAgainCompare)(const char *then, const char *now, GError **error);

/**
 * lab_run_again() - boot a run's complete boots again, and compare
 * @only: (nullable): NULL-terminated boot ids
 * @repeats: how many times each
 * @compare: called for boots that are both ok and whose digests differ
 *
 * Inputs that are no longer in the cache are fetched and built again, and must be what the run had:
 * else LAB_ERROR_INFRA says which differs. What it writes, below the run's directory, is removed
 * when it returns.
 *
 * Return: array of LabAgain, @repeats for each boot, in the order of the plan.
 */
GPtrArray *lab_run_again(const LabRun *run, const char *const *only, guint repeats,
			 LabAgainCompare compare, const LabRunOptions *options, GError **error);
