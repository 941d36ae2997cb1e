/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of "this text in a file gives this error", for the tests of lab/spec. */
#pragma once
#include <check.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/base/file.h"

struct spec_case {
	const char *name;
	const char *text;
	const char *error; /* whole message; the file is t.yaml in the current directory */
};

static char *spec_dir;

/* Paths in errors are those given, so the tests work in a directory of their own. */
static void spec_setup(void)
{
	spec_dir = g_dir_make_tmp("numalab-test-spec-XXXXXX", NULL);
	ck_assert_ptr_nonnull(spec_dir);
	ck_assert_int_eq(g_chdir(spec_dir), 0);
}

static void spec_teardown(void)
{
	ck_assert_int_eq(g_chdir("/"), 0);
	lab_dir_remove(spec_dir, NULL);
	g_clear_pointer(&spec_dir, g_free);
}

static inline void spec_write(const char *path, const char *text)
{
	ck_assert(g_file_set_contents(path, text, -1, NULL));
}

static inline void spec_check_error(const struct spec_case *c, const void *result,
				    const GError *error)
{
	ck_assert_msg(!result && error, "%s: no error", c->name);
	ck_assert_msg(g_str_equal(error->message, c->error), "%s:\nwanted %s\nfound  %s", c->name,
		      c->error, error->message);
	ck_assert_msg(g_error_matches(error, LAB_ERROR, LAB_ERROR_USER), "%s: exit code %d",
		      c->name, lab_error_exit_code(error));
}

static inline int spec_run(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
