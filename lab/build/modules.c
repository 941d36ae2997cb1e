/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/modules.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/base/process.h"

static gboolean fail_errno(GError **error, const char *what, const char *path)
{
	int saved = errno;

	g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(saved), "cannot %s %s: %s", what,
		    path, g_strerror(saved));
	return FALSE;
}

static gboolean is_module(const char *name)
{
	return g_str_has_suffix(name, ".ko") || g_str_has_suffix(name, ".ko.xz") ||
	       g_str_has_suffix(name, ".ko.zst") || g_str_has_suffix(name, ".ko.gz");
}

/* Written by depmod: made anew. The others are the build's. */
static gboolean is_index(const char *relative)
{
	static const char *const built[] = {"modules.order", "modules.builtin",
					    "modules.builtin.modinfo", "modules.builtin.ranges",
					    NULL};

	return g_str_has_prefix(relative, "modules.") && !g_strv_contains(built, relative);
}

static int by_name(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Paths relative to @top of the files worth keeping, unsorted. Links are not followed. */
static gboolean find_files(const char *top, const char *relative, GPtrArray *found, GError **error)
{
	g_autofree char *dir = g_build_filename(top, relative, NULL);
	g_autoptr(GDir) open = g_dir_open(dir, 0, error);
	const char *name;

	if (!open)
		return FALSE;
	while ((name = g_dir_read_name(open))) {
		g_autofree char *path = g_build_filename(dir, name, NULL);
		g_autofree char *below =
			*relative ? g_build_filename(relative, name, NULL) : g_strdup(name);
		struct stat st;

		if (lstat(path, &st) < 0)
			return fail_errno(error, "read", path);
		if (S_ISDIR(st.st_mode) && !find_files(top, below, found, error))
			return FALSE;
		if (S_ISREG(st.st_mode) &&
		    (is_module(name) ||
		     (!*relative && g_str_has_prefix(name, "modules.") && !is_index(name))))
			g_ptr_array_add(found, g_steal_pointer(&below));
	}
	return TRUE;
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

static gboolean install_one(const char *from, const char *to, gboolean move, GChecksum *sum,
			    const char *relative, GError **error)
{
	g_autofree char *source = g_build_filename(from, relative, NULL);
	g_autofree char *target = g_build_filename(to, relative, NULL);
	g_autofree char *dir = g_path_get_dirname(target);
	g_autofree char *data = NULL, *hex = NULL, *line = NULL, *compressed = NULL;
	gsize length;

	if (g_mkdir_with_parents(dir, 0755) < 0)
		return fail_errno(error, "create directory", dir);
	data = lab_file_read(source, &length, error);
	if (!data)
		return FALSE;
	hex = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (guint8 *)data, length);
	line = g_strdup_printf("%s %s\n", relative, hex);
	g_checksum_update(sum, (guint8 *)line, -1);
	if (g_str_has_suffix(relative, ".ko")) {
		compressed = g_strconcat(target, ".zst", NULL);
		return write_compressed(compressed, data, length, error) &&
		       (!move || g_unlink(source) == 0 || fail_errno(error, "remove", source));
	}
	if (move)
		return rename(source, target) == 0 || fail_errno(error, "move", source);
	return g_file_set_contents_full(target, data, (gssize)length, G_FILE_SET_CONTENTS_NONE,
					0644, error);
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

gboolean lab_modules_install(const char *from, gboolean move, const char *modules,
			     const char *release, char **digest, GError **error)
{
	g_autofree char *to = g_build_filename(modules, release, NULL);
	g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);

	if (!lab_dir_make(to, error) || (from && !find_files(from, "", files, error)))
		return FALSE;
	g_ptr_array_sort(files, by_name);
	for (guint i = 0; i < files->len; i++)
		if (!install_one(from, to, move, sum, files->pdata[i], error))
			return FALSE;
	if (!run_depmod(modules, release, error))
		return FALSE;
	*digest = g_strdup(g_checksum_get_string(sum));
	return TRUE;
}
