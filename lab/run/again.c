/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boot a run's boots again, from inputs made again where they are no longer there, and compare. */
#include <string.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/base/paths.h"
#include "lab/run/collect.h"
#include "lab/run/engine.h"
#include "lab/run/inputs.h"
#include "lab/run/pins.h"

typedef struct {
	const LabRun *run;
	const LabInputs *in;
	char *dir; /* temporary, below the run's directory */
	GPtrArray *dirs, *labels, *ids;
} Again;

static void again_clear(Again *a)
{
	if (a->dir)
		lab_dir_remove(a->dir, NULL);
	g_clear_pointer(&a->dir, g_free);
	g_clear_pointer(&a->dirs, g_ptr_array_unref);
	g_clear_pointer(&a->labels, g_ptr_array_unref);
	g_clear_pointer(&a->ids, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Again, again_clear)

void lab_again_free(LabAgain *again)
{
	if (!again)
		return;
	g_free(again->boot_id);
	g_free(again->digest);
	g_free(again->where);
	g_free(again);
}

/* @what: with its verb: "the image is" */
static gboolean same(const char *what, const char *then, const char *now, GError **error)
{
	if (!g_strcmp0(then, now))
		return TRUE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
		    "cannot verify: %s not what the run had (then %.12s, now %.12s)", what,
		    then ? then : "none", now ? now : "none");
	return FALSE;
}

/* Different inputs make different bytes: say which input it is before booting for nothing. */
static gboolean same_inputs(const LabRun *run, const LabInputs *in, GError **error)
{
	const LabPlan *plan = run->plan;

	if (!same("QEMU's version is", plan->qemu_version, in->emulator_version, error) ||
	    !same("the image is", plan->image_digest, lab_inputs_image_digest(in), error) ||
	    !same("the files are", plan->files_digest, in->files ? in->files->digest : NULL, error))
		return FALSE;
	for (guint i = 0; i < in->kernels->len; i++) {
		const LabKernel *kernel = g_ptr_array_index(in->kernels, i);
		g_autofree char *what = g_strconcat(kernel->text, " is", NULL);

		if (!same(what, plan->kernels[i], kernel->digest, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean same_prepared(const LabRun *run, const LabInputs *in, GError **error)
{
	const LabPlan *plan = run->plan;

	for (guint i = 0; i < lab_plan_n_points(plan); i++) {
		const LabPrepared *now = lab_inputs_at(in, i)->prepared;
		const char *then = plan->points->len ? ((LabPlanPoint *)plan->points->pdata[i])->prepared_digest
						     : plan->prepared_digest;

		if (!same("the prepared file system is", then, now ? now->digest : NULL, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean add_boot(Again *a, const LabPlanBoot *boot, guint repeat, GError **error)
{
	g_autofree char *original = g_build_filename(a->run->dir, "boots", boot->id, NULL);
	g_autofree char *name = g_strdup_printf("%s-%u", boot->id, repeat + 1);
	g_autofree char *dir = g_build_filename(a->dir, name, NULL);
	g_autoptr(LabBootJob) job = NULL, then = lab_boot_job_read(original, error);
	const LabInputs *in = lab_inputs_at(a->in, boot->point);
	g_autofree char *digest_then = NULL, *digest_now = NULL;

	if (!then)
		return FALSE;
	job = lab_inputs_job(in, lab_inputs_kernel(in, boot->kernel_digest), boot->seed, FALSE, error);
	if (!job)
		return FALSE;
	g_free(job->id);
	job->id = g_strdup(boot->id);
	if (!same("the initrd (agent, modules, job) is", then->initrd_digest, job->initrd_digest,
		  error))
		return FALSE;
	digest_then = lab_boot_job_digest(then);
	digest_now = lab_boot_job_digest(job);
	if (!same("the job is", digest_then, digest_now, error) || !lab_dir_make(dir, error) ||
	    !lab_boot_job_write(job, dir, error))
		return FALSE;
	g_ptr_array_add(a->dirs, g_steal_pointer(&dir));
	g_ptr_array_add(a->ids, g_strdup(boot->id));
	g_ptr_array_add(a->labels, lab_plan_boot_label(a->run->plan, boot));
	return TRUE;
}

static gboolean add_boots(Again *a, const char *const *only, guint repeats, GError **error)
{
	for (guint i = 0; i < a->run->plan->boots->len; i++) {
		const LabPlanBoot *boot = g_ptr_array_index(a->run->plan->boots, i);
		g_autofree char *dir = g_build_filename(a->run->dir, "boots", boot->id, NULL);
		g_autoptr(LabBootResult) result = lab_boot_result_read(dir, NULL);

		if (!result || result->outcome != LAB_OUTCOME_OK ||
		    (only && !g_strv_contains(only, boot->id)))
			continue;
		for (guint repeat = 0; repeat < repeats; repeat++)
			if (!add_boot(a, boot, repeat, error))
				return FALSE;
	}
	if (a->dirs->len)
		return TRUE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "run %u has no complete boot to verify%s",
		    a->run->id, only ? " of that name" : "");
	return FALSE;
}

static LabAgain *compare_one(const Again *a, guint i, LabAgainCompare compare, GError **error)
{
	const char *dir = g_ptr_array_index(a->dirs, i), *id = g_ptr_array_index(a->ids, i);
	g_autofree char *original = g_build_filename(a->run->dir, "boots", id, NULL);
	g_autoptr(LabBootResult) then = lab_boot_result_read(original, error);
	g_autoptr(LabBootResult) now = then ? lab_boot_result_read(dir, error) : NULL;
	LabAgain *again;

	if (!now)
		return NULL;
	again = g_new0(LabAgain, 1);
	again->boot_id = g_strdup(id);
	again->digest = g_strdup(now->digest);
	again->identical = now->outcome == LAB_OUTCOME_OK && !strcmp(then->digest, now->digest);
	if (again->identical)
		again->where = g_strdup("");
	else if (now->outcome != LAB_OUTCOME_OK)
		again->where =
			g_strdup_printf("this time: %s at %s: %s", lab_outcome_name(now->outcome),
					now->stage, now->message);
	else
		again->where = compare(original, dir, error);
	if (!again->where) {
		lab_again_free(again);
		return NULL;
	}
	return again;
}

GPtrArray *lab_run_again(const LabRun *run, const char *const *only, guint repeats,
			 LabAgainCompare compare, const LabRunOptions *options, GError **error)
{
	g_autoptr(LabScenario) scenario = lab_pins_scenario(run, error);
	g_autoptr(GPtrArray) kernels = scenario ? lab_pins_kernels(run, error) : NULL;
	g_autoptr(LabInputs) in =
		kernels ? lab_inputs_resolve(scenario, kernels, run->plan, options, error) : NULL;
	g_autoptr(GPtrArray) results =
		g_ptr_array_new_with_free_func((GDestroyNotify)lab_again_free);
	g_autofree LabEngineBoot *boots = NULL;
	g_auto(Again) a = {.run = run, .in = in};

	if (!in || !same_inputs(run, in, error) || !lab_prepared_get(in, error) ||
	    !same_prepared(run, in, error))
		return NULL;
	a.dir = g_strdup_printf("%s/verify-%d", run->dir, (int)getpid());
	a.dirs = g_ptr_array_new_with_free_func(g_free);
	a.labels = g_ptr_array_new_with_free_func(g_free);
	a.ids = g_ptr_array_new_with_free_func(g_free);
	if (!add_boots(&a, only, MAX(repeats, 1), error))
		return NULL;
	boots = g_new0(LabEngineBoot, a.dirs->len);
	for (guint i = 0; i < a.dirs->len; i++)
		boots[i] = (LabEngineBoot){g_ptr_array_index(a.dirs, i),
					   g_ptr_array_index(a.labels, i)};
	if (!lab_engine_run(boots, a.dirs->len,
			    options->jobs ? options->jobs : lab_inputs_at_once(in), options, NULL,
			    NULL, error))
		return NULL;
	for (guint i = 0; i < a.dirs->len; i++) {
		LabAgain *again = compare_one(&a, i, compare, error);

		if (!again)
			return NULL;
		g_ptr_array_add(results, again);
	}
	return g_steal_pointer(&results);
}
