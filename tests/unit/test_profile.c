/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples of perf's rings -> call chains with names. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/measure/kallsyms.h"
#include "lab/measure/perf_records.h"
#include "lab/measure/profile.h"
#include "tests/unit/results.h"

#define KERNEL_A 0xffffffff81001000ull /* do_a, 0x100 bytes */
#define KERNEL_B 0xffffffff81001100ull /* do_b */
#define MODULE_X 0xffffffffc0000010ull /* xfs_x of [xfs] */
#define CONTEXT_KERNEL ((guint64)-128)
#define CONTEXT_USER ((guint64)-512)

static const char kallsyms[] = "ffffffff81000000 T _stext\n"
			       "ffffffff81001000 t __do_a\n"
			       "ffffffff81001000 W weak_a\n"
			       "ffffffff81001000 T do_a\n"
			       "ffffffff81001100 T do_b\n"
			       "ffffffffc0000010 t xfs_x\t[xfs]\n"
			       "ffffffffc0000090 t xfs_y\t[xfs]\n"
			       "not a symbol\n";
static const char profile_end[] =
	"asked auto\nevent cpu-clock\ntype 1\nconfig 0\nsample_type 423\nperiod 1000\n"
	"cpus 2\nbytes 1\ntruncated 0\n";

/* ---- a ring ------------------------------------------------------------------------------------- */

static void u16(GByteArray *a, guint16 v)
{
	v = GUINT16_TO_LE(v);
	g_byte_array_append(a, (guint8 *)&v, 2);
}
static void u32(GByteArray *a, guint32 v)
{
	v = GUINT32_TO_LE(v);
	g_byte_array_append(a, (guint8 *)&v, 4);
}
static void u64(GByteArray *a, guint64 v)
{
	v = GUINT64_TO_LE(v);
	g_byte_array_append(a, (guint8 *)&v, 8);
}

static GByteArray *ring(guint cpu)
{
	GByteArray *a = g_byte_array_new();

	u32(a, cpu);
	u32(a, 0);
	return a;
}

static void head(GByteArray *a, guint type, guint misc, guint size)
{
	u32(a, type);
	u16(a, (guint16)misc);
	u16(a, (guint16)size);
}

static void sample_id(GByteArray *a, guint pid, guint64 time)
{
	u32(a, pid);
	u32(a, pid);
	u64(a, time);
	u32(a, 0);
	u32(a, 0);
}

static void text(GByteArray *a, const char *text, gsize size)
{
	g_autofree char *padded = g_malloc0(size);

	memcpy(padded, text, strlen(text));
	g_byte_array_append(a, (guint8 *)padded, (guint)size);
}

static void comm(GByteArray *a, guint pid, const char *name, gboolean exec, guint64 time)
{
	head(a, 3, exec ? 1 << 13 : 0, 8 + 8 + 16 + 24);
	u32(a, pid);
	u32(a, pid);
	text(a, name, 16);
	sample_id(a, pid, time);
}

static void mmap2(GByteArray *a, guint pid, guint64 start, guint64 length, guint64 offset,
		  const char *path, guint64 time)
{
	head(a, 10, 0, 8 + 64 + 32 + 24);
	u32(a, pid);
	u32(a, pid);
	u64(a, start);
	u64(a, length);
	u64(a, offset);
	for (guint i = 0; i < 4; i++)
		u64(a, 0);
	text(a, path, 32);
	sample_id(a, pid, time);
}

static void fork_of(GByteArray *a, guint parent, guint pid, guint64 time)
{
	head(a, 7, 0, 8 + 24 + 24);
	u32(a, pid);
	u32(a, parent);
	u32(a, pid);
	u32(a, parent);
	u64(a, time);
	sample_id(a, parent, time);
}

static void sample(GByteArray *a, guint pid, guint64 time, guint64 period, const guint64 *ips,
		   guint n)
{
	head(a, 9, 0, 56 + 8 * n);
	u64(a, n > 1 ? ips[1] : 0);
	u32(a, pid);
	u32(a, pid);
	u64(a, time);
	u32(a, 0);
	u32(a, 0);
	u64(a, period);
	u64(a, n);
	for (guint i = 0; i < n; i++)
		u64(a, ips[i]);
}

static void lost(GByteArray *a, guint64 n, guint64 time)
{
	head(a, 2, 0, 8 + 16 + 24);
	u64(a, 0);
	u64(a, n);
	sample_id(a, 0, time);
}

static void put(Results *results, GByteArray *a, const char *step)
{
	results_add_bytes(results, AGENT_REC_PROFILE, step, strlen(step), a->data, a->len);
	g_byte_array_unref(a);
}

static LabRecords *finish(Results *results)
{
	g_autofree char *path = NULL;
	GError *error = NULL;
	LabRecords *records;
	int fd = g_file_open_tmp("numalab-profile-XXXXXX", &path, NULL);

	results_add(results, AGENT_REC_PROFILE_END, "s", profile_end);
	results_add(results, AGENT_REC_SYMBOLS, "kallsyms", kallsyms);
	results_add(results, AGENT_REC_END, "", "");
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, results->bytes->data, results->bytes->len),
			 (gssize)results->bytes->len);
	close(fd);
	records = lab_records_read(path, &error);
	ck_assert_msg(records && records->complete, "%s", error ? error->message : records->damage);
	unlink(path);
	return records;
}

/* "comm;root;...;leaf SAMPLES WEIGHT", the heaviest first */
static char *show(const LabProfile *profile)
{
	GString *s = g_string_new(NULL);

	for (guint i = 0; i < profile->chains->len; i++) {
		const LabProfileChain *chain = profile->chains->pdata[i];

		g_string_append(s, chain->comm);
		for (guint j = chain->n_frames; j-- > 0;)
			g_string_append_printf(s, ";%s@%s", chain->frames[j]->symbol,
					       chain->frames[j]->object);
		g_string_append_printf(s, " %d %d\n", (int)chain->n_samples, (int)chain->weight);
	}
	return g_string_free(s, FALSE);
}

static LabProfile *read_step(const LabRecords *records)
{
	g_autoptr(GError) error = NULL;
	LabProfile *profile = lab_profile_read(records, "s", &error);

	ck_assert_msg(profile != NULL, "%s", error ? error->message : "no error");
	return profile;
}

/* ---- tests -------------------------------------------------------------------------------------- */

/* What one CPU says of a process comes after samples of it in the chunk of another, and is older all the same. */
START_TEST(by_time_across_cpus)
{
	static const guint64 in_b[] = {CONTEXT_KERNEL, KERNEL_B + 4, KERNEL_A + 8, CONTEXT_USER,
				       0x401234};
	g_auto(Results) results = results_new();
	GByteArray *first = ring(0), *second = ring(1);
	g_autoptr(LabRecords) records = NULL;
	g_autoptr(LabProfile) profile = NULL;
	g_autofree char *shown = NULL;

	sample(first, 7, 50, 1000, in_b, 5);
	sample(first, 7, 60, 1000, in_b, 5);
	sample(first, 8, 70, 500, in_b, 5);
	comm(second, 7, "parent", FALSE, 10);
	mmap2(second, 7, 0x400000, 0x10000, 0x1000, "/usr/bin/tool", 20);
	fork_of(second, 7, 8, 30);
	comm(second, 7, "later", TRUE, 90);
	put(&results, first, "s");
	put(&results, second, "s");
	records = finish(&results);
	profile = read_step(records);
	shown = show(profile);
	ck_assert_str_eq(shown, "parent;0x0000000000002234@tool;do_a@[kernel.kallsyms];do_b@["
				"kernel.kallsyms] 3 2500\n");
	ck_assert_uint_eq(profile->n_samples, 3);
	ck_assert_uint_eq(profile->weight, 2500);
	ck_assert_str_eq(profile->event, "cpu-clock");
	ck_assert_uint_eq(profile->n_bad, 0);
}
END_TEST

/* A program that another took the place of has none of its mappings. */
START_TEST(after_exec)
{
	static const guint64 user[] = {CONTEXT_USER, 0x401000};
	static const guint64 module[] = {CONTEXT_KERNEL, MODULE_X + 1, 0xffffffff90000000ull};
	g_auto(Results) results = results_new();
	GByteArray *a = ring(0);
	g_autoptr(LabRecords) records = NULL;
	g_autoptr(LabProfile) profile = NULL;
	g_autofree char *shown = NULL;

	mmap2(a, 7, 0x400000, 0x10000, 0, "/usr/bin/old", 1);
	comm(a, 7, "new one", TRUE, 2);
	sample(a, 7, 3, 10, user, 2);
	sample(a, 0, 4, 20, module, 3);
	sample(a, 99, 5, 5, module, 2);
	put(&results, a, "s");
	records = finish(&results);
	profile = read_step(records);
	shown = show(profile);
	ck_assert_str_eq(shown, "swapper;0xffffffff90000000@[kernel.kallsyms];xfs_x@[xfs] 1 20\n"
				"new_one;0x0000000000401000@[unknown] 1 10\n"
				":99;xfs_x@[xfs] 1 5\n");
}
END_TEST

static const struct {
	const char *name;
	guint cut;	  /* bytes off the chunk's end */
	guint chain_more; /* entries that the chain claims, but has not */
	guint64 n_samples, n_bad;
} broken[] = {
	{"whole", 0, 0, 2, 0},
	{"cut in a record", 8, 0, 1, 1},
	{"cut in a header", 68, 0, 1, 1},
	{"a chain beyond its record", 0, 1, 1, 1},
	{"a chain beyond everything", 0, 0xffffffff, 1, 1},
};

START_TEST(makes_no_sense)
{
	static const guint64 ips[] = {CONTEXT_KERNEL, KERNEL_A};
	g_auto(Results) results = results_new();
	GByteArray *a = ring(0);
	g_autoptr(LabRecords) records = NULL;
	g_autoptr(LabProfile) profile = NULL;
	guint64 n;

	sample(a, 1, 1, 1, ips, 2);
	sample(a, 1, 2, 1, ips, 2);
	n = GUINT64_TO_LE(2 + (guint64)broken[_i].chain_more);
	memcpy(a->data + a->len - 24, &n, sizeof n);
	g_byte_array_set_size(a, a->len - broken[_i].cut);
	put(&results, a, "s");
	records = finish(&results);
	profile = read_step(records);
	ck_assert_msg(profile->n_samples == broken[_i].n_samples, "%s: %d samples", broken[_i].name,
		      (int)profile->n_samples);
	ck_assert_msg(profile->n_bad == broken[_i].n_bad, "%s: %d bad", broken[_i].name,
		      (int)profile->n_bad);
}
END_TEST

START_TEST(lost_and_others)
{
	g_auto(Results) results = results_new();
	GByteArray *a = ring(0), *other = ring(0);
	static const guint64 ips[] = {CONTEXT_KERNEL, KERNEL_A};
	g_autoptr(LabRecords) records = NULL;
	g_autoptr(LabProfile) profile = NULL;
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) steps = NULL;

	lost(a, 5, 1);
	lost(a, 6, 2);
	sample(other, 1, 1, 1, ips, 2);
	put(&results, a, "s");
	put(&results, other, "t");
	records = finish(&results);
	profile = read_step(records);
	ck_assert_uint_eq(profile->n_lost, 11);
	ck_assert_uint_eq(profile->n_samples, 0);
	ck_assert_ptr_null(lab_profile_read(records, "t", &error));
	ck_assert_str_eq(error->message, "step t was not sampled");
	steps = lab_profile_steps(records);
	ck_assert_uint_eq(g_strv_length(steps), 1);
	ck_assert_str_eq(steps[0], "s");
}
END_TEST

static const struct {
	guint64 address;
	const char *name, *module; /* NULL: in no function */
} addresses[] = {
	{0xffffffff80ffffffull, NULL, NULL},
	{0xffffffff81000000ull, "_stext", "[kernel.kallsyms]"},
	/* Of one address: the last. */
	{KERNEL_A, "do_a", "[kernel.kallsyms]"},
	{KERNEL_B - 1, "do_a", "[kernel.kallsyms]"},
	{KERNEL_B, "do_b", "[kernel.kallsyms]"},
	/* The last before a gap: its page and one more. */
	{0xffffffff81002fffull, "do_b", "[kernel.kallsyms]"},
	{0xffffffff81003000ull, NULL, NULL},
	{MODULE_X, "xfs_x", "[xfs]"},
	{0xffffffffc000008full, "xfs_x", "[xfs]"},
	{0xffffffffc0000090ull, "xfs_y", "[xfs]"},
	{0xffffffffc0001fffull, "xfs_y", "[xfs]"},
	{0xffffffffc0002000ull, NULL, NULL},
};

START_TEST(kernel_addresses)
{
	g_auto(Results) results = results_new();
	g_autoptr(LabRecords) records = finish(&results);
	g_autoptr(LabKallsyms) symbols = lab_kallsyms_read(records);
	const char *module = NULL,
		   *name = lab_kallsyms_find(symbols, addresses[_i].address, &module);

	ck_assert_msg(!g_strcmp0(name, addresses[_i].name), "wanted %s, found %s",
		      addresses[_i].name, name);
	if (name)
		ck_assert_str_eq(module, addresses[_i].module);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile");
	TCase *tcase = tcase_create("profile");
	SRunner *runner = srunner_create(suite);

	tcase_add_test(tcase, by_time_across_cpus);
	tcase_add_test(tcase, after_exec);
	tcase_add_loop_test(tcase, makes_no_sense, 0, G_N_ELEMENTS(broken));
	tcase_add_test(tcase, lost_and_others);
	tcase_add_loop_test(tcase, kernel_addresses, 0, G_N_ELEMENTS(addresses));
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
