/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's readers of the kernel's own texts, and its mount options, built for the host. */
#include <check.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "agent/builtin.c"
#include "agent/files.c"
#include "agent/kernel_text.c"
#include "agent/touch.c"

static const struct {
	const char *list;
	const char *formatted; /* NULL: refused */
} lists[] = {
	{"", ""},
	{"\n", ""},
	{"0", "0"},
	{"0\n", "0"},
	{"0-3,8", "0-3,8"},
	{"8,0-3", "0-3,8"},
	{"0,1,2,4", "0-2,4"},
	{"1023", "1023"},
	{"1024", NULL},
	{"0-99999999999", NULL},
	{"3-1", NULL},
	{"-1", NULL},
	{"1-", NULL},
	{"1,", NULL},
	{",1", NULL},
	{"1 2", NULL},
	{"a", NULL},
	{"1\n2", NULL},
};

START_TEST(test_list)
{
	struct id_set set, untouched;
	char text[ID_LIST_MAX];

	memset(&set, 0xa5, sizeof(set));
	untouched = set;
	if (!lists[_i].formatted) {
		ck_assert_int_eq(id_set_parse(lists[_i].list, &set), -1);
		ck_assert(id_set_equal(&set, &untouched));
		return;
	}
	ck_assert_int_eq(id_set_parse(lists[_i].list, &set), 0);
	id_set_format(&set, text, sizeof(text));
	ck_assert_str_eq(text, lists[_i].formatted);
}
END_TEST

/* The longest list that there can be fits. */
START_TEST(test_list_longest)
{
	struct id_set set = {0};
	char text[ID_LIST_MAX + 1];

	for (unsigned id = 0; id < ID_SET_MAX; id += 2)
		id_set_add(&set, id);
	memset(text, 'x', sizeof(text));
	id_set_format(&set, text, ID_LIST_MAX);
	ck_assert_int_eq(text[ID_LIST_MAX], 'x');
	ck_assert(g_str_has_suffix(text, ",1020,1022"));
	id_set_format(&set, text, 4);
	ck_assert_uint_lt(strlen(text), 4);
}
END_TEST

/* Cut from a 6.1 guest: node 2 has a CPU and no memory, and the zones nothing is in have no per-cpu
 * part. */
static const char zoneinfo[] = "Node 0, zone      DMA\n"
			       "  per-node stats\n"
			       "      nr_inactive_anon 1\n"
			       "  pages free     3840\n"
			       "        min      44\n"
			       "        spanned  4095\n"
			       "        present  3998\n"
			       "        managed  3840\n"
			       "Node 0, zone    DMA32\n"
			       "  pages free     100000\n"
			       "        spanned  126976\n"
			       "        present  126976\n"
			       "        managed  113500\n"
			       "      nr_free_pages 100\n"
			       "Node 2, zone   Normal\n"
			       "  pages free     0\n"
			       "        spanned  0\n"
			       "        present  0\n"
			       "        managed  0\n"
			       "Node 13, zone   Normal\n"
			       "        present  7\n"
			       "Node 3, zone    DMA32\n"
			       "        spanned  131072\n"
			       "        present  131039\n";

START_TEST(test_zoneinfo)
{
	uint64_t pages[4] = {9, 9, 9, 9};

	zoneinfo_present(zoneinfo, pages, G_N_ELEMENTS(pages));
	ck_assert_uint_eq(pages[0], 3998 + 126976);
	ck_assert_uint_eq(pages[1], 0);
	ck_assert_uint_eq(pages[2], 0);
	ck_assert_uint_eq(pages[3], 131039);
	zoneinfo_present("", pages, G_N_ELEMENTS(pages));
	ck_assert_uint_eq(pages[0], 0);
}
END_TEST

START_TEST(test_counter)
{
	static const char vmstat[] =
		"nr_free_pages 12\noom_kill_x 5\noom_kill 3\nlast 18446744073709551615";
	uint64_t value = 77;

	ck_assert(counter_find(vmstat, "oom_kill", &value));
	ck_assert_uint_eq(value, 3);
	ck_assert(counter_find(vmstat, "last", &value));
	ck_assert_uint_eq(value, UINT64_MAX);
	value = 77;
	ck_assert(!counter_find(vmstat, "oom", &value));
	ck_assert(!counter_find("", "oom_kill", &value));
	ck_assert_uint_eq(value, 77);
}
END_TEST

static const struct {
	const char *found, *wanted;
	bool matches;
} values[] = {
	{"1\n", "1", true},
	{"1\n", "0", false},
	{"10\n", "1", false},
	{"1", "10", false},
	{"50\n", " 50 ", true},
	{"", "", true},
	{"\n", "", true},
	{"1\n", "", false},
	{"", "1", false},
	{"always [madvise] never\n", "madvise", true},
	{"always [madvise] never\n", "always", false},
	{"always [madvise] never\n", "always [madvise] never", false},
	{"[always] madvise never\n", "alway", false},
	{"32000\t1024000000\t500\t32000\n", "32000 1024000000 500 32000", true},
	{"32000\t1024000000\t500\n", "32000 1024000000 500 32000", false},
	{"a b", "ab", false},
	{"[", "[", true},
};

START_TEST(test_value)
{
	ck_assert_msg(value_matches(values[_i].found, values[_i].wanted) == values[_i].matches,
		      "'%s' and '%s'", values[_i].found, values[_i].wanted);
}
END_TEST

/* Names and descriptions are padded to 4 bytes; the build id need not come first. */
static const uint8_t notes[] = {
	6,   0, 0,    0, 2,   0,   0,	 0,    1,    1,	   0,	 0,    'L',  'i', 'n', 'u',
	'x', 0, 0xff, 0, 1,   2,   0xff, 0xff, 4,    0,	   0,	 0,    5,    0,	  0,   0,
	3,   0, 0,    0, 'G', 'N', 'U',	 0,    0x6a, 0x2b, 0x00, 0xc7, 0xff, 0,	  0,   0,
};

START_TEST(test_build_id)
{
	char hex[65] = "untouched";

	ck_assert_int_eq(notes_build_id(notes, sizeof(notes), hex, sizeof(hex)), 0);
	ck_assert_str_eq(hex, "6a2b00c7ff");
	ck_assert_int_eq(notes_build_id(notes, sizeof(notes), hex, 10), -1);
	/* Cut anywhere: never found, and nothing behind the end is read (ASan watches). */
	for (size_t bytes = 0; bytes < sizeof(notes); bytes++) {
		g_autofree uint8_t *cut = g_memdup2(notes, bytes ? bytes : 1);

		ck_assert_int_eq(notes_build_id(cut, bytes, hex, sizeof(hex)), -1);
	}
}
END_TEST

static const struct {
	const char *options, *data;
	unsigned long flags;
} mounts[] = {
	{"", "", 0},
	{"defaults", "", 0},
	{"ro,noatime", "", MS_RDONLY | MS_NOATIME},
	{"ro,rw", "", 0},
	{"inode64,nodev,logbsize=256k", "inode64,logbsize=256k", MS_NODEV},
	{"rohs", "rohs", 0},
	{",,ro,", "", MS_RDONLY},
};

START_TEST(test_mount)
{
	char data[64];

	ck_assert_uint_eq(mount_options(mounts[_i].options, data, sizeof(data)), mounts[_i].flags);
	ck_assert_str_eq(data, mounts[_i].data);
}
END_TEST

/* A fixed number of touches is done exactly, however it divides, and the same pages are touched
 * each time. */
START_TEST(test_touch)
{
	struct job_touch touch = {.threads = 3, .bytes = 100000, .touches = 1000};
	uint64_t touches = 0;

	ck_assert_int_eq(touch_run(&touch, &touches), 0);
	ck_assert_uint_eq(touches, 1000);
	touch = (struct job_touch){.threads = 2, .bytes = 1, .duration_ns = 1};
	ck_assert_int_eq(touch_run(&touch, &touches), 0);
	ck_assert_uint_ge(touches, 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent-text");
	TCase *tcase = tcase_create("text");
	SRunner *runner = srunner_create(suite);

	tcase_add_loop_test(tcase, test_list, 0, G_N_ELEMENTS(lists));
	tcase_add_test(tcase, test_list_longest);
	tcase_add_test(tcase, test_zoneinfo);
	tcase_add_test(tcase, test_counter);
	tcase_add_loop_test(tcase, test_value, 0, G_N_ELEMENTS(values));
	tcase_add_test(tcase, test_build_id);
	tcase_add_loop_test(tcase, test_mount, 0, G_N_ELEMENTS(mounts));
	tcase_add_test(tcase, test_touch);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
