/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/base/json_writer.h"
#include "lab/base/paths.h"
#include "lab/build/cache.h"
#include "lab/store/store.h"
#include "runner/command.h"
#include "runner/print.h"

static gboolean unfinished, whole_cache, dry_run, json;

static const GOptionEntry options[] = {
	{"unfinished", 0, 0, G_OPTION_ARG_NONE, &unfinished,
	 "also runs with boots missing that no living process holds", NULL},
	{"all-cache", 0, 0, G_OPTION_ARG_NONE, &whole_cache,
	 "also every kernel, image and prepared file system in the cache; they are made again when "
	 "they are needed",
	 NULL},
	{"dry-run", 'n', 0, G_OPTION_ARG_NONE, &dry_run, "only say what would be freed", NULL},
	{"json", 0, 0, G_OPTION_ARG_NONE, &json, "print JSON", NULL},
	{NULL},
};

/* What was, or would be, removed. */
typedef struct {
	char *what;
	guint64 bytes;
} Item;

static void free_item(gpointer data)
{
	Item *item = data;

	g_free(item->what);
	g_free(item);
}

static void add_item(GPtrArray *items, char *what, guint64 bytes)
{
	Item *item = g_new(Item, 1);

	item->what = what;
	item->bytes = bytes;
	g_ptr_array_add(items, item);
}

static gboolean remove_run(LabStore *store, LabRun *run, GPtrArray *items, GError **error)
{
	guint64 bytes = lab_dir_bytes(run->dir);

	if (run->state == LAB_RUN_RUNNING && dry_run) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "run %u is being run by another process: end that first", run->id);
		return FALSE;
	}
	if (!dry_run && !lab_store_remove_run(store, run, error))
		return FALSE;
	add_item(items,
		 g_strdup_printf("run %u (%s, %s)", run->id, run->plan->scenario_name,
				 lab_run_state_name(run->state)),
		 bytes);
	return TRUE;
}

/* All are found before any is removed: a mistyped number removes nothing. */
static gboolean remove_named(LabStore *store, char **names, GPtrArray *items, GError **error)
{
	g_autoptr(GPtrArray) runs = g_ptr_array_new_with_free_func((GDestroyNotify)lab_run_free);

	for (char **name = names; *name; name++) {
		LabRun *run = lab_store_find_run(store, *name, error);

		if (!run)
			return FALSE;
		g_ptr_array_add(runs, run);
	}
	for (guint i = 0; i < runs->len; i++)
		if (!remove_run(store, runs->pdata[i], items, error))
			return FALSE;
	return TRUE;
}

static gboolean remove_unfinished(LabStore *store, GPtrArray *items, GError **error)
{
	g_autoptr(GPtrArray) runs = lab_store_list(store, NULL, error);

	for (guint i = 0; runs && i < runs->len; i++) {
		LabRun *run = runs->pdata[i];

		if (run->state == LAB_RUN_PLANNED && !remove_run(store, run, items, error))
			return FALSE;
	}
	return runs != NULL;
}

static gboolean sweep(LabStore *store, GPtrArray *items, GError **error)
{
	g_autoptr(GPtrArray) paths = NULL;

	/* Their size is known only before they are gone. */
	if (!lab_store_sweep(store, TRUE, &paths, error))
		return FALSE;
	for (guint i = 0; i < paths->len; i++)
		add_item(items, g_strdup_printf("left by a crash: %s", (char *)paths->pdata[i]),
			 lab_dir_bytes(paths->pdata[i]));
	return dry_run || lab_store_sweep(store, FALSE, NULL, error);
}

/* A running run has read its inputs only when its last boot has begun. */
static gboolean nothing_runs(LabStore *store, GError **error)
{
	g_autoptr(GPtrArray) runs = lab_store_list(store, NULL, error);

	for (guint i = 0; runs && i < runs->len; i++) {
		const LabRun *run = runs->pdata[i];

		if (run->state != LAB_RUN_RUNNING)
			continue;
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "run %u is being run by another process, and needs the cache", run->id);
		return FALSE;
	}
	return runs != NULL;
}

static gboolean clean_cache(CommandContext *context, GPtrArray *items, GError **error)
{
	g_autofree char *root = lab_path_cache(context->cache);
	g_autoptr(LabCache) cache = NULL;
	g_autoptr(GError) local = NULL;
	guint64 freed;

	if (!g_file_test(root, G_FILE_TEST_IS_DIR))
		return TRUE;
	cache = lab_cache_open(root, error);
	if (!cache)
		return FALSE;
	freed = lab_cache_clean(cache, whole_cache, dry_run, &local);
	if (freed)
		add_item(items,
			 g_strdup_printf("%s of the cache %s",
					 whole_cache ? "entries" : "unfinished entries", root),
			 freed);
	if (!local)
		return TRUE;
	g_propagate_error(error, g_steal_pointer(&local));
	return FALSE;
}

static guint64 total(const GPtrArray *items)
{
	guint64 bytes = 0;

	for (guint i = 0; i < items->len; i++)
		bytes += ((Item *)items->pdata[i])->bytes;
	return bytes;
}

static void print_people(const GPtrArray *items)
{
	g_autofree char *all = print_size(total(items));

	for (guint i = 0; i < items->len; i++) {
		const Item *item = items->pdata[i];
		g_autofree char *size = print_size(item->bytes);

		printf("%s %s: %s\n", dry_run ? "would remove" : "removed", item->what, size);
	}
	if (items->len)
		printf("%s %s\n", all, dry_run ? "would be freed" : "freed");
	else
		printf("nothing to clean\n");
}

static void print_program(const GPtrArray *items)
{
	g_autoptr(LabJsonWriter) w = lab_json_writer_new();
	g_autofree char *text = NULL;

	lab_json_writer_object(w, NULL, LAB_JSON_BLOCK);
	lab_json_writer_string(w, "mode", dry_run ? "dry-run" : "removed");
	lab_json_writer_uint(w, "bytes", total(items));
	lab_json_writer_array(w, "items", LAB_JSON_BLOCK);
	for (guint i = 0; i < items->len; i++) {
		const Item *item = items->pdata[i];

		lab_json_writer_object(w, NULL, LAB_JSON_LINE);
		lab_json_writer_string(w, "what", item->what);
		lab_json_writer_uint(w, "bytes", item->bytes);
		lab_json_writer_end(w);
	}
	lab_json_writer_end(w);
	lab_json_writer_end(w);
	text = lab_json_writer_text(w);
	fputs(text, stdout);
}

static int clean(int argc, char **argv, CommandContext *context, GError **error)
{
	g_autofree char *root = lab_path_store(context->store);
	g_autoptr(LabStore) store = lab_store_open(root, error);
	g_autoptr(GPtrArray) items = g_ptr_array_new_with_free_func(free_item);
	gboolean ok = store && remove_named(store, argv, items, error) &&
		      (!unfinished || remove_unfinished(store, items, error)) &&
		      sweep(store, items, error) && (!whole_cache || nothing_runs(store, error)) &&
		      clean_cache(context, items, error);

	/* What is gone is said also when the rest failed. */
	if (!ok && !items->len)
		return COMMAND_FAILED;
	if (json)
		print_program(items);
	else
		print_people(items);
	return ok ? 0 : COMMAND_FAILED;
}

const Command cmd_clean = {
	.name = "clean",
	.group = COMMAND_GROUP_RESULT,
	.order = 40,
	.arguments = "[RUN...]",
	.summary = "Remove runs, what crashes left, and the cache",
	.description =
		"Removes the runs that are named, and always what killed processes left half "
		"made in store and cache. Runs that a living process holds are never touched. "
		"The number of a removed run is not given again.",
	.options = options,
	.run = clean,
};
COMMAND_REGISTER(cmd_clean);
