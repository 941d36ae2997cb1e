/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Prepared file systems: made by one boot, kept by the digest of what decides them, reused
 * copy-on-write. */
#include <string.h>

#include "lab/base/digest.h"
#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/run/collect.h"
#include "lab/run/engine.h"
#include "lab/run/inputs.h"

#define PREPARE_SEED 1

typedef struct {
	const LabInputs *in;
	const LabBootJob *job;
} PrepareMake;

static const char *scratch_name(const LabInputs *in)
{
	return in->scenario->boot == LAB_BOOT_DISK ? LAB_BOOT_SCRATCH_DISK : "scratch.img";
}

static const LabKernel *prepare_kernel(const LabInputs *in)
{
	const LabKernelSpec *wanted = in->scenario->prepare_kernel;

	for (guint i = 0; wanted && i < in->kernels->len; i++) {
		const LabKernel *kernel = g_ptr_array_index(in->kernels, i);

		if (!strcmp(kernel->text, wanted->text))
			return kernel;
	}
	return wanted ? NULL : g_ptr_array_index(in->kernels, 0);
}

static gboolean make_prepared(const char *dir, gpointer data, GError **error)
{
	const PrepareMake *m = data;
	LabEngineBoot boot = {.dir = dir, .label = m->job->id};
	g_autofree char *scratch = g_build_filename(dir, scratch_name(m->in), NULL);
	g_autofree char *digest_path = g_build_filename(dir, "digest", NULL);
	g_autofree char *digest = NULL;
	g_autoptr(LabBootResult) result = NULL;

	if (!lab_boot_job_write(m->job, dir, error) ||
	    !lab_engine_run(&boot, 1, 1, m->in->options, NULL, NULL, error))
		return FALSE;
	result = lab_collect_boot(dir, error);
	if (!result)
		return FALSE;
	if (result->outcome != LAB_OUTCOME_OK) {
		g_set_error(error, LAB_ERROR,
			    result->outcome == LAB_OUTCOME_INFRA    ? LAB_ERROR_INFRA
			    : result->outcome == LAB_OUTCOME_KERNEL ? LAB_ERROR_KERNEL
								    : LAB_ERROR_UNKNOWN,
			    "preparing the file system with %s failed at %s: %s%s%s",
			    m->job->kernel_label, result->stage, result->message,
			    *result->evidence ? "\n" : "", result->evidence);
		return FALSE;
	}
	lab_collect_disk(m->in, dir, result);
	digest = lab_digest_file(scratch, error);
	return digest && lab_file_write(digest_path, digest, -1, error);
}

static gboolean get_of_points(const GPtrArray *points, GError **error)
{
	for (guint i = 0; i < points->len; i++)
		if (!lab_prepared_get(points->pdata[i], error))
			return FALSE;
	return TRUE;
}

gboolean lab_prepared_get(LabInputs *in, GError **error)
{
	const LabScenario *s = in->scenario;
	const LabKernel *kernel;
	g_autoptr(LabKernel) own = NULL;
	g_autoptr(LabBootJob) job = NULL;
	g_autoptr(LabPrepared) prepared = NULL;
	g_autofree char *what = NULL, *key = NULL, *digest_path = NULL, *job_digest = NULL;
	gboolean made = FALSE;

	if (in->points)
		return get_of_points(in->points, error);
	if (!s->prepare->len || s->prepare_fresh)
		return TRUE;
	kernel = prepare_kernel(in);
	if (!kernel) {
		own = lab_kernel_get(in->cache, s->prepare_kernel, in->options->offline,
				     lab_run_stage, (gpointer)in->options, NULL, error);
		if (!own || !lab_inputs_check_kernel(in, own, &s->prepare_kernel->origin, error))
			return FALSE;
		kernel = own;
	}
	job = lab_inputs_job(in, kernel, PREPARE_SEED, TRUE, error);
	if (!job)
		return FALSE;
	job_digest = lab_boot_job_digest(job);
	what = g_strjoin("\n", "prepared 1", job_digest, NULL);
	key = lab_digest_data(what, -1);
	PrepareMake m = {in, job};

	prepared = g_new0(LabPrepared, 1);
	prepared->dir = lab_cache_get(in->cache, "prepared", key, make_prepared, &m, &made, error);
	if (!prepared->dir)
		return FALSE;
	prepared->scratch_path = g_build_filename(prepared->dir, scratch_name(in), NULL);
	digest_path = g_build_filename(prepared->dir, "digest", NULL);
	prepared->digest = lab_file_read(digest_path, NULL, error);
	if (!prepared->digest)
		return FALSE;
	/* Most points of a sweep have one and the same. */
	if (made || !in->is_point)
		lab_run_note(in->options, "file system %.6s %s (by %s)", prepared->digest,
			     made ? "prepared" : "cached", kernel->label);
	in->prepared = g_steal_pointer(&prepared);
	return TRUE;
}
