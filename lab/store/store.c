/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/base/units.h"
#include "lab/store/internal.h"

#define TRASH ".removed-"

/* The lock of the whole store, held for an instant. */
typedef int StoreLock;

static void store_unlock(StoreLock *fd)
{
	if (*fd >= 0)
		close(*fd);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(StoreLock, store_unlock)

static StoreLock store_lock(LabStore *store, GError **error)
{
	g_autofree char *path = g_build_filename(store->root, "lock", NULL);

	return lab_file_lock(path, TRUE, error);
}

static void open_index(LabStore *store)
{
	g_autofree char *path = g_build_filename(store->root, "index.sqlite", NULL);
	g_autoptr(GError) error = NULL;

	if (!store->index)
		store->index = lab_index_open(path, &error);
	if (error)
		g_debug("%s", error->message);
}

LabStore *lab_store_open(const char *root, GError **error)
{
	g_autoptr(LabStore) store = g_new0(LabStore, 1);
	g_autoptr(GError) cause = NULL;

	store->root = g_strdup(root);
	store->runs = g_build_filename(root, "runs", NULL);
	if (!g_file_test(store->runs, G_FILE_TEST_IS_DIR) && !lab_dir_make(store->runs, &cause)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "the store %s cannot be used: %s",
			    root, cause->message);
		return NULL;
	}
	open_index(store);
	return g_steal_pointer(&store);
}

void lab_store_free(LabStore *store)
{
	if (!store)
		return;
	lab_index_free(store->index);
	g_free(store->root);
	g_free(store->runs);
	g_free(store);
}

const char *lab_store_root(const LabStore *store)
{
	return store->root;
}

/* ---- what there is ------------------------------------------------------------------------------
 */

static guint parse_id(const char *name)
{
	guint64 id;

	return lab_parse_uint(name, G_MAXINT32 - 1, &id, NULL) && *name != '0' ? (guint)id : 0;
}

static int by_number(gconstpointer a, gconstpointer b)
{
	guint x = *(const guint *)a, y = *(const guint *)b;

	return x < y ? -1 : x > y;
}

GArray *lab_store_read_ids(LabStore *store, gboolean planned, GError **error)
{
	g_autoptr(GDir) dir = g_dir_open(store->runs, 0, error);
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(guint));

	if (!dir)
		return NULL;
	for (const char *name; (name = g_dir_read_name(dir));) {
		g_autofree char *plan = g_build_filename(store->runs, name, "plan.json", NULL);
		guint id = parse_id(name);

		if (id && (!planned || g_file_test(plan, G_FILE_TEST_EXISTS)))
			g_array_append_val(ids, id);
	}
	g_array_sort(ids, by_number);
	return g_steal_pointer(&ids);
}

/* "1-3, 7" */
static char *describe_ids(const GArray *ids)
{
	g_autoptr(GString) text = g_string_new(ids->len == 1 ? "there is run " : "there are runs ");

	if (!ids->len)
		return g_strdup("there are none yet; 'numalab run SCENARIO' makes one");
	for (guint i = 0, first = 0; i < ids->len; i++) {
		guint id = g_array_index(ids, guint, i);

		if (i + 1 < ids->len && g_array_index(ids, guint, i + 1) == id + 1)
			continue;
		if (first)
			g_string_append(text, ", ");
		if (g_array_index(ids, guint, first) != id)
			g_string_append_printf(text, "%u-", g_array_index(ids, guint, first));
		g_string_append_printf(text, "%u", id);
		first = i + 1;
	}
	return g_string_free(g_steal_pointer(&text), FALSE);
}

static guint resolve(const char *name, const GArray *ids)
{
	guint64 back = 0;

	if (strcmp(name, "latest") == 0 ||
	    (g_str_has_prefix(name, "latest~") &&
	     lab_parse_uint(name + strlen("latest~"), G_MAXUINT32, &back, NULL)))
		return back < ids->len ? g_array_index(ids, guint, ids->len - 1 - back) : 0;
	for (guint i = 0; i < ids->len; i++)
		if (g_array_index(ids, guint, i) == parse_id(name))
			return parse_id(name);
	return 0;
}

LabRun *lab_store_find_run(LabStore *store, const char *name, GError **error)
{
	g_autoptr(GArray) ids = lab_store_read_ids(store, TRUE, error);
	guint id = ids ? resolve(name, ids) : 0;
	g_autofree char *known = NULL;

	if (!ids)
		return NULL;
	if (id)
		return lab_run_open(store->runs, id, error);
	known = describe_ids(ids);
	if (parse_id(name) || g_str_has_prefix(name, "latest"))
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "no run %s in %s: %s", name,
			    store->root, known);
	else
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "wanted a run (a number, latest, latest~1), found '%s'; in %s %s", name,
			    store->root, known);
	return NULL;
}

/* ---- the index ----------------------------------------------------------------------------------
 */

static gboolean index_run(LabStore *store, const LabRun *run, GError **error)
{
	g_autoptr(GPtrArray) boots = lab_run_boots(run, error);

	return boots && lab_index_add(store->index, run, boots, error);
}

/* Finished runs that are not in it come in, and what is gone goes. */
static gboolean update_index(LabStore *store, const GPtrArray *runs, GError **error)
{
	g_autoptr(GHashTable) indexed = lab_index_runs(store->index, error);
	GHashTableIter iter;
	gpointer id;

	if (!indexed)
		return FALSE;
	for (guint i = 0; i < runs->len; i++) {
		const LabRun *run = runs->pdata[i];
		const char *digest = g_hash_table_lookup(indexed, GUINT_TO_POINTER(run->id));

		if (!run->n_missing && g_strcmp0(digest, run->plan->digest) != 0 &&
		    !index_run(store, run, error))
			return FALSE;
		g_hash_table_remove(indexed, GUINT_TO_POINTER(run->id));
	}
	g_hash_table_iter_init(&iter, indexed);
	while (g_hash_table_iter_next(&iter, &id, NULL))
		if (!lab_index_remove(store->index, GPOINTER_TO_UINT(id), error))
			return FALSE;
	return TRUE;
}

GPtrArray *lab_store_list(LabStore *store, GPtrArray **damaged, GError **error)
{
	g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func((GDestroyNotify)lab_run_free);
	g_autoptr(GPtrArray) unreadable = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GArray) ids = lab_store_read_ids(store, TRUE, error);
	g_autoptr(GError) harmless = NULL;

	if (!ids)
		return NULL;
	for (guint i = 0; i < ids->len; i++) {
		g_autoptr(GError) cause = NULL;
		LabRun *run = lab_run_open(store->runs, g_array_index(ids, guint, i), &cause);

		if (run)
			g_ptr_array_add(runs, run);
		else if (!g_error_matches(cause, G_FILE_ERROR,
					  G_FILE_ERROR_NOENT)) /* just removed */
			g_ptr_array_add(unreadable, g_strdup(cause->message));
	}
	open_index(store);
	if (store->index && !update_index(store, runs, &harmless))
		g_debug("%s", harmless->message);
	if (damaged)
		*damaged = g_steal_pointer(&unreadable);
	return g_steal_pointer(&runs);
}

gboolean lab_store_finish_run(LabStore *store, LabRun *run, GError **error)
{
	g_autofree char *path = g_build_filename(store->root, "index.sqlite", NULL);

	lab_run_refresh(run);
	if (!run->n_missing && !lab_run_record_times(run, error))
		return FALSE;
	if (!store->index)
		store->index = lab_index_open(path, error);
	return store->index && index_run(store, run, error);
}

/* ---- making, taking and removing ----------------------------------------------------------------
 */

static guint read_next_id(LabStore *store)
{
	g_autofree char *path = g_build_filename(store->root, "next-id", NULL);
	g_autofree char *text = lab_file_read(path, NULL, NULL);

	return text ? parse_id(g_strstrip(text)) : 0;
}

static LabRun *make_directory(LabStore *store, GError **error)
{
	g_autoptr(GArray) ids = lab_store_read_ids(store, FALSE, error);
	LabRun *run;
	guint id;

	if (!ids)
		return NULL;
	id = ids->len ? g_array_index(ids, guint, ids->len - 1) + 1 : 1;
	id = MAX(id, read_next_id(store));
	run = g_new0(LabRun, 1);
	run->lock_fd = -1;
	do {
		g_free(run->dir);
		run->id = id++;
		run->dir = g_strdup_printf("%s/%u", store->runs, run->id);
	} while (mkdir(run->dir, 0755) < 0 && errno == EEXIST);
	if (g_file_test(run->dir, G_FILE_TEST_IS_DIR))
		return run;
	/* Says why by itself. */
	lab_dir_make(run->dir, error);
	lab_run_free(run);
	return NULL;
}

static gboolean write_file(const LabRun *run, const char *name, const char *text, GError **error)
{
	g_autofree char *path = g_build_filename(run->dir, name, NULL);

	return lab_file_write(path, text, -1, error);
}

static gboolean fill_directory(LabRun *run, const char *plan, const char *scenario_text,
			       const char *scenario_canonical, GError **error)
{
	g_autofree char *boots = g_build_filename(run->dir, "boots", NULL);

	run->started_us = g_get_real_time();
	return lab_dir_make(boots, error) &&
	       write_file(run, "scenario.yaml", scenario_text, error) &&
	       write_file(run, "scenario.json", scenario_canonical, error) &&
	       lab_run_record_times(run, error) && write_file(run, "plan.json", plan, error);
}

LabRun *lab_store_create_run(LabStore *store, const LabPlan *plan, const char *scenario_text,
			     const char *scenario_canonical, GError **error)
{
	g_autofree char *json = lab_plan_json(plan);
	g_autoptr(LabPlan) copy = lab_plan_from_json(json, error);
	g_auto(StoreLock) lock = copy ? store_lock(store, error) : -1;
	g_autoptr(LabRun) run = lock >= 0 ? make_directory(store, error) : NULL;

	if (!run)
		return NULL;
	run->plan = g_steal_pointer(&copy);
	if (!lab_run_lock(run)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "cannot lock %s: %s", run->dir,
			    g_strerror(errno));
		lab_dir_remove(run->dir, NULL);
		return NULL;
	}
	if (!fill_directory(run, json, scenario_text, scenario_canonical, error)) {
		lab_dir_remove(run->dir, NULL);
		return NULL;
	}
	lab_run_refresh(run);
	return g_steal_pointer(&run);
}

static gboolean has_boot(const LabPlan *plan, const char *id)
{
	for (guint i = 0; i < plan->boots->len; i++)
		if (!strcmp(((LabPlanBoot *)plan->boots->pdata[i])->id, id))
			return TRUE;
	return FALSE;
}

/* With the boots alone that the run has, is it the run's plan? */
static gboolean is_same_experiment(const LabRun *run, const LabPlan *plan)
{
	g_autofree char *json = lab_plan_json(plan), *digest = NULL;
	g_autoptr(LabPlan) part = lab_plan_from_json(json, NULL);

	for (guint i = part ? part->boots->len : 0; i-- > 0;)
		if (!has_boot(run->plan, ((LabPlanBoot *)part->boots->pdata[i])->id))
			g_ptr_array_remove_index(part->boots, i);
	digest = part ? lab_plan_digest(part) : NULL;
	return !g_strcmp0(digest, run->plan->digest);
}

gboolean lab_run_grow(LabRun *run, const LabPlan *plan, GError **error)
{
	g_autofree char *json = lab_plan_json(plan);
	g_autoptr(LabPlan) copy = lab_plan_from_json(json, error);

	if (!copy)
		return FALSE;
	if (run->lock_fd < 0 || !is_same_experiment(run, plan)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
			    "%s: more boots are wanted of another experiment", run->dir);
		return FALSE;
	}
	if (!write_file(run, "plan.json", json, error))
		return FALSE;
	lab_plan_free(run->plan);
	run->plan = g_steal_pointer(&copy);
	lab_run_refresh(run);
	return TRUE;
}

LabRun *lab_store_resume_run(LabStore *store, const char *plan_digest, GError **error)
{
	g_auto(StoreLock) lock = store_lock(store, error);
	g_autoptr(GArray) ids = lock >= 0 ? lab_store_read_ids(store, TRUE, error) : NULL;

	for (guint i = ids ? ids->len : 0; i-- > 0;) {
		g_autoptr(LabRun) run =
			lab_run_open(store->runs, g_array_index(ids, guint, i), NULL);

		if (!run || strcmp(run->plan->digest, plan_digest) != 0 || !run->n_missing ||
		    !lab_run_lock(run))
			continue;
		/* Its last holder may have gone on until this moment. */
		lab_run_refresh(run);
		if (run->n_missing)
			return g_steal_pointer(&run);
	}
	return NULL;
}

static gboolean keep_next_id(LabStore *store, guint next, GError **error)
{
	g_autofree char *path = g_build_filename(store->root, "next-id", NULL);
	g_autofree char *text = g_strdup_printf("%u\n", next);

	return next <= read_next_id(store) || lab_file_write(path, text, -1, error);
}

static gboolean move_to_trash(LabStore *store, LabRun *run, char **trash, GError **error)
{
	g_auto(StoreLock) lock = store_lock(store, error);
	g_autofree char *path = g_strdup_printf("%s/" TRASH "%u", store->runs, run->id);

	if (lock < 0)
		return FALSE;
	if (run->lock_fd < 0 && lab_run_is_held(run->dir)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "run %u is being run by another process: end that first", run->id);
		return FALSE;
	}
	/* A full disk must not prevent making room; a number used again is the lesser evil. */
	keep_next_id(store, run->id + 1, NULL);
	if (g_rename(run->dir, path) < 0 && errno != ENOENT) {
		g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(errno),
			    "cannot remove %s: %s", run->dir, g_strerror(errno));
		return FALSE;
	}
	*trash = g_steal_pointer(&path);
	return TRUE;
}

gboolean lab_store_remove_run(LabStore *store, LabRun *run, GError **error)
{
	g_autofree char *trash = NULL;

	if (!move_to_trash(store, run, &trash, error))
		return FALSE;
	lab_run_unlock(run);
	if (store->index)
		lab_index_remove(store->index, run->id, NULL);
	return lab_dir_remove(trash, error);
}

/* Half removed; or a number without a plan, which nobody is filling now. */
static gboolean is_left(const char *name, const char *path)
{
	g_autofree char *plan = g_build_filename(path, "plan.json", NULL);

	return g_str_has_prefix(name, TRASH) ||
	       (parse_id(name) && !g_file_test(plan, G_FILE_TEST_EXISTS) && !lab_run_is_held(path));
}

gboolean lab_store_sweep(LabStore *store, gboolean dry_run, GPtrArray **paths, GError **error)
{
	g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);
	g_auto(StoreLock) lock = store_lock(store, error);
	g_autoptr(GDir) dir = lock >= 0 ? g_dir_open(store->runs, 0, error) : NULL;

	if (!dir)
		return FALSE;
	for (const char *name; (name = g_dir_read_name(dir));) {
		g_autofree char *path = g_build_filename(store->runs, name, NULL);

		if (is_left(name, path))
			g_ptr_array_add(found, g_steal_pointer(&path));
	}
	for (guint i = 0; !dry_run && i < found->len; i++)
		if (!lab_dir_remove(found->pdata[i], error))
			return FALSE;
	if (paths)
		*paths = g_steal_pointer(&found);
	return TRUE;
}
