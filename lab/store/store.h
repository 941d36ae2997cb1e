/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs on disk: ROOT/runs/ID/ with plan.json, scenario.yaml (as written), scenario.json (canonical), boots/BOOT-ID/ (lab/guest/boot.h,
 * and samples.json, steps/). ROOT/index.sqlite is an index that can be made again from the directories at any time (and is, when it is
 * missing, damaged or older). IDs are 1, 2, 3, ... given by mkdir(), so that two runs at once never share one.
 */
#pragma once
#include <gio/gio.h>

typedef struct _LabStore LabStore;
LabStore *lab_store_open(const char *root, GError **error);
void lab_store_free(LabStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabStore, lab_store_free)
const char *lab_store_root(const LabStore *store);

/** struct LabPlanBoot - one boot of a plan */
typedef struct {
	char *id;	     /* directory below boots/ */
	char *kernel_label;  /* column head */
	char *kernel_text;   /* "debian:bookworm" */
	char *kernel_digest;
	guint64 seed;
} LabPlanBoot;

/** struct LabPlan - the boots of a run in the order to be executed; plan.json */
typedef struct {
	char *scenario_name, *scenario_path, *scenario_digest;
	char *clock;	     /* "exact", "tcg" */
	char *image_digest;
	char *prepared_digest; /* (nullable) */
	char *qemu_version;
	guint64 order_seed;
	GPtrArray *boots;    /* of LabPlanBoot */
	char **kernels;	     /* kernel_digest in the order of the scenario: the first is the baseline */
	char *digest;	     /* of all of the above that decides results */
} LabPlan;
void lab_plan_free(LabPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabPlan, lab_plan_free)
char *lab_plan_json(const LabPlan *plan);
LabPlan *lab_plan_from_json(const char *json, GError **error);

typedef enum { LAB_RUN_PLANNED, LAB_RUN_RUNNING, LAB_RUN_DONE, LAB_RUN_FAILED } LabRunState; /* FAILED: complete, some boots not ok */

typedef struct {
	guint id;
	char *dir;
	LabPlan *plan;
	LabRunState state;
	guint n_ok, n_failed, n_missing;
	gint64 started_us, ended_us; /* real time, microseconds; 0 unknown */
} LabRun;
void lab_run_free(LabRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabRun, lab_run_free)

/** lab_store_create_run() - new directory with plan.json; the run is locked by the caller's process until lab_run_unlock() or its death */
LabRun *lab_store_create_run(LabStore *store, const LabPlan *plan, const char *scenario_text, const char *scenario_canonical, GError **error);
/** lab_store_resume_run() - the newest unfinished run with this plan digest that no living process holds, locked; NULL without @error: none */
LabRun *lab_store_resume_run(LabStore *store, const char *plan_digest, GError **error);
void lab_run_unlock(LabRun *run);
/** lab_store_find_run() - "7", "latest", "latest~1". Errors: LAB_ERROR_USER with what there is. */
LabRun *lab_store_find_run(LabStore *store, const char *name, GError **error);
/** lab_store_list() - array of LabRun, oldest first */
GPtrArray *lab_store_list(LabStore *store, GError **error);
/** lab_store_finish_run() - index a run's boots and samples (SQLite), set its state from its directories */
gboolean lab_store_finish_run(LabStore *store, LabRun *run, GError **error);
gboolean lab_store_remove_run(LabStore *store, LabRun *run, GError **error);

/** struct LabBootSamples - a complete boot and its samples, as compare wants them */
typedef struct {
	const LabPlanBoot *boot; /* borrowed from the run's plan */
	char *outcome;		 /* "ok", "infra", "kernel", "step", or "missing" */
	char *message;
	char *digest;
	GPtrArray *samples; /* of LabSample (lab/measure/samples.h); NULL unless ok */
} LabBootSamples;
/** lab_run_boots() - array of LabBootSamples, in the order of the plan, read from the directories */
GPtrArray *lab_run_boots(const LabRun *run, GError **error);
