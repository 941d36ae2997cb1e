/* SPDX-License-Identifier: GPL-2.0-or-later */
/* list, show, compare and clean: the command itself, on stores made by the library. */
#include <json-glib/json-glib.h>
#include <stdlib.h>

#include "lab/base/process.h"
#include "lab/verdict/compare.h"
#include "tests/unit/lab_store.h"

static char *root, *cache;
static LabStore *store;

static void setup(void)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *path = NULL;

	root = g_dir_make_tmp("numalab-results-XXXXXX", NULL);
	path = g_build_filename(root, "store", NULL);
	cache = g_build_filename(root, "cache", NULL);
	store = lab_store_open(path, &error);
	assert_no_error(error);
}

static void teardown(void)
{
	g_clear_pointer(&store, lab_store_free);
	lab_dir_remove(root, NULL);
	g_clear_pointer(&root, g_free);
	g_clear_pointer(&cache, g_free);
}

/* The command's stdout; @err_part: what stderr must contain, NULL: nothing. Free with g_free(). */
static char *numalab(int exit_status, const char *err_part, const char *arguments)
{
	g_autofree char *line = g_strdup_printf("%s/numalab %s", TEST_BUILD, arguments);
	g_auto(GStrv) words = g_strsplit(line, " ", -1);
	const char *environment[] = {NULL, NULL, NULL};
	g_autofree char *in_store = g_strconcat("NUMALAB_STORE=", lab_store_root(store), NULL);
	g_autofree char *in_cache = g_strconcat("NUMALAB_CACHE=", cache, NULL);
	LabProcessOptions options = {.environment = environment, .timeout_us = 60 * G_USEC_PER_SEC};
	g_auto(LabProcessResult) result = {};
	g_autoptr(GError) error = NULL;

	environment[0] = in_store;
	environment[1] = in_cache;
	lab_process_run((const char *const *)words, &options, &result, &error);
	assert_no_error(error);
	ck_assert_msg(result.exit_status == exit_status, "%s: exit %d: %s", arguments,
		      result.exit_status, result.err);
	if (err_part)
		assert_contains(result.err, err_part);
	else
		ck_assert_str_eq(result.err, "");
	if (exit_status == LAB_ERROR_USER)
		ck_assert_str_eq(result.out, "");
	return g_steal_pointer(&result.out);
}

static JsonNode *numalab_json(const char *arguments)
{
	g_autofree char *out = numalab(0, NULL, arguments);
	g_autoptr(GError) error = NULL;
	JsonNode *node = json_from_string(out, &error);

	assert_no_error(error);
	return node;
}

/* One run of every state. */
static void make_runs(LabRun *runs[4])
{
	for (int i = 0; i < 4; i++)
		runs[i] = create_run(store);
	complete_all(runs[0], LAB_OUTCOME_OK);
	complete_all(runs[1], LAB_OUTCOME_KERNEL);
	complete_small(runs[2], 0, LAB_OUTCOME_OK);
	for (int i = 0; i < 3; i++)
		lab_run_unlock(runs[i]);
	/* the fourth is held by this process */
}

static void free_runs(LabRun *runs[4])
{
	for (int i = 0; i < 4; i++)
		lab_run_free(runs[i]);
}

START_TEST(list)
{
	LabRun *runs[4];
	g_autofree char *nothing = numalab(0, NULL, "list"), *table = NULL, *damaged = NULL;
	g_autofree char *plan = NULL;
	g_autoptr(JsonNode) json = NULL;
	JsonArray *array;

	ck_assert_str_eq(nothing, "");
	make_runs(runs);
	table = numalab(0, NULL, "list");
	assert_contains(table, "RUN  STATE    SCENARIO  CLOCK   OK  STARTED");
	assert_contains(table, "\n  1  done     demo      exact  3/3  2");
	assert_contains(table, "\n  2  failed   demo      exact  2/3  2");
	assert_contains(table, "\n  3  planned  demo      exact  1/3  2");
	assert_contains(table, "\n  4  running  demo      exact  0/3  2");
	assert_contains(table, "  6.1, 6.12\n");
	json = numalab_json("list --json");
	array = json_object_get_array_member(json_node_get_object(json), "runs");
	ck_assert_uint_eq(json_array_get_length(array), 4);
	ck_assert_str_eq(
		json_object_get_string_member(json_array_get_object_element(array, 3), "state"),
		"running");
	plan = g_build_filename(runs[0]->dir, "plan.json", NULL);
	ck_assert(lab_file_write(plan, "{", -1, NULL));
	damaged = numalab(0, NULL, "list");
	assert_contains(damaged, "\n  2  failed");
	assert_contains(damaged, "\ndamaged: ");
	free_runs(runs);
}
END_TEST

START_TEST(show)
{
	LabRun *runs[4];
	g_autofree char *run = NULL, *boot = NULL, *bad = NULL, *unknown = NULL, *none = NULL;
	g_autoptr(JsonNode) json = NULL, boot_json = NULL;
	JsonArray *array;

	make_runs(runs);
	run = numalab(0, NULL, "show 2");
	assert_contains(run, "run       2, failed: 2 ok, 1 failed, 0 missing\n");
	assert_contains(run, "6.1-s2   6.1     18446744073709551615  kernel");
	assert_contains(run, "kernel panic\n");
	boot = numalab(0, NULL, "show latest~3 6.1-s1");
	assert_contains(boot, "outcome   ok\n");
	assert_contains(boot, "real-xfsrepair   6.25  s\n");
	assert_contains(boot, "clock (QEMU ");
	bad = numalab(0, NULL, "show 2 6.1-s2");
	assert_contains(bad, "outcome   kernel: kernel panic\n");
	unknown = numalab(LAB_ERROR_USER, "no boot '6.1-s3' (did you mean '6.1-s1'?)",
			  "show 2 6.1-s3");
	none = numalab(LAB_ERROR_USER, "there are runs 1-4", "show 17");
	json = numalab_json("show 3 --json");
	array = json_object_get_array_member(json_node_get_object(json), "boots");
	ck_assert_uint_eq(json_array_get_length(array), 3);
	ck_assert_str_eq(
		json_object_get_string_member(json_array_get_object_element(array, 1), "outcome"),
		"missing");
	boot_json = numalab_json("show 1 6.1-s1 --json");
	array = json_object_get_array_member(json_node_get_object(boot_json), "samples");
	ck_assert_uint_eq(json_array_get_length(array), 1);
	free_runs(runs);
}
END_TEST

/* What a guest said must not reach the terminal as it is. */
START_TEST(show_evidence)
{
	g_autoptr(LabRun) run = create_run(store);
	g_autofree char *dir = lab_run_boot_dir(run, run->plan->boots->pdata[0]);
	g_autofree char *text = NULL;
	LabBootResult result = {.outcome = LAB_OUTCOME_KERNEL,
				.stage = (char *)"agent",
				.message = (char *)"\x1b[31mpanic",
				.evidence = (char *)"Kernel panic \x1b]0;x\x07\nline 2",
				.digest = (char *)"",
				.job_digest = (char *)"",
				.host_us = 61 * G_USEC_PER_SEC,
				.host_qemu_version = (char *)"10.0.2"};

	ck_assert(lab_dir_make(dir, NULL));
	ck_assert(lab_boot_result_write(&result, dir, NULL));
	text = numalab(0, NULL, "show 1 6.12-s1");
	assert_contains(text, "outcome   kernel: ?[31mpanic\n");
	assert_contains(text, "stage     agent, after 1m01s on the host\n");
	assert_contains(text, "\nKernel panic ?]0;x?\nline 2\n");
}
END_TEST

START_TEST(compare)
{
	static const char *const selections[] = {"1", NULL};
	LabRun *runs[4];
	g_autoptr(LabCompare) result = NULL;
	g_autofree char *text = NULL, *wanted = NULL, *csv = NULL, *both = NULL, *nothing = NULL;
	g_autofree char *kernels = NULL;
	g_autoptr(JsonNode) json = NULL;

	make_runs(runs);
	text = numalab(LAB_ERROR_UNKNOWN, NULL, "compare 1"); /* one boot of one kernel */
	result = lab_compare(store, selections, NULL, NULL);
	wanted = lab_compare_text(result, NULL, NULL);
	ck_assert_str_eq(text, wanted);
	csv = numalab(LAB_ERROR_UNKNOWN, NULL, "compare 1:6.12 2 --csv");
	assert_contains(csv, "real-xfsrepair,s,lower,6.12,trixie");
	json = numalab_json("compare 1 2 --json --judge none");
	ck_assert_uint_eq(json_array_get_length(json_object_get_array_member(
				  json_node_get_object(json), "columns")),
			  4);
	both = numalab(LAB_ERROR_USER, "one of --json and --csv", "compare 1 --csv --json");
	kernels = numalab(LAB_ERROR_USER, "run 1 has no kernel '5.10'", "compare 1:5.10");
	nothing = numalab(LAB_ERROR_UNKNOWN, "no boot has samples", "compare 4");
	free_runs(runs);
}
END_TEST

/* What the command says by its exit code, and what it refuses. */
START_TEST(verdicts)
{
	static const struct {
		const char *arguments, *error; /* NULL: none */
		int exit_status;
	} calls[] = {
		{"compare 1:6.1", NULL, 0}, /* nothing to compare it with */
		{"compare 1 --judge none", NULL, 0},
		{"compare 1", NULL, LAB_ERROR_UNKNOWN},
		{"compare 1:6.1 2:6.1 --alpha 0.2", NULL, LAB_ERROR_UNKNOWN}, /* one is left */
		{"compare 1 --rows mean --percentiles 50 --format mmtests --judge none", NULL, 0},
		{"compare 1 --names mmtests --csv --judge none", NULL, 0},
		{"compare 1 --judge real-xfsrepar=2", "did you mean 'real-xfsrepair'?", 2},
		{"compare 1 --judge real-xfsrepair", "--judge: wanted METRIC=PERCENT", 2},
		{"compare 1 --judge none --judge real-xfsrepair=2", "found 'none'", 2},
		{"compare 1 --judge a=1 --judge a=2", "each metric once, found 'a' twice", 2},
		{"compare 1 --alpha 1", "--alpha: wanted a probability", 2},
		{"compare 1 --alpha -0.1", "--alpha: wanted a probability", 2},
		{"compare 1 --format mmtest", "found 'mmtest' (did you mean 'mmtests'?)", 2},
		{"compare 1 --names x", "--names: wanted kernel or mmtests", 2},
		{"compare 1 --rows mena", "found 'mena' (did you mean 'mean'?)", 2},
		{"compare 1 --percentiles 50,x", "found 'x'", 2},
		{"compare 1 --rows mean --json", "wanted one of --json or --csv and", 2},
		{"compare 1 --counters x --names mmtests", "--counters and --names mmtests", 2},
	};
	LabRun *runs[4];

	make_runs(runs);
	for (guint i = 0; i < G_N_ELEMENTS(calls); i++) {
		g_autofree char *out =
			numalab(calls[i].exit_status, calls[i].error, calls[i].arguments);

		ck_assert_msg(!*out == (calls[i].exit_status == LAB_ERROR_USER), "%s",
			      calls[i].arguments);
	}
	free_runs(runs);
}
END_TEST

/* Exit 1, the code that says bad to git bisect run: three boots of each, one kernel slower. */
START_TEST(regression)
{
	const char *const kernels[] = {"aaaa", "bbbb", NULL};
	g_autoptr(LabPlan) plan = empty_plan(kernels);
	g_autoptr(LabRun) run = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL, *faster = NULL;

	for (guint i = 0; i < 6; i++) {
		g_autofree char *id = g_strdup_printf("%s-s%u", i % 2 ? "6.12" : "6.1", i / 2);

		add_plan_boot(plan, id, i % 2 ? "6.12" : "6.1", "debian:x", kernels[i % 2], i / 2);
	}
	run = lab_store_create_run(store, plan, "name: demo\n", "{}", &error);
	assert_no_error(error);
	for (guint i = 0; i < 6; i++) {
		g_autoptr(GPtrArray) samples = g_ptr_array_new();
		LabSample sample = {(char *)"real-xfsrepair", (i % 2 ? 6 : 5) + 0.01 * (i / 2), "s",
				    -1};
		const LabPlanBoot *boot = run->plan->boots->pdata[i];

		g_ptr_array_add(samples, &sample);
		complete_boot(run, boot, LAB_OUTCOME_OK, "", boot->id, samples);
	}
	text = numalab(1, NULL, "compare 1");
	assert_contains(text, "\nREGRESSION real-xfsrepair: 19.96 % worse (");
	faster = numalab(0, NULL, "compare 1:6.12 1:6.1");
	assert_contains(faster, "\nIMPROVEMENT real-xfsrepair: 16.64 % better (");
}
END_TEST

static gboolean is_there(const LabRun *run)
{
	return g_file_test(run->dir, G_FILE_TEST_IS_DIR);
}

START_TEST(clean)
{
	LabRun *runs[4];
	g_autofree char *dry = NULL, *wrong = NULL, *held = NULL, *gone = NULL, *unfinished = NULL;
	g_autofree char *nothing = NULL, *half = NULL;

	make_runs(runs);
	half = g_build_filename(lab_store_root(store), "runs", "9", "boots", NULL);
	ck_assert(lab_dir_make(half, NULL));
	dry = numalab(0, NULL, "clean -n 1 --unfinished");
	assert_contains(dry, "would remove run 1 (demo, done): 1 MiB\n");
	assert_contains(dry, "would remove run 3 (demo, planned): 1 MiB\n");
	assert_contains(dry, "would remove left by a crash: ");
	assert_contains(dry, "would be freed\n");
	ck_assert(is_there(runs[0]) && is_there(runs[2]));
	ck_assert(g_file_test(half, G_FILE_TEST_IS_DIR));

	/* one that is not there: none is removed */
	wrong = numalab(LAB_ERROR_USER, "no run 17", "clean 1 17");
	ck_assert(is_there(runs[0]));
	held = numalab(LAB_ERROR_USER, "run 4 is being run", "clean 4");
	ck_assert(is_there(runs[3]));

	gone = numalab(0, NULL, "clean 1 latest~2");
	assert_contains(gone, "removed run 1 (demo, done)");
	assert_contains(gone, "removed run 2 (demo, failed)");
	ck_assert(!is_there(runs[0]) && !is_there(runs[1]) && is_there(runs[2]));
	ck_assert(!g_file_test(half, G_FILE_TEST_EXISTS));
	unfinished = numalab(0, NULL, "clean --unfinished");
	assert_contains(unfinished, "removed run 3 (demo, planned)");
	ck_assert(is_there(runs[3]));
	nothing = numalab(0, NULL, "clean");
	ck_assert_str_eq(nothing, "nothing to clean\n");
	free_runs(runs);
}
END_TEST

START_TEST(clean_cache)
{
	g_autofree char *tag = g_build_filename(cache, "CACHEDIR.TAG", NULL);
	g_autofree char *entry = g_build_filename(cache, "kernel", "0123", NULL);
	g_autofree char *file = g_build_filename(entry, "vmlinux", NULL);
	g_autofree char *kept = NULL, *busy = NULL;
	g_autoptr(JsonNode) json = NULL;
	g_autoptr(LabRun) run = create_run(store);

	ck_assert(lab_dir_make(entry, NULL));
	ck_assert(lab_file_write(tag, "Signature: 8a477f597d28d172789f06886806bc55\n", -1, NULL));
	ck_assert(lab_file_write(file, "x", -1, NULL));
	kept = numalab(0, NULL, "clean");
	ck_assert_str_eq(kept, "nothing to clean\n");
	/* a run that goes on needs the cache */
	busy = numalab(LAB_ERROR_USER, "run 1 is being run", "clean --all-cache");
	ck_assert(g_file_test(file, G_FILE_TEST_EXISTS));
	lab_run_unlock(run);
	json = numalab_json("clean --all-cache --json");
	ck_assert_int_gt(json_object_get_int_member(json_node_get_object(json), "bytes"), 0);
	ck_assert(!g_file_test(file, G_FILE_TEST_EXISTS));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("result_commands");
	TCase *tcase = tcase_create("result_commands");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, list);
	tcase_add_test(tcase, show);
	tcase_add_test(tcase, show_evidence);
	tcase_add_test(tcase, compare);
	tcase_add_test(tcase, verdicts);
	tcase_add_test(tcase, regression);
	tcase_add_test(tcase, clean);
	tcase_add_test(tcase, clean_cache);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
