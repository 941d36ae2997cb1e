/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/modules.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "lab/base/error.h"
#include "lab/base/file.h"

static void module_file_free(gpointer data)
{
	LabModuleFile *file = data;

	g_free(file->relative);
	g_free(file->source);
	g_free(file->text);
	g_free(file);
}

/* All strings are taken over. */
static void add_file(GPtrArray *files, char *relative, char *source, char *text)
{
	LabModuleFile *file = g_new0(LabModuleFile, 1);

	file->relative = relative;
	file->source = source;
	file->text = text;
	g_ptr_array_add(files, file);
}

static int by_relative(gconstpointer a, gconstpointer b)
{
	return strcmp((*(LabModuleFile *const *)a)->relative,
		      (*(LabModuleFile *const *)b)->relative);
}

static gboolean is_module(const char *name)
{
	return g_str_has_suffix(name, ".ko") || g_str_has_suffix(name, ".ko.xz") ||
	       g_str_has_suffix(name, ".ko.zst") || g_str_has_suffix(name, ".ko.gz");
}

/* Lists that the kernel's build makes; the other modules.* are depmod's, and made anew. */
static const char *const lists[] = {"modules.builtin", "modules.builtin.modinfo",
				    "modules.builtin.ranges", "modules.order", NULL};

static gboolean find_below(const char *top, const char *relative, GPtrArray *files, GError **error)
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

		if (lstat(path, &st) < 0) {
			g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(errno),
				    "cannot read %s: %s", path, g_strerror(errno));
			return FALSE;
		}
		if (S_ISDIR(st.st_mode) && !find_below(top, below, files, error))
			return FALSE;
		if (S_ISREG(st.st_mode) && (is_module(name) || g_strv_contains(lists, below)))
			add_file(files, g_steal_pointer(&below), g_steal_pointer(&path), NULL);
	}
	return TRUE;
}

GPtrArray *lab_modules_find(const char *dir, GError **error)
{
	g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(module_file_free);

	if (!find_below(dir, "", files, error))
		return NULL;
	g_ptr_array_sort(files, by_relative);
	return g_steal_pointer(&files);
}

/*
 * A line of modules.order as a path in the tree: "kernel/fs/xfs/xfs.ko" up to 5.2, "fs/xfs/xfs.ko"
 * then, "fs/xfs/xfs.o" from 6.2 on. Takes @line.
 */
static char *path_in_tree(const char *tree, char *line)
{
	g_autofree char *with_prefix = NULL;

	g_strstrip(line);
	if (g_str_has_suffix(line, ".o"))
		line[strlen(line) - 2] = 0;
	else if (g_str_has_suffix(line, ".ko"))
		line[strlen(line) - 3] = 0;
	/* the tree has a directory kernel/, too */
	with_prefix = g_strconcat(tree, "/", line, ".ko", NULL);
	if (g_str_has_prefix(line, "kernel/") && !g_file_test(with_prefix, G_FILE_TEST_EXISTS))
		return g_strconcat(line + strlen("kernel/"), ".ko", NULL);
	return g_strconcat(line, ".ko", NULL);
}

static gboolean add_built(const char *tree, const char *order, GPtrArray *files, GError **error)
{
	g_auto(GStrv) lines = g_strsplit(order, "\n", -1);
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GString) installed = g_string_new(NULL);

	for (char **line = lines; *line; line++) {
		g_autofree char *relative = **line ? path_in_tree(tree, *line) : NULL;
		g_autofree char *source = relative ? g_build_filename(tree, relative, NULL) : NULL;

		if (!relative || !g_hash_table_add(seen, g_strdup(relative)))
			continue;
		if (!g_file_test(source, G_FILE_TEST_IS_REGULAR)) {
			g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
				    "%s/modules.order names %s, which is not built (make modules)",
				    tree, relative);
			return FALSE;
		}
		g_string_append_printf(installed, "kernel/%s\n", relative);
		add_file(files, g_strconcat("kernel/", relative, NULL), g_steal_pointer(&source),
			 NULL);
	}
	/* as `make modules_install` writes it: depmod takes the order of modules with one alias
	 * from it */
	add_file(files, g_strdup("modules.order"), NULL,
		 g_string_free(g_steal_pointer(&installed), FALSE));
	return TRUE;
}

GPtrArray *lab_modules_find_built(const char *tree, GError **error)
{
	g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(module_file_free);
	g_autofree char *path = g_build_filename(tree, "modules.order", NULL);
	g_autofree char *order = lab_file_read(path, NULL, NULL);

	if (order && !add_built(tree, order, files, error))
		return NULL;
	for (const char *const *list = lists; *list; list++) {
		g_autofree char *source = g_build_filename(tree, *list, NULL);

		if (strcmp(*list, "modules.order") && g_file_test(source, G_FILE_TEST_IS_REGULAR))
			add_file(files, g_strdup(*list), g_steal_pointer(&source), NULL);
	}
	g_ptr_array_sort(files, by_relative);
	return g_steal_pointer(&files);
}
