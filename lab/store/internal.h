/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of lab/store, and by nobody else. */
#pragma once
#include "lab/store/store.h"

typedef struct _LabIndex LabIndex;

/** struct _LabStore - @index: NULL: it cannot be written now */
struct _LabStore {
	char *root, *runs;
	LabIndex *index;
};

/** lab_store_read_ids() - array of guint: numbers of the directories, ascending; @planned: only of
 * those with a plan */
GArray *lab_store_read_ids(LabStore *store, gboolean planned, GError **error);

/** lab_run_open() - read ROOT/runs/ID; the lock is not touched. NULL with G_FILE_ERROR_NOENT: no
 * plan, no run. */
LabRun *lab_run_open(const char *runs_dir, guint id, GError **error);

/** lab_run_lock() - take the run's lock without waiting; FALSE: another process holds it */
gboolean lab_run_lock(LabRun *run);

/** lab_run_is_held() - does a living process hold the lock of this directory? */
gboolean lab_run_is_held(const char *dir);

/** lab_run_record_times() - write run.json, from @run's started_us and ended_us */
gboolean lab_run_record_times(const LabRun *run, GError **error);

/** lab_index_open() - index at @path, made anew when it is damaged or of another version */
LabIndex *lab_index_open(const char *path, GError **error);
void lab_index_free(LabIndex *index);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabIndex, lab_index_free)

/** lab_index_add() - (re)place a run with its boots and samples, in one transaction */
gboolean lab_index_add(LabIndex *index, const LabRun *run, const GPtrArray *boots, GError **error);

/** lab_index_remove() - drop a run */
gboolean lab_index_remove(LabIndex *index, guint id, GError **error);

/** lab_index_runs() - id -> plan digest of the runs in it (GUINT_TO_POINTER -> char*) */
GHashTable *lab_index_runs(LabIndex *index, GError **error);

/** lab_index_aa() - id -> is it an A/A run of this scenario? of the runs in it (GUINT_TO_POINTER ->
 * GINT_TO_POINTER) */
GHashTable *lab_index_aa(LabIndex *index, const char *scenario_digest, GError **error);
