/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Progress on a terminal and elsewhere: what is written to stderr. */
#include <check.h>
#include <fcntl.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "runner/interrupt.c"
#include "runner/print.c"
#include "runner/progress.c"

/* Two descriptors: stderr is put on the second; what came out of the first is returned by
 * collect(). */
static int ends[2];

static void use_pipe(void)
{
	ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
}

static void use_terminal(int columns)
{
	struct winsize size = {.ws_row = 24, .ws_col = (unsigned short)columns};

	ck_assert_int_eq(openpty(&ends[0], &ends[1], NULL, NULL, &size), 0);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	g_setenv("TERM", "xterm", TRUE);
}

static char *collect(void)
{
	g_autoptr(GString) all = g_string_new(NULL);
	char buffer[4096];
	gssize n;

	/* The last writer leaves: end of file on a pipe, EIO on a terminal. */
	fflush(stderr);
	close(STDERR_FILENO);
	while ((n = read(ends[0], buffer, sizeof buffer)) > 0)
		g_string_append_len(all, buffer, n);
	return g_string_free(g_steal_pointer(&all), FALSE);
}

START_TEST(lines_elsewhere)
{
	g_autofree char *text = NULL;
	Progress *p;

	use_pipe();
	p = progress_new(FALSE);
	progress_stage(p, "fetching", 0.0);
	progress_stage(p, "fetching", 0.25); /* the same stage, within 10 s */
	progress_stage(p, "fetching", 0.5);
	progress_stage(p, "unpacking", -1);
	progress_note(p, "image xfs 3f1c09 cached");
	progress_boots(p, 0, 6, "6.1 seed 1", -1);
	progress_boots(p, 0, 6, "6.1 seed 1  xfsrepair", 72 * G_TIME_SPAN_SECOND);
	progress_boots(p, 1, 6, "6.1 seed 2", 72 * G_TIME_SPAN_SECOND);
	progress_free(p);
	text = collect();
	ck_assert_str_eq(text, "fetching [--------------] 0%  0s\n"
			       "unpacking  0s\n"
			       "image xfs 3f1c09 cached\n"
			       "boots [--------------] 0/6  6.1 seed 1  0s\n"
			       "boots [##------------] 1/6  6.1 seed 2  1m12s left\n");
}
END_TEST

START_TEST(one_line_on_a_terminal)
{
	g_autofree char *text = NULL;
	Progress *p;

	use_terminal(100);
	p = progress_new(FALSE);
	progress_stage(p, "fetching", 0.5);
	progress_note(p, "a note");
	progress_free(p);
	text = collect();
	ck_assert_str_eq(text,
			 HIDE_CURSOR "\rfetching [#######-------] 50%  0s\033[K" /* drawn */
				     "\r\033[K" SHOW_CURSOR "a note\r\n" /* removed for the note */
			 HIDE_CURSOR "\rfetching [#######-------] 50%  0s\033[K" /* drawn again */
				     "\r\033[K" SHOW_CURSOR);
}
END_TEST

START_TEST(fits_the_terminal)
{
	g_autofree char *text = NULL;
	Progress *p;

	use_terminal(30);
	p = progress_new(FALSE);
	progress_boots(p, 2, 6, "6.12.95-with-a-long-name seed 2  xfsrepair", -1);
	progress_free(p);
	text = collect();
	ck_assert_str_eq(text,
			 HIDE_CURSOR "\rboots [#####---------] 2/6  6\033[K\r\033[K" SHOW_CURSOR);
}
END_TEST

START_TEST(dumb_terminal_gets_lines)
{
	g_autofree char *text = NULL;
	Progress *p;

	use_terminal(80);
	g_setenv("TERM", "dumb", TRUE);
	p = progress_new(FALSE);
	progress_stage(p, "fetching", -1);
	progress_free(p);
	text = collect();
	ck_assert_str_eq(text, "fetching  0s\r\n");
}
END_TEST

START_TEST(quiet_tells_failures_only)
{
	const LabRunEvent events[] = {
		{.kind = LAB_EVENT_NOTE, .text = "note"},
		{.kind = LAB_EVENT_STAGE, .text = "stage", .fraction = -1},
		{.kind = LAB_EVENT_BOOTS, .text = "boot", .done = 1, .total = 2, .eta_us = -1},
		{.kind = LAB_EVENT_BOOT_FAILED, .text = "6.1-s1: Kernel panic \033[1m"},
	};
	g_autofree char *text = NULL;
	Progress *p;

	use_pipe();
	p = progress_new(TRUE);
	for (gsize i = 0; i < G_N_ELEMENTS(events); i++)
		progress_run(&events[i], p);
	progress_lab("work", 0.1, p);
	progress_free(p);
	text = collect();
	ck_assert_str_eq(text, "6.1-s1: Kernel panic ?[1m\n");
}
END_TEST

/* A second signal kills; the cursor must be there again. */
START_TEST(killed_shows_the_cursor)
{
	g_autofree char *text = NULL;
	pid_t child;
	int status;

	use_terminal(80);
	child = fork();
	if (!child) {
		Progress *p;

		interrupt_setup();
		p = progress_new(FALSE);
		progress_stage(p, "fetching", -1);
		fflush(stderr);
		raise(SIGINT);
		raise(SIGINT);
		_exit(0);
	}
	waitpid(child, &status, 0);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGINT);
	text = collect();
	ck_assert(g_str_has_suffix(text, "\r\033[K" SHOW_CURSOR));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("progress");
	TCase *tc = tcase_create("progress");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, lines_elsewhere);
	tcase_add_test(tc, one_line_on_a_terminal);
	tcase_add_test(tc, fits_the_terminal);
	tcase_add_test(tc, dumb_terminal_gets_lines);
	tcase_add_test(tc, quiet_tells_failures_only);
	tcase_add_test(tc, killed_shows_the_cursor);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
