/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/base/json_writer.h"

#include <check.h>
#include <json-glib/json-glib.h>
#include <math.h>
#include <stdlib.h>

#include "lab/base/units.h"

START_TEST(layout)
{
	g_autoptr(LabJsonWriter) w = lab_json_writer_new();
	g_autofree char *text = NULL;

	lab_json_writer_object(w, NULL, LAB_JSON_BLOCK);
	lab_json_writer_string(w, "a", "x");
	lab_json_writer_string(w, "b", NULL);
	lab_json_writer_object(w, "empty", LAB_JSON_BLOCK);
	lab_json_writer_end(w);
	lab_json_writer_array(w, "list", LAB_JSON_BLOCK);
	lab_json_writer_uint(w, NULL, G_MAXUINT64);
	lab_json_writer_object(w, NULL, LAB_JSON_LINE);
	lab_json_writer_number(w, "c", 0.1);
	lab_json_writer_array(w, "d", LAB_JSON_BLOCK);
	lab_json_writer_number(w, NULL, NAN);
	lab_json_writer_number(w, NULL, -INFINITY);
	lab_json_writer_end(w);
	lab_json_writer_end(w);
	lab_json_writer_end(w);
	lab_json_writer_end(w);
	text = lab_json_writer_text(w);
	ck_assert_str_eq(text, "{\n"
			       "  \"a\": \"x\",\n"
			       "  \"b\": null,\n"
			       "  \"empty\": {},\n"
			       "  \"list\": [\n"
			       "    18446744073709551615,\n"
			       "    {\"c\": 0.1, \"d\": [null, null]}\n"
			       "  ]\n"
			       "}\n");
}
END_TEST

static const struct {
	const char *value, *text;
} strings[] = {
	{"plain", "\"plain\""},
	{"", "\"\""},
	{"quote \" backslash \\", "\"quote \\\" backslash \\\\\""},
	{"line\nfeed\ttab\x01\x7f", "\"line\\u000afeed\\u0009tab\\u0001\\u007f\""},
	{"\xc3\xa9", "\"\xc3\xa9\""},
	{"bad \xff", "\"bad \xef\xbf\xbd\""},
};

START_TEST(escapes)
{
	g_autoptr(LabJsonWriter) w = lab_json_writer_new();
	g_autoptr(JsonNode) node = NULL;
	g_autofree char *text = NULL, *wanted = g_strdup_printf("[%s]\n", strings[_i].text);

	lab_json_writer_array(w, NULL, LAB_JSON_LINE);
	lab_json_writer_string(w, NULL, strings[_i].value);
	lab_json_writer_end(w);
	text = lab_json_writer_text(w);
	ck_assert_str_eq(text, wanted);
	node = json_from_string(text, NULL);
	ck_assert_ptr_nonnull(node);
	if (g_utf8_validate(strings[_i].value, -1, NULL))
		ck_assert_str_eq(json_array_get_string_element(json_node_get_array(node), 0),
				 strings[_i].value);
}
END_TEST

static const struct {
	double value;
	const char *text;
} numbers[] = {
	{0, "0"},
	{0.1, "0.1"},
	{5, "5"},
	{-2.5, "-2.5"},
	{1.0 / 3, "0.3333333333333333"},
	{26454, "26454"},
	{1e18, "1e+18"},
	{123456789012345, "123456789012345"},
	{9007199254740991.0, "9007199254740991"},
	{5e-324, "4.94065645841247e-324"},
	{1.7976931348623157e308, "1.7976931348623157e+308"},
};

START_TEST(number)
{
	g_autofree char *text = lab_format_number(numbers[_i].value);

	ck_assert_str_eq(text, numbers[_i].text);
	ck_assert(g_ascii_strtod(text, NULL) == numbers[_i].value);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("json_writer");
	TCase *tcase = tcase_create("json_writer");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tcase, layout);
	tcase_add_loop_test(tcase, escapes, 0, G_N_ELEMENTS(strings));
	tcase_add_loop_test(tcase, number, 0, G_N_ELEMENTS(numbers));
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
