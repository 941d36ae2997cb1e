// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/boot_files.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/base/qcow2.h"
#include "lab/guest/connect.h"

#define CHUNK (1 << 20)

static gboolean check_input(const char *what, const char *path, guint64 bytes, GError **error)
{
	GStatBuf st;

	if (g_stat(path, &st) < 0)
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "cannot read the %s %s: %s", what,
			    path, g_strerror(errno));
	else if (bytes && (guint64)st.st_size != bytes)
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
			    "the %s %s was to have %" G_GUINT64_FORMAT
			    " bytes, but has %" G_GINT64_FORMAT,
			    what, path, bytes, (gint64)st.st_size);
	else
		return TRUE;
	return FALSE;
}

static gboolean check_inputs(const LabBootJob *job, const char *dir, GError **error)
{
	g_autofree char *initrd = g_canonicalize_filename(job->initrd_path, dir);
	gboolean by_qemu = *job->kernel_path;
	guint64 scratch_bytes = job->boot == LAB_BOOT_DISK ? 0 : job->scratch_bytes;

	/* Of another host libvirt will see. */
	return (lab_connect_is_remote(job->connect) ||
		check_input("emulator", job->emulator, 0, error)) &&
	       (!by_qemu || (check_input("kernel", job->kernel_path, 0, error) &&
			     check_input("initrd", initrd, 0, error))) &&
	       (job->boot != LAB_BOOT_DISK ||
		(check_input("disk", job->disk_path, 0, error) &&
		 check_input("disk with the job", job->agent_job_path, 0, error))) &&
	       (!job->image_path ||
		check_input("image", job->image_path, job->image_bytes, error)) &&
	       (!job->scratch_path || job->scratch_keep ||
		check_input("file system", job->scratch_path, scratch_bytes, error)) &&
	       (!job->files_path || check_input("files", job->files_path, job->files_bytes, error));
}

static gboolean remove_outputs(const char *dir, GError **error)
{
	static const char *const names[] = {"result.json", "domain.xml",    "qemu.args",
					    "console.log", "progress.log",  "results.img",
					    "scratch.img", "scratch.qcow2", "root.qcow2",
					    "log.tar.gz",  "steps.tar.gz",  "host.json"};

	for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *path = g_build_filename(dir, names[i], NULL);

		if (g_unlink(path) < 0 && errno != ENOENT) {
			g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "cannot remove %s: %s", path,
				    g_strerror(errno));
			return FALSE;
		}
	}
	return TRUE;
}

static gboolean create(const char *dir, const char *name, guint64 bytes, GError **error)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);

	return lab_file_create_sparse(path, bytes, error);
}

/*
 * With its blocks: QEMU maps it, and a full disk would kill QEMU in mid-run instead of being told
 * here. It is cut to a few of them in the end. A file system without fallocate() leaves it sparse.
 */
static gboolean create_results(const char *dir, guint64 bytes, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "results.img", NULL);
	gboolean full;
	int fd;

	if (!lab_file_create_sparse(path, bytes, error))
		return FALSE;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	full = fd >= 0 && fallocate(fd, 0, 0, (off_t)bytes) < 0 && errno != EOPNOTSUPP;
	if (full)
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "cannot write %s: %s", path,
			    g_strerror(errno));
	if (fd >= 0)
		close(fd);
	return !full;
}

char *lab_boot_files_more_scratch(const char *dir, guint number)
{
	g_autofree char *name = g_strdup_printf("scratch%u.qcow2", number);

	return g_build_filename(dir, name, NULL);
}

static gboolean create_more_scratch(const LabBootJob *job, const char *dir, GError **error)
{
	g_auto(GStrv) sizes = g_strsplit(job->more_scratch ? job->more_scratch : "", " ", -1);

	for (guint i = 0; sizes[i]; i++) {
		g_autofree char *path = lab_boot_files_more_scratch(dir, i + 2);

		g_unlink(path);
		if (!lab_qcow2_empty(g_ascii_strtoull(sizes[i], NULL, 10), path, error))
			return FALSE;
	}
	return TRUE;
}

/* The guest's disks: nothing of what they start from is ever written. */
static gboolean create_disks(const LabBootJob *job, const char *dir, GError **error)
{
	g_autofree char *root = g_build_filename(dir, LAB_BOOT_ROOT_DISK, NULL);
	g_autofree char *scratch = g_build_filename(dir, LAB_BOOT_SCRATCH_DISK, NULL);
	gboolean empty = job->scratch_keep || !job->scratch_path;

	if (!lab_qcow2_above(job->disk_path, "qcow2", root, error) ||
	    !create_more_scratch(job, dir, error))
		return FALSE;
	return !job->scratch_bytes ||
	       (empty ? lab_qcow2_empty(job->scratch_bytes, scratch, error)
		      : lab_qcow2_above(job->scratch_path, "qcow2", scratch, error));
}

gboolean lab_boot_files_prepare(const LabBootJob *job, const char *dir, GError **error)
{
	gboolean empty_scratch = job->scratch_bytes && (job->scratch_keep || !job->scratch_path);

	return check_inputs(job, dir, error) && remove_outputs(dir, error) &&
	       create(dir, "console.log", 0, error) && create(dir, "progress.log", 0, error) &&
	       create_results(dir, job->results_bytes, error) &&
	       (job->boot == LAB_BOOT_DISK
			? create_disks(job, dir, error)
			: !empty_scratch || create(dir, "scratch.img", job->scratch_bytes, error));
}

/* Cut @path to @bytes, unless < 0, and make it durable: result.json must not be older than what it
 * speaks of. */
static gboolean finish(const char *path, gint64 bytes, GError **error)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	gboolean ok = fd >= 0 && (bytes < 0 || ftruncate(fd, bytes) == 0) && fdatasync(fd) == 0;
	int saved = errno;

	if (fd >= 0)
		close(fd);
	if (!ok)
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "cannot write %s: %s", path,
			    g_strerror(saved));
	return ok;
}

static gboolean remove_scratch(const LabBootJob *job, const char *dir)
{
	g_auto(GStrv) sizes = g_strsplit(job->more_scratch ? job->more_scratch : "", " ", -1);
	g_autofree char *path = g_build_filename(
		dir, job->boot == LAB_BOOT_DISK ? LAB_BOOT_SCRATCH_DISK : "scratch.img", NULL);

	for (guint i = 0; sizes[i]; i++) {
		g_autofree char *more = lab_boot_files_more_scratch(dir, i + 2);

		g_unlink(more);
	}
	return job->scratch_keep || g_unlink(path) == 0 || errno == ENOENT;
}

gboolean lab_boot_files_collect(const LabBootJob *job, const char *dir, LabRecords **records,
				char **console, gsize *console_length, GError **error)
{
	g_autofree char *results = g_build_filename(dir, "results.img", NULL);
	g_autofree char *log = g_build_filename(dir, "console.log", NULL);
	g_autofree char *text = NULL;
	g_autoptr(GError) local = NULL;
	g_autoptr(LabRecords) read = lab_records_read(results, &local);
	gsize length;

	if (!read && !g_error_matches(local, LAB_ERROR, LAB_ERROR_UNKNOWN)) {
		g_propagate_error(error, g_steal_pointer(&local));
		return FALSE;
	}
	if (!(text = lab_file_read(log, &length, error)) ||
	    !finish(results, read ? (gint64)read->used_bytes : 0, error) || !finish(log, -1, error))
		return FALSE;
	remove_scratch(job, dir);
	*records = g_steal_pointer(&read);
	*console = g_steal_pointer(&text);
	*console_length = length;
	return TRUE;
}

static gboolean add_file(GChecksum *sum, const char *dir, const char *name, GError **error)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	g_autofree char *data = NULL;
	gsize length;

	if (!(data = lab_file_read(path, &length, error)))
		return FALSE;
	g_checksum_update(sum, (const guchar *)data, (gssize)length);
	return TRUE;
}

char *lab_boot_files_digest(const char *dir, GError **error)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);

	if (!add_file(sum, dir, "results.img", error) || !add_file(sum, dir, "console.log", error))
		return NULL;
	return g_strdup(g_checksum_get_string(sum));
}

pid_t lab_boot_files_pid(const char *path)
{
	g_autofree char *pid = NULL;

	return g_file_get_contents(path, &pid, NULL, NULL) ? (pid_t)g_ascii_strtoll(pid, NULL, 10)
							   : -1;
}

gboolean lab_boot_files_arguments(const char *dir, pid_t qemu)
{
	g_autofree char *path = g_build_filename(dir, "qemu.args", NULL);
	g_autofree char *cmdline = g_strdup_printf("/proc/%d/cmdline", (int)qemu);
	g_autofree char *arguments = NULL;
	gsize length;

	if (!g_file_get_contents(cmdline, &arguments, &length, NULL) || !length)
		return FALSE;
	for (gsize i = 0; i < length; i++)
		if (!arguments[i])
			arguments[i] = '\n';
	return g_file_set_contents(path, arguments, (gssize)length, NULL);
}

gboolean lab_boot_files_check_room(const char *dir, GError **error)
{
	struct statvfs fs;

	if (statvfs(dir, &fs) < 0 || fs.f_bavail > 0)
		return TRUE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "QEMU ended, and %s: %s", dir,
		    g_strerror(ENOSPC));
	return FALSE;
}
