/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the agent applies settings, on files that stand for those of /proc and /sys. */
#include <check.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/fault.c"
#include "agent/files.c"
#include "agent/kernel_text.c"
#include "agent/settings.c"

static char *directory;

static void setup(void)
{
	directory = g_dir_make_tmp("agent-settings-XXXXXX", NULL);
	ck_assert_ptr_nonnull(directory);
}

static char *make_file(const char *name, const char *text)
{
	char *path = g_build_filename(directory, name, NULL);

	if (text)
		ck_assert(g_file_set_contents(path, text, -1, NULL));
	return path;
}

static void remove_files(void)
{
	static const char *const names[] = {"first", "second", "none"};

	for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *path = g_build_filename(directory, names[i], NULL);

		g_unlink(path);
	}
	g_rmdir(directory);
	g_free(directory);
}

static int apply_one(char *value, char **paths, struct fault *fault)
{
	struct job_setting setting = {
		.name = (char *)"name",
		.value = value,
		.paths = paths,
		.n_paths = g_strv_length(paths),
	};
	struct job job = {.settings = &setting, .n_settings = 1};

	return settings_apply(&job, fault);
}

/* The first file that exists is written, the others are not. */
START_TEST(test_first_path)
{
	g_autofree char *none = make_file("none", NULL);
	g_autofree char *first = make_file("first", "10\n");
	g_autofree char *second = make_file("second", "10\n");
	char *paths[] = {none, first, second, NULL};
	g_autofree char *text = NULL;
	struct fault fault = {0};

	ck_assert_msg(!apply_one((char *)"50", paths, &fault), "%s", fault.message);
	ck_assert(g_file_get_contents(first, &text, NULL, NULL));
	ck_assert_str_eq(text, "50\n");
	g_clear_pointer(&text, g_free);
	ck_assert(g_file_get_contents(second, &text, NULL, NULL));
	ck_assert_str_eq(text, "10\n");
	ck_assert(!g_file_test(none, G_FILE_TEST_EXISTS));
}
END_TEST

START_TEST(test_no_path)
{
	g_autofree char *none = make_file("none", NULL);
	char *paths[] = {none, NULL};
	g_autofree char *wanted = g_strdup_printf("setting name: this kernel has no %s", none);
	struct fault fault = {0};

	ck_assert_int_eq(apply_one((char *)"50", paths, &fault), -1);
	ck_assert_str_eq(fault.message, wanted);
	ck_assert_str_eq(fault.stage, "settings");
	ck_assert(!g_file_test(none, G_FILE_TEST_EXISTS));
}
END_TEST

/* A file that keeps something else than was written: here its older, longer text. */
START_TEST(test_read_back)
{
	g_autofree char *first = make_file("first", "1000\n");
	char *paths[] = {first, NULL};
	g_autofree char *wanted =
		g_strdup_printf("setting name: %s: wanted '50', found '5000'", first);
	struct fault fault = {0};

	ck_assert_int_eq(apply_one((char *)"50", paths, &fault), -1);
	ck_assert_str_eq(fault.message, wanted);
}
END_TEST

START_TEST(test_refused)
{
	char *paths[] = {directory, NULL};
	struct fault fault = {0};

	ck_assert_int_eq(apply_one((char *)"50", paths, &fault), -1);
	ck_assert_msg(strstr(fault.message, "writing '50' to ") != NULL, "%s", fault.message);
	ck_assert_msg(g_str_has_suffix(fault.message, g_strerror(EISDIR)), "%s", fault.message);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent-settings");
	TCase *tcase = tcase_create("settings");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(tcase, setup, remove_files);
	tcase_add_test(tcase, test_first_path);
	tcase_add_test(tcase, test_no_path);
	tcase_add_test(tcase, test_read_back);
	tcase_add_test(tcase, test_refused);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
