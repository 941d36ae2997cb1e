// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/remote.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lab/base/digest.h"
#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/base/paths.h"
#include "lab/base/qcow2.h"
#include "lab/guest/boot_files.h"
#include "lab/guest/embed.h"
#include "lab/guest/remote_log.h"
#include "lab/guest/remote_pool.h"
#include "lab/guest/remote_volume.h"

#define TLB_CLOCK "numalab-tlbclock.so"

struct LabRemote {
	LabRemotePool pool;
	char *id;     /* of this boot, there */
	char *prefix; /* of its volumes */
	char *files;  /* the same, with the pool's directory */
	char *preload;
	GPtrArray *root_chain, *scratch_chain; /* (nullable): of LabQcow2Layer, there */
	LabRemoteLog *logs[2];
};

LabRemote *lab_remote_open(virConnectPtr connection, const char *pool, GError **error)
{
	g_autoptr(LabRemote) remote = g_new0(LabRemote, 1);
	g_autofree char *id = g_uuid_string_random();

	if (!lab_remote_pool_open(connection, pool, &remote->pool, error))
		return NULL;
	id[8] = 0;
	remote->id = g_steal_pointer(&id);
	remote->prefix = g_strdup_printf(LAB_REMOTE_BOOT_PREFIX "%s-", remote->id);
	remote->files = g_build_filename(remote->pool.dir, remote->prefix, NULL);
	return g_steal_pointer(&remote);
}

/* ---- there ----------------------------------------------------------------------------------- */

/* @path: (inout) (nullable): of this host, then of that */
static gboolean put(LabRemote *remote, const char *kind, const char *digest, char **path,
		    GCancellable *cancellable, GError **error)
{
	char *there;

	if (!*path || !**path)
		return TRUE;
	there = lab_remote_pool_put(&remote->pool, kind, digest, *path, cancellable, error);
	if (!there)
		return FALSE;
	g_free(*path);
	*path = there;
	return TRUE;
}

/* Nobody has digests of layers of disks, and they are large. They are never written in place. */
static char *identity(const char *path, GError **error)
{
	g_autofree char *text = NULL;
	struct stat st;

	if (stat(path, &st) < 0) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "cannot read %s", path);
		return NULL;
	}
	text = g_strdup_printf("%s\n%s\n%ju\n%ju\n%jd.%09ld", g_get_host_name(), path,
			       (uintmax_t)st.st_ino, (uintmax_t)st.st_size,
			       (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	return lab_digest_data(text, -1);
}

/* What a disk is above; @path NULL: nothing. */
static gboolean put_chain(LabRemote *remote, const char *path, GPtrArray **chain,
			  GCancellable *cancellable, GError **error)
{
	g_autoptr(GPtrArray) layers = NULL;

	if (!path)
		return TRUE;
	layers = lab_qcow2_chain(path, error);
	for (guint i = 0; layers && i < layers->len; i++) {
		LabQcow2Layer *layer = layers->pdata[i];
		g_autofree char *digest = identity(layer->path, error);

		if (!digest || !put(remote, "disk", digest, &layer->path, cancellable, error))
			return FALSE;
	}
	*chain = g_steal_pointer(&layers);
	return *chain != NULL;
}

static gboolean put_inputs(LabRemote *remote, LabBootJob *job, GCancellable *cancellable,
			   GError **error)
{
	gboolean disk = job->boot == LAB_BOOT_DISK;

	return put(remote, "kernel", job->kernel_digest, &job->kernel_path, cancellable, error) &&
	       (!*job->kernel_path ||
		put(remote, "initrd", job->initrd_digest, &job->initrd_path, cancellable, error)) &&
	       put(remote, "image", job->image_digest, &job->image_path, cancellable, error) &&
	       put(remote, "files", job->files_digest, &job->files_path, cancellable, error) &&
	       put(remote, "job", job->agent_job_digest, &job->agent_job_path, cancellable,
		   error) &&
	       (disk ? put_chain(remote, job->disk_path, &remote->root_chain, cancellable, error) &&
				put_chain(remote, job->scratch_keep ? NULL : job->scratch_path,
					  &remote->scratch_chain, cancellable, error)
		     : job->scratch_keep || put(remote, "scratch", job->scratch_digest,
						&job->scratch_path, cancellable, error));
}

/* The exact clock needs it of the emulator that QEMU is started by here; there, by its loader. */
static gboolean put_tlb_clock(LabRemote *remote, const LabBootJob *job, GCancellable *cancellable,
			      GError **error)
{
	g_autofree char *digest = NULL;

	if (job->clock != LAB_CLOCK_EXACT)
		return TRUE;
	remote->preload = lab_path_helper(TLB_CLOCK);
	digest = lab_digest_file(remote->preload, error);
	return digest && put(remote, "tlbclock", digest, &remote->preload, cancellable, error);
}

static virStorageVolPtr create(LabRemote *remote, const char *name, guint64 bytes, GError **error)
{
	g_autofree char *full = g_strconcat(remote->prefix, name, NULL);

	return lab_remote_volume_create(remote->pool.pool, full, bytes, remote->pool.owner, error);
}

static gboolean create_empty(LabRemote *remote, const char *name, guint64 bytes, GError **error)
{
	g_autoptr(virStorageVol) volume = create(remote, name, bytes, error);

	return volume != NULL;
}

/* A disk that lab_boot_files_prepare() has made: small, for there is nothing in it yet. */
static gboolean send_file(LabRemote *remote, const char *dir, const char *name,
			  GCancellable *cancellable, GError **error)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	g_autoptr(virStorageVol) volume = NULL;
	struct stat st;

	if (stat(path, &st) < 0) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "cannot read %s", path);
		return FALSE;
	}
	volume = create(remote, name, (guint64)st.st_size, error);
	return volume &&
	       lab_remote_volume_upload(remote->pool.connection, volume, path, cancellable, error);
}

static gboolean send_disks(LabRemote *remote, const LabBootJob *job, const char *dir,
			   GCancellable *cancellable, GError **error)
{
	g_auto(GStrv) more = g_strsplit(job->more_scratch ? job->more_scratch : "", " ", -1);

	for (guint i = 0; more[i]; i++) {
		g_autofree char *path = lab_boot_files_more_scratch("", i + 2);

		if (!send_file(remote, dir, path, cancellable, error))
			return FALSE;
	}
	return send_file(remote, dir, LAB_BOOT_ROOT_DISK, cancellable, error) &&
	       (!job->scratch_bytes ||
		send_file(remote, dir, LAB_BOOT_SCRATCH_DISK, cancellable, error));
}

static gboolean create_outputs(LabRemote *remote, const LabBootJob *job, const char *dir,
			       GCancellable *cancellable, GError **error)
{
	gboolean own_scratch = job->scratch_bytes && (job->scratch_keep || !job->scratch_path);
	g_autoptr(virStorageVol) console = create(remote, "console.log", 0, error);

	if (!console)
		return FALSE;
	/* By the clock of that host: one that was written just now. */
	lab_remote_pool_sweep(&remote->pool, lab_remote_pool_time(console));
	return create_empty(remote, "progress.log", 0, error) &&
	       create_empty(remote, "results.img", job->results_bytes, error) &&
	       (job->boot == LAB_BOOT_DISK
			? send_disks(remote, job, dir, cancellable, error)
			: !own_scratch ||
				  create_empty(remote, "scratch.img", job->scratch_bytes, error));
}

LabBootJob *lab_remote_send(LabRemote *remote, const char *dir, LabDomainHost *host,
			    GCancellable *cancellable, GError **error)
{
	g_autoptr(LabBootJob) job = lab_boot_job_read(dir, error);
	g_autofree char *initrd = NULL;

	if (!job)
		return NULL;
	initrd = g_canonicalize_filename(job->initrd_path, dir);
	if (*job->initrd_path) {
		g_free(job->initrd_path);
		job->initrd_path = g_steal_pointer(&initrd);
	}
	if (!create_outputs(remote, job, dir, cancellable, error) ||
	    !put_inputs(remote, job, cancellable, error) ||
	    !put_tlb_clock(remote, job, cancellable, error))
		return NULL;
	host->files = remote->files;
	host->id = remote->id;
	host->owner = remote->pool.owner;
	host->preload = remote->preload;
	host->root_chain = remote->root_chain;
	host->scratch_chain = remote->scratch_chain;
	return g_steal_pointer(&job);
}

/* ---- while it runs, and after ---------------------------------------------------------------- */

static virStorageVolPtr find(LabRemote *remote, const char *name, GError **error)
{
	g_autofree char *full = g_strconcat(remote->prefix, name, NULL);
	virStorageVolPtr volume = virStorageVolLookupByName(remote->pool.pool, full);

	if (!volume)
		lab_embed_set_error(error, full);
	return volume;
}

gboolean lab_remote_listen(LabRemote *remote, const char *dir, GError **error)
{
	static const char *const names[] = {"console.log", "progress.log"};

	for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *path = g_build_filename(dir, names[i], NULL);
		g_autoptr(virStorageVol) volume = find(remote, names[i], error);

		if (!volume)
			return FALSE;
		remote->logs[i] = lab_remote_log_follow(remote->pool.connection, volume, path);
	}
	return TRUE;
}

void lab_remote_arguments(const LabRemote *remote, const char *xml, const char *dir)
{
	char *command = virConnectDomainXMLToNative(remote->pool.connection, "qemu-argv", xml, 0);
	g_autofree char *path = g_build_filename(dir, "qemu.args", NULL);
	g_auto(GStrv) argv = command ? lab_domain_native_argv(command, NULL) : NULL;

	if (argv) {
		g_autofree char *lines = g_strjoinv("\n", argv);
		g_autofree char *text = g_strconcat(lines, "\n", NULL);

		g_file_set_contents(path, text, -1, NULL);
	}
	free(command);
}

static gboolean fetch(LabRemote *remote, const char *dir, const char *name, GError **error)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	g_autoptr(virStorageVol) volume = find(remote, name, error);

	return volume &&
	       lab_remote_volume_download(remote->pool.connection, volume, path, NULL, error);
}

static void close_logs(LabRemote *remote)
{
	for (guint i = 0; i < G_N_ELEMENTS(remote->logs); i++)
		g_clear_pointer(&remote->logs[i], lab_remote_log_close);
}

gboolean lab_remote_collect(LabRemote *remote, const LabBootJob *job, const char *dir,
			    GError **error)
{
	const char *scratch = job->boot == LAB_BOOT_DISK ? LAB_BOOT_SCRATCH_DISK : "scratch.img";

	close_logs(remote);
	return fetch(remote, dir, "console.log", error) &&
	       fetch(remote, dir, "progress.log", error) &&
	       fetch(remote, dir, "results.img", error) &&
	       (!job->scratch_keep || fetch(remote, dir, scratch, error));
}

gboolean lab_remote_collect_disk(LabRemote *remote, const char *dir, GError **error)
{
	return fetch(remote, dir, LAB_BOOT_ROOT_DISK, error);
}

void lab_remote_free(LabRemote *remote)
{
	if (!remote)
		return;
	close_logs(remote);
	if (remote->prefix)
		lab_remote_pool_remove(&remote->pool, remote->prefix);
	lab_remote_pool_clear(&remote->pool);
	g_clear_pointer(&remote->root_chain, g_ptr_array_unref);
	g_clear_pointer(&remote->scratch_chain, g_ptr_array_unref);
	g_free(remote->id);
	g_free(remote->prefix);
	g_free(remote->files);
	g_free(remote->preload);
	g_free(remote);
}
