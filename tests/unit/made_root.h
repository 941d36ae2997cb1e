/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A root with /proc and /sys files of a test's own: what reads the host's is told to read these. */
#pragma once
#include <check.h>
#include <glib/gstdio.h>

#include "lab/base/file.h"

static char *root;

static void put(const char *file, const char *text)
{
	g_autofree char *path = g_strconcat(root, file, NULL);
	g_autofree char *dir = g_path_get_dirname(path);

	ck_assert_int_eq(g_mkdir_with_parents(dir, 0755), 0);
	ck_assert(g_file_set_contents(path, text, -1, NULL));
}

static void teardown(void)
{
	lab_dir_remove(root, NULL);
	g_free(root);
}
