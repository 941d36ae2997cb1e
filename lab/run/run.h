/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The whole chain: scenario -> kernels, image, prepared file system -> plan -> boots -> store. The only module that knows it all. */
#pragma once
#include "lab/build/kernel.h"
#include "lab/spec/scenario.h"
#include "lab/store/store.h"

/** enum LabRunEventKind - what a caller may show; all strings are borrowed for the call */
typedef enum {
	LAB_EVENT_NOTE,	 /* text: a line that stays ("image xfs 3f1c09 cached") */
	LAB_EVENT_STAGE, /* text: what is being done; fraction or < 0 */
	LAB_EVENT_BOOTS, /* done, total, text: "6.12.95 seed 2  xfsrepair"; eta_us, or < 0 */
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
	guint jobs;	  /* boots at once; 0: as many as do not disturb each other (exact: host CPUs; tcg: 1) */
	gboolean offline; /* never ask a mirror */
	gboolean fresh;	  /* do not resume */
	LabRunNotify notify;
	gpointer data;
	GCancellable *cancellable;
} LabRunOptions;

/** lab_run_scenario() - run or resume; returns the run when every boot is complete (some may have failed: look at it) */
LabRun *lab_run_scenario(const LabScenario *scenario, const LabRunOptions *options, GError **error);

/**
 * lab_run_again() - boot a run's complete boots again into a temporary directory, and compare
 * @only: (nullable): NULL-terminated boot ids
 * @results: (out): array of char*: one line a boot; @n_identical, @n_compared: (out)
 */
typedef struct {
	char *boot_id;
	gboolean identical;
	char *digest;
	char *where; /* first difference, "" when identical */
} LabAgain;
void lab_again_free(LabAgain *again);
GPtrArray *lab_run_again(const LabRun *run, const char *const *only, const LabRunOptions *options, GError **error);
