/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/spec/yaml.h"

#include <string.h>
#include <sys/stat.h>

#include "tests/unit/spec_cases.h"

/* ---- what a file must be at all ---- */

static const struct spec_case text_errors[] = {
	{"empty", "", "t.yaml:1:1: wanted a YAML document, found nothing"},
	{"only a comment", "# nothing\n", "t.yaml:1:1: wanted a YAML document, found nothing"},
	{"byte that is no UTF-8", "a: b\nc: \xff\n",
	 "t.yaml:2:4: wanted UTF-8 text, found the byte 0xff"},
	{"character cut short", "a: \xc3", "t.yaml:1:4: wanted UTF-8 text, found the byte 0xc3"},
	{"column counts characters", "ä: ü\xff",
	 "t.yaml:1:5: wanted UTF-8 text, found the byte 0xff"},
	{"flow list not closed", "a: [1, 2\n",
	 "t.yaml:2:1: wanted valid YAML, found: flow sequence without a closing bracket"},
	{"quote not closed", "a: \"x\n",
	 "t.yaml:1:5: wanted valid YAML, found: double-quoted scalar without closing quote"},
	{"two colons", "a: b: c\n",
	 "t.yaml:1:5: wanted valid YAML, found: invalid nested block mapping on the same line"},
	{"tab as indentation", "a:\n\tb: 1\n",
	 "t.yaml:2:1: wanted spaces to indent a line, found a tab"},
	{"tab after spaces", "a:\n  b: 1\n  \tc: 1\n",
	 "t.yaml:3:3: wanted spaces to indent a line, found a tab"},
	{"list beside a mapping", "- a\nb: c\n",
	 "t.yaml:2:1: wanted valid YAML, found: invalid scalar at the end of block sequence"},
	{"second document", "a: 1\n---\nb: 2\n",
	 "t.yaml:2:1: wanted one document, found a second one"},
	{"key twice", "a: 1\nb: 2\na: 3\n",
	 "t.yaml:3:1: wanted each key once, found 'a' again (first in line 1)"},
	{"key twice, deep", "a: {b: 1, \"b\": 2}\n",
	 "t.yaml:1:11: wanted each key once, found 'b' again (first in line 1)"},
	{"list as key", "[a]: 1\n", "t.yaml:1:1: wanted a key, found a list"},
	{"mapping as key", "? {a: 1}\n: 2\n", "t.yaml:1:3: wanted a key, found a mapping"},
	{"tag", "a: !!str 1\n", "t.yaml:1:4: wanted no YAML tag, found 'tag:yaml.org,2002:str'"},
	{"tag of a list", "a: !x [1]\n", "t.yaml:1:4: wanted no YAML tag, found '!x'"},
	{"unknown alias", "a: *x\n", "t.yaml:1:4: wanted the name of an anchor above, found '*x'"},
	{"alias of itself", "a: &x [*x]\n",
	 "t.yaml:1:8: wanted the name of an anchor above, found '*x'"},
	{"alias as key", "a: &x b\n*x : c\n", "t.yaml:2:1: wanted a key, found '*x'"},
	{"NUL in quotes", "a: \"x\\0y\"\n", "t.yaml:1:4: wanted text, found a NUL byte"},
};

START_TEST(errors_of_the_text)
{
	const struct spec_case *c = &text_errors[_i];
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;
	g_autoptr(LabYamlNode) root = NULL;

	spec_write("t.yaml", c->text);
	root = lab_yaml_load("t.yaml", "a test", &text, &error);
	spec_check_error(c, root, error);
	ck_assert_ptr_null(text);
}
END_TEST

START_TEST(nul_byte)
{
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(lab_yaml_parse("a: b\nc: \0d", 10, "t", &error));
	ck_assert_str_eq(error->message, "t:2:4: wanted UTF-8 text, found a NUL byte");
}
END_TEST

START_TEST(what_is_no_file)
{
	struct {
		const char *path, *error;
	} cases[] = {
		{"absent.yaml", "absent.yaml: wanted a test file, found none"},
		{"dir", "dir: wanted a test file, found a directory"},
		{"fifo", "fifo: wanted a test file, found a pipe"},
		{"/dev/zero", "/dev/zero: wanted a test file, found a device"},
		{"t.yaml/x", "t.yaml/x: wanted a test file, found Not a directory"},
		{"loop", "loop: wanted a test file, found Too many levels of symbolic links"},
	};

	spec_write("t.yaml", "a: 1\n");
	ck_assert_int_eq(g_mkdir("dir", 0700), 0);
	ck_assert_int_eq(mkfifo("fifo", 0600), 0);
	ck_assert_int_eq(symlink("loop", "loop"), 0);
	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;

		ck_assert_ptr_null(lab_yaml_load(cases[i].path, "a test", NULL, &error));
		ck_assert_str_eq(error->message, cases[i].error);
		ck_assert_int_eq(lab_error_exit_code(error), 2);
	}
}
END_TEST

/* ---- bounds ---- */

static char *expect_error(const char *text)
{
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(lab_yaml_parse(text, -1, "t", &error));
	return g_strdup(error->message);
}

START_TEST(huge_file)
{
	g_autofree char *text = g_strnfill(LAB_YAML_MAX_BYTES, 'x'), *more = NULL;
	g_autoptr(GError) error = NULL;
	g_autoptr(LabYamlNode) root = lab_yaml_parse(text, -1, "t", &error);

	ck_assert_ptr_nonnull(root);
	more = g_strconcat(text, "x", NULL);
	spec_write("t.yaml", more);
	ck_assert_ptr_null(lab_yaml_load("t.yaml", "a test", NULL, &error));
	ck_assert_str_eq(error->message, "t.yaml: wanted at most 1048576 bytes, found more");
}
END_TEST

START_TEST(deep_nesting)
{
	g_autofree char *open = g_strnfill(500000, '['), *message = expect_error(open);
	g_autofree char *open32 = g_strnfill(32, '['), *close32 = g_strnfill(32, ']');
	g_autofree char *fits = g_strconcat(open32, close32, NULL);
	g_autoptr(LabYamlNode) root = lab_yaml_parse(fits, -1, "t", NULL);

	ck_assert_str_eq(message, "t:1:33: wanted at most 32 levels, found more");
	ck_assert_ptr_nonnull(root);
}
END_TEST

/* Nine lists of nine of the one before are 9^9 values. */
START_TEST(bomb_of_aliases)
{
	g_autoptr(GString) s = g_string_new("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
	g_autofree char *message = NULL;

	for (int i = 1; i < 10; i++) {
		g_string_append_printf(s, "a%d: &a%d [", i, i);
		for (int j = 0; j < 9; j++)
			g_string_append_printf(s, "%s*a%d", j ? ", " : "", i - 1);
		g_string_append(s, "]\n");
	}
	message = expect_error(s->str);
	ck_assert_str_eq(message, "t:6:10: wanted at most 100000 values, found more");
}
END_TEST

START_TEST(many_values_and_keys)
{
	g_autoptr(GString) list = g_string_new("[");
	g_autoptr(GString) map = g_string_new(NULL);
	g_autofree char *message_list = NULL, *message_map = NULL;

	for (int i = 0; i < 100001; i++)
		g_string_append(list, "x,");
	g_string_append(list, "]");
	for (int i = 0; i < 1001; i++)
		g_string_append_printf(map, "k%d: x\n", i);
	message_list = expect_error(list->str);
	message_map = expect_error(map->str);
	ck_assert_str_eq(message_list, "t:1:200000: wanted at most 100000 values, found more");
	ck_assert_str_eq(message_map,
			 "t:1001:1: wanted at most 1000 keys in a mapping, found more");
}
END_TEST

/* ---- the tree ---- */

static void check_node(const LabYamlNode *node, LabYamlKind kind, guint line, guint column,
		       const char *text)
{
	ck_assert_ptr_nonnull(node);
	ck_assert_int_eq(node->kind, kind);
	ck_assert_uint_eq(node->origin.line, line);
	ck_assert_uint_eq(node->origin.column, column);
	if (text)
		ck_assert_str_eq(node->text, text);
}

START_TEST(positions)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabYamlNode) root = lab_yaml_parse("# comment\n"
						     "plain: one\n"
						     "'quoted': \"two\"\n"
						     "nothing:\n"
						     "list:\n"
						     "  - [ä, bc]\n"
						     "  -\n"
						     "  - x: 1\n"
						     "    y: |\n"
						     "      text\n"
						     "copy: &a {k: v}\n"
						     "again: *a\n",
						     -1, "t", &error);
	LabYamlNode *list, *inner;

	ck_assert_msg(root != NULL, "%s", error ? error->message : "no error set");
	check_node(root, LAB_YAML_MAP, 2, 1, NULL);
	check_node(lab_yaml_get(root, "plain"), LAB_YAML_SCALAR, 2, 8, "one");
	check_node(lab_yaml_get(root, "quoted"), LAB_YAML_SCALAR, 3, 11, "two");
	ck_assert_uint_eq(lab_yaml_get(root, "quoted")->key_origin.column, 1);
	ck_assert(lab_yaml_get(root, "quoted")->quoted);
	check_node(lab_yaml_get(root, "nothing"), LAB_YAML_SCALAR, 4, 1, "");
	list = lab_yaml_get(root, "list");
	ck_assert_uint_eq(list->children->len, 3);
	inner = list->children->pdata[0];
	check_node(inner, LAB_YAML_LIST, 6, 5, NULL);
	check_node(inner->children->pdata[1], LAB_YAML_SCALAR, 6, 9, "bc");
	inner = list->children->pdata[2];
	check_node(inner, LAB_YAML_MAP, 8, 5, NULL);
	ck_assert_str_eq(lab_yaml_get(inner, "y")->text, "text\n");
	/* A copy stands where its anchor does, and is a value of its own. */
	check_node(lab_yaml_get(lab_yaml_get(root, "again"), "k"), LAB_YAML_SCALAR, 11, 14, "v");
	ck_assert_ptr_ne(lab_yaml_get(root, "again"), lab_yaml_get(root, "copy"));
	ck_assert_uint_eq(lab_yaml_get(root, "again")->key_origin.line, 12);
}
END_TEST

START_TEST(json_is_yaml)
{
	g_autoptr(LabYamlNode) root =
		lab_yaml_parse("{\"a\":[1,[2,3]],\"b\":{\"c\":\"\\u00e4\\n\"}}", -1, "t", NULL);

	ck_assert_ptr_nonnull(root);
	ck_assert_uint_eq(lab_yaml_get(root, "a")->children->len, 2);
	ck_assert_str_eq(lab_yaml_get(lab_yaml_get(root, "b"), "c")->text, "ä\n");
}
END_TEST

/* ---- mappings by table ---- */

struct values {
	const char *text;
	guint64 number, bytes, ns;
	gboolean flag;
	guint word;
	const GPtrArray *texts;
	const LabYamlNode *list, *map, *any;
};

static const char *const words[] = {"always", "madvise", "never", NULL};

static const LabYamlField fields[] = {
	{"text", LAB_YAML_TEXT, offsetof(struct values, text), .required = TRUE},
	{"number", LAB_YAML_UINT, offsetof(struct values, number), .min = 2, .max = 9},
	{"bytes", LAB_YAML_BYTES, offsetof(struct values, bytes)},
	{"duration", LAB_YAML_DURATION, offsetof(struct values, ns)},
	{"flag", LAB_YAML_BOOL, offsetof(struct values, flag)},
	{"word", LAB_YAML_WORD, offsetof(struct values, word), .words = words},
	{"texts", LAB_YAML_TEXTS, offsetof(struct values, texts)},
	{"list", LAB_YAML_NODES, offsetof(struct values, list)},
	{"map", LAB_YAML_MEMBERS, offsetof(struct values, map)},
	{"any", LAB_YAML_ANY, offsetof(struct values, any)},
	{0},
};

static const struct spec_case read_errors[] = {
	{"not a mapping", "x", "t.yaml:1:1: wanted a test (a mapping), found 'x'"},
	{"required key", "number: 2\n", "t.yaml:1:1: wanted the key 'text' of a test, found none"},
	{"unknown key, near", "text: a\nnumbr: 2\n",
	 "t.yaml:2:1: wanted a key of a test, found 'numbr' (did you mean 'number'?)"},
	{"unknown key, swapped letters", "txet: a\n",
	 "t.yaml:1:1: wanted a key of a test, found 'txet' (did you mean 'text'?)"},
	{"unknown key, far", "zzz: 2\n",
	 "t.yaml:1:1: wanted a key of a test (text, number, bytes, duration, flag, word, texts, "
	 "list, map, any), found 'zzz'"},
	{"merge key is no key", "<<: {text: a}\n",
	 "t.yaml:1:1: wanted a key of a test (text, number, bytes, duration, flag, word, texts, "
	 "list, map, any), found '<<'"},
	{"text is nothing", "text:\n", "t.yaml:1:1: wanted a text, found nothing"},
	{"text is empty", "text: ''\n", "t.yaml:1:7: wanted a text, found ''"},
	{"text is a list", "text: []\n", "t.yaml:1:7: wanted a text, found a list"},
	{"number too small", "number: 1\n",
	 "t.yaml:1:9: wanted a whole number from 2 to 9, found '1'"},
	{"number too large", "number: 10\n",
	 "t.yaml:1:9: wanted a whole number from 2 to 9, found '10'"},
	{"number beyond 64 bits", "number: 18446744073709551617\n",
	 "t.yaml:1:9: wanted a whole number from 2 to 9, found '18446744073709551617'"},
	{"number is negative", "number: -3\n",
	 "t.yaml:1:9: wanted a whole number from 2 to 9, found '-3'"},
	{"number is a fraction", "number: 3.0\n",
	 "t.yaml:1:9: wanted a whole number from 2 to 9, found '3.0'"},
	{"number is a mapping", "number: {a: 1}\n",
	 "t.yaml:1:9: wanted a whole number from 2 to 9, found a mapping"},
	{"bytes without unit", "bytes: 5\n",
	 "t.yaml:1:8: wanted a size like 512MiB, found '5' (the unit is missing)"},
	{"bytes beyond 64 bits", "bytes: 16384PiB\n", "t.yaml:1:8: '16384PiB' is too large"},
	{"duration without unit", "duration: 5\n",
	 "t.yaml:1:11: wanted a duration like 30s or 50ms, found '5' (the unit is missing)"},
	{"duration is nothing", "duration: ~x\n",
	 "t.yaml:1:11: wanted a duration like 30s or 50ms, found '~x'"},
	{"flag", "flag: yes\n", "t.yaml:1:7: wanted true or false, found 'yes'"},
	{"word", "word: madvice\n",
	 "t.yaml:1:7: wanted always, madvise or never, found 'madvice' (did you mean 'madvise'?)"},
	{"word is a list", "word: [always]\n",
	 "t.yaml:1:7: wanted always, madvise or never, found a list"},
	{"texts is a text", "texts: a\n", "t.yaml:1:8: wanted a list, found 'a'"},
	{"a text of texts", "texts: [a, [b]]\n", "t.yaml:1:12: wanted a text, found a list"},
	{"list is a mapping", "list: {}\n", "t.yaml:1:7: wanted a list, found a mapping"},
	{"map is a list", "map: []\n", "t.yaml:1:6: wanted a mapping, found a list"},
	{"bytes of two lines", "bytes: \"5\\n\"\n",
	 "t.yaml:1:8: wanted a size like 512MiB, found '5\\n'"},
	{"first error only", "flag: 1\nword: 2\n", "t.yaml:1:7: wanted true or false, found '1'"},
	{"values are shown on one line", "flag: \"a\\nb\\tc\\e\"\n",
	 "t.yaml:1:7: wanted true or false, found 'a\\nb\\tc\\u001b'"},
	{"long values are cut",
	 "flag: aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggg\n",
	 "t.yaml:1:7: wanted true or false, found "
	 "'aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff...'"},
};

START_TEST(errors_of_reading)
{
	const struct spec_case *c = &read_errors[_i];
	g_autoptr(GError) error = NULL;
	g_autoptr(LabYamlNode) root = lab_yaml_parse(c->text, -1, "t.yaml", &error);
	struct values v = {0};

	ck_assert_msg(root != NULL, "%s: %s", c->name, error ? error->message : "no error set");
	ck_assert(!lab_yaml_read(root, "a test", fields, &v, &error));
	spec_check_error(c, NULL, error);
}
END_TEST

START_TEST(values_are_read)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabYamlNode) root = lab_yaml_parse(
		"{text: a b, number: 9, bytes: 4GiB, duration: 50ms, flag: true, word: never,\n"
		" texts: [x, '1'], list: [], map: {}, any: 1}",
		-1, "t", &error);
	struct values v = {0}, absent = {.number = 7};
	g_autoptr(LabYamlNode) little = lab_yaml_parse("text: x", -1, "t", NULL);
	g_auto(GStrv) texts = NULL;

	ck_assert_msg(root && lab_yaml_read(root, "a test", fields, &v, &error), "%s",
		      error ? error->message : "?");
	ck_assert_str_eq(v.text, "a b");
	ck_assert_uint_eq(v.number, 9);
	ck_assert_uint_eq(v.bytes, 4ull << 30);
	ck_assert_uint_eq(v.ns, 50000000);
	ck_assert(v.flag);
	ck_assert_uint_eq(v.word, 2);
	texts = lab_yaml_strv(v.texts);
	ck_assert_uint_eq(g_strv_length(texts), 2);
	ck_assert_str_eq(texts[1], "1");
	ck_assert_ptr_nonnull(v.list);
	ck_assert_ptr_nonnull(v.map);
	ck_assert_str_eq(v.any->text, "1");
	ck_assert_uint_eq(lab_yaml_origin(root, "any")->line, 2);
	ck_assert_uint_eq(lab_yaml_origin(root, "none")->line, 1);
	ck_assert(lab_yaml_read(little, "a test", fields, &absent, NULL));
	ck_assert_uint_eq(absent.number, 7);
}
END_TEST

START_TEST(outputs_stay_on_errors)
{
	g_autoptr(LabYamlNode) node = lab_yaml_parse("x", -1, "t", NULL);
	guint64 number = 5;
	gboolean flag = 7;
	guint word = 6;
	const char *text = "kept";
	g_autoptr(LabYamlNode) list = lab_yaml_parse("[]", -1, "t", NULL);

	ck_assert(!lab_yaml_uint(node, 0, 0, &number, NULL));
	ck_assert(!lab_yaml_bytes(node, &number, NULL));
	ck_assert(!lab_yaml_duration(node, &number, NULL));
	ck_assert(!lab_yaml_bool(node, &flag, NULL));
	ck_assert(!lab_yaml_word(node, words, &word, NULL));
	ck_assert(!lab_yaml_text(list, "a text", &text, NULL));
	ck_assert_uint_eq(number, 5);
	ck_assert_int_eq(flag, 7);
	ck_assert_uint_eq(word, 6);
	ck_assert_str_eq(text, "kept");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("yaml");
	TCase *tc = tcase_create("yaml");

	tcase_add_unchecked_fixture(tc, spec_setup, spec_teardown);
	tcase_add_loop_test(tc, errors_of_the_text, 0, G_N_ELEMENTS(text_errors));
	tcase_add_test(tc, nul_byte);
	tcase_add_test(tc, what_is_no_file);
	tcase_add_test(tc, huge_file);
	tcase_add_test(tc, deep_nesting);
	tcase_add_test(tc, bomb_of_aliases);
	tcase_add_test(tc, many_values_and_keys);
	tcase_add_test(tc, positions);
	tcase_add_test(tc, json_is_yaml);
	tcase_add_loop_test(tc, errors_of_reading, 0, G_N_ELEMENTS(read_errors));
	tcase_add_test(tc, values_are_read);
	tcase_add_test(tc, outputs_stay_on_errors);
	suite_add_tcase(suite, tc);
	return spec_run(suite);
}
