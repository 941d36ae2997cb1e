/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs on disk.
 *
 *   ROOT/runs/ID/plan.json        struct LabPlan; written last when a run is made: no plan, no run
 *               /run.json         when it was started, and ended
 *               /scenario.yaml    as written        /scenario.json   canonical
 *               /lock             locked (F_OFD_SETLK) by the process that runs it, and says which
 *               /boots/BOOT/      lab/guest/boot.h, and samples.json, steps/
 *   ROOT/index.sqlite             for queries; made again from the directories when it is missing,
 *                                 damaged or of another version: it may be deleted at any time
 *   ROOT/lock                     flock(), held for an instant: making, taking, removing runs
 *
 * IDs are 1, 2, 3, ... given by mkdir(), so that two runs at once never share one, and never given
 * again after a run was removed (ROOT/next-id). What a crash leaves half made or half removed is no
 * run and is swept by lab_store_sweep(). A run's state is never stored: it is read from its
 * directories.
 *
 * Errors, unless said otherwise: G_FILE_ERROR naming the path (a full disk says what to do), and
 * LAB_ERROR_INFRA for a file of a run that is damaged.
 */
#pragma once
#include <gio/gio.h>

typedef struct _LabStore LabStore;

/**
 * lab_store_open() - open a store, making it when it is not there
 * @root: absolute (lab_path_store())
 *
 * A store that can only be read, or whose disk is full, can still be opened and looked at.
 * Free with lab_store_free(). Errors: LAB_ERROR_INFRA naming @root.
 */
LabStore *lab_store_open(const char *root, GError **error);
void lab_store_free(LabStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabStore, lab_store_free)
const char *lab_store_root(const LabStore *store);

/**
 * struct LabPlanBoot - one boot of a plan
 * @id:            directory below boots/: [A-Za-z0-9._+~-], unique in the plan
 * @kernel_label:  first line of the column head ("6.1.192")
 * @kernel_text:   the kernel as the scenario names it ("debian:bookworm")
 * @kernel_digest: one of the plan's @kernels
 * @point:         index into the plan's @points; 0 without a sweep
 * @seed:          of the guest
 */
typedef struct {
	char *id;
	char *kernel_label;
	char *kernel_text;
	char *kernel_digest;
	guint point;
	guint64 seed;
} LabPlanBoot;

void lab_plan_boot_free(LabPlanBoot *boot);

/**
 * struct LabPlanPoint - a point of a sweep
 * @values:          NULL-terminated: of each of the plan's @sweep
 * @scenario_digest: of the scenario with these values
 * @prepared_digest: (nullable): as LabPlan's, which is NULL then
 */
typedef struct {
	char **values;
	char *scenario_digest, *prepared_digest;
} LabPlanPoint;

void lab_plan_point_free(LabPlanPoint *point);

typedef struct _LabPlan LabPlan;

/** lab_plan_n_points() - of its sweep; 1 without one */
guint lab_plan_n_points(const LabPlan *plan);

/**
 * lab_plan_point_label() - "bhash=101073 ag_stride=default"; "" without a sweep. Free with g_free().
 * @but: (nullable): a key that is left out
 */
char *lab_plan_point_label(const LabPlan *plan, guint point, const char *but);

/** lab_plan_boot_label() - for people: "6.12.95 bhash=101073 seed 2". Free with g_free(). */
char *lab_plan_boot_label(const LabPlan *plan, const LabPlanBoot *boot);

/**
 * lab_plan_clock_note() - what the run's times are, and are not: "tcg clock (QEMU 10.0.2): time of an emulator, ..."
 *
 * Stands wherever its times are shown. Free with g_free().
 */
char *lab_plan_clock_note(const LabPlan *plan);

/**
 * struct LabPlan - the boots of a run in the order to be executed; plan.json
 * @clock:           "exact", "tcg"
 * @prepared_digest: (nullable): no prepared file system
 * @files_digest:    (nullable): no files of the host
 * @order_seed:      of the order of @boots
 * @is_aa:           a kernel against itself: the second half of the seeds is "the other" kernel; or two kernels of the same sources
 * @sweep:           NULL-terminated: keys of the sweep; empty without one
 * @points:          of LabPlanPoint, with lab_plan_point_free(); len 0 without a sweep
 * @boots:           of LabPlanBoot, with lab_plan_boot_free()
 * @kernels:         (array, NULL-terminated): digests in the order of the scenario: the first is
 * the baseline
 * @digest:          lab_plan_digest(); NULL until it is written
 */
struct _LabPlan {
	char *scenario_name, *scenario_path, *scenario_digest;
	char *clock;
	char *image_digest;
	char *prepared_digest;
	char *files_digest;
	char *qemu_version;
	guint64 order_seed;
	gboolean is_aa;
	char **sweep;
	GPtrArray *points;
	GPtrArray *boots;
	char **kernels;
	char *digest;
};

/** lab_plan_new() - without boots, sweep and texts */
LabPlan *lab_plan_new(void);
void lab_plan_free(LabPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabPlan, lab_plan_free)

/**
 * lab_plan_digest() - SHA-256 of all that decides a plan's results: two plans with one digest are
 * the same experiment
 *
 * Scenario, clock, image, prepared file systems, files and QEMU version; the kernels in their order; of
 * each boot id, kernel, point and seed. Not names, paths and labels; not the order of execution and its
 * seed, which may be drawn anew by the command that resumes a run. Free with g_free().
 */
char *lab_plan_digest(const LabPlan *plan);

/** lab_plan_json() - text of plan.json, with lab_plan_digest(). Free with g_free(). */
char *lab_plan_json(const LabPlan *plan);

/** lab_plan_from_json() - errors: LAB_ERROR_INFRA naming the key that is missing or wrong */
LabPlan *lab_plan_from_json(const char *json, GError **error);

/**
 * enum LabRunState
 * @LAB_RUN_PLANNED: boots are missing, and no living process holds the run: it can be resumed
 * @LAB_RUN_RUNNING: boots are missing, and a living process holds it
 * @LAB_RUN_DONE:    every boot is complete and ok
 * @LAB_RUN_FAILED:  every boot is complete, some are not ok
 */
typedef enum { LAB_RUN_PLANNED, LAB_RUN_RUNNING, LAB_RUN_DONE, LAB_RUN_FAILED } LabRunState;
const char *lab_run_state_name(LabRunState state); /* "planned", "running", "done", "failed" */

/**
 * struct LabRun - a run as it was on disk when it was read
 * @dir:        absolute
 * @n_ok:       complete boots with outcome ok; @n_failed: with another; @n_missing: the rest of the
 * plan
 * @started_us: real time, microseconds since 1970; @ended_us: of the last complete boot, 0 while
 * boots are missing
 * @lock_fd:    private: descriptor that holds the lock, or -1
 */
typedef struct {
	guint id;
	char *dir;
	LabPlan *plan;
	LabRunState state;
	guint n_ok, n_failed, n_missing;
	gint64 started_us, ended_us;
	int lock_fd;
} LabRun;

/** lab_run_free() - also unlocks */
void lab_run_free(LabRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabRun, lab_run_free)

/** lab_run_boot_dir() - directory of a boot, which need not exist. Free with g_free(). */
char *lab_run_boot_dir(const LabRun *run, const LabPlanBoot *boot);

/** lab_run_refresh() - read state and counts from the directories again */
void lab_run_refresh(LabRun *run);

/** lab_run_unlock() - let the run go; does nothing when it is not held */
void lab_run_unlock(LabRun *run);

/**
 * lab_store_create_run() - new directory with plan.json and an empty boots/
 * @plan: borrowed; its digest is computed here
 * @scenario_text: the file as written; @scenario_canonical: LabScenario.canonical
 *
 * The run is locked by the caller's process until lab_run_unlock(), lab_run_free() or its death;
 * children that are exec()ed do not hold it. On failure nothing is left.
 */
LabRun *lab_store_create_run(LabStore *store, const LabPlan *plan, const char *scenario_text,
			     const char *scenario_canonical, GError **error);

/**
 * lab_run_grow() - give a run that this process holds a plan with more boots
 * @plan: all boots of the run's plan, and others; all else as there
 *
 * On failure the run is as it was. Errors: LAB_ERROR_INFRA: it is another experiment's; G_FILE_ERROR.
 */
gboolean lab_run_grow(LabRun *run, const LabPlan *plan, GError **error);

/**
 * lab_store_resume_run() - the newest unfinished run with this plan digest that no living process
 * holds, locked
 *
 * Return: (nullable): NULL without @error: there is none
 */
LabRun *lab_store_resume_run(LabStore *store, const char *plan_digest, GError **error);

/**
 * lab_store_find_run() - by name: "7", "latest" (the highest number), "latest~1" (the one before
 * it)
 *
 * Errors: LAB_ERROR_USER, which says what runs there are.
 */
LabRun *lab_store_find_run(LabStore *store, const char *name, GError **error);

/**
 * lab_store_find_aa() - the newest A/A run, done, of the experiment of another run: of its scenario,
 * clock, image, files and QEMU version
 * @like:          that run
 * @kernel_digest: a done run of this kernel goes before newer ones of others
 * @except:        id of a run that is not wanted, or 0
 *
 * Reads the plans of the A/A runs of this scenario, and of those that are not in the index.
 *
 * Return: (nullable): NULL without @error: there is none
 */
LabRun *lab_store_find_aa(LabStore *store, const LabRun *like, const char *kernel_digest,
			  guint except, GError **error);

/**
 * lab_store_list() - array of LabRun (with lab_run_free()), oldest first; also brings the index up to date
 * @damaged: (out) (optional): array of char*: one line for each run that cannot be read, which is
 *           not in the list; free with g_ptr_array_unref()
 */
GPtrArray *lab_store_list(LabStore *store, GPtrArray **damaged, GError **error);

/**
 * lab_store_finish_run() - refresh a run, record its end, and index its boots and samples
 *
 * Errors: LAB_ERROR_INFRA when the index cannot be written, G_FILE_ERROR for run.json; the run
 * itself is complete all the same, and the next lab_store_list() tries again.
 */
gboolean lab_store_finish_run(LabStore *store, LabRun *run, GError **error);

/**
 * lab_store_remove_run() - remove a run and all of its boots; @run stays to be freed
 *
 * Errors: LAB_ERROR_USER when a living process holds it.
 */
gboolean lab_store_remove_run(LabStore *store, LabRun *run, GError **error);

/**
 * lab_store_sweep() - remove what crashes left: runs half made or half removed that no living
 * process holds
 * @dry_run: only say what would be removed
 * @paths: (out) (optional): array of char*, absolute; free with g_ptr_array_unref()
 *
 * Return: TRUE; unfinished runs are runs and stay.
 */
gboolean lab_store_sweep(LabStore *store, gboolean dry_run, GPtrArray **paths, GError **error);

/**
 * struct LabBootSamples - a boot of a plan and what it left, as compare wants it
 * @boot:    borrowed from the run's plan
 * @outcome: "ok", "infra", "kernel", "step" (lab/guest/boot.h), or "missing": not complete
 * @message: one line, "" when ok
 * @digest:  of its results, "" unless ok
 * @samples: of LabSample (lab/measure/samples.h); NULL unless ok
 */
typedef struct {
	const LabPlanBoot *boot;
	char *outcome;
	char *message;
	char *digest;
	GPtrArray *samples;
} LabBootSamples;

/** lab_run_boots() - array of LabBootSamples, in the order of the plan, read from the directories
 */
GPtrArray *lab_run_boots(const LabRun *run, GError **error);
