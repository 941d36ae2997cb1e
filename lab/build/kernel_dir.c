/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/kernel_source.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "lab/base/digest.h"
#include "lab/base/file.h"
#include "lab/build/modules.h"

/* ROOT/kernel-dir/SHA256(names, sizes, times): what a directory held, so that it need not be read
 * again. */
#define MEMO_KIND "kernel-dir"

/* A file as young as this may change again without its time changing. */
#define YOUNG_S 2

/* ---- what lies where ----------------------------------------------------------------------------
 */

typedef struct {
	const char *dir, *prefix; /* below the path; names that start with @prefix */
	gboolean whole;		  /* the name is @prefix */
} Place;

/* A bzImage before a vmlinux: a build tree's vmlinux is full of debug information. */
static const Place boot_places[] = {
	{"arch/x86/boot", "bzImage", TRUE}, {".", "bzImage", TRUE},    {".", "vmlinuz", TRUE},
	{"boot", "vmlinuz", TRUE},	    {"boot", "bzImage", TRUE}, {".", "vmlinuz-", FALSE},
	{"boot", "vmlinuz-", FALSE},	    {".", "bzImage-", FALSE},  {".", "vmlinux", TRUE},
	{"boot", "vmlinux", TRUE},	    {".", "vmlinux-", FALSE},  {"boot", "vmlinux-", FALSE},
};
static const Place config_places[] = {
	{".", ".config", TRUE},	  {".", "config", TRUE},      {".", "config-", FALSE},
	{"boot", "config", TRUE}, {"boot", "config-", FALSE},
};
static const char *const module_parents[] = {"lib/modules", "usr/lib/modules", "modules", NULL};

/* The one file of the first place that has any; FALSE with @error where it has several. @found
 * stays NULL when there is none. */
static gboolean find_file(const char *path, const Place *places, guint n, char **found,
			  GError **error)
{
	for (guint i = 0; i < n && !*found; i++) {
		g_autofree char *dir = g_build_filename(path, places[i].dir, NULL);
		g_autoptr(GDir) open = g_dir_open(dir, 0, NULL);
		const char *name;

		while (open && (name = g_dir_read_name(open))) {
			g_autofree char *file = g_canonicalize_filename(name, dir);

			if (places[i].whole ? strcmp(name, places[i].prefix) != 0
					    : !g_str_has_prefix(name, places[i].prefix))
				continue;
			if (!g_file_test(file, G_FILE_TEST_IS_REGULAR) ||
			    g_str_has_suffix(name, ".old"))
				continue;
			if (*found) {
				g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
					    "%s and %s: wanted one kernel in the directory, found "
					    "several",
					    *found, file);
				return FALSE;
			}
			*found = g_steal_pointer(&file);
		}
	}
	return TRUE;
}

/* The only directory below @parent; NULL without @error where there is none. */
static char *only_directory(const char *parent, GError **error)
{
	g_autoptr(GDir) open = g_dir_open(parent, 0, NULL);
	g_autofree char *found = NULL;
	const char *name;

	while (open && (name = g_dir_read_name(open))) {
		g_autofree char *path = g_build_filename(parent, name, NULL);

		if (!g_file_test(path, G_FILE_TEST_IS_DIR))
			continue;
		if (found) {
			g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
				    "%s and %s: wanted the modules of one kernel, found several",
				    found, path);
			return NULL;
		}
		found = g_steal_pointer(&path);
	}
	return g_steal_pointer(&found);
}

/* modules/ may be what lib/modules/RELEASE is, itself. */
static gboolean is_module_directory(const char *dir)
{
	static const char *const signs[] = {"kernel", "modules.order", "modules.builtin",
					    "modules.dep"};

	for (guint i = 0; i < G_N_ELEMENTS(signs); i++) {
		g_autofree char *path = g_build_filename(dir, signs[i], NULL);

		if (g_file_test(path, G_FILE_TEST_EXISTS))
			return TRUE;
	}
	return FALSE;
}

static gboolean is_build_tree(const char *path)
{
	g_autofree char *config = g_build_filename(path, ".config", NULL);
	g_autofree char *include = g_build_filename(path, "include", "config", NULL);

	return g_file_test(config, G_FILE_TEST_EXISTS) && g_file_test(include, G_FILE_TEST_IS_DIR);
}

static gboolean find_modules(const char *path, LabKernelSource *source, GError **error)
{
	if (is_build_tree(path)) {
		source->modules = lab_modules_find_built(path, error);
		return source->modules != NULL;
	}
	for (const char *const *parent = module_parents; *parent && !source->modules; parent++) {
		g_autofree char *dir = g_build_filename(path, *parent, NULL);
		g_autofree char *below = NULL;
		g_autoptr(GError) local = NULL;

		if (!is_module_directory(dir)) {
			below = only_directory(dir, &local);
			if (local) {
				g_propagate_error(error, g_steal_pointer(&local));
				return FALSE;
			}
			if (!below)
				continue;
			source->modules_release = g_path_get_basename(below);
		}
		source->modules = lab_modules_find(below ? below : dir, error);
		if (!source->modules)
			return FALSE;
	}
	return TRUE;
}

static gboolean find_parts(const char *path, LabKernelSource *source, GError **error)
{
	if (!g_file_test(path, G_FILE_TEST_IS_DIR)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "%s: %s", path,
			    g_file_test(path, G_FILE_TEST_EXISTS)
				    ? "wanted a directory with a kernel, found a file"
				    : "no such directory");
		return FALSE;
	}
	source->version = g_strdup("");
	if (!find_file(path, boot_places, G_N_ELEMENTS(boot_places), &source->boot, error))
		return FALSE;
	if (!source->boot) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "%s: wanted a kernel (%s), found none", path,
			    is_build_tree(path) ? "arch/x86/boot/bzImage of a tree that was built"
						: "vmlinuz, bzImage or vmlinux; or a build tree");
		return FALSE;
	}
	return find_file(path, config_places, G_N_ELEMENTS(config_places), &source->config,
			 error) &&
	       find_modules(path, source, error);
}

/* ---- which kernel that is -----------------------------------------------------------------------
 */

/* Name, size, time and inode of one file; FALSE when it cannot be seen, or is too young to be
 * trusted. */
static gboolean add_stat(GChecksum *sum, const char *path)
{
	struct stat st;
	g_autofree char *line = NULL;

	if (stat(path, &st) < 0 || time(NULL) - st.st_mtime < YOUNG_S)
		return FALSE;
	line = g_strdup_printf("%s %lld %lld.%09ld %llu\n", path, (long long)st.st_size,
			       (long long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
			       (unsigned long long)st.st_ino);
	g_checksum_update(sum, (const guint8 *)line, -1);
	return TRUE;
}

/* Where the memo of these files, as they are now, is or would be; NULL when they are too young. */
static char *memo_path(LabCache *cache, const LabKernelSource *source)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);

	g_checksum_update(sum, (const guint8 *)LAB_KERNEL_LAYOUT, -1);
	if (!add_stat(sum, source->boot) || (source->config && !add_stat(sum, source->config)))
		return NULL;
	for (guint i = 0; source->modules && i < source->modules->len; i++) {
		const LabModuleFile *file = source->modules->pdata[i];

		if (file->source && !add_stat(sum, file->source))
			return NULL;
		if (file->text)
			g_checksum_update(sum, (const guint8 *)file->text, -1);
	}
	return lab_cache_path(cache, MEMO_KIND, g_checksum_get_string(sum));
}

/* The key of the entry, from all bytes of all parts. */
static char *read_key(LabKernelSource *source, GError **error)
{
	g_autofree char *text = NULL;

	source->boot_digest = lab_digest_file(source->boot, error);
	if (!source->boot_digest)
		return NULL;
	source->config_digest =
		source->config ? lab_digest_file(source->config, error) : g_strdup("none");
	if (!source->config_digest)
		return NULL;
	source->modules_digest = lab_modules_digest(source->modules, error);
	if (!source->modules_digest)
		return NULL;
	text = g_strdup_printf("%sdir\nboot %s\nconfig %s\nmodules %s\n", LAB_KERNEL_LAYOUT,
			       source->boot_digest, source->config_digest, source->modules_digest);
	return lab_digest_data(text, -1);
}

typedef struct {
	const LabKernelSource *source;
	const char *text;
} Make;

static gboolean make_kernel(const char *dir, gpointer data, GError **error)
{
	const Make *make = data;

	return lab_kernel_install(make->source, make->text, dir, error);
}

static char *get_entry(LabCache *cache, const LabKernelSpec *spec, LabProgress progress,
		       gpointer data, GError **error)
{
	g_auto(LabKernelSource) source = {0};
	g_autofree char *memo = NULL, *key = NULL, *dir = NULL, *what = NULL;
	Make make = {&source, spec->text};

	if (!find_parts(spec->path, &source, error))
		return NULL;
	memo = memo_path(cache, &source);
	key = memo ? lab_file_read(memo, NULL, NULL) : NULL;
	dir = key ? lab_cache_lookup(cache, LAB_KERNEL_KIND, key) : NULL;
	if (dir)
		return g_steal_pointer(&dir);
	what = g_strdup_printf("reading %s", spec->text);
	if (progress)
		progress(what, -1, data);
	g_free(key);
	key = read_key(&source, error);
	if (!key)
		return NULL;
	dir = lab_cache_get(cache, LAB_KERNEL_KIND, key, make_kernel, &make, NULL, error);
	if (dir && memo) {
		g_autofree char *parent = g_path_get_dirname(memo);

		if (!lab_dir_make(parent, error) || !lab_file_write(memo, key, -1, error))
			return NULL;
	}
	return g_steal_pointer(&dir);
}

LabKernel *lab_kernel_get_dir(LabCache *cache, const LabKernelSpec *spec, LabProgress progress,
			      gpointer data, GError **error)
{
	g_autoptr(GError) local = NULL;
	g_autofree char *dir = get_entry(cache, spec, progress, data, &local);

	if (dir)
		return lab_kernel_load(dir, spec->text, error);
	if (local->domain == LAB_ERROR && local->code == LAB_ERROR_USER)
		lab_error_set_at(error, &spec->origin, "%s", local->message);
	else
		g_propagate_error(error, g_steal_pointer(&local));
	return NULL;
}
