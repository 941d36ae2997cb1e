/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lab/base/error.h"
#include "lab/base/process.h"

#define SH(text) ((const char *const[]){"sh", "-c", text, NULL})

START_TEST(how_it_ended)
{
	static const struct {
		const char *script;
		int exit_status, signal;
		const char *out, *err;
	} cases[] = {
		{"echo a; echo b >&2", 0, 0, "a\n", "b\n"},
		{"exit 3", 3, 0, "", ""},
		{"kill -TERM $$", -1, SIGTERM, "", ""},
		{"printf '%s' \"$LC_ALL\"", 0, 0, "C", ""},
		{"readlink /proc/self/fd/0", 0, 0, "/dev/null\n", ""},
		{"test $(ps -o pgid= -p $$) = $$ && echo own group", 0, 0, "own group\n", ""},
	};
	g_auto(LabProcessResult) result = {0};

	ck_assert(lab_process_run(SH(cases[_i].script), NULL, &result, NULL));
	ck_assert_int_eq(result.exit_status, cases[_i].exit_status);
	ck_assert_int_eq(result.signal, cases[_i].signal);
	ck_assert_str_eq(result.out, cases[_i].out);
	ck_assert_str_eq(result.err, cases[_i].err);
}
END_TEST

START_TEST(input_and_environment)
{
	const LabProcessOptions options = {
		.input = "hello",
		.cwd = "/",
		.environment = (const char *const[]){"GREETED=world", NULL},
	};
	g_auto(LabProcessResult) result = {0};

	ck_assert(lab_process_run(SH("cat; echo \" $GREETED $PWD\""), &options, &result, NULL));
	ck_assert_str_eq(result.out, "hello world /\n");
}
END_TEST

START_TEST(check_quotes_the_end_of_stderr)
{
	g_autoptr(GError) error = NULL;
	char *out = (char *)"untouched";

	ck_assert(!lab_process_check(SH("for i in 1 2 3 4 5; do echo line $i >&2; done; exit 7"),
				     NULL, &out, &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_INFRA));
	ck_assert_str_eq(error->message, "sh failed (exit 7): line 3; line 4; line 5");
	ck_assert_str_eq(out, "untouched");
}
END_TEST

START_TEST(timeout_ends_the_group)
{
	const LabProcessOptions options = {.timeout_us = 200000};
	g_auto(LabProcessResult) result = {.exit_status = 42};
	g_autoptr(GError) error = NULL;

	/* The grandchild holds the pipes: only when the whole group ends does this return. */
	ck_assert(!lab_process_run(SH("tail -f /dev/null & wait"), &options, &result, &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_INFRA));
	ck_assert_int_eq(result.exit_status, 42);
}
END_TEST

static gpointer cancel_when_it_runs(gpointer data)
{
	g_autofree char *line = NULL;

	/* The fifo opens when the child has opened its end. */
	g_file_get_contents(((gpointer *)data)[1], &line, NULL, NULL);
	g_cancellable_cancel(((gpointer *)data)[0]);
	return NULL;
}

START_TEST(interrupt_ends_children)
{
	g_autofree char *dir = g_dir_make_tmp("test-process-XXXXXX", NULL);
	g_autofree char *fifo = g_build_filename(dir, "fifo", NULL);
	g_autofree char *script = g_strdup_printf("echo > %s; tail -f /dev/null & wait", fifo);
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	g_auto(LabProcessResult) result = {0};
	g_autoptr(GError) error = NULL;
	gpointer data[] = {cancellable, fifo};
	GThread *thread;

	ck_assert(lab_process_check((const char *const[]){"mkfifo", fifo, NULL}, NULL, NULL, NULL));
	lab_process_set_cancellable(cancellable);
	thread = g_thread_new("cancel", cancel_when_it_runs, data);
	ck_assert(!lab_process_run(SH(script), NULL, &result, &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_INTERRUPTED));
	g_thread_join(thread);
	g_clear_error(&error);
	/* And those that come later. */
	ck_assert(!lab_process_run(SH("tail -f /dev/null"), NULL, &result, &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_INTERRUPTED));
	lab_process_set_cancellable(NULL);
	ck_assert(
		lab_process_check((const char *const[]){"rm", "-r", dir, NULL}, NULL, NULL, NULL));
}
END_TEST

static void take_line(const char *line, gpointer data)
{
	g_string_append_printf(data, "[%s]", line);
	/* The child waits for this file: so each line is here before the child ends. */
	if (!strcmp(line, "one"))
		ck_assert(g_file_set_contents(g_getenv("TEST_GO"), "", 0, NULL));
}

START_TEST(lines_as_they_come)
{
	g_autofree char *dir = g_dir_make_tmp("test-process-XXXXXX", NULL);
	g_autofree char *go = g_build_filename(dir, "go", NULL);
	g_autoptr(GString) lines = g_string_new(NULL);
	g_auto(LabProcessResult) result = {0};
	LabProcessOptions options = {.line = take_line, .line_data = lines, .timeout_us = 20 * G_USEC_PER_SEC};

	g_setenv("TEST_GO", go, TRUE);
	ck_assert(lab_process_run(SH("echo one; until [ -e $TEST_GO ]; do :; done; echo; printf two; echo said >&2; exit 3"),
				  &options, &result, NULL));
	ck_assert_str_eq(lines->str, "[one][][two]");
	ck_assert_int_eq(result.exit_status, 3);
	ck_assert_str_eq(result.err, "said\n");
	ck_assert_str_eq(result.out, "");
	ck_assert(lab_process_check((const char *const[]){"rm", "-r", dir, NULL}, NULL, NULL, NULL));
}
END_TEST

START_TEST(no_such_program)
{
	g_auto(LabProcessResult) result = {0};
	g_autoptr(GError) error = NULL;

	ck_assert(!lab_process_run((const char *const[]){"/nonexistent/x", NULL}, NULL, &result,
				   &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_INFRA));
	ck_assert_ptr_nonnull(strstr(error->message, "/nonexistent/x"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("process");
	TCase *tc = tcase_create("process");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tc, 30);
	tcase_add_loop_test(tc, how_it_ended, 0, 6);
	tcase_add_test(tc, input_and_environment);
	tcase_add_test(tc, check_quotes_the_end_of_stderr);
	tcase_add_test(tc, timeout_ends_the_group);
	tcase_add_test(tc, interrupt_ends_children);
	tcase_add_test(tc, lines_as_they_come);
	tcase_add_test(tc, no_such_program);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
