/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/initrd.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "agent/protocol.h"
#include "lab/base/digest.h"
#include "lab/base/file.h"
#include "lab/build/decompress.h"
#include "lab/build/module_order.h"

#define KIND "initrd"

/** Enters every key: a new number where the layout of the base changes. */
#define LAYOUT "numalab-initrd 1\n"

#define MODULES_DIR "numalab/modules"
#define MAX_MODULE_BYTES ((gsize)256 << 20)

/* "/cache/.../kernel/fs/xfs/xfs.ko.xz" -> "numalab/modules/xfs.ko" */
static char *path_in_initrd(const char *module)
{
	g_autofree char *name = g_path_get_basename(module);
	char *end = strstr(name, ".ko");

	if (end)
		end[3] = 0;
	return g_strconcat(MODULES_DIR "/", name, NULL);
}

char **lab_initrd_modules(const LabKernel *kernel, const char *const *wanted, GError **error)
{
	g_auto(GStrv) files = lab_module_order(kernel, wanted, error);
	g_autoptr(GStrvBuilder) paths = g_strv_builder_new();

	if (!files)
		return NULL;
	for (char **file = files; *file; file++) {
		g_autofree char *relative = path_in_initrd(*file);
		g_autofree char *path = g_strconcat("/", relative, NULL);

		g_strv_builder_add(paths, path);
	}
	return g_strv_builder_end(paths);
}

/* ---- cpio in memory -----------------------------------------------------------------------------
 */

typedef struct {
	struct archive *archive;
	GByteArray *bytes;
	gint64 next_inode;
} Cpio;

static la_ssize_t take_bytes(struct archive *a, void *data, const void *buffer, size_t length)
{
	g_byte_array_append(data, buffer, (guint)length);
	return (la_ssize_t)length;
}

static void cpio_start(Cpio *cpio)
{
	cpio->bytes = g_byte_array_new();
	cpio->next_inode = 1;
	cpio->archive = archive_write_new();
	archive_write_set_format_cpio_newc(cpio->archive);
	/* no padding to tape blocks */
	archive_write_set_bytes_per_block(cpio->archive, 0);
	archive_write_open2(cpio->archive, cpio->bytes, NULL, take_bytes, NULL, NULL);
}

/* Everything that the host could leak in (times, owners, inode and device numbers) is fixed. */
static void cpio_add(Cpio *cpio, const char *path, mode_t type, mode_t mode, dev_t device,
		     const void *data, gsize length)
{
	struct archive_entry *entry = archive_entry_new();

	archive_entry_set_pathname(entry, path);
	archive_entry_set_filetype(entry, type);
	archive_entry_set_perm(entry, mode);
	archive_entry_set_uid(entry, 0);
	archive_entry_set_gid(entry, 0);
	archive_entry_set_mtime(entry, 0, 0);
	archive_entry_set_dev(entry, 0);
	archive_entry_set_ino64(entry, cpio->next_inode++);
	archive_entry_set_nlink(entry, type == AE_IFDIR ? 2 : 1);
	archive_entry_set_rdevmajor(entry, device >> 8);
	archive_entry_set_rdevminor(entry, device & 0xff);
	archive_entry_set_size(entry, (la_int64_t)length);
	archive_write_header(cpio->archive, entry);
	if (length)
		archive_write_data(cpio->archive, data, length);
	archive_entry_free(entry);
}

/* Return: the archive; NULL when libarchive failed (the only way is out of memory: everything is in
 * memory). */
static GBytes *cpio_end(Cpio *cpio, GError **error)
{
	gboolean ok = archive_write_close(cpio->archive) == ARCHIVE_OK;

	if (!ok)
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "cannot make a cpio archive: %s",
			    archive_error_string(cpio->archive));
	archive_write_free(cpio->archive);
	if (ok)
		return g_byte_array_free_to_bytes(cpio->bytes);
	g_byte_array_unref(cpio->bytes);
	return NULL;
}

/* ---- base: the agent and the modules ------------------------------------------------------------
 */

typedef struct {
	GMappedFile *agent;
	char **modules;
} Base;

static gboolean add_module(Cpio *cpio, const char *file, GError **error)
{
	g_autofree char *path = path_in_initrd(file);
	g_autofree char *stored = NULL;
	g_autoptr(GBytes) module = NULL;
	gsize length;

	stored = lab_file_read(file, &length, error);
	if (!stored)
		return FALSE;
	module = lab_decompress(stored, length, file, MAX_MODULE_BYTES, error);
	if (!module)
		return FALSE;
	cpio_add(cpio, path, AE_IFREG, 0644, 0, g_bytes_get_data(module, NULL),
		 g_bytes_get_size(module));
	return TRUE;
}

static gboolean make_base(const char *dir, gpointer data, GError **error)
{
	const Base *base = data;
	g_autofree char *path = g_build_filename(dir, "base.cpio", NULL);
	g_autoptr(GBytes) archive = NULL;
	gboolean ok = TRUE;
	Cpio cpio;

	cpio_start(&cpio);
	cpio_add(&cpio, "dev", AE_IFDIR, 0755, 0, NULL, 0);
	/* the kernel opens it before there is a devtmpfs */
	cpio_add(&cpio, "dev/console", AE_IFCHR, 0600, 5 << 8 | 1, NULL, 0);
	cpio_add(&cpio, "init", AE_IFREG, 0755, 0, g_mapped_file_get_contents(base->agent),
		 g_mapped_file_get_length(base->agent));
	cpio_add(&cpio, "numalab", AE_IFDIR, 0755, 0, NULL, 0);
	cpio_add(&cpio, MODULES_DIR, AE_IFDIR, 0755, 0, NULL, 0);
	for (char **file = base->modules; ok && *file; file++)
		ok = add_module(&cpio, *file, error);
	archive = cpio_end(&cpio, ok ? error : NULL);
	return ok && archive &&
	       lab_file_write(path, g_bytes_get_data(archive, NULL),
			      (gssize)g_bytes_get_size(archive), error);
}

/* What decides the base: the agent's bytes, the kernel's, which modules and their order. */
static char *base_key(const LabKernel *kernel, const Base *base)
{
	g_autoptr(GString) text = g_string_new(LAYOUT);
	g_autofree char *agent = lab_digest_data(g_mapped_file_get_contents(base->agent),
						 (gssize)g_mapped_file_get_length(base->agent));

	g_string_append_printf(text, "agent %s\nkernel %s\n", agent, kernel->digest);
	for (char **file = base->modules; *file; file++) {
		g_autofree char *path = path_in_initrd(*file);

		g_string_append_printf(text, "module %s\n", path);
	}
	return lab_digest_data(text->str, (gssize)text->len);
}

/* The bytes of the base archive, from the cache. */
static char *get_base(LabCache *cache, const LabKernel *kernel, const char *agent_path,
		      const char *const *wanted, gsize *length, GError **error)
{
	g_autoptr(GMappedFile) agent = g_mapped_file_new(agent_path, FALSE, error);
	g_auto(GStrv) modules = agent ? lab_module_order(kernel, wanted, error) : NULL;
	g_autofree char *key = NULL, *dir = NULL, *path = NULL;
	Base base = {agent, modules};

	if (!modules)
		return NULL;
	key = base_key(kernel, &base);
	dir = lab_cache_get(cache, KIND, key, make_base, &base, NULL, error);
	if (!dir)
		return NULL;
	path = g_build_filename(dir, "base.cpio", NULL);
	return lab_file_read(path, length, error);
}

gboolean lab_initrd_write(LabCache *cache, const LabKernel *kernel, const char *agent_path,
			  const char *const *wanted, const char *job, const char *path,
			  char **digest, GError **error)
{
	gsize length = 0;
	g_autofree char *base = get_base(cache, kernel, agent_path, wanted, &length, error);
	g_autoptr(GBytes) job_archive = NULL;
	g_autoptr(GByteArray) whole = NULL;
	Cpio cpio;

	if (!base)
		return FALSE;
	cpio_start(&cpio);
	cpio_add(&cpio, AGENT_JOB_PATH + 1, AE_IFREG, 0644, 0, job, strlen(job));
	job_archive = cpio_end(&cpio, error);
	if (!job_archive)
		return FALSE;
	whole = g_byte_array_sized_new((guint)(length + g_bytes_get_size(job_archive)));
	g_byte_array_append(whole, (guint8 *)base, (guint)length);
	g_byte_array_append(whole, g_bytes_get_data(job_archive, NULL),
			    (guint)g_bytes_get_size(job_archive));
	if (!lab_file_write(path, whole->data, whole->len, error))
		return FALSE;
	if (digest)
		*digest = lab_digest_data(whole->data, whole->len);
	return TRUE;
}
