/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/verdict/verify.h"

#include <check.h>
#include <glib/gstdio.h>
#include <stdlib.h>

#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/guest/boot.h"
#include "tests/unit/results.h"

static char *root;

static void setup(void)
{
	root = g_dir_make_tmp("numalab-verify-XXXXXX", NULL);
	ck_assert_ptr_nonnull(root);
}

static void teardown(void)
{
	lab_dir_remove(root, NULL);
	g_clear_pointer(&root, g_free);
}

#define LONG_LINE                                                                                  \
	"0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567" \
	"89012345678901234567890123456789012345678901234567890123456789"

/* What may differ between two boots; NULL, 0: as usual. */
typedef struct {
	const char *vmstat, *console, *end_name, *stdout_bytes;
	gsize stdout_length;
	gint64 clock_shift_ns; /* of the third record */
	guint n_records;       /* 0: all */
	gboolean extra;	       /* one record more */
	const char *tail;      /* bytes after the last record */
	const char *raw;       /* results.img is just this */
	LabOutcome outcome;
	const char *message;
} Boot;

static void shift_clock(Results *results, gsize at, gint64 ns)
{
	struct agent_record_header header;

	memcpy(&header, results->bytes->data + at, sizeof(header));
	header.clock_ns = GUINT64_TO_LE(GUINT64_FROM_LE(header.clock_ns) + (guint64)ns);
	results_seal(&header);
	memcpy(results->bytes->data + at, &header, sizeof(header));
}

static Results make_results(const Boot *boot)
{
	Results results = results_new();
	guint n = boot->n_records ? boot->n_records : 100;
	gsize third = 0;

	results_add(&results, AGENT_REC_START, "", "release 6.1\nclock_ns 5\n");
	if (n > 1)
		results_add(&results, AGENT_REC_STEP_BEGIN, "xfsrepair", "index 0\n");
	results_align(&results);
	third = results.bytes->len;
	if (n > 2)
		results_add(&results, AGENT_REC_SNAPSHOT, "xfsrepair/after/vmstat",
			    boot->vmstat ? boot->vmstat : "nr_x 1\nnuma_hit 5012\nnuma_miss 0\n");
	if (n > 2 && boot->clock_shift_ns)
		shift_clock(&results, third, boot->clock_shift_ns);
	if (n > 3)
		results_add(&results, AGENT_REC_STEP_END,
			    boot->end_name ? boot->end_name : "xfsrepair", "exit 0\nwall_ns 77\n");
	if (n > 4 && boot->stdout_bytes)
		results_add_bytes(&results, AGENT_REC_OUTPUT, "xfsrepair/stdout", 16,
				  boot->stdout_bytes, boot->stdout_length);
	if (n > 4)
		results_add(&results, AGENT_REC_END, "", "steps 1\n");
	if (boot->extra)
		results_add(&results, AGENT_REC_LOG, "dmesg", "x");
	if (boot->tail)
		g_byte_array_append(results.bytes, (const guint8 *)boot->tail,
				    (guint)strlen(boot->tail));
	return results;
}

static char *make_boot(const char *name, const Boot *boot)
{
	char *dir = g_build_filename(root, name, NULL);
	g_autofree char *results_path = g_build_filename(dir, "results.img", NULL);
	g_autofree char *console_path = g_build_filename(dir, "console.log", NULL);
	g_auto(Results) results = make_results(boot);
	LabBootResult result = {.outcome = boot->outcome,
				.stage = (char *)"done",
				.message = (char *)(boot->message ? boot->message : ""),
				.evidence = (char *)"",
				.digest = (char *)name,
				.job_digest = (char *)"10b",
				.host_qemu_version = (char *)"10.0.2"};

	ck_assert(lab_dir_make(dir, NULL));
	if (boot->raw)
		ck_assert(lab_file_write(results_path, boot->raw, -1, NULL));
	else
		ck_assert(lab_file_write(results_path, results.bytes->data,
					 (gssize)results.bytes->len, NULL));
	ck_assert(lab_file_write(console_path,
				 boot->console ? boot->console : "Linux version 6.1\nready\n", -1,
				 NULL));
	ck_assert(lab_boot_result_write(&result, dir, NULL));
	return dir;
}

static const struct {
	Boot a, b;
	const char *where;
} cases[] = {
	{{}, {}, ""},
	{{},
	 {.vmstat = "nr_x 1\nnuma_hit 5013\nnuma_miss 9\n"},
	 "record 2, xfsrepair/after/vmstat, line 2: 'numa_hit 5012' / 'numa_hit 5013'"},
	{{},
	 {.vmstat = "nr_x 1\nnuma_hit 5013\n", .clock_shift_ns = 2},
	 "record 2, xfsrepair/after/vmstat, line 2: 'numa_hit 5012' / 'numa_hit 5013' (clock 3000 "
	 "ns / 3002 ns)"},
	{{},
	 {.vmstat = "nr_x 1\nnuma_hit 5012\n"},
	 "record 2, xfsrepair/after/vmstat, line 3: 'numa_miss 0' / nothing"},
	{{},
	 {.vmstat = "nr_x 1\nnuma_hit 5012\nnuma_miss 0"},
	 "record 2, xfsrepair/after/vmstat, the last line: with and without newline"},
	{{}, {.clock_shift_ns = 7}, "record 2, xfsrepair/after/vmstat, clock 3000 ns / 3007 ns"},
	/* the first of two differences */
	{{},
	 {.clock_shift_ns = 7, .end_name = "other", .console = "other\n"},
	 "record 2, xfsrepair/after/vmstat, clock 3000 ns / 3007 ns"},
	{{}, {.end_name = "other"}, "record 3: step end xfsrepair / step end other"},
	{{}, {.n_records = 3}, "record 3: step end xfsrepair / nothing"},
	{{.n_records = 3}, {}, "record 3: nothing / step end xfsrepair"},
	{{.stdout_bytes = "a\0b\n", .stdout_length = 4},
	 {.stdout_bytes = "a\0c\n", .stdout_length = 4},
	 "record 4, xfsrepair/stdout, line 1: 'a?b' / 'a?c'"},
	{{.vmstat = LONG_LINE "1\n"},
	 {.vmstat = LONG_LINE "2\n"},
	 "record 2, xfsrepair/after/vmstat, line 1: '5678901234567890123456789"
	 "1' / '5678901234567890123456789"
	 "2'"},
	{{}, {.console = "Linux version 6.1\nReady\n"}, "console.log, line 2: 'ready' / 'Ready'"},
	{{}, {.console = ""}, "console.log, line 1: 'Linux version 6.1' / nothing"},
	{{.console = "\x1b[0m\xff\n"},
	 {.console = "\x1b[1m\xff\n"},
	 "console.log, line 1: '?[0m?' / '?[1m?'"},
	/* after END nothing is read, but the bytes are there */
	{{}, {.tail = "x"}, "results.img: "},
	{{.tail = "y"}, {.tail = "x"}, "results.img, byte "},
	/* not records at all */
	{{.raw = "NUMA"}, {.raw = "NUMX"}, "results.img, byte 3: 0x41 / 0x58"},
	{{.raw = ""}, {}, "results.img: 0 bytes / "},
	{{.outcome = LAB_OUTCOME_KERNEL, .message = "panic: \n"},
	 {},
	 "outcome: kernel 'panic: ?' / ok "},
};

START_TEST(first_difference)
{
	g_autofree char *a = make_boot("a", &cases[_i].a), *b = make_boot("b", &cases[_i].b);
	g_autoptr(GError) error = NULL;
	g_autoptr(LabVerify) verify = lab_verify_dirs(a, b, &error);
	gsize length = strlen(cases[_i].where);

	ck_assert_msg(verify != NULL, "%s", error ? error->message : "no error");
	/* Places of bytes depend on the header's layout: only what comes before them is fixed. */
	if (length && (cases[_i].where[length - 1] == ' ') &&
	    !g_str_has_suffix(cases[_i].where, "ok "))
		ck_assert_msg(g_str_has_prefix(verify->where, cases[_i].where) &&
				      strlen(verify->where) > length,
			      "%s", verify->where);
	else
		ck_assert_str_eq(verify->where, cases[_i].where);
	ck_assert_int_eq(verify->identical, !length);
	ck_assert_str_eq(verify->digest[0], "a");
	ck_assert_str_eq(verify->digest[1], "b");
	for (const char *c = verify->where; *c; c++)
		ck_assert(g_ascii_isprint(*c));
	ck_assert_uint_lt(strlen(verify->where), 400);
}
END_TEST

static const struct {
	const char *file;
	gboolean first;
} absent[] = {
	{"result.json", TRUE},
	{"result.json", FALSE},
	{"results.img", TRUE},
	{"console.log", FALSE},
};

START_TEST(incomplete)
{
	Boot boot = {};
	g_autofree char *a = make_boot("a", &boot), *b = make_boot("b", &boot);
	g_autofree char *path = g_build_filename(absent[_i].first ? a : b, absent[_i].file, NULL);
	g_autoptr(GError) error = NULL;

	ck_assert_int_eq(g_unlink(path), 0);
	ck_assert_ptr_null(lab_verify_dirs(a, b, &error));
	ck_assert_ptr_nonnull(error);
	ck_assert_msg(strstr(error->message, absent[_i].file) != NULL, "%s", error->message);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verify");
	TCase *tcase = tcase_create("verify");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, first_difference, 0, G_N_ELEMENTS(cases));
	tcase_add_loop_test(tcase, incomplete, 0, G_N_ELEMENTS(absent));
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
