/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a guest that boots from a disk needs in place of image and initrd. */
#include <string.h>

#include "lab/base/digest.h"
#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/run/inputs.h"

#define JOB "job.tar"

const char *lab_inputs_image_digest(const LabInputs *in)
{
	return in->disk ? in->disk->digest : in->image->digest;
}

/* "packages 21.0 s, libguestfs 10.1 s, copy 49.3 s". Free with g_free(). */
static char *parts_text(char *const *parts)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (; *parts; parts++) {
		const char *blank = strrchr(*parts, ' ');
		gint64 ms = blank ? g_ascii_strtoll(blank, NULL, 10) : 0;

		if (ms < 100)
			continue;
		g_string_append_printf(text, "%s%.*s %.1f s", text->len ? ", " : "",
				       (int)(blank - *parts), *parts, (double)ms / 1000);
	}
	return g_string_free(g_steal_pointer(&text), FALSE);
}

static gboolean get_kernel(LabInputs *in, const LabKernel *kernel, const LabKernelSpec *spec,
			   GError **error)
{
	gboolean made;
	LabDiskImage *disk = lab_disk_kernel_get(in->disk_tool, in->disk, kernel, spec,
						 in->scenario->disk.bootloader, &made, error);
	g_autofree char *parts = disk ? parts_text(disk->parts) : NULL;

	if (!disk)
		return FALSE;
	g_ptr_array_add(in->disk_kernels, disk);
	/* Once for all its boots; a boot loader needs none. */
	if (!strcmp(in->scenario->disk.bootloader, "none") &&
	    !(disk->initrd_digest = lab_digest_file(disk->initrd_path, error)))
		return FALSE;
	if (made)
		lab_run_note(in->options, "kernel %s installed into disk %s (%s)", kernel->release,
			     in->disk->name, parts);
	else
		lab_run_note(in->options, "kernel %s in disk %s cached", kernel->release,
			     in->disk->name);
	return TRUE;
}

gboolean lab_inputs_get_disks(LabInputs *in, const GPtrArray *specs, gboolean tcg, GError **error)
{
	const LabScenario *s = in->scenario;
	g_autofree char *parts = NULL;
	gboolean made;

	in->disk_tool = lab_disk_tool_new(in->cache, tcg, in->options->offline, lab_run_stage,
					  (gpointer)in->options);
	in->disk_kernels = g_ptr_array_new_with_free_func((GDestroyNotify)lab_disk_image_free);
	in->disk = lab_disk_image_get(in->disk_tool, s->image, &s->disk, &made, error);
	if (!in->disk)
		return FALSE;
	parts = parts_text(in->disk->parts);
	if (made)
		lab_run_note(in->options, "disk %s %.6s made (%s)", in->disk->name,
			     in->disk->digest, parts);
	else
		lab_run_note(in->options, "disk %s %.6s cached", in->disk->name, in->disk->digest);
	for (guint i = 0; i < in->kernels->len; i++)
		if (!get_kernel(in, in->kernels->pdata[i], specs->pdata[i], error))
			return FALSE;
	return TRUE;
}

typedef struct {
	const LabInputs *in;
	const char *text;
} Make;

static gboolean make_job(const char *dir, gpointer data, GError **error)
{
	const Make *m = data;
	g_autofree char *path = g_build_filename(dir, JOB, NULL);

	return lab_disk_job_write(m->in->agent_path, m->text, path, error);
}

/* The layer with @kernel, also when that is only wanted for the prepared file system. */
static const LabDiskImage *disk_of(const LabInputs *in, const LabKernel *kernel, GError **error)
{
	for (guint i = 0; i < in->kernels->len; i++)
		if (!strcmp(((LabKernel *)in->kernels->pdata[i])->digest, kernel->digest))
			return in->disk_kernels->pdata[i];
	g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
		    "%s: with 'boot: disk' the kernel that prepares (%s) must be one of 'kernels'",
		    in->scenario->path, kernel->text);
	return NULL;
}

static char *more_scratch(const LabDisk *options)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint i = 0; i < options->n_more_scratch; i++)
		g_string_append_printf(text, "%s%" G_GUINT64_FORMAT, i ? " " : "",
				       options->more_scratch_bytes[i]);
	return text->len ? g_string_free(g_steal_pointer(&text), FALSE) : NULL;
}

gboolean lab_inputs_set_disk(const LabInputs *in, const LabKernel *kernel, const char *text,
			     LabBootJob *job, GError **error)
{
	const LabDisk *options = &in->scenario->disk;
	const LabDiskImage *disk = disk_of(in, kernel, error);
	g_autofree char *what = g_strjoin("\n", "agent job 1", in->agent_digest, text, NULL);
	g_autofree char *key = lab_digest_data(what, -1);
	Make m = {in, text};

	if (!disk || !lab_cache_get_file(in->cache, "agent-job", key, JOB, make_job, &m, NULL,
					 &job->agent_job_path, &job->agent_job_digest, error))
		return FALSE;
	job->disk_path = g_strdup(disk->path);
	job->disk_digest = g_strconcat(disk->digest, NULL);
	job->disk_root = g_strdup(disk->root);
	job->disk_bootloader = g_strdup(options->bootloader);
	job->disk_cache = g_strdup(options->cache);
	job->disk_io = g_strdup(options->io);
	job->more_scratch = more_scratch(options);
	if (strcmp(options->bootloader, "none")) {
		job->kernel_path = g_strdup("");
		job->initrd_path = g_strdup("");
		job->initrd_digest = g_strdup("");
		return TRUE;
	}
	job->initrd_path = g_strdup(disk->initrd_path);
	job->initrd_digest = g_strdup(disk->initrd_digest);
	return TRUE;
}
