/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/run/run.h"

#include <string.h>

#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/base/paths.h"
#include "lab/run/collect.h"
#include "lab/run/engine.h"
#include "lab/run/host.h"
#include "lab/run/inputs.h"
#include "lab/run/pins.h"
#include "lab/run/plan.h"

typedef struct {
	const LabRunOptions *options;
	GPtrArray *dirs, *labels, *at; /* of the boots given to the engine; at: the LabInputs of their points */
} Boots;

static void boot_failed(const LabRunOptions *options, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void boot_failed(const LabRunOptions *options, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list ap;

	va_start(ap, format);
	text = g_strdup_vprintf(format, ap);
	va_end(ap);
	if (options->notify)
		options->notify(
			&(LabRunEvent){.kind = LAB_EVENT_BOOT_FAILED, .text = text, .eta_us = -1},
			options->data);
}

static gboolean on_boot_done(guint index, const char *said, gpointer data, GError **error)
{
	Boots *b = data;
	const char *dir = g_ptr_array_index(b->dirs, index);
	const char *label = g_ptr_array_index(b->labels, index);
	g_autoptr(GError) local = NULL;
	g_autoptr(LabBootResult) result = lab_collect_boot(dir, &local);

	if (!result && g_error_matches(local, G_FILE_ERROR, G_FILE_ERROR_NOENT)) {
		/* The process died without leaving a result; the others go on, and a resume boots
		 * it again. */
		boot_failed(b->options, "%s: its process ended without a result%s%s", label,
			    *said ? ": " : "; the same command again repeats it", said);
		return TRUE;
	}
	if (!result) {
		g_propagate_error(error, g_steal_pointer(&local));
		return FALSE;
	}
	if (result->outcome != LAB_OUTCOME_OK)
		boot_failed(b->options, "%s: %s at %s: %s%s%s", label,
			    lab_outcome_name(result->outcome), result->stage, result->message,
			    *result->evidence ? "\n" : "", result->evidence);
	lab_collect_disk(g_ptr_array_index(b->at, index), dir, result);
	return TRUE;
}

/* Is there a result, of the very job that would be run now? (An agent built anew makes another job.) */
static gboolean is_complete(const char *dir, const LabBootJob *job)
{
	g_autoptr(LabBootResult) result = lab_boot_result_read(dir, NULL);
	g_autofree char *digest = result ? lab_boot_job_digest(job) : NULL;

	return digest && !g_strcmp0(result->job_digest, digest);
}

static gboolean add_boot(const LabRun *run, const LabInputs *in, const LabPlanBoot *boot, Boots *b,
			 GError **error)
{
	const LabInputs *at = lab_inputs_at(in, boot->point);
	g_autofree char *dir = g_build_filename(run->dir, "boots", boot->id, NULL);
	g_autoptr(LabBootJob) job = lab_inputs_job(at, lab_inputs_kernel(at, boot->kernel_digest),
						   boot->seed, FALSE, error);

	if (!job)
		return FALSE;
	g_free(job->id);
	job->id = g_strdup(boot->id);
	if (is_complete(dir, job))
		return TRUE;
	if (!lab_dir_remove(dir, error) || !lab_dir_make(dir, error) ||
	    !lab_boot_job_write(job, dir, error))
		return FALSE;
	g_ptr_array_add(b->dirs, g_steal_pointer(&dir));
	g_ptr_array_add(b->labels, lab_plan_boot_label(run->plan, boot));
	g_ptr_array_add(b->at, (gpointer)at);
	return TRUE;
}

/* Write the job of every boot that is still to be done; what an unfinished one left is removed. */
static gboolean add_missing(const LabRun *run, const LabInputs *in, Boots *b, GError **error)
{
	for (guint i = 0; i < run->plan->boots->len; i++)
		if (!add_boot(run, in, g_ptr_array_index(run->plan->boots, i), b, error))
			return FALSE;
	return TRUE;
}

static gboolean execute(const LabRun *run, const LabInputs *in, GError **error)
{
	const LabRunOptions *options = in->options;
	Boots b = {.options = options};
	g_autoptr(GPtrArray) dirs = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) labels = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) at = g_ptr_array_new();
	g_autofree LabEngineBoot *boots = NULL;
	guint at_once = options->jobs;

	b.dirs = dirs;
	b.labels = labels;
	b.at = at;
	if (!add_missing(run, in, &b, error))
		return FALSE;
	boots = g_new0(LabEngineBoot, MAX(dirs->len, 1));
	for (guint i = 0; i < dirs->len; i++)
		boots[i] =
			(LabEngineBoot){g_ptr_array_index(dirs, i), g_ptr_array_index(labels, i)};
	if (!at_once)
		at_once = lab_inputs_at_once(in);
	return lab_engine_run(boots, dirs->len, at_once, options, on_boot_done, &b, error);
}

/*
 * The same command again goes on with a run that was not ended: of more boots where there is one, the largest look first. Else a new one.
 * @look: (out): that it is at
 */
static LabRun *begin(LabStore *store, const LabInputs *in, const guint *looks, guint n_looks,
		     guint *look, GError **error)
{
	const LabScenario *s = in->scenario;
	g_autoptr(LabPlan) plan = NULL;

	for (*look = MAX(n_looks, 1); (*look)-- > 0;) {
		g_autoptr(GError) local = NULL;
		LabRun *run;

		g_clear_pointer(&plan, lab_plan_free);
		plan = lab_plan_make(in, looks ? looks[*look] : 0);
		run = in->options->fresh ? NULL
					 : lab_store_resume_run(store, plan->digest, &local);
		if (local) {
			g_propagate_error(error, g_steal_pointer(&local));
			return NULL;
		}
		if (!run)
			continue;
		lab_run_note(in->options, "run %u goes on: %u of %u boots are there", run->id,
			     run->n_ok + run->n_failed, run->plan->boots->len);
		return run;
	}
	*look = 0;
	return lab_store_create_run(store, plan, s->text, s->canonical, error);
}

/* What is there is indexed all the same; the first error is the one to tell. */
static void give_up(LabStore *store, LabRun *run, GError **error)
{
	lab_store_finish_run(store, run, NULL);
	if (!error || !g_error_matches(*error, LAB_ERROR, LAB_ERROR_INTERRUPTED))
		return;
	g_clear_error(error);
	g_set_error(error, LAB_ERROR, LAB_ERROR_INTERRUPTED,
		    "interrupted; the same command again goes on with run %u", run->id);
}

static gboolean complete(LabStore *store, LabRun *run, const LabInputs *in, GError **error)
{
	if (lab_pins_write(run, in->kernels, in->scenario, error) && execute(run, in, error))
		return lab_store_finish_run(store, run, error);
	give_up(store, run, error);
	return FALSE;
}

static LabInputs *resolve(const LabScenario *scenario, const LabRunOptions *options, GError **error)
{
	g_autoptr(LabInputs) in = NULL;

	/* First: what is done from here on is load. */
	if (!lab_run_check_host(scenario, options, "", error))
		return NULL;
	in = lab_inputs_resolve(scenario, NULL, NULL, options, error);
	return in && lab_prepared_get(in, error) ? g_steal_pointer(&in) : NULL;
}

LabRun *lab_run_scenario(const LabScenario *scenario, const LabRunOptions *options, GError **error)
{
	return lab_run_looks(scenario, 0, NULL, NULL, NULL, options, error);
}

LabRun *lab_run_looks(const LabScenario *scenario, guint n_looks, const guint *looks, LabRunLook on_look, gpointer data,
		      const LabRunOptions *options, GError **error)
{
	g_autofree char *store_root = lab_path_store(options->store_root);
	g_autoptr(LabStore) store = lab_store_open(store_root, error);
	g_autoptr(LabInputs) in = store ? resolve(scenario, options, error) : NULL;
	guint look = 0;
	g_autoptr(LabRun) run = in ? begin(store, in, looks, n_looks, &look, error) : NULL;

	if (!run || !complete(store, run, in, error))
		return NULL;
	for (gboolean go_on = TRUE; look < n_looks; look++) {
		g_autoptr(LabPlan) plan = NULL;

		if (!on_look(run, look, &go_on, data, error))
			return NULL;
		if (!go_on || look + 1 == n_looks)
			break;
		plan = lab_plan_make(in, looks[look + 1]);
		if (!lab_run_grow(run, plan, error) || !complete(store, run, in, error))
			return NULL;
	}
	lab_run_unlock(run);
	return g_steal_pointer(&run);
}
