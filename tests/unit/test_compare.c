/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Golden tables: tests/data/compare/; NUMALAB_GOLDEN=1 rewrites them, review the diff. */
#include "lab/verdict/compare.h"

#include <json-glib/json-glib.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/compare_cases.h"

/* ---- golden tables ------------------------------------------------------------------------------
 */

static const Case cases[] = {
	{"demo",
	 3,
	 {{"6.1.192", "debian:bookworm"}, {"6.12.95", "debian:bookworm-backports"}},
	 {{"real-xfsrepair", "s", -1, {{5.2, 5.25, 5.31}, {5.02, 5.07, 4.98}}},
	  {"user-xfsrepair", "s", -1, {{1.1, 1.2, 1.3}, {1.1, 1.2, 1.3}}},
	  {"syst-xfsrepair", "s", -1, {{4.1, 4.05, 4.01}, {4.4, 4.45, 4.41}}},
	  {"syst-fsmark", "s", -1, {{11.1, 11.4, 11.2}, {10.1, 10.4, 10.2}}},
	  {"real-fsmark", "s", -1, {{12.1, 12.4, 12.2}, {11.1, 11.4, 11.2}}},
	  {"files/s-fsmark", "files/s", 1, {{5162.1, 5346, 5200.25}, {5400, 5500, 5600}}},
	  {"overhead-fsmark", "us", -1, {{81162, 82346, 80200}, {70400, 70500, 70600}}},
	  {"numa_hint_faults", "count", 0, {{26454, 26001, 27333}, {20131, 20000, 21111}}},
	  {"numa_pages_migrated", "count", 0, {{6893, 5063, 7887}, {4060, 4063, 4587}}},
	  {"irq.TLB", "count", 0, {{3101, 3102, 3104}, {2801, 2802, 2803}}},
	  {"numa_hint_faults:xfsrepair", "count", 0, {{1, 2, 3}, {4, 5, 6}}},
	  {"maxrss-xfsrepair", "KiB", -1, {{90000, 90004, 90008}, {80000, 80004, 80008}}}}},
	{"one-boot",
	 1,
	 {{"6.1.192", "debian:bookworm"}, {"6.12.95", "debian:bookworm-backports"}},
	 {{"real-xfsrepair", "s", -1, {{0.803112}, {0.795501}}},
	  {"numa_hint_faults", "count", 0, {{26454}, {20131}}}}},
	{"zeros",
	 2,
	 {{"6.1.192", "debian:bookworm"}, {"6.12.95", "debian:bookworm-backports"}},
	 {{"real-a-late-step", "s", -1, {{12, 14}, {0, 0}}},
	  {"user-a-late-step", "s", -1, {{0, 0}, {12, 14}}},
	  {"syst-a-late-step", "s", -1, {{0, 0}, {0, 0}}},
	  {"files/s-fsmark", "files/s", 1, {{50, 70}, {0, 0}}},
	  {"numa_hint_faults", "count", 0, {{0, 0}, {0, 1}}}}},
	{"all-equal",
	 3,
	 {{"6.1.192", "debian:bookworm"}, {"6.12.95", "debian:bookworm-backports"}},
	 {{"real-xfsrepair", "s", -1, {{5.1, 5.1, 5.1}, {5.1, 5.1, 5.1}}},
	  {"numa_hint_faults", "count", 0, {{7, 7, 7}, {7, 7, 7}}}}},
	{"negative",
	 2,
	 {{"6.1.192", "debian:bookworm"}, {"6.12.95", "debian:bookworm-backports"}},
	 {{"real-xfsrepair", "s", -1, {{-10, -20}, {-5, -10}}},
	  {"files/s-fsmark", "files/s", 1, {{-10, -20}, {-5, -10}}},
	  {"syst-xfsrepair", "s", -1, {{10.00004, 10.00004}, {10.0002, 10.0002}}}}},
	{"missing",
	 3,
	 {{"5.10.249", "debian:bullseye"},
	  {"6.1.192", "debian:bookworm"},
	  {"7.2~rc1", "dir:/src/linux-next/"}},
	 {{"real-xfsrepair", "s", -1, {{5, 6, 7}, {5, 6, 7}, {5, 6, 7}}},
	  {"user-xfsrepair", "s", -1, {{NAN, NAN, NAN}, {1, 2, 3}, {1, 2, NAN}}},
	  {"numa_hint_faults", "count", 0, {{NAN, NAN, NAN}, {1, 2, 4}, {1, 2, 4}}},
	  {"numa_pages_migrated", "count", 0, {{4, 4, 4}, {NAN, NAN, NAN}, {0, 0, 0}}}},
	 {{1, 1, 'f'}, {2, 0, 'm'}, {1, 2, 'm'}}},
	/* a step that only one of them has, either way */
	{"partial",
	 3,
	 {{"6.1.192", "debian:bookworm"}, {"6.12.95", "debian:bookworm-backports"}},
	 {{"real-fsmark", "s", -1, {{12.1, 12.4, 12.2}, {11.1, 11.4, 11.2}}},
	  {"syst-fsmark", "s", -1, {{10.1, 10.4, 10.2}, {11.1, 11.4, 11.2}}},
	  {"files/s-fsmark", "files/s", 1, {{5162.1, 5346, 5200.25}, {NAN, NAN, NAN}}},
	  {"real-xfsrepair", "s", -1, {{5.2, 5.25, 5.31}, {NAN, NAN, NAN}}},
	  {"syst-xfsrepair", "s", -1, {{4.1, 4.05, 4.01}, {NAN, NAN, NAN}}},
	  {"real-a-late-step", "s", -1, {{NAN, NAN, NAN}, {1.1, 1.2, 1.3}}},
	  {"numa_hint_faults", "count", 0, {{26454, 26001, 27333}, {NAN, NAN, NAN}}}}},
	{"all-of-one-failed",
	 2,
	 {{"6.1.192", "debian:bookworm"}, {"6.12.95", "debian:bookworm-backports"}},
	 {{"real-xfsrepair", "s", -1, {{5, 6}, {5, 6}}}},
	 {{0, 0, 'f'}, {0, 1, 'f'}}},
	{"seven-kernels",
	 2,
	 {{"3.19.8", "dir:/k/a"},
	  {"4.0.0-rc1", "dir:/k/b"},
	  {"4.0.0-rc4", "dir:/k/c"},
	  {"4.0.0-rc4-p1", "dir:/k/d"},
	  {"4.0.0-rc4-p1-p2", "dir:/k/e"},
	  {"4.0.0-rc4-p1-p2-p3", "dir:/k/f"},
	  {"4.0.5", "dir:/k/g"}},
	 {{"real-xfsrepair",
	   "s",
	   -1,
	   {{294, 295}, {598, 599}, {470, 482}, {440, 441}, {307, 308}, {271, 272}, {270, 280}}},
	  {"numa_pages_migrated",
	   "count",
	   0,
	   {{266750, 266751},
	    {32900000, 32900001},
	    {572839, 590974},
	    {558632, 558632},
	    {223706, 223706},
	    {201429, 201429},
	    {1, 2}}}}},
	{"wide",
	 2,
	 {{"6.13.0-rc1-00042-g0123456789ab-dirty", "dir:/src/numa-balancing-scan-slower-v3"},
	  {"6.13.0", "debian:sid/linux-image-6.13-amd64=6.13.1-1~exp1"}},
	 {{"real-a-very-long-step-name-for-a-small-table",
	   "s",
	   -1,
	   {{1e15, 1.5e15}, {0.001, 0.0012}}},
	  {"touches-touch", "count", 1, {{1, 1.5}, {64000000123456, 6.5e13}}},
	  {"numa_pte_updates",
	   "count",
	   0,
	   {{18446744073709551615.0, 18446744073709551615.0}, {1e18, 3e18}}}}},
	{"same-label",
	 1,
	 {{"6.12.95", "debian:bookworm-backports"}, {"6.12.95", "debian:bookworm-backports"}},
	 {{"real-xfsrepair", "s", -1, {{100}, {101}}}}},
};

static void assert_same_lines(const char *path, const char *text, const char *wanted)
{
	g_auto(GStrv) a = g_strsplit(text, "\n", -1), b = g_strsplit(wanted, "\n", -1);
	guint i = 0;

	while (a[i] && b[i] && strcmp(a[i], b[i]) == 0)
		i++;
	ck_assert_msg(!a[i] && !b[i], "%s:%u:\n  got %.200s\nwanted %.200s", path, i + 1,
		      a[i] ? a[i] : "(end)", b[i] ? b[i] : "(end)");
}

static void check_golden(const char *name, const char *suffix, const char *text)
{
	g_autofree char *path = g_strdup_printf("%s/compare/%s.%s", TEST_DATA, name, suffix);
	g_autofree char *wanted = NULL;
	g_autoptr(GError) error = NULL;

	if (g_getenv("NUMALAB_GOLDEN")) {
		ck_assert(lab_file_write(path, text, -1, NULL));
		return;
	}
	wanted = lab_file_read(path, NULL, &error);
	assert_no_error(error);
	assert_same_lines(path, text, wanted);
}

static void assert_plain(const char *text)
{
	for (const char *c = text; *c; c++)
		ck_assert_msg(g_ascii_isprint(*c) || *c == '\n', "byte 0x%02x", (guint8)*c);
	ck_assert_ptr_null(strstr(text, " \n"));
	ck_assert_ptr_null(strstr(text, "nan"));
	ck_assert_ptr_null(strstr(text, "inf"));
	ck_assert_ptr_null(strstr(text, "-0.00"));
}

START_TEST(golden)
{
	const Case *c = &cases[_i];
	g_autoptr(LabRun) run = make_run(c, NULL, scenario);
	g_autoptr(LabCompare) result = compare(NULL, "latest", NULL);
	g_autofree char *text = lab_compare_text(result, NULL, NULL),
			*csv = lab_compare_csv(result);
	g_autofree char *json = lab_compare_json(result);
	g_autoptr(JsonParser) parser = json_parser_new();

	check_golden(c->name, "txt", text);
	assert_plain(text);
	check_golden(c->name, "csv", csv);
	check_golden(c->name, "json", json);
	ck_assert(json_parser_load_from_data(parser, json, -1, NULL));
}
END_TEST

START_TEST(all_counters)
{
	g_autoptr(LabRun) run = make_run(&cases[0], NULL, scenario);
	g_autoptr(LabCompare) all = compare("all", "1", NULL);
	g_autoptr(LabCompare) some = compare("irq.*, numa_*:xfsrepair,numa_hint_faults", "1", NULL);
	g_autofree char *text = lab_compare_text(all, NULL, NULL);

	ck_assert_uint_eq(all->counters->len, 5);
	check_golden("demo-all", "txt", text);
	ck_assert_uint_eq(some->counters->len, 3);
	ck_assert_str_eq(((LabCompareRow *)some->counters->pdata[0])->metric, "irq.TLB");
	ck_assert_str_eq(((LabCompareRow *)some->counters->pdata[2])->metric, "numa_hint_faults");
}
END_TEST

/* ---- which columns ------------------------------------------------------------------------------
 */

static void other_image(LabPlan *plan)
{
	set_text(&plan->image_digest, "9999999999999999");
	set_text(&plan->prepared_digest, "77");
	set_text(&plan->files_digest, "88");
}

static void other_scenario(LabPlan *plan)
{
	set_text(&plan->scenario_digest, "other");
}

static void other_clock(LabPlan *plan)
{
	set_text(&plan->clock, "tcg");
}

START_TEST(two_runs)
{
	g_autoptr(LabRun) one = make_run(&cases[0], NULL, scenario);
	g_autoptr(LabRun) two = make_run(&cases[0], other_image, scenario);
	g_autoptr(LabCompare) result = compare(NULL, "latest~1:6.1.192", "2:bookworm-backports",
					       "2:debian:bookworm", "1:aa0000", NULL);
	g_autofree char *text = lab_compare_text(result, NULL, NULL);

	check_golden("two-runs", "txt", text);
	ck_assert_uint_eq(result->columns->len, 4);
}
END_TEST

static void assert_refused(const char *first, const char *second, const char *counters, int code,
			   const char *wanted)
{
	const char *const selections[] = {first, second, NULL};
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(
		lab_compare(store, selections, &(LabCompareOptions){.counters = counters}, &error));
	ck_assert_ptr_nonnull(error);
	ck_assert_msg(g_error_matches(error, LAB_ERROR, code), "%s", error->message);
	assert_contains(error->message, wanted);
	ck_assert_ptr_null(strchr(error->message, '\n'));
}

/* What the host does to the same guest is no other experiment. */
START_TEST(factor)
{
	static const char on[] = "{\"kvm\": {\"async_pf\": \"on\", \"x\": 1}, \"settle\": 5}";
	static const char off[] = "{\"kvm\": {\"async_pf\": \"off\", \"x\": 1}, \"settle\": 5}";
	static const char more[] = "{\"kvm\": {\"async_pf\": \"off\", \"x\": 1}, \"settle\": 6}";
	g_autoptr(LabRun) one = make_run(&cases[0], NULL, on);
	g_autoptr(LabRun) two = make_run(&cases[0], other_scenario, off);
	g_autoptr(LabRun) three = make_run(&cases[0], other_scenario, more);
	g_autoptr(LabCompare) result = compare(NULL, "1", "2", NULL);
	const char *wanted = "runs 1 and 2 differ by: kvm.async_pf is \"on\" / \"off\"";

	ck_assert_msg(g_strv_contains((const char *const *)result->notes, wanted), "%s",
		      result->notes[0]);
	assert_refused("1", "3", NULL, LAB_ERROR_USER, "they are different experiments");
}
END_TEST

START_TEST(refused)
{
	static const char other[] = "{\"settings\": {\"thp\": \"never\", \"x\": [1, 3]},"
				    " \"prepare\": [{\"name\": \"mkfs\"}, {\"name\": \"fsmark\"}],"
				    " \"steps\": [{\"name\": \"xfsrepair\"}], \"settle\": 5}";
	g_autoptr(LabRun) one = make_run(&cases[0], NULL, scenario);
	g_autoptr(LabRun) two = make_run(&cases[0], other_scenario, other);
	g_autoptr(LabRun) three = make_run(&cases[0], other_clock, scenario);
	g_autoptr(LabRun) four = make_run(&cases[0], other_scenario, "damaged");
	g_autoptr(LabRun) five = make_run(&cases[10], NULL, scenario);

	assert_refused(
		"1", "2", NULL, LAB_ERROR_USER,
		"settings.thp is \"madvise\" / \"never\"; settings.x[1] is 2 / 3; steps is ");
	assert_refused("1", "2", NULL, LAB_ERROR_USER, "; and 1 more");
	assert_refused("1", "3", NULL, LAB_ERROR_USER, "(clock exact / tcg)");
	assert_refused("1", "4", NULL, LAB_ERROR_USER, "digests 5ce0 / other");
	assert_refused("9", NULL, NULL, LAB_ERROR_USER, "no run 9");
	assert_refused("1:6.2", NULL, NULL, LAB_ERROR_USER,
		       "run 1 has no kernel '6.2': it has 6.1.192 (debian:bookworm, aa0000000000), "
		       "6.12.95");
	assert_refused("1:", NULL, NULL, LAB_ERROR_USER, "no kernel ''");
	assert_refused("1:aa", NULL, NULL, LAB_ERROR_USER, "no kernel 'aa'");
	assert_refused("5:6.12.95", NULL, NULL, LAB_ERROR_USER,
		       "run 5 has more than one kernel '6.12.95'");
	assert_refused(
		"1", NULL, "numa_hint_fault", LAB_ERROR_USER,
		"no counter 'numa_hint_fault' was collected (did you mean 'numa_hint_faults'?)");
	assert_refused("1", NULL, "irq.*,xyz", LAB_ERROR_USER, "no counter 'xyz'");
	assert_refused(NULL, NULL, NULL, LAB_ERROR_USER, "wanted a run");
}
END_TEST

START_TEST(nothing_there)
{
	static const Case none = {"none",
				  1,
				  {{"6.1.192", "debian:bookworm"}},
				  {{"real-xfsrepair", "s", -1, {{1}}}},
				  {{0, 0, 'f'}}};
	g_autoptr(LabRun) run = make_run(&none, NULL, scenario);

	assert_refused("1", NULL, NULL, LAB_ERROR_UNKNOWN,
		       "run 1, boot k0-s1: kernel: Kernel panic");
}
END_TEST

START_TEST(identical_seeds)
{
	g_autoptr(LabRun) run = make_run(&cases[0], NULL, scenario);
	g_autoptr(LabCompare) result = NULL;
	g_autoptr(GPtrArray) samples = g_ptr_array_new();
	LabSample sample = {(char *)"real-xfsrepair", 5.25, "s", -1};
	g_autofree char *text = NULL;

	g_ptr_array_add(samples, &sample);
	complete_boot(run, run->plan->boots->pdata[0], LAB_OUTCOME_OK, "", "same", samples);
	complete_boot(run, run->plan->boots->pdata[4], LAB_OUTCOME_OK, "", "same", samples);
	result = compare(NULL, "1", NULL);
	text = lab_compare_text(result, NULL, NULL);
	assert_contains(text, "6.1.192 bookworm, run 1: seeds 1 and 3 gave identical boots");
}
END_TEST

START_TEST(every_sample_can_be_traced)
{
	g_autoptr(LabRun) run = make_run(&cases[5], NULL, scenario);
	g_autoptr(LabCompare) result = compare("all", "1", NULL);
	const LabCompareRow *row = result->times->pdata[0];

	ck_assert_str_eq(row->metric, "real-xfsrepair");
	for (guint c = 0; c < result->columns->len; c++) {
		const LabCompareColumn *column = result->columns->pdata[c];

		ck_assert_uint_eq(column->boots->len, 3);
		ck_assert_uint_eq(row->values[c]->len, 3);
		for (guint b = 0; b < 3; b++) {
			const LabCompareBoot *boot = column->boots->pdata[b];
			g_autofree char *id = g_strdup_printf("k%u-s%u", c, b + 1);
			double value = g_array_index(row->values[c], double, b);

			ck_assert_str_eq(boot->id, id);
			ck_assert_uint_eq(boot->seed, b + 1);
			if (what_became(&cases[5], c, b) == 'o')
				ck_assert_double_eq(value, 5 + b);
			else
				ck_assert(isnan(value));
		}
	}
}
END_TEST

/* ---- stars -------------------------------------------------------------------------------------- */

/* Of a rate: by its reciprocals, times of one piece of work. Here each of them grows by as much, and
 * the rates themselves by anything from 0.01 to 91: their own t test would tell nothing. */
START_TEST(stars)
{
	Case c = {"stars",
		  4,
		  {{"6.1.192", "debian:bookworm"}, {"6.12.95", "debian:bookworm-backports"}},
		  {{"files/s-fsmark", "files/s", 1, {{10, 50, 200, 1000}}},
		   {"real-fsmark", "s", -1, {{5, 5.1, 5.2, 5.4}, {5.01, 5.11, 5.21, 5.41}}},
		   {"real-xfsrepair", "s", -1, {{5, 5.1, 5.2, 5.4}, {5.4, 5.2, 5.1, 5.01}}}}};
	g_autoptr(LabRun) run = NULL;
	g_autoptr(LabCompare) result = NULL;
	g_autofree char *text = NULL, *layout = NULL;
	LabDifference rates;

	for (guint b = 0; b < 4; b++)
		c.metrics[0].values[1][b] = 1 / (1 / c.metrics[0].values[0][b] + 0.0001);
	rates = lab_difference(LAB_DESIGN_PAIRED, c.metrics[0].values[0], 4, c.metrics[0].values[1],
			       4);
	ck_assert_double_gt(rates.p, 0.05);
	run = make_run(&c, NULL, scenario);
	result = compare(NULL, "latest", NULL);
	text = lab_compare_text(result, NULL, NULL);
	assert_contains(text,
			"Hmean    files/s-fsmark       31.75 (  0.00%)       31.65 * -0.32%*\n");
	assert_contains(text,
			"Amean    real-fsmark          5.175 (  0.00%)       5.185 * -0.19%*\n");
	assert_contains(text,
			"Amean    real-xfsrepair       5.175 (  0.00%)       5.178 ( -0.05%)\n");
	assert_contains(text, "\n* differs from the first column: t test at 95 %");
	layout = lab_compare_text(result, &(LabTableOptions){.mmtests = TRUE}, NULL);
	ck_assert_ptr_null(strchr(layout, '*'));
}
END_TEST

/* ---- rows --------------------------------------------------------------------------------------- */

START_TEST(rows_asked_for)
{
	g_autoptr(LabRun) run = make_run(&cases[0], NULL, scenario);
	g_autoptr(GError) error = NULL;
	g_autoptr(LabCompare) result = compare(NULL, "latest", NULL);
	g_autofree char *text = lab_compare_text(
		result, &(LabTableOptions){.rows = "max, mean", .percentiles = "50,90,99.5"},
		&error);
	const char *const bad_rows[] = {"amin", "", "mean,maximum"};
	const char *const bad_percentiles[] = {"", "50,", "101", "-1", "x", "5x", "nan", "0x10"};

	assert_no_error(error);
	ck_assert_ptr_null(strstr(text, "\nMin "));
	ck_assert_ptr_null(strstr(text, "\nStddev "));
	assert_contains(text, "\nAmean     real-xfsrepair");
	assert_contains(text, "\nHmean     files/s-fsmark");
	assert_contains(text, "\n2nd-qrtle files/s-fsmark      5200.25 (  0.00%)");
	assert_contains(text, "\nMax-90    files/s-fsmark      5346.00 (  0.00%)");
	assert_contains(text, "\nMax-99.5  real-xfsrepair        5.310 (  0.00%)");
	assert_contains(text, "\nMax       real-xfsrepair");
	for (guint i = 0; i < G_N_ELEMENTS(bad_rows); i++) {
		g_clear_error(&error);
		ck_assert_ptr_null(
			lab_compare_text(result, &(LabTableOptions){.rows = bad_rows[i]}, &error));
		ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_USER));
	}
	for (guint i = 0; i < G_N_ELEMENTS(bad_percentiles); i++) {
		g_clear_error(&error);
		ck_assert_msg(!lab_compare_text(
				      result, &(LabTableOptions){.percentiles = bad_percentiles[i]},
				      &error),
			      "'%s'", bad_percentiles[i]);
		ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_USER));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("compare");
	TCase *tcase = tcase_create("compare");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, golden, 0, G_N_ELEMENTS(cases));
	tcase_add_test(tcase, all_counters);
	tcase_add_test(tcase, two_runs);
	tcase_add_test(tcase, factor);
	tcase_add_test(tcase, refused);
	tcase_add_test(tcase, nothing_there);
	tcase_add_test(tcase, identical_seeds);
	tcase_add_test(tcase, every_sample_can_be_traced);
	tcase_add_test(tcase, stars);
	tcase_add_test(tcase, rows_asked_for);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
