/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The A/A run that belongs to an experiment. */
#include <string.h>

#include "lab/base/file.h"
#include "lab/store/internal.h"

static gboolean fits(const LabPlan *plan, const LabPlan *like)
{
	return plan->is_aa && !g_strcmp0(plan->scenario_digest, like->scenario_digest) &&
	       !g_strcmp0(plan->clock, like->clock) &&
	       !g_strcmp0(plan->image_digest, like->image_digest) &&
	       !g_strcmp0(plan->files_digest, like->files_digest) &&
	       !g_strcmp0(plan->qemu_version, like->qemu_version);
}

/* NULL: it is of another experiment, not done, or cannot be read */
static LabRun *open_if_fits(LabStore *store, guint id, const LabPlan *like)
{
	g_autofree char *path = g_strdup_printf("%s/%u/plan.json", store->runs, id);
	g_autofree char *json = lab_file_read(path, NULL, NULL);
	g_autoptr(LabPlan) plan = NULL;
	g_autoptr(LabRun) run = NULL;

	/* A plan has the digest as it is: most need not be parsed. */
	if (json && strstr(json, "\"aa\"") && strstr(json, like->scenario_digest))
		plan = lab_plan_from_json(json, NULL);
	if (plan && fits(plan, like))
		run = lab_run_open(store->runs, id, NULL);
	return run && run->state == LAB_RUN_DONE ? g_steal_pointer(&run) : NULL;
}

static GHashTable *ask_index(LabStore *store, const char *scenario_digest)
{
	g_autoptr(GError) harmless = NULL;
	GHashTable *indexed =
		store->index ? lab_index_aa(store->index, scenario_digest, &harmless) : NULL;

	if (harmless)
		g_debug("%s", harmless->message);
	return indexed ? indexed : g_hash_table_new(NULL, NULL);
}

LabRun *lab_store_find_aa(LabStore *store, const LabRun *like, const char *kernel_digest,
			  guint except, GError **error)
{
	g_autoptr(GArray) ids = lab_store_read_ids(store, TRUE, error);
	g_autoptr(GHashTable) indexed = ids ? ask_index(store, like->plan->scenario_digest) : NULL;
	g_autoptr(LabRun) other = NULL;

	for (guint i = ids ? ids->len : 0; i-- > 0;) {
		guint id = g_array_index(ids, guint, i);
		g_autoptr(LabRun) run = NULL;
		gpointer is_aa;

		if (id == except ||
		    (g_hash_table_lookup_extended(indexed, GUINT_TO_POINTER(id), NULL, &is_aa) &&
		     !is_aa))
			continue;
		run = open_if_fits(store, id, like->plan);
		if (!run)
			continue;
		if (g_strv_contains((const char *const *)run->plan->kernels, kernel_digest))
			return g_steal_pointer(&run);
		if (!other)
			other = g_steal_pointer(&run);
	}
	return g_steal_pointer(&other);
}
