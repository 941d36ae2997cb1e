/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the command prints: tables, wrapped text, cleaned bytes. */
#include <check.h>
#include <locale.h>
#include <stdlib.h>

#include "runner/print.c"

START_TEST(clean)
{
	static const struct {
		const char *from, *to;
	} cases[] = {
		{"plain text", "plain text"},
		{"two\nlines\tand tab", "two\nlines\tand tab"},
		{"\033[31mred\033[0m", "?[31mred?[0m"},
		{"bell\a, return\r, delete\177", "bell?, return?, delete?"},
		{"caf\xc3\xa9", "caf\xc3\xa9"},
		{"bad \xff\xfe utf-8", "bad ?? utf-8"},
		{"C1 \xc2\x9b"
		 "31m",
		 "C1 ?31m"},
		{"right-to-left \xe2\x80\xae override", "right-to-left ? override"},
		{"", ""},
	};
	g_autofree char *text = print_clean(cases[_i].from);

	ck_assert_str_eq(text, cases[_i].to);
}
END_TEST

START_TEST(table)
{
	g_autoptr(PrintTable) t = print_table_new("NAME", ">COUNT", "ABOUT", NULL);
	g_autofree char *text = NULL;

	print_table_add(t, "a", "1", "first", NULL);
	print_table_add(t, "longer", "12345678", "", NULL);
	print_table_add(t, "caf\xc3\xa9", NULL);
	print_table_add(t, "x\ny", "\033[1m", "z", "one too many", NULL);
	text = print_table_text(t);
	ck_assert_str_eq(text, "NAME       COUNT  ABOUT\n"
			       "a              1  first\n"
			       "longer  12345678\n"
			       "caf\xc3\xa9           -  -\n"
			       "x y         ?[1m  z\n");
}
END_TEST

START_TEST(wrap)
{
	static const struct {
		const char *from;
		guint width, indent;
		const char *to;
	} cases[] = {
		{"one two three", 80, 0, "one two three"},
		{"one two three", 7, 0, "one two\nthree"},
		{"one two three", 7, 2, "  one two\n  three"},
		{"a\nb\n\nc", 80, 0, "a b\n\nc"},
		{"unbreakable-word x", 5, 0, "unbreakable-word\nx"},
		{"text\n\n    kept   as it is\n    too\n\nend", 80, 0,
		 "text\n\n    kept   as it is\n    too\n\nend"},
		{"", 80, 0, ""},
	};
	g_autofree char *text = print_wrap(cases[_i].from, cases[_i].width, cases[_i].indent);

	ck_assert_str_eq(text, cases[_i].to);
}
END_TEST

START_TEST(colour)
{
	print_set_colour(FALSE);
	ck_assert_str_eq(print_colour(PRINT_BAD), "");
	print_set_colour(TRUE);
	ck_assert_str_eq(print_colour(PRINT_BAD), "\033[31m");
	ck_assert_str_eq(print_colour(PRINT_PLAIN), "\033[0m");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("print");
	TCase *tc = tcase_create("print");
	SRunner *runner = srunner_create(suite);
	int failed;

	setlocale(LC_CTYPE, "C.UTF-8");
	tcase_add_loop_test(tc, clean, 0, 9);
	tcase_add_test(tc, table);
	tcase_add_loop_test(tc, wrap, 0, 7);
	tcase_add_test(tc, colour);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
