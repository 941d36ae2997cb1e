/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/modules.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <gelf.h>
#include <glib/gstdio.h>
#include <libelf.h>
#include <string.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/base/process.h"

/* At the end of a signed module, include/linux/module_signature.h */
#define SIGNATURE "~Module signature appended~\n"

/* so that a command line stays far below ARG_MAX */
#define STRIP_AT_ONCE 200

static gboolean fail_errno(GError **error, const char *what, const char *path)
{
	int saved = errno;

	g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(saved), "cannot %s %s: %s", what,
		    path, g_strerror(saved));
	return FALSE;
}

static char *read_content(const LabModuleFile *file, gsize *length, GError **error)
{
	if (file->source)
		return lab_file_read(file->source, length, error);
	*length = strlen(file->text);
	return g_strdup(file->text);
}

static void add_to_digest(GChecksum *sum, const LabModuleFile *file, const char *data, gsize length)
{
	g_autofree char *hex =
		g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guint8 *)data, length);
	g_autofree char *line = g_strdup_printf("%s %s\n", file->relative, hex);

	g_checksum_update(sum, (const guint8 *)line, -1);
}

char *lab_modules_digest(const GPtrArray *files, GError **error)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);

	for (guint i = 0; files && i < files->len; i++) {
		gsize length;
		g_autofree char *data = read_content(files->pdata[i], &length, error);

		if (!data)
			return NULL;
		add_to_digest(sum, files->pdata[i], data, length);
	}
	return g_strdup(g_checksum_get_string(sum));
}

/* No fsync here: the cache makes the whole entry durable at once. */
static gboolean write_compressed(const char *path, const char *data, gsize length, GError **error)
{
	struct archive *a = archive_write_new();
	struct archive_entry *entry = archive_entry_new();
	gboolean ok;

	archive_write_set_format_raw(a);
	archive_write_add_filter_zstd(a);
	archive_write_set_filter_option(a, "zstd", "compression-level", "1");
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_pathname(entry, "module");
	ok = archive_write_open_filename(a, path) == ARCHIVE_OK &&
	     archive_write_header(a, entry) == ARCHIVE_OK &&
	     archive_write_data(a, data, length) == (la_ssize_t)length &&
	     archive_write_close(a) == ARCHIVE_OK;
	if (!ok)
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "cannot write %s: %s", path,
			    archive_error_string(a));
	archive_entry_free(entry);
	archive_write_free(a);
	return ok;
}

static gboolean is_signed(const char *data, gsize length)
{
	gsize n = strlen(SIGNATURE);

	return length >= n && !memcmp(data + length - n, SIGNATURE, n);
}

static gboolean has_debug_information(const char *data, gsize length)
{
	size_t names;
	Elf_Scn *section = NULL;
	gboolean found = FALSE;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_memory((char *)data, length); /* reads only */
	if (elf && elf_getshdrstrndx(elf, &names) == 0)
		while (!found && (section = elf_nextscn(elf, section))) {
			GElf_Shdr header;
			const char *name = gelf_getshdr(section, &header)
						   ? elf_strptr(elf, names, header.sh_name)
						   : NULL;

			found = name && g_str_has_prefix(name, ".debug_");
		}
	elf_end(elf);
	return found;
}

typedef struct {
	const char *to;
	gboolean move;
	GChecksum *sum;
	GPtrArray *to_strip; /* paths of modules written as they are */
} Install;

static gboolean install_one(Install *install, const LabModuleFile *file, GError **error)
{
	g_autofree char *target = g_build_filename(install->to, file->relative, NULL);
	g_autofree char *dir = g_path_get_dirname(target);
	g_autofree char *data = NULL, *compressed = NULL;
	gboolean strip, move = install->move && file->source;
	gsize length;

	if (!lab_dir_make(dir, error))
		return FALSE;
	data = read_content(file, &length, error);
	if (!data)
		return FALSE;
	add_to_digest(install->sum, file, data, length);
	strip = g_str_has_suffix(target, ".ko") && !is_signed(data, length) &&
		has_debug_information(data, length);
	if (g_str_has_suffix(target, ".ko") && !strip) {
		compressed = g_strconcat(target, ".zst", NULL);
		return write_compressed(compressed, data, length, error);
	}
	if (strip)
		g_ptr_array_add(install->to_strip, g_strdup(target));
	if (move)
		return rename(file->source, target) == 0 || fail_errno(error, "move", file->source);
	return g_file_set_contents_full(target, data, (gssize)length, G_FILE_SET_CONTENTS_NONE,
					0644, error);
}

static gboolean strip_some(char *const *paths, guint n, GError **error)
{
	g_autoptr(GPtrArray) argv = g_ptr_array_new();

	g_ptr_array_add(argv, (gpointer) "strip");
	g_ptr_array_add(argv, (gpointer) "--strip-debug");
	for (guint i = 0; i < n; i++)
		g_ptr_array_add(argv, paths[i]);
	g_ptr_array_add(argv, NULL);
	return lab_process_check((const char *const *)argv->pdata, NULL, NULL, error);
}

/* Only then are they compressed like the others. */
static gboolean strip_all(const GPtrArray *paths, GError **error)
{
	for (guint i = 0; i < paths->len; i += STRIP_AT_ONCE)
		if (!strip_some((char *const *)paths->pdata + i, MIN(STRIP_AT_ONCE, paths->len - i),
				error))
			return FALSE;
	for (guint i = 0; i < paths->len; i++) {
		const char *path = paths->pdata[i];
		g_autofree char *compressed = g_strconcat(path, ".zst", NULL);
		g_autofree char *data = NULL;
		gsize length;

		data = lab_file_read(path, &length, error);
		if (!data || !write_compressed(compressed, data, length, error))
			return FALSE;
		if (g_unlink(path) < 0)
			return fail_errno(error, "remove", path);
	}
	return TRUE;
}

/* depmod wants BASE/lib/modules/RELEASE (BASE/usr/lib on usr-merged systems): a skeleton of links
 * gives it that. */
static gboolean run_depmod(const char *modules, const char *release, GError **error)
{
	g_autofree char *found = g_find_program_in_path("depmod");
	/* not in the PATH of users other than root */
	const char *depmod = found ? found : "/usr/sbin/depmod";
	g_autofree char *base = g_strconcat(modules, ".base", NULL);
	g_autofree char *lib = g_build_filename(base, "lib", NULL);
	g_autofree char *link = g_build_filename(lib, "modules", NULL);
	g_autofree char *usr = g_build_filename(base, "usr", NULL);
	const char *const argv[] = {depmod, "-b", base, release, NULL};

	if (!lab_dir_make(lib, error))
		return FALSE;
	if (symlink(modules, link) < 0 || symlink(".", usr) < 0)
		return fail_errno(error, "link", base);
	return lab_process_check(argv, NULL, NULL, error) && lab_dir_remove(base, error);
}

/*
 * Old trees have no list of what is built in: without one depmod leaves an index that libkmod
 * cannot read.
 */
static gboolean complete_lists(const char *dir, GError **error)
{
	static const char *const needed[] = {"modules.builtin", "modules.order"};

	for (guint i = 0; i < G_N_ELEMENTS(needed); i++) {
		g_autofree char *path = g_build_filename(dir, needed[i], NULL);

		if (!g_file_test(path, G_FILE_TEST_EXISTS) && !lab_file_write(path, "", 0, error))
			return FALSE;
	}
	return TRUE;
}

gboolean lab_modules_install(const GPtrArray *files, gboolean move, const char *modules,
			     const char *release, char **digest, GError **error)
{
	g_autofree char *to = g_build_filename(modules, release, NULL);
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	g_autoptr(GPtrArray) to_strip = g_ptr_array_new_with_free_func(g_free);
	Install install = {to, move, sum, to_strip};

	if (!lab_dir_make(to, error))
		return FALSE;
	for (guint i = 0; files && i < files->len; i++)
		if (!install_one(&install, files->pdata[i], error))
			return FALSE;
	if (!strip_all(to_strip, error) || !complete_lists(to, error) ||
	    !run_depmod(modules, release, error))
		return FALSE;
	*digest = g_strdup(g_checksum_get_string(sum));
	return TRUE;
}
