/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <check.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/measure/samples.h"
#include "tests/unit/results.h"

#define VMSTAT_A                                                                                   \
	"nr_free_pages 5000\nnr_dirtied 10\nnuma_hint_faults 100\nnuma_pages_migrated 7\nodd 9\n"
#define VMSTAT_B                                                                                   \
	"nr_free_pages 4000\nnr_dirtied 25\nnuma_hint_faults 26554\nnuma_pages_migrated 7\nodd "   \
	"3\n"
#define VMSTAT_C "nr_free_pages 4500\nnr_dirtied 26\nnuma_hint_faults 26600\nodd 4\n"
#define IRQ_A                                                                                      \
	"           CPU0       CPU1       \n"                                                      \
	"  4:        530          0   IO-APIC    4-edge      ttyS0\n"                              \
	"LOC:       1000       2000   Local timer interrupts\n"                                    \
	"RES:          5          6   Rescheduling interrupts\n"                                   \
	"CAL:         10         20   Function call interrupts\n"                                  \
	"TLB:          1          2   TLB shootdowns\n"                                            \
	"ERR:          0\n"
#define IRQ_B                                                                                      \
	"           CPU0       CPU1       \n"                                                      \
	"  4:        531          0   IO-APIC    4-edge      ttyS0\n"                              \
	"LOC:       1500       2600   Local timer interrupts\n"                                    \
	"RES:          5          9   Rescheduling interrupts\n"                                   \
	"CAL:         11         20   Function call interrupts\n"                                  \
	"TLB:        101        202   TLB shootdowns\n"                                            \
	"ERR:          0\n"
#define STEP_END                                                                                   \
	"exit 0\nsignal 0\ntimeout 0\nwall_ns 5200000000\nuser_ns 3000000001\nsystem_ns 0\n"       \
	"maxrss_kib 4096\nminor_faults 12\nmajor_faults 0\nvoluntary_switches 3\n"                 \
	"involuntary_switches 4\noom_kills 0\n"
#define FS_MARK                                                                                    \
	"\n#  fs_mark  -D  100  -S0  -n  6000  -s  0  -L  2  -d  /mnt/scratch/0\n"                 \
	"#\tVersion 3.3, 4 thread(s) starting at Thu Jan  1 00:00:05 2026\n"                       \
	"#\tApp overhead is time in microseconds spent in the test not doing file writing "        \
	"related system calls.\n"                                                                  \
	"\nFSUse%        Count         Size    Files/sec     App Overhead\n"                       \
	"     3        24000            0       5162.0           401234\n"                         \
	"     5        48000            0       5346.5           398766\n"

static char *dir;

static void setup(void)
{
	dir = g_dir_make_tmp("numalab-samples-XXXXXX", NULL);
	ck_assert_ptr_nonnull(dir);
}

static void teardown(void)
{
	lab_dir_remove(dir, NULL);
	g_free(dir);
}

static void add_step(Results *r, const char *step, gboolean measure, const char *end,
		     const char *out, const char *const snapshots[][3])
{
	g_autofree char *begin = g_strdup_printf("index 1\nkind exec\nmeasure %d\n", measure);
	g_autofree char *stdout_name = g_strconcat(step, "/stdout", NULL);

	results_add(r, AGENT_REC_STEP_BEGIN, step, begin);
	for (guint when = 1; when <= 2; when++) {
		for (guint i = 0; snapshots && snapshots[i][0]; i++) {
			g_autofree char *name = g_strdup_printf(
				"%s/%s/%s", step, when == 1 ? "before" : "after", snapshots[i][0]);

			if (snapshots[i][when])
				results_add(r, AGENT_REC_SNAPSHOT, name, snapshots[i][when]);
		}
	}
	if (end)
		results_add(r, AGENT_REC_STEP_END, step, end);
	results_add(r, AGENT_REC_OUTPUT, stdout_name, out);
}

static Results start(void)
{
	Results r = results_new();

	results_add(&r, AGENT_REC_START, "",
		    "release 6.1.0-57-amd64\ncmdline quiet%20nokaslr\nempty %\nbad %zz\n");
	results_add(&r, AGENT_REC_VERIFY, "", "nodes 2\n");
	return r;
}

static Results valid(void)
{
	static const char *const one[][3] = {
		{"vmstat", VMSTAT_A, VMSTAT_B},
		{"interrupts", IRQ_A, IRQ_B},
		{"node0-numastat", "numa_hit 10\nnuma_miss 1\n", "numa_hit 30\nnuma_miss 1\n"},
		{"node1-numastat", "numa_hit 100\n", "numa_hit 103\n"},
		{NULL},
	};
	static const char *const two[][3] = {{"vmstat", VMSTAT_B, VMSTAT_C}, {NULL}};
	Results r = start();

	add_step(&r, "mount", FALSE, STEP_END, "", NULL);
	add_step(&r, "fsmark", TRUE, STEP_END, FS_MARK, one);
	add_step(&r, "touch", TRUE, STEP_END "touches 55000000\n", "", two);
	results_add(&r, AGENT_REC_LOG, "dmesg", "[    0.000000] Linux version\n");
	results_add(&r, AGENT_REC_END, "", "steps 3\nclock_ns 9000000000\n");
	return r;
}

static char *store(const guint8 *bytes, gsize length)
{
	char *path = g_build_filename(dir, "results.img", NULL);

	ck_assert(g_file_set_contents_full(path, (const char *)bytes, (gssize)length,
					   G_FILE_SET_CONTENTS_NONE, 0600, NULL));
	return path;
}

static LabRecords *read_bytes(const guint8 *bytes, gsize length)
{
	g_autofree char *path = store(bytes, length);
	g_autoptr(GError) error = NULL;
	LabRecords *records = lab_records_read(path, &error);

	ck_assert_msg(records || error->domain == LAB_ERROR, "%s", error ? error->message : "");
	ck_assert(!records == !!error);
	return records;
}

static LabRecords *read_results(const Results *r)
{
	return read_bytes(r->bytes->data, r->bytes->len);
}

static const LabSample *sample_of(const GPtrArray *samples, const char *metric)
{
	for (guint i = 0; i < samples->len; i++)
		if (g_str_equal(((LabSample *)samples->pdata[i])->metric, metric))
			return samples->pdata[i];
	return NULL;
}

START_TEST(reads_all_records)
{
	g_auto(Results) r = valid();
	g_autoptr(LabRecords) records = NULL;
	g_autofree char *value = NULL;
	guint8 after[200] = {0};
	gsize used = r.bytes->len;
	const LabRecord *record;

	g_byte_array_append(r.bytes, after, sizeof(after));
	records = read_results(&r);
	ck_assert_ptr_nonnull(records);
	ck_assert(records->complete);
	ck_assert_ptr_null(records->damage);
	ck_assert_uint_eq(records->records->len, r.sequence);
	ck_assert_uint_eq(records->used_bytes, used);
	record = lab_records_find(records, AGENT_REC_START, NULL);
	ck_assert_uint_eq(record->clock_ns, 1000);
	value = lab_record_value(record, "cmdline");
	ck_assert_str_eq(value, "quiet nokaslr");
	g_free(value);
	value = lab_record_value(record, "empty");
	ck_assert_str_eq(value, "");
	g_clear_pointer(&value, g_free);
	ck_assert_ptr_null(lab_record_value(record, "bad"));
	ck_assert_ptr_null(lab_record_value(record, "cmd"));
	ck_assert_ptr_null(lab_record_value(record, "absent"));
	ck_assert_ptr_nonnull(lab_records_find(records, AGENT_REC_OUTPUT, "fsmark/stdout"));
	ck_assert_ptr_null(lab_records_find(records, AGENT_REC_OUTPUT, "fsmark/stderr"));
}
END_TEST

START_TEST(makes_samples)
{
	static const struct {
		const char *metric;
		double value;
		const char *unit;
		int better;
	} want[] = {
		{"real-fsmark", 5.2, "s", -1},
		{"user-fsmark", 3.000000001, "s", -1},
		{"syst-fsmark", 0, "s", -1},
		{"maxrss-fsmark", 4096, "KiB", -1},
		{"minflt-fsmark", 12, "count", 0},
		{"majflt-fsmark", 0, "count", 0},
		{"csw-fsmark", 3, "count", 0},
		{"icsw-fsmark", 4, "count", 0},
		{"files/s-fsmark", 5254.25, "files/s", +1},
		{"overhead-fsmark", 400000, "us", -1},
		{"touches-touch", 55e6, "count", +1},
		{"numa_hint_faults", 26500, "count", 0},
		{"numa_hint_faults:fsmark", 26454, "count", 0},
		{"numa_hint_faults:touch", 46, "count", 0},
		{"numa_pages_migrated:fsmark", 0, "count", 0},
		{"nr_dirtied:fsmark", 15, "count", 0},
		{"odd:touch", 1, "count", 0},
		{"numastat.node0.numa_hit:fsmark", 20, "count", 0},
		{"numastat.node1.numa_hit:fsmark", 3, "count", 0},
		{"numastat.numa_hit:fsmark", 23, "count", 0},
		{"numastat.node0.numa_miss:fsmark", 0, "count", 0},
		{"irq.TLB:fsmark", 300, "count", 0},
		{"irq.CAL:fsmark", 1, "count", 0},
		{"irq.RES:fsmark", 3, "count", 0},
		{"irq.LOC:fsmark", 1100, "count", 0},
	};
	static const char *const absent[] = {
		"real-mount",	       /* not measured */
		"numa_pages_migrated", /* the second step lacks it */
		"numa_pages_migrated:touch",
		"odd:fsmark", /* went backwards */
		"odd",
		"nr_free_pages", /* a level */
		"nr_free_pages:fsmark",
		"numastat.numa_miss:fsmark", /* node 1 lacks it */
		"irq.HYP:fsmark",	     /* not in this kernel */
		"irq.TLB",		     /* not in the second step */
		"touches-fsmark",
		"files/s-touch",
	};
	g_auto(Results) r = valid();
	g_autoptr(LabRecords) records = read_results(&r);
	g_autoptr(GError) error = NULL;
	g_autoptr(GPtrArray) samples = lab_samples_from_records(records, &error);

	ck_assert_msg(samples != NULL, "%s", error ? error->message : "");
	for (guint i = 0; i < G_N_ELEMENTS(want); i++) {
		const LabSample *found = sample_of(samples, want[i].metric);

		ck_assert_msg(found != NULL, "%s is absent", want[i].metric);
		ck_assert_msg(found->value == want[i].value, "%s is %.17g", want[i].metric,
			      found->value);
		ck_assert_str_eq(found->unit, want[i].unit);
		ck_assert_int_eq(found->better, want[i].better);
	}
	for (guint i = 0; i < G_N_ELEMENTS(absent); i++)
		ck_assert_msg(!sample_of(samples, absent[i]), "%s is there", absent[i]);
	for (guint i = 1; i < samples->len; i++)
		ck_assert_int_lt(strcmp(((LabSample *)samples->pdata[i - 1])->metric,
					((LabSample *)samples->pdata[i])->metric),
				 0);
}
END_TEST

/* Whatever is cut off, the records before the cut are read, and only the whole file is complete. */
START_TEST(cut_at_every_byte)
{
	g_auto(Results) r = valid();
	guint last = 0;

	for (guint length = 0; length <= r.bytes->len; length++) {
		/* exactly as large as the file: a read beyond it is seen by the sanitizers */
		g_autofree guint8 *copy = g_memdup2(r.bytes->data, length);
		g_autoptr(LabRecords) records = read_bytes(copy, length);
		g_autoptr(GPtrArray) samples = NULL;
		g_autoptr(GError) error = NULL;

		ck_assert(!records == (length < sizeof(struct agent_results_header)));
		if (!records)
			continue;
		ck_assert(records->complete == (length == r.bytes->len));
		ck_assert_uint_ge(records->records->len, last);
		ck_assert_uint_le(records->used_bytes, length);
		last = records->records->len;
		samples = lab_samples_from_records(records, &error);
		ck_assert(!!samples == records->complete);
		ck_assert(samples || error->code == LAB_ERROR_UNKNOWN);
	}
	ck_assert_uint_eq(last, r.sequence);
}
END_TEST

/* A flipped bit is found, unless it is in one of the bytes that mean nothing. */
START_TEST(flip_every_bit)
{
	g_auto(Results) r = valid();
	g_autofree guint8 *copy = g_memdup2(r.bytes->data, r.bytes->len);
	guint found = 0, harmless = 0;

	for (guint bit = 0; bit < r.bytes->len * 8; bit += 3) {
		g_autoptr(LabRecords) records = NULL;

		copy[bit / 8] ^= (guint8)(1 << bit % 8);
		records = read_bytes(copy, r.bytes->len);
		copy[bit / 8] ^= (guint8)(1 << bit % 8);
		if (!records || !records->complete) {
			found++;
			continue;
		}
		harmless++;
		ck_assert_uint_eq(records->records->len, r.sequence);
		for (guint i = 0; i < r.sequence; i++) {
			const LabRecord *record = records->records->pdata[i];

			ck_assert_uint_eq(record->clock_ns, 1000 * (i + 1));
		}
	}
	/* Padding: 24 of each 64-byte header, and up to 63 bytes behind each body. */
	ck_assert_uint_gt(found, harmless);
}
END_TEST

static struct agent_record_header *header_at(Results *r, gsize at)
{
	return (struct agent_record_header *)(void *)(r->bytes->data + at);
}

START_TEST(hostile_headers)
{
	static const struct {
		guint32 name_bytes, type, sequence;
		guint64 payload_bytes;
		const char *damage;
	} cases[] = {
		{4, 6, 0, G_MAXUINT64, "record 0: reaches beyond the end of the file"},
		{4, 6, 0, G_MAXUINT64 - 3, "record 0: reaches beyond the end of the file"},
		{4, 6, 0, G_MAXUINT64 - 67, "record 0: reaches beyond the end of the file"},
		{4, 6, 0, (guint64)G_MAXINT64, "record 0: reaches beyond the end of the file"},
		{4, 6, 0, 5, "record 0: reaches beyond the end of the file"},
		{G_MAXUINT32, 6, 0, 4, "record 0: name is too long"},
		{1025, 6, 0, 0, "record 0: name is too long"},
		{9, 6, 0, 0, "record 0: reaches beyond the end of the file"},
		{8, 6, 0, 4, "record 0: reaches beyond the end of the file"},
		{4, 6, 1, 4, "record 0: sequence number is wrong"},
		{4, 0, 0, 4, "record 0: unknown type"},
		{4, AGENT_REC_LAST + 1, 0, 4, "record 0: unknown type"},
		{3, 6, 0, 4, "record 0: checksum of the body is wrong"},
	};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_auto(Results) r = results_new();
		g_autoptr(LabRecords) records = NULL;
		struct agent_record_header *header;

		results_add(&r, AGENT_REC_OUTPUT, "name", "data");
		header = header_at(&r, 64);
		header->type = GUINT32_TO_LE(cases[i].type);
		header->sequence = GUINT32_TO_LE(cases[i].sequence);
		header->name_bytes = GUINT32_TO_LE(cases[i].name_bytes);
		header->payload_bytes = GUINT64_TO_LE(cases[i].payload_bytes);
		results_seal(header);
		records = read_results(&r);
		ck_assert_ptr_nonnull(records);
		ck_assert_uint_eq(records->records->len, 0);
		ck_assert_uint_eq(records->used_bytes, 64);
		ck_assert(!records->complete);
		ck_assert_str_eq(records->damage, cases[i].damage);
	}
}
END_TEST

START_TEST(other_damage)
{
	g_auto(Results) r = results_new();
	g_autoptr(LabRecords) records = NULL;
	guint used;

	results_add_bytes(&r, AGENT_REC_OUTPUT, "a\0b", 3, "", 0);
	records = read_results(&r);
	ck_assert_str_eq(records->damage, "record 0: its name contains a zero byte");
	lab_records_free(records);

	results_clear(&r);
	r = results_new();
	results_add(&r, AGENT_REC_FAIL, "", "stage step\nstep x\nmessage exit%203\n");
	results_add(&r, AGENT_REC_END, "", "steps 1\n");
	records = read_results(&r);
	ck_assert(!records->complete);
	ck_assert_str_eq(records->damage, "record 1: an end after a failure");
	lab_records_free(records);

	results_clear(&r);
	r = start();
	results_align(&r);
	g_byte_array_append(
		r.bytes,
		(const guint8 *)"garbage, more than one header of it, as a wild write leaves it..",
		64);
	records = read_results(&r);
	ck_assert_str_eq(records->damage, "record 2: no record starts here");
	lab_records_free(records);

	/* The guest stopped: nothing is damaged, nothing is complete. */
	results_clear(&r);
	r = start();
	used = r.bytes->len;
	g_byte_array_set_size(r.bytes, 4096);
	memset(r.bytes->data + used, 0, 4096 - used);
	records = read_results(&r);
	ck_assert_uint_eq(records->records->len, 2);
	ck_assert(!records->complete);
	ck_assert_ptr_null(records->damage);
}
END_TEST

START_TEST(no_results)
{
	static const guint8 zeros[8192];
	g_autoptr(GError) error = NULL;
	g_auto(Results) r = results_new();
	g_autofree char *path = store(zeros, sizeof(zeros));

	ck_assert_ptr_null(lab_records_read(path, &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_UNKNOWN));
	g_clear_error(&error);
	r.bytes->data[8] = 2;
	g_free(path);
	path = store(r.bytes->data, r.bytes->len);
	ck_assert_ptr_null(lab_records_read(path, &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_UNKNOWN));
	ck_assert(g_str_has_suffix(error->message, "wanted results of version 1, found version 2"));
	g_clear_error(&error);
	ck_assert_ptr_null(lab_records_read("/nonexistent/results.img", &error));
	ck_assert(g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT));
}
END_TEST

/* Well-formed records that hold what the protocol does not allow. */
START_TEST(bad_contents)
{
	static const char *const half[][3] = {{"vmstat", VMSTAT_A, NULL}, {NULL}};
	static const char *const negative[][3] = {{"vmstat", "a 1\nb -1\n", "a 1\n"}, {NULL}};
	static const char *const twice[][3] = {{"vmstat", "a 1\na 2\n", "a 1\n"}, {NULL}};
	static const char *const huge[][3] = {{"vmstat", "a 1\n", "a 18446744073709551616\n"},
					      {NULL}};
	static const char *const word[][3] = {{"node0-numastat", "a 1\n", "a 1 2\n"}, {NULL}};
	static const char *const irq[][3] = {{"interrupts", "", IRQ_B}, {NULL}};
	static const struct {
		const char *name, *end;
		const char *const (*snapshots)[3];
		const char *message;
	} cases[] = {
		{"x", NULL, NULL, "step x has no end"},
		{"x", "exit 0\n", NULL,
		 "end of step x: wanted a number as wall_ns, found 'nothing'"},
		{"x", "wall_ns -1\n", NULL,
		 "end of step x: wanted a number as wall_ns, found '-1'"},
		{"x", STEP_END "touches many\n", NULL,
		 "end of step x: wanted a number as touches, found 'many'"},
		{"X:y", STEP_END, NULL, "'X:y' is no name of a step"},
		{"", STEP_END, NULL, "'' is no name of a step"},
		{"x", STEP_END, half, "x/before/vmstat is there, but x/after/vmstat is not"},
		{"x", STEP_END, negative,
		 "x/before/vmstat:2: wanted a counter's name and value, found 'b -1'"},
		{"x", STEP_END, twice,
		 "x/before/vmstat:2: wanted a counter's name and value, found 'a 2'"},
		{"x", STEP_END, huge,
		 "x/after/vmstat:1: wanted a counter's name and value, found 'a "
		 "18446744073709551616'"},
		{"x", STEP_END, word,
		 "x/after/node0-numastat:1: wanted a counter's name and value, found 'a 1 2'"},
		{"x", STEP_END, irq, "x/interrupts:1: wanted a head of CPU0 CPU1 ..., found none"},
	};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_auto(Results) r = start();
		g_autoptr(LabRecords) records = NULL;
		g_autoptr(GError) error = NULL;

		add_step(&r, cases[i].name, TRUE, cases[i].end, "", cases[i].snapshots);
		results_add(&r, AGENT_REC_END, "", "");
		records = read_results(&r);
		ck_assert(records->complete);
		ck_assert_ptr_null(lab_samples_from_records(records, &error));
		ck_assert_str_eq(error->message, cases[i].message);
		ck_assert_int_eq(error->code, LAB_ERROR_UNKNOWN);
	}
}
END_TEST

START_TEST(interrupts_of_other_kernels)
{
	static const struct {
		const char *before, *after;
		double cal, hyp; /* -1: absent */
	} cases[] = {
		/* 3.19: CAL is less than nothing on one CPU, all the time or from some time on */
		{"  CPU0 CPU1\nCAL: 4294967200 5 Function\n",
		 "  CPU0 CPU1\nCAL: 4294967290 6 Function\n", -1, -1},
		{"  CPU0 CPU1\nCAL: 3 5 Function\n", "  CPU0 CPU1\nCAL: 4294967290 6 Function\n",
		 -1, -1},
		{"  CPU0 CPU1\nCAL: 9 5 Function\n", "  CPU0 CPU1\nCAL: 8 600 Function\n", -1, -1},
		{"  CPU0\nCAL: 9 Function\nHYP: 1 Hypervisor\n",
		 "  CPU0\nCAL: 10 Function\nHYP: 6 Hypervisor\n", 1, 5},
		/* wide counts of newer kernels, no space to spare */
		{" CPU0 CPU1\n CAL:          1 12345678901 Function\n",
		 " CPU0 CPU1\n CAL: 2 12345678901 Function\n", -1, -1},
		{" CPU0 CPU1\n HYP:          1 12345678901 x\n",
		 " CPU0 CPU1\n HYP: 2 12345678902 x\n", -1, 2},
		/* a CPU that came or went */
		{"  CPU0\nHYP: 1 x\n", "  CPU0 CPU1\nHYP: 2 2 x\n", -1, -1},
		{"  CPU0 CPU2\nHYP: 1 2 x\n", "  CPU0 CPU2\nHYP: 1 3 x\n", -1, 1},
		/* too few columns */
		{"  CPU0 CPU1\nHYP: 1 x\n", "  CPU0 CPU1\nHYP: 2 x\n", -1, -1},
		{"  CPU0 CPU1\nHYP:\n", "  CPU0 CPU1\nHYP:\n", -1, -1},
	};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		const char *const snapshots[][3] = {{"interrupts", cases[i].before, cases[i].after},
						    {NULL}};
		g_auto(Results) r = start();
		g_autoptr(LabRecords) records = NULL;
		g_autoptr(GPtrArray) samples = NULL;
		const LabSample *cal, *hyp;

		add_step(&r, "x", TRUE, STEP_END, "", snapshots);
		results_add(&r, AGENT_REC_END, "", "");
		records = read_results(&r);
		samples = lab_samples_from_records(records, NULL);
		ck_assert_ptr_nonnull(samples);
		cal = sample_of(samples, "irq.CAL");
		hyp = sample_of(samples, "irq.HYP");
		ck_assert_msg((cal ? cal->value : -1) == cases[i].cal, "case %u", i);
		ck_assert_msg((hyp ? hyp->value : -1) == cases[i].hyp, "case %u", i);
	}
}
END_TEST

START_TEST(fs_mark_tables)
{
#define HEAD "FSUse%        Count         Size    Files/sec     App Overhead\n"
	static const struct {
		const char *out;
		double files_per_s; /* -1: absent */
	} cases[] = {
		{HEAD "     0   1000   0   100.0   5\n", 100},
		{HEAD "     0   1000   0   100.0   5\n     0   2000   0   300.0   5\n", 200},
		{"FSUse%        Count         Size    Files/sec     App Overhead        CREAT "
		 "(Min/Avg/Max)\n"
		 "     0   1000   0   100.0   5   1   2   3\n",
		 100},
		{HEAD "     0   1000   0   100.0   5\ndone\n     0   2000   0   300.0   5\n", 100},
		{HEAD "     0   1000   0   100.0   5\n" HEAD "     0   2000   0   300.0   5\n",
		 200},
		{HEAD, -1},
		{HEAD "     0   1000   0   nan   5\n", -1},
		{HEAD "     0   1000   0   inf   5\n", -1},
		{HEAD "     0   1000   0   -5.0   5\n", -1},
		{HEAD "     0   1000   0   1e999   5\n", -1},
		{HEAD "     0   1000   0\n", -1},
		{"     0   1000   0   100.0   5\n", -1},
		{"", -1},
	};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_auto(Results) r = start();
		g_autoptr(LabRecords) records = NULL;
		g_autoptr(GPtrArray) samples = NULL;
		const LabSample *found;

		add_step(&r, "fm", TRUE, STEP_END, cases[i].out, NULL);
		results_add(&r, AGENT_REC_END, "", "");
		records = read_results(&r);
		samples = lab_samples_from_records(records, NULL);
		ck_assert_ptr_nonnull(samples);
		found = sample_of(samples, "files/s-fm");
		ck_assert_msg((found ? found->value : -1) == cases[i].files_per_s, "case %u", i);
	}
}
END_TEST

/* What the agent left of a boot of Debian 6.1 with 4 nodes: steps hello (measured, sh) and touch
 * (numa_touch). */
START_TEST(real_results)
{
	static const struct {
		const char *metric;
		double value;
	} want[] = {
		{"real-touch", 0.27477265200000001},
		{"touches-touch", 100000},
		{"pgfault:hello", 469},
		{"pgfault", 16910},
		{"numastat.node1.numa_hit:touch", 16464},
		{"numastat.numa_hit", 17800},
		{"irq.TLB", 3},
		{"irq.LOC:touch", 150},
		{"numa_pages_migrated", 1},
	};
	g_autoptr(GError) error = NULL;
	g_autoptr(LabRecords) records = lab_records_read(TEST_DATA "/results-6.1.img", &error);
	g_autoptr(GPtrArray) samples = NULL;

	ck_assert_msg(records != NULL, "%s", error ? error->message : "");
	ck_assert(records->complete);
	ck_assert_uint_eq(records->records->len, 60);
	ck_assert_uint_eq(records->used_bytes, 88220);
	samples = lab_samples_from_records(records, &error);
	ck_assert_msg(samples != NULL, "%s", error ? error->message : "");
	for (guint i = 0; i < G_N_ELEMENTS(want); i++) {
		const LabSample *found = sample_of(samples, want[i].metric);

		ck_assert_msg(found && found->value == want[i].value, "%s", want[i].metric);
	}
	ck_assert_ptr_null(sample_of(samples, "irq.HYP"));
	ck_assert_ptr_null(sample_of(samples, "files/s-hello"));
}
END_TEST

/* ---- events ------------------------------------------------------------------------------------ */

static const struct {
	const char *a, *b; /* stat records of two steps; NULL: none */
	const char *error; /* NULL: samples */
	struct {
		const char *metric;
		double value; /* -1: absent */
	} samples[6];
} stats[] = {
	{"page-faults 12%2010%2010\ncycles not-supported\ntask-clock 1500000000%203%203\n", NULL, NULL,
	 {{"perf.page-faults:a", 12}, {"perf.page-faults", 12}, {"perf.cycles:a", -1}, {"perf.cycles", -1},
	  {"perf.task-clock", 1.5}, {NULL, 0}}},
	/* A total is of all steps in which was counted; the CPU's counter ran for a quarter of the time. */
	{"cycles 100%2040%2010\nt:x 1%201%201\n", "cycles 5%201%201\nt:x not-supported\n", NULL,
	 {{"perf.cycles:a", 400}, {"perf.cycles:b", 5}, {"perf.cycles", 405}, {"perf.t:x:a", 1}, {"perf.t:x", -1}, {NULL, 0}}},
	/* It never ran: nothing is known, and that is not 0. */
	{"cycles 0%2040%200\n", NULL, NULL, {{"perf.cycles:a", -1}, {"perf.cycles", -1}, {NULL, 0}}},
	{"cycles 1%201%202\n", NULL, "a: stat, line 1: wanted an event and its count, each event once", {{NULL, 0}}},
	{"x 1%201%201\nx 1%201%201\n", NULL, "a: stat, line 2: wanted an event and its count, each event once", {{NULL, 0}}},
	{"x 1%201\n", NULL, "a: stat, line 1: wanted an event and its count, each event once", {{NULL, 0}}},
	{"x%20y 1%201%201\n", NULL, "a: stat, line 1: wanted an event and its count, each event once", {{NULL, 0}}},
};

static double sample_value(const GPtrArray *samples, const char *metric)
{
	for (guint i = 0; i < samples->len; i++) {
		const LabSample *sample = samples->pdata[i];

		if (!strcmp(sample->metric, metric))
			return sample->value;
	}
	return -1;
}

START_TEST(counts_events)
{
	g_auto(Results) r = results_new();
	g_autoptr(LabRecords) records = NULL;
	g_autoptr(GPtrArray) samples = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *path = g_build_filename(dir, "results.img", NULL);

	add_step(&r, "a", TRUE, STEP_END, "", NULL);
	results_add(&r, AGENT_REC_STAT, "a", stats[_i].a);
	add_step(&r, "b", TRUE, STEP_END, "", NULL);
	if (stats[_i].b)
		results_add(&r, AGENT_REC_STAT, "b", stats[_i].b);
	results_add(&r, AGENT_REC_END, "", "");
	ck_assert(g_file_set_contents(path, (char *)r.bytes->data, r.bytes->len, NULL));
	records = lab_records_read(path, NULL);
	samples = lab_samples_from_records(records, &error);
	if (stats[_i].error) {
		ck_assert_ptr_null(samples);
		ck_assert_str_eq(error->message, stats[_i].error);
		return;
	}
	ck_assert_msg(samples != NULL, "%s", error ? error->message : "");
	for (guint i = 0; stats[_i].samples[i].metric; i++)
		ck_assert_double_eq(sample_value(samples, stats[_i].samples[i].metric), stats[_i].samples[i].value);
}
END_TEST

START_TEST(json_there_and_back)
{
	g_auto(Results) r = valid();
	g_autoptr(LabRecords) records = read_results(&r);
	g_autoptr(GPtrArray) samples = lab_samples_from_records(records, NULL);
	g_autofree char *path = g_build_filename(dir, "samples.json", NULL);
	g_autoptr(GPtrArray) again = NULL;
	g_autofree char *text = NULL;
	g_autoptr(GError) error = NULL;

	((LabSample *)samples->pdata[0])->value = 0.1 + 0.2;
	((LabSample *)samples->pdata[1])->value = 1.8446744073709552e19;
	ck_assert(lab_samples_write(samples, path, &error));
	again = lab_samples_read(path, &error);
	ck_assert_msg(again != NULL, "%s", error ? error->message : "");
	ck_assert_uint_eq(again->len, samples->len);
	for (guint i = 0; i < samples->len; i++) {
		const LabSample *a = samples->pdata[i], *b = again->pdata[i];

		ck_assert_str_eq(a->metric, b->metric);
		ck_assert_msg(a->value == b->value, "%s", a->metric);
		ck_assert_str_eq(a->unit, b->unit);
		ck_assert_int_eq(a->better, b->better);
	}
	text = lab_file_read(path, NULL, NULL);
	ck_assert_ptr_nonnull(strstr(text, "\n{\"metric\": \"real-fsmark\", \"value\": 5.2, "
					   "\"unit\": \"s\", \"better\": -1}"));
}
END_TEST

START_TEST(json_errors)
{
	static const char *const cases[] = {
		"",
		"{",
		"[]",
		"[{}]",
		"{}",
		"{\"samples\": 1}",
		"{\"samples\": [1]}",
		"{\"samples\": [{}]}",
		"{\"samples\": [{\"metric\": \"a\", \"value\": \"1\", \"unit\": \"s\", \"better\": "
		"0}]}",
		"{\"samples\": [{\"metric\": \"a\", \"value\": 1, \"unit\": \"parsec\", "
		"\"better\": 0}]}",
		"{\"samples\": [{\"metric\": \"a\", \"value\": 1, \"unit\": \"s\", \"better\": "
		"7}]}",
		"{\"samples\": [{\"metric\": \"a\", \"value\": 1, \"unit\": \"s\"}]}",
		"{\"samples\": [{\"metric\": null, \"value\": 1, \"unit\": \"s\", \"better\": 0}]}",
	};
	g_autofree char *path = g_build_filename(dir, "samples.json", NULL);

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;

		ck_assert(g_file_set_contents(path, cases[i], -1, NULL));
		ck_assert_msg(!lab_samples_read(path, &error), "case %u", i);
		ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_INFRA));
		ck_assert(g_str_has_prefix(error->message, path));
	}
}
END_TEST

START_TEST(extracts_files)
{
	g_auto(Results) r = valid();
	g_autoptr(LabRecords) records = read_results(&r);
	g_autofree char *out = g_build_filename(dir, "boot", NULL);
	static const char *const files[][2] = {
		{"steps/fsmark/stdout", FS_MARK},
		{"steps/fsmark/before/vmstat", VMSTAT_A},
		{"steps/fsmark/after/vmstat", VMSTAT_B},
		{"steps/fsmark/end", STEP_END},
		{"steps/touch/stdout", ""},
		{"dmesg", "[    0.000000] Linux version\n"},
		{"verify", "nodes 2\n"},
	};
	g_autoptr(GError) error = NULL;

	ck_assert_msg(lab_records_extract(records, out, &error), "%s", error ? error->message : "");
	for (guint i = 0; i < G_N_ELEMENTS(files); i++) {
		g_autofree char *path = g_build_filename(out, files[i][0], NULL);
		g_autofree char *text = lab_file_read(path, NULL, NULL);

		ck_assert_msg(text != NULL, "%s", path);
		ck_assert_str_eq(text, files[i][1]);
	}
}
END_TEST

START_TEST(extracts_no_hostile_name)
{
	static const struct {
		guint type;
		const char *name;
	} cases[] = {
		{AGENT_REC_OUTPUT, "../../etc/passwd"},
		{AGENT_REC_OUTPUT, "/etc/passwd"},
		{AGENT_REC_OUTPUT, "x/../../y"},
		{AGENT_REC_OUTPUT, "x/.."},
		{AGENT_REC_OUTPUT, ".."},
		{AGENT_REC_OUTPUT, "."},
		{AGENT_REC_OUTPUT, ""},
		{AGENT_REC_OUTPUT, "x//y"},
		{AGENT_REC_OUTPUT, "x/"},
		{AGENT_REC_OUTPUT, "x\ny"},
		{AGENT_REC_OUTPUT, "x y"},
		{AGENT_REC_OUTPUT, "x\\y"},
		{AGENT_REC_OUTPUT, "x/.hidden"},
		{AGENT_REC_OUTPUT, "\xff\xfe"},
		{AGENT_REC_STEP_BEGIN, "../x"},
		{AGENT_REC_STEP_END, ""},
		{AGENT_REC_LOG, "result.json"},
		{AGENT_REC_LOG, "../dmesg"},
		{AGENT_REC_LOG, "job.json"},
		{AGENT_REC_OUTPUT, "ok/stdout"},
		{AGENT_REC_OUTPUT, "ok"},
		{AGENT_REC_OUTPUT, "ok/stdout/deeper"},
	};

	for (guint i = 0; i <= G_N_ELEMENTS(cases); i++) {
		g_autofree char *long_name = g_strnfill(250, 'a');
		g_auto(Results) r = start();
		g_autofree char *out = g_build_filename(dir, "boot", NULL);
		g_autoptr(LabRecords) records = NULL;
		g_autoptr(GError) error = NULL;

		results_add(&r, AGENT_REC_OUTPUT, "ok/stdout", "first");
		if (i < G_N_ELEMENTS(cases))
			results_add(&r, cases[i].type, cases[i].name, "evil");
		else
			results_add(&r, AGENT_REC_OUTPUT, long_name, "evil");
		records = read_results(&r);
		ck_assert_uint_eq(records->records->len, 4);
		ck_assert_msg(!lab_records_extract(records, out, &error), "case %u", i);
		ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_UNKNOWN));
		ck_assert_msg(!g_file_test(out, G_FILE_TEST_EXISTS), "case %u", i);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("samples");
	TCase *tcase = tcase_create("samples");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, reads_all_records);
	tcase_add_test(tcase, makes_samples);
	tcase_add_test(tcase, cut_at_every_byte);
	tcase_add_test(tcase, flip_every_bit);
	tcase_add_test(tcase, hostile_headers);
	tcase_add_test(tcase, other_damage);
	tcase_add_test(tcase, no_results);
	tcase_add_test(tcase, bad_contents);
	tcase_add_test(tcase, interrupts_of_other_kernels);
	tcase_add_test(tcase, fs_mark_tables);
	tcase_add_test(tcase, real_results);
	tcase_add_loop_test(tcase, counts_events, 0, G_N_ELEMENTS(stats));
	tcase_add_test(tcase, json_there_and_back);
	tcase_add_test(tcase, json_errors);
	tcase_add_test(tcase, extracts_files);
	tcase_add_test(tcase, extracts_no_hostile_name);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
