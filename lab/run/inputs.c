/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/run/inputs.h"

#include <string.h>

#include "lab/base/digest.h"
#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/base/paths.h"
#include "lab/base/process.h"
#include "lab/base/units.h"
#include "lab/build/initrd.h"
#include "lab/guest/job.h"

/* Room for every snapshot of a 64-CPU guest and 256 KiB of output a step; sparse, and cut after the
 * boot. */
#define RESULTS_BYTES (64 * 1024 * 1024)
#define INITRD "initrd.img"
#define NVDIMM_ALIGN (2 * 1024 * 1024)

void lab_prepared_free(LabPrepared *prepared)
{
	if (!prepared)
		return;
	g_free(prepared->dir);
	g_free(prepared->scratch_path);
	g_free(prepared->digest);
	g_free(prepared);
}

void lab_inputs_free(LabInputs *inputs)
{
	if (!inputs)
		return;
	g_clear_pointer(&inputs->prepared, lab_prepared_free);
	if (inputs->is_point) {
		g_free(inputs);
		return;
	}
	g_clear_pointer(&inputs->points, g_ptr_array_unref);
	g_clear_pointer(&inputs->kernels, g_ptr_array_unref);
	g_clear_pointer(&inputs->disk_kernels, g_ptr_array_unref);
	g_clear_pointer(&inputs->disk, lab_disk_image_free);
	g_clear_pointer(&inputs->disk_tool, lab_disk_tool_free);
	g_clear_pointer(&inputs->image, lab_image_free);
	g_clear_pointer(&inputs->files, lab_files_free);
	g_clear_pointer(&inputs->cache, lab_cache_free);
	g_free(inputs->agent_path);
	g_free(inputs->agent_digest);
	g_clear_pointer(&inputs->host, lab_connect_host_free);
	g_free(inputs->emulator);
	g_free(inputs->emulator_version);
	g_free(inputs);
}

void lab_run_note(const LabRunOptions *options, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list ap;

	va_start(ap, format);
	text = g_strdup_vprintf(format, ap);
	va_end(ap);
	if (options->notify)
		options->notify(&(LabRunEvent){.kind = LAB_EVENT_NOTE, .text = text, .eta_us = -1},
				options->data);
}

void lab_run_stage(const char *what, double fraction, gpointer data)
{
	const LabRunOptions *options = data;

	if (options->notify)
		options->notify(&(LabRunEvent){.kind = LAB_EVENT_STAGE,
					       .text = what,
					       .fraction = fraction,
					       .eta_us = -1},
				options->data);
}

static gboolean uses_verb(const GPtrArray *steps, const char *verb)
{
	for (guint i = 0; i < steps->len; i++)
		if (!strcmp(((const LabStep *)g_ptr_array_index(steps, i))->verb, verb))
			return TRUE;
	return FALSE;
}

static gboolean uses_xfs(const LabScenario *s)
{
	return s->scratch_bytes || uses_verb(s->prepare, "mkfs.xfs") ||
	       uses_verb(s->steps, "mkfs.xfs");
}

static gboolean check_modules(const LabScenario *s, const LabKernel *kernel, GError **error)
{
	for (guint i = 0; s->modules[i]; i++) {
		const char *const one[] = {s->modules[i], NULL};
		g_autoptr(GError) local = NULL;
		g_auto(GStrv) paths = lab_initrd_modules(kernel, one, &local);

		if (paths)
			continue;
		if (g_error_matches(local, LAB_ERROR, LAB_ERROR_KERNEL))
			lab_error_set_at(error, &s->module_origins[i], "%s", local->message);
		else
			g_propagate_error(error, g_steal_pointer(&local));
		return FALSE;
	}
	return TRUE;
}

gboolean lab_inputs_check_kernel(const LabInputs *in, const LabKernel *kernel,
				 const LabOrigin *origin, GError **error)
{
	LabKernelNeeds needs = {
		.fake_numa = in->scenario->topology->kind == LAB_TOPOLOGY_FAKE,
		.nvdimm = in->scenario->boot == LAB_BOOT_DIRECT,
		.numa_balancing = in->scenario->topology->n_nodes > 1,
		.scratch_xfs = uses_xfs(in->scenario),
		.image_erofs = in->scenario->boot == LAB_BOOT_DIRECT || in->scenario->files,
	};

	return lab_kernel_check(kernel, &needs, origin, error) &&
	       check_modules(in->scenario, kernel, error);
}

/* @then: (nullable): digest of a kernel that is wanted again; @spec is asked when the cache lost it */
static gboolean get_kernel(LabInputs *in, const LabKernelSpec *spec, const char *then,
			   GPtrArray *notes, GError **error)
{
	gboolean fetched = FALSE;
	LabKernel *kernel = then ? lab_kernel_open(in->cache, then, NULL) : NULL;
	g_autofree char *size = NULL;

	if (!kernel)
		kernel = lab_kernel_get(in->cache, spec, in->options->offline, lab_run_stage,
					(gpointer)in->options, &fetched, error);
	if (!kernel)
		return FALSE;
	g_ptr_array_add(in->kernels, kernel);
	size = g_format_size_full(kernel->bytes, G_FORMAT_SIZE_IEC_UNITS);
	g_ptr_array_add(notes, fetched ? g_strdup_printf("%s fetched (%s)", kernel->release, size)
				       : g_strdup_printf("%s cached", kernel->release));
	return lab_inputs_check_kernel(in, kernel, &spec->origin, error);
}

static gboolean get_kernels(LabInputs *in, const GPtrArray *specs, char **then, GError **error)
{
	g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *text = NULL;

	for (guint i = 0; i < specs->len; i++) {
		const LabKernelSpec *spec = g_ptr_array_index(specs, i);
		LabKernel *kernel;

		if (!get_kernel(in, spec, then ? then[i] : NULL, notes, error))
			return FALSE;
		kernel = g_ptr_array_index(in->kernels, i);
		/* A pin is how it is found; its name is what the scenario calls it. */
		g_free(kernel->text);
		kernel->text = g_strdup(
			((LabKernelSpec *)g_ptr_array_index(in->scenario->kernels, i))->text);
		for (guint j = 0; j < i; j++) {
			LabKernel *other = g_ptr_array_index(in->kernels, j);

			if (strcmp(other->digest, kernel->digest))
				continue;
			lab_error_set_at(error, &spec->origin,
					 "'%s' and '%s' are the same kernel (%s)", spec->text,
					 other->text, kernel->release);
			return FALSE;
		}
	}
	g_ptr_array_add(notes, NULL);
	text = g_strjoinv(", ", (char **)notes->pdata);
	lab_run_note(in->options, "kernels %s", text);
	return TRUE;
}

/* @digest: (nullable): of an image that is wanted again: newer packages make another of the same recipe */
static gboolean get_image(LabInputs *in, const char *digest, GError **error)
{
	gboolean made = FALSE;

	if (in->scenario->boot == LAB_BOOT_DISK)
		return TRUE;
	if (digest)
		in->image = lab_image_open(in->cache, digest, NULL);
	if (!in->image)
		in->image = lab_image_get(in->cache, in->scenario->image, in->options->offline,
					  lab_run_stage, (gpointer)in->options, &made, error);
	if (!in->image)
		return FALSE;
	lab_run_note(in->options, "image %s %.6s %s", in->image->name, in->image->digest,
		     made ? "built" : "cached");
	return TRUE;
}

/* The agent tells the devices apart by size alone: files and results give way to the others. */
static gboolean check_scratch_size(const LabInputs *in, GError **error)
{
	const LabScenario *s = in->scenario;

	if (!in->image || s->scratch_bytes != in->image->bytes)
		return TRUE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
		    "%s: the scratch device and image '%s' have the same size "
		    "(%" G_GUINT64_FORMAT
		    " bytes), and could not be told apart; make scratch 2MiB larger",
		    s->path, in->image->name, in->image->bytes);
	return FALSE;
}

static gboolean get_files(LabInputs *in, GError **error)
{
	const LabScenario *s = in->scenario;
	g_autofree guint64 *taken = g_new(guint64, s->points->len + 2);
	guint n_taken = 0;
	gboolean made = FALSE;

	if (!s->files)
		return TRUE;
	taken[n_taken++] = in->image ? in->image->bytes : 0;
	taken[n_taken++] = s->scratch_bytes;
	for (guint i = 0; i < s->points->len; i++)
		taken[n_taken++] = ((LabPoint *)s->points->pdata[i])->scenario->scratch_bytes;
	in->files = lab_files_get(in->cache, s->files, &s->files_origin, taken, n_taken, &made, error);
	if (!in->files)
		return FALSE;
	lab_run_note(in->options, "files %.6s %s", in->files->digest, made ? "packed" : "cached");
	return TRUE;
}

static guint64 results_bytes(const LabInputs *in)
{
	const LabScenario *s = in->scenario;
	guint64 bytes = RESULTS_BYTES + lab_collect_bytes(&s->collect, s->topology->n_cpus);

	bytes = (bytes + NVDIMM_ALIGN - 1) / NVDIMM_ALIGN * NVDIMM_ALIGN;
	while ((in->image && bytes == in->image->bytes) || bytes == in->scenario->scratch_bytes ||
	       (in->files && bytes == in->files->bytes))
		bytes += NVDIMM_ALIGN;
	return bytes;
}

/* What all points share is there: the rest of one. */
static LabInputs *resolve_point(const LabInputs *all, const LabScenario *scenario, const GPtrArray *specs,
				GError **error)
{
	g_autoptr(LabInputs) in = g_memdup2(all, sizeof(*all));

	in->scenario = scenario;
	in->is_point = TRUE;
	in->points = NULL;
	in->prepared = NULL;
	if (!lab_inputs_check_host(in, error))
		return NULL;
	for (guint i = 0; i < in->kernels->len; i++)
		if (!lab_inputs_check_kernel(in, in->kernels->pdata[i],
					     &((LabKernelSpec *)specs->pdata[i])->origin, error))
			return NULL;
	if (!check_scratch_size(in, error))
		return NULL;
	in->results_bytes = results_bytes(in);
	return g_steal_pointer(&in);
}

static gboolean resolve_points(LabInputs *in, const GPtrArray *specs, GError **error)
{
	const LabScenario *s = in->scenario;

	if (!s->points->len)
		return TRUE;
	in->points = g_ptr_array_new_with_free_func((GDestroyNotify)lab_inputs_free);
	for (guint i = 0; i < s->points->len; i++) {
		LabInputs *point =
			resolve_point(in, ((LabPoint *)s->points->pdata[i])->scenario, specs, error);

		if (!point)
			return FALSE;
		g_ptr_array_add(in->points, point);
	}
	return TRUE;
}

const LabInputs *lab_inputs_at(const LabInputs *in, guint point)
{
	return in->points ? in->points->pdata[point] : in;
}

LabInputs *lab_inputs_resolve(const LabScenario *scenario, const GPtrArray *kernels,
			      const LabPlan *then, const LabRunOptions *options, GError **error)
{
	g_autoptr(LabInputs) in = g_new0(LabInputs, 1);
	g_autofree char *cache_root = lab_path_cache(options->cache_root);
	gboolean kvm_works;

	in->scenario = scenario;
	in->options = options;
	kernels = kernels ? kernels : scenario->kernels;
	in->kernels = g_ptr_array_new_with_free_func((GDestroyNotify)lab_kernel_free);
	in->agent_path = lab_path_helper("numalab-agent");
	in->agent_digest = lab_digest_file(in->agent_path, error);
	if (!in->agent_digest || !lab_inputs_find_host(in, &kvm_works, error))
		return NULL;
	in->cache = lab_cache_open(cache_root, error);
	if (!in->cache ||
	    !get_kernels(in, kernels, then ? then->kernels : NULL, error) ||
	    !get_image(in, then ? then->image_digest : NULL, error) ||
	    !check_scratch_size(in, error) || !get_files(in, error) ||
	    (scenario->boot == LAB_BOOT_DISK &&
	     !lab_inputs_get_disks(in, kernels, !kvm_works, error)))
		return NULL;
	in->results_bytes = results_bytes(in);
	if (!resolve_points(in, kernels, error))
		return NULL;
	return g_steal_pointer(&in);
}

typedef struct {
	const LabInputs *in;
	const LabKernel *kernel;
	const char *const *wanted;
	const char *job;
} InitrdMake;

static gboolean make_initrd(const char *dir, gpointer data, GError **error)
{
	const InitrdMake *m = data;
	g_autofree char *path = g_build_filename(dir, INITRD, NULL);

	return lab_initrd_write(m->in->cache, m->kernel, m->in->agent_path, m->wanted, m->job, path,
				NULL, error);
}

static gboolean get_initrd(const LabInputs *in, const LabKernel *kernel, const char *const *wanted,
			   const char *job, LabBootJob *out, GError **error)
{
	InitrdMake m = {in, kernel, wanted, job};
	g_autofree char *wanted_text = g_strjoinv(" ", (char **)wanted);
	g_autofree char *what = g_strjoin("\n", "initrd 1", kernel->digest, in->agent_digest,
					  wanted_text, job, NULL);
	g_autofree char *key = lab_digest_data(what, -1);

	return lab_cache_get_file(in->cache, "initrd", key, INITRD, make_initrd, &m, NULL,
				  &out->initrd_path, &out->initrd_digest, error);
}

static char *agent_job(const LabInputs *in, const LabKernel *kernel, gboolean prepare,
		       const char *const *modules)
{
	const LabScenario *s = in->scenario;
	const GPtrArray *phases[2];
	LabAgentJob job = {.scenario = s,
			   .release = kernel->release,
			   .build_id = kernel->build_id,
			   .uses_async_pf = lab_kernel_uses_async_pf(kernel),
			   .modules = modules,
			   .image_bytes = in->image ? in->image->bytes : 0,
			   .image_type = in->image ? in->image->type : NULL,
			   .scratch_bytes = s->scratch_bytes,
			   .files_bytes = in->files ? in->files->bytes : 0,
			   .results_bytes = in->results_bytes,
			   .phases = phases};

	if (prepare || s->prepare_fresh)
		phases[job.n_phases++] = s->prepare;
	if (!prepare)
		phases[job.n_phases++] = s->steps;
	job.only_prepares = prepare;
	return lab_agent_job_text(&job);
}

/*
 * Without lpj= the first CPU of every socket counts loops against the timer, with a busy wait of a
 * quarter of a second each. The guest's TSC runs at 1 GHz, so what it would find is known.
 */
static char *kernel_args(const LabScenario *s, const LabKernel *kernel)
{
	g_autofree char *own = g_strjoinv(" ", s->kernel_args);
	guint hz = s->clock == LAB_CLOCK_KVM ? 0 : lab_kernel_hz(kernel);

	return hz ? g_strdup_printf("lpj=%u%s%s", 1000000000 / hz, *own ? " " : "", own)
		  : g_steal_pointer(&own);
}

/* Is it a module of this kernel, or built in? */
static gboolean has_module(const LabKernel *kernel, const char *name)
{
	const char *const one[] = {name, NULL};
	g_auto(GStrv) paths = lab_initrd_modules(kernel, one, NULL);

	return paths != NULL;
}

/* What the guest needs to come up, then what the scenario names. Free with g_strfreev(). */
static char **wanted_modules(const LabScenario *s, const LabKernel *kernel)
{
	static const char *const ours[] = {"nfit", "nd_pmem", "erofs", "overlay", NULL};
	g_autoptr(GStrvBuilder) wanted = g_strv_builder_new();

	g_strv_builder_addv(wanted, (const char **)ours);
	if (uses_xfs(s))
		g_strv_builder_add(wanted, "xfs");
	/* By it the agent sees whether the kernel uses what CPUID offers. */
	if (s->async_pf != LAB_ASYNC_PF_DEFAULT && has_module(kernel, "msr"))
		g_strv_builder_add(wanted, "msr");
	g_strv_builder_addv(wanted, (const char **)s->modules);
	return g_strv_builder_end(wanted);
}

LabBootJob *lab_inputs_job(const LabInputs *in, const LabKernel *kernel, guint64 seed,
			   gboolean prepare, GError **error)
{
	const LabScenario *s = in->scenario;
	g_autoptr(LabBootJob) job = g_new0(LabBootJob, 1);
	g_auto(GStrv) wanted = wanted_modules(s, kernel);
	g_auto(GStrv) modules = lab_initrd_modules(kernel, (const char *const *)wanted, error);
	g_autofree char *text = NULL;

	if (!modules)
		return NULL;
	if (s->boot == LAB_BOOT_DISK)
		text = agent_job(in, kernel, prepare, (const char *const *)s->modules);
	else
		text = agent_job(in, kernel, prepare, (const char *const *)modules);
	job->boot = s->boot;
	job->connect = in->host ? g_strdup(in->host->uri) : NULL;
	job->pool = in->remote ? g_strdup(in->options->pool) : NULL;
	if (s->boot == LAB_BOOT_DISK) {
		if (!lab_inputs_set_disk(in, kernel, text, job, error))
			return NULL;
	} else if (!get_initrd(in, kernel, (const char *const *)wanted, text, job, error))
		return NULL;
	job->id = prepare ? g_strdup_printf("%s-prepare", kernel->label)
			  : g_strdup_printf("%s-s%" G_GUINT64_FORMAT, kernel->label, seed);
	job->topology = lab_topology_from_canonical(s->topology->canonical, error);
	if (!job->topology)
		return NULL;
	job->clock = s->clock;
	job->cpu_model = g_strdup(s->cpu_model);
	job->pmu = s->pmu;
	job->invtsc = s->clock == LAB_CLOCK_KVM && in->invariant_tsc;
	job->async_pf = s->async_pf;
	lab_placement_copy(&s->pin, &job->pin);
	job->memory_high_bytes = s->memory_high_bytes;
	job->memory_max_bytes = s->memory_max_bytes;
	job->seed = seed;
	if (!job->kernel_path)
		job->kernel_path = g_strdup(kernel->boot_path);
	job->kernel_digest = g_strdup(kernel->digest);
	job->kernel_release = g_strdup(kernel->release);
	job->kernel_label = g_strdup(kernel->label);
	job->kernel_text = g_strdup(kernel->text);
	job->kernel_build_id = g_strdup(kernel->build_id);
	job->cmdline_extra = kernel_args(s, kernel);
	job->console_quiet = s->console_quiet;
	if (in->image) {
		job->image_path = g_strdup(in->image->path);
		job->image_digest = g_strdup(in->image->digest);
		job->image_type = g_strdup(in->image->type);
		job->image_bytes = in->image->bytes;
	}
	if (in->prepared && !prepare) {
		job->scratch_path = g_strdup(in->prepared->scratch_path);
		job->scratch_digest = g_strdup(in->prepared->digest);
	}
	job->scratch_bytes = s->scratch_bytes;
	job->scratch_keep = prepare;
	if (in->files) {
		job->files_path = g_strdup(in->files->path);
		job->files_digest = g_strdup(in->files->digest);
		job->files_bytes = in->files->bytes;
	}
	job->results_bytes = in->results_bytes;
	job->deadlines = s->deadlines;
	job->n_steps =
		(prepare || s->prepare_fresh ? s->prepare->len : 0) + (prepare ? 0 : s->steps->len);
	job->emulator = g_strdup(in->emulator);
	job->emulator_version = g_strdup(in->emulator_version);
	return g_steal_pointer(&job);
}

const LabKernel *lab_inputs_kernel(const LabInputs *in, const char *digest)
{
	for (guint i = 0; i < in->kernels->len; i++) {
		const LabKernel *kernel = g_ptr_array_index(in->kernels, i);

		if (!strcmp(kernel->digest, digest))
			return kernel;
	}
	return NULL;
}
