/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/disk.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "lab/base/digest.h"
#include "lab/base/file.h"
#include "lab/base/json.h"
#include "lab/base/process.h"
#include "lab/base/qcow2.h"
#include "lab/build/apt.h"
#include "lab/build/disk_internal.h"
#include "lab/build/meaning.h"

#define KIND "disk-kernel"
/** Enters every key: a new number where the same kernel would be installed otherwise. */
#define LAYOUT "numalab disk kernel 2\n"

typedef struct {
	LabDiskTool *tool;
	const LabDiskImage *image;
	const LabKernel *kernel;
	const LabKernelSpec *spec;
	const char *key;
} Make;

/* ---- Debian's packages ------------------------------------------------------------------------- */

/* Those that the kernel in the cache came from; empty for one that came from elsewhere. */
static GPtrArray *packages_of(const LabKernel *kernel, GError **error)
{
	g_autofree char *path = g_build_filename(kernel->dir, "kernel.json", NULL);
	g_autoptr(JsonObject) object = lab_json_read(path, LAB_ERROR_INFRA, error);
	g_autoptr(GPtrArray) packages =
		g_ptr_array_new_with_free_func((GDestroyNotify)lab_apt_package_free);
	JsonArray *array;

	if (!object)
		return NULL;
	array = json_object_has_member(object, "packages")
			? json_object_get_array_member(object, "packages")
			: NULL;
	for (guint i = 0; array && i < json_array_get_length(array); i++) {
		JsonObject *one = json_array_get_object_element(array, i);
		LabAptPackage *package = g_new0(LabAptPackage, 1);

		package->name = lab_json_string(one, "name");
		package->version = lab_json_string(one, "version");
		package->sha256 = lab_json_string(one, "sha256");
		package->arch = g_strdup("");
		package->depends = g_strdup("");
		g_ptr_array_add(packages, package);
	}
	return g_steal_pointer(&packages);
}

/* The same package with its parts not compressed: without KVM, the guest would take minutes for that. */
static gboolean repack(const char *deb, const char *plain, GError **error)
{
	g_autofree char *dir = g_path_get_dirname(plain);
	g_autofree char *control = g_build_filename(dir, "control.tar", NULL);
	g_autofree char *files = g_build_filename(dir, "data.tar", NULL);
	g_autofree char *version = g_build_filename(dir, "debian-binary", NULL);
	const LabProcessOptions to_control = {.stdout_path = control},
				to_files = {.stdout_path = files};
	const char *const ctrl[] = {"dpkg-deb", "--ctrl-tarfile", deb, NULL};
	const char *const fsys[] = {"dpkg-deb", "--fsys-tarfile", deb, NULL};
	/* In this order, as deb(5) has it. */
	const char *const ar[] = {"ar", "rcD", plain, version, control, files, NULL};

	return lab_file_write(version, "2.0\n", -1, error) &&
	       lab_process_check(ctrl, &to_control, NULL, error) &&
	       lab_process_check(fsys, &to_files, NULL, error) &&
	       lab_process_check(ar, NULL, NULL, error) && lab_dir_remove(control, error) &&
	       lab_dir_remove(files, error) && lab_dir_remove(version, error);
}

static gboolean fetch(const Make *m, const GPtrArray *packages, const char *debs, JsonArray *paths,
		      GError **error)
{
	g_autoptr(LabApt) apt = NULL;
	g_autofree char *fetched = g_build_filename(debs, "fetched", NULL);
	g_autoptr(GDir) dir = NULL;
	const char *name;

	if (m->tool->offline) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
			    "%s is not installed in the image yet, and without the network its "
			    "packages cannot be fetched",
			    m->spec->text);
		return FALSE;
	}
	lab_disk_tool_say(m->tool, "fetching the packages of %s", m->kernel->release);
	apt = lab_apt_open(m->tool->cache, m->spec->suite, FALSE, &m->spec->origin, error);
	if (!apt || !lab_apt_refresh(apt, LAB_MEANING_MAX_AGE_S, NULL, error) || !lab_dir_make(fetched, error) ||
	    !lab_apt_download(apt, packages, fetched, error) ||
	    !(dir = g_dir_open(fetched, 0, error)))
		return FALSE;
	while ((name = g_dir_read_name(dir))) {
		g_autofree char *deb = g_build_filename(fetched, name, NULL), *plain = NULL;

		if (!g_str_has_suffix(name, ".deb"))
			continue;
		plain = g_build_filename(debs, name, NULL);
		if (!repack(deb, plain, error))
			return FALSE;
		json_array_add_string_element(paths, plain);
	}
	return lab_dir_remove(fetched, error);
}

/* ---- installed --------------------------------------------------------------------------------- */

static JsonObject *packages_request(const Make *m, const GPtrArray *packages, const char *debs,
				    GError **error)
{
	g_autoptr(JsonObject) request = json_object_new();
	JsonArray *paths = json_array_new();

	json_object_set_string_member(request, "verb", "packages");
	json_object_set_array_member(request, "packages", paths);
	return fetch(m, packages, debs, paths, error) ? g_steal_pointer(&request) : NULL;
}

static JsonObject *tree_request(const Make *m)
{
	JsonObject *request = json_object_new();

	json_object_set_string_member(request, "verb", "tree");
	json_object_set_string_member(request, "kernel", m->kernel->boot_path);
	json_object_set_string_member(request, "config",
				      m->kernel->config_path ? m->kernel->config_path : "");
	json_object_set_string_member(request, "modules", m->kernel->modules_path);
	return request;
}

/* From one entry of the cache to another, wherever the cache is: it may be moved. */
static char *relative_path(const LabDiskImage *image)
{
	g_autofree char *dir = g_path_get_dirname(image->path);
	g_autofree char *key = g_path_get_basename(dir);

	return g_strdup_printf("../../" LAB_DISK_KIND "/%s/" LAB_DISK_FILE, key);
}

static gboolean make(const char *dir, gpointer data, GError **error)
{
	const Make *m = data;
	g_autofree char *debs = g_build_filename(dir, "debs", NULL);
	g_autofree char *path = g_build_filename(dir, LAB_DISK_FILE, NULL);
	g_autofree char *what =
		g_strdup_printf("%s into image %s", m->kernel->release, m->image->name);
	g_autofree char *below = relative_path(m->image);
	g_autoptr(GPtrArray) packages = packages_of(m->kernel, error);
	g_auto(LabDiskSaid) said = {0};
	JsonObject *request;
	gint64 begin = g_get_monotonic_time();

	if (!packages || !lab_dir_make(debs, error) ||
	    !lab_qcow2_above(below, "qcow2", path, error))
		return FALSE;
	request = packages->len ? packages_request(m, packages, debs, error) : tree_request(m);
	if (!request)
		return FALSE;
	lab_disk_said_part(&said, "fetch", begin);
	json_object_set_string_member(request, "disk", path);
	json_object_set_string_member(request, "release", m->kernel->release);
	json_object_set_string_member(request, "boot", dir);
	return lab_disk_tool_run(m->tool, request, what, &said, error) &&
	       lab_dir_remove(debs, error) &&
	       lab_disk_describe(dir, m->image->name, m->key, m->image->root, &said, error);
}

/* GRUB's "linux" takes a bzImage; of a kernel that is not a package only what QEMU enters by PVH may be here. */
static gboolean check_bootloader(const LabKernel *kernel, const LabKernelSpec *spec,
				 const char *bootloader, GError **error)
{
	if (spec->kind == LAB_KERNEL_DEBIAN || !kernel->pvh || strcmp(bootloader, "grub"))
		return TRUE;
	lab_error_set_at(error, &spec->origin,
			 "wanted 'disk: {bootloader: none}' for a kernel that is no Debian package "
			 "and has a PVH entry, found "
			 "bootloader grub (it cannot start its vmlinux)");
	return FALSE;
}

LabDiskImage *lab_disk_kernel_get(LabDiskTool *tool, const LabDiskImage *image,
				  const LabKernel *kernel, const LabKernelSpec *spec,
				  const char *bootloader, gboolean *made, GError **error)
{
	g_autofree char *text = g_strdup_printf(LAYOUT "%s\n%s\n", image->digest, kernel->digest);
	g_autofree char *key = lab_digest_data(text, -1), *dir = NULL;
	g_autoptr(GError) local = NULL;
	Make m = {tool, image, kernel, spec, key};

	*made = FALSE;
	if (!check_bootloader(kernel, spec, bootloader, error))
		return NULL;
	dir = lab_cache_get(tool->cache, KIND, key, make, &m, made, &local);
	if (dir)
		return lab_disk_load(dir, error);
	if (g_error_matches(local, LAB_ERROR, LAB_ERROR_USER))
		lab_error_set_at(error, &spec->origin, "%s", local->message);
	else
		g_propagate_error(error, g_steal_pointer(&local));
	return NULL;
}

/* ---- read, and a boot's job -------------------------------------------------------------------- */

gboolean lab_disk_read(LabDiskTool *tool, const char *disk, const char *dir, GError **error)
{
	JsonObject *request = json_object_new();

	json_object_set_string_member(request, "verb", "read");
	json_object_set_string_member(request, "disk", disk);
	json_object_set_string_member(request, "to", dir);
	return lab_disk_tool_run(tool, request, "disk of the guest", NULL, error);
}

static void add(struct archive *a, const char *name, mode_t mode, const void *data, gsize length)
{
	struct archive_entry *entry = archive_entry_new();

	archive_entry_set_pathname(entry, name);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_perm(entry, mode);
	archive_entry_set_mtime(entry, 0, 0);
	archive_entry_set_size(entry, (la_int64_t)length);
	archive_write_header(a, entry);
	archive_write_data(a, data, length);
	archive_entry_free(entry);
}

gboolean lab_disk_job_write(const char *agent_path, const char *job, const char *path,
			    GError **error)
{
	g_autoptr(GMappedFile) agent = g_mapped_file_new(agent_path, FALSE, error);
	struct archive *a = agent ? archive_write_new() : NULL;
	gboolean ok;

	if (!a)
		return FALSE;
	/* Blocks of 512 bytes, as a disk has them. */
	archive_write_set_format_ustar(a);
	ok = archive_write_open_filename(a, path) == ARCHIVE_OK;
	if (ok) {
		add(a, "agent", 0755, g_mapped_file_get_contents(agent),
		    g_mapped_file_get_length(agent));
		add(a, "job", 0644, job, strlen(job));
		ok = archive_write_close(a) == ARCHIVE_OK;
	}
	if (!ok)
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "cannot write %s: %s", path,
			    archive_error_string(a));
	archive_write_free(a);
	return ok;
}
