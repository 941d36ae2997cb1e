/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/base/paths.h"

#include <gio/gio.h>

char *lab_path_self(void)
{
	char *path = g_file_read_link("/proc/self/exe", NULL);

	return path ? path : g_strdup("numalab");
}

/* The tree that the executable was built in, or NULL. */
static char *tree(void)
{
	g_autofree char *self = lab_path_self();
	g_autofree char *dir = g_path_get_dirname(self);

	for (int up = 0; up < 4; up++) {
		g_autofree char *parent = g_path_get_dirname(dir);
		g_autofree char *a = g_build_filename(parent, "lab", "base", NULL);
		g_autofree char *b = g_build_filename(parent, "topologies", NULL);

		if (g_file_test(a, G_FILE_TEST_IS_DIR) && g_file_test(b, G_FILE_TEST_IS_DIR))
			return g_steal_pointer(&parent);
		g_free(dir);
		dir = g_steal_pointer(&parent);
	}
	return NULL;
}

/* A file below the prefix that the executable is installed in; where it is not there, below the one it was built for. */
static char *installed(const char *folder, const char *relative)
{
	g_autofree char *self = lab_path_self();
	g_autofree char *bin = g_path_get_dirname(self);
	g_autofree char *prefix = g_path_get_dirname(bin);
	g_autofree char *path = g_build_filename(prefix, folder, relative, NULL);

	return g_file_test(path, G_FILE_TEST_EXISTS)
		       ? g_steal_pointer(&path)
		       : g_build_filename(NUMALAB_PREFIX, folder, relative, NULL);
}

char *lab_path_data(const char *relative)
{
	g_autofree char *top = tree();

	return top ? g_build_filename(top, relative, NULL) : installed("share/numalab", relative);
}

char *lab_path_helper(const char *name)
{
	g_autofree char *self = lab_path_self();
	g_autofree char *dir = g_path_get_dirname(self);

	for (int up = 0; up < 3; up++) {
		g_autofree char *beside = g_build_filename(dir, name, NULL);
		g_autofree char *parent = g_path_get_dirname(dir);

		if (g_file_test(beside, G_FILE_TEST_IS_EXECUTABLE))
			return g_steal_pointer(&beside);
		g_free(dir);
		dir = g_steal_pointer(&parent);
	}
	return installed("libexec/numalab", name);
}

static char *choose(const char *override, const char *variable, const char *base)
{
	const char *set = override ? override : g_getenv(variable);

	return set && *set ? g_canonicalize_filename(set, NULL)
			   : g_build_filename(base, "numalab", NULL);
}

char *lab_path_cache(const char *override)
{
	return choose(override, "NUMALAB_CACHE", g_get_user_cache_dir());
}

char *lab_path_store(const char *override)
{
	return choose(override, "NUMALAB_STORE", g_get_user_data_dir());
}
