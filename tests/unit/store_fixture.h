/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A store of a test's own, opened before each and removed after it. */
#pragma once
#include "tests/unit/lab_store.h"

static char *root;
static LabStore *store;

static inline void setup(void)
{
	g_autoptr(GError) error = NULL;

	root = g_dir_make_tmp("numalab-fixture-XXXXXX", NULL);
	store = lab_store_open(root, &error);
	assert_no_error(error);
}

static inline void teardown(void)
{
	g_clear_pointer(&store, lab_store_free);
	lab_dir_remove(root, NULL);
	g_clear_pointer(&root, g_free);
}
