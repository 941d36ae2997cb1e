/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runner/shipped.h"

#include <string.h>

#include "lab/base/paths.h"

static int by_name(gconstpointer a, gconstpointer b)
{
	return g_strcmp0(*(char *const *)a, *(char *const *)b);
}

char **shipped_names(const char *folder)
{
	g_autofree char *path = lab_path_data(folder);
	g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	const char *file;

	while (dir && (file = g_dir_read_name(dir)))
		if (g_str_has_suffix(file, ".yaml"))
			g_ptr_array_add(names, g_strndup(file, strlen(file) - strlen(".yaml")));
	g_ptr_array_sort(names, by_name);
	g_ptr_array_add(names, NULL);
	return (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

char *shipped_path(const char *folder, const char *name)
{
	g_autofree char *file = g_strconcat(name, ".yaml", NULL);
	g_autofree char *dir = lab_path_data(folder);

	return g_build_filename(dir, file, NULL);
}
