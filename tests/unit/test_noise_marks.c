/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which A/A run gives a comparison its noise floors, and what is marked. */
#include <stdlib.h>

#include "lab/stats/noise.h"
#include "tests/unit/compare_cases.h"

#define A                                                                                          \
	{                                                                                          \
		"6.1.192", "debian:bookworm"                                                       \
	}
#define JUDGE                                                                                      \
	"judge:\n- {metric: real-xfsrepair, threshold: 2%}\n"                                      \
	"- {metric: syst-xfsrepair, threshold: 2%}\n"

static const Case compared = {
	"compared",
	3,
	{A, {"6.12.95", "debian:bookworm-backports"}},
	{{"real-xfsrepair", "s", -1, {{5, 5.1, 5.2}, {5.01, 5.13, 5.19}}},
	 {"syst-xfsrepair", "s", -1, {{5, 5.1, 5.2}, {5.5, 5.61, 5.72}}}},
	.yaml = JUDGE,
};
static const Case itself = {
	"compared",
	6,
	{A},
	{{"real-xfsrepair", "s", -1, {{1.00, 1.02, 0.98, 1.01, 1.03, 0.99}}},
	 {"syst-xfsrepair", "s", -1, {{1.00, 1.01, 0.99, 1.01, 1.00, 0.99}}}},
};

static LabPlan *changed_aa(LabPlan *plan)
{
	plan->is_aa = TRUE;
	return plan;
}

static void aa(LabPlan *plan)
{
	changed_aa(plan);
}

static void aa_of_another_kernel(LabPlan *plan)
{
	set_text(&changed_aa(plan)->kernels[0], "0the7");
	for (guint i = 0; i < plan->boots->len; i++)
		set_text(&((LabPlanBoot *)plan->boots->pdata[i])->kernel_digest, "0the7");
}

static void aa_of_another_scenario(LabPlan *plan)
{
	set_text(&changed_aa(plan)->scenario_digest, "0the7");
}

static void aa_of_another_clock(LabPlan *plan)
{
	set_text(&changed_aa(plan)->clock, "tcg");
}

static void aa_of_another_image(LabPlan *plan)
{
	set_text(&changed_aa(plan)->image_digest, "0the7");
}

static void aa_of_other_files(LabPlan *plan)
{
	set_text(&changed_aa(plan)->files_digest, "0the7");
}

static void aa_of_another_qemu(LabPlan *plan)
{
	set_text(&changed_aa(plan)->qemu_version, "0");
}

/* Run 1 is compared; the others are 2 and 3. */
static const struct {
	const char *name;
	void (*change[2])(LabPlan *plan);
	char became; /* of the last boot of the last run */
	guint wanted;
	const char *note;
} finds[] = {
	{"one", {aa}, 0, 2, "noise floors: of A/A run 2 (6.1.192 bookworm, the baseline's kernel)"},
	{"the newest", {aa, aa}, 0, 3, "run 3 (6.1.192 bookworm, the baseline's kernel)"},
	{"the baseline's kernel first", {aa, aa_of_another_kernel}, 0, 2, "baseline's kernel)"},
	{"another kernel", {aa_of_another_kernel}, 0, 2, "another kernel than the baseline's)"},
	{"boot failed", {aa, aa}, 'f', 2, "run 2 ("},
	{"boot missing", {aa, aa}, 'm', 2, "run 2 ("},
	{"no A/A run", {NULL}, 0, 0, NULL},
	{"another scenario", {aa_of_another_scenario}, 0, 0, NULL},
	{"another clock", {aa_of_another_clock}, 0, 0, NULL},
	{"another image", {aa_of_another_image}, 0, 0, NULL},
	{"other files", {aa_of_other_files}, 0, 0, NULL},
	{"another QEMU", {aa_of_another_qemu}, 0, 0, NULL},
};

/* @indexed: as runs are that numalab made here; else as copied ones */
static void add_run(const Case *c, void (*change)(LabPlan *plan), gboolean indexed)
{
	g_autoptr(LabRun) run = make_run(c, change, scenario);
	g_autoptr(GError) error = NULL;

	if (indexed)
		lab_store_finish_run(store, run, &error);
	assert_no_error(error);
}

START_TEST(which_run)
{
	guint i = (guint)_i / 2;
	gboolean indexed = _i % 2, two = finds[i].change[1] != NULL;
	Case last = itself;
	g_autoptr(LabCompare) result = NULL;
	g_autofree char *text = NULL;

	if (finds[i].became) {
		last.bad[0].boot = 5;
		last.bad[0].what = finds[i].became;
	}
	add_run(&compared, NULL, indexed);
	add_run(two ? &itself : &last, finds[i].change[0], indexed);
	if (two)
		add_run(&last, finds[i].change[1], indexed);
	result = compare(NULL, "1", NULL);
	text = lab_compare_text(result, NULL, NULL);
	ck_assert_msg(result->noise_run == finds[i].wanted, "%s: run %u", finds[i].name,
		      result->noise_run);
	if (finds[i].note)
		assert_contains(text, finds[i].note);
	else
		ck_assert_msg(!strstr(text, "noise"), "%s", text);
}
END_TEST

START_TEST(marks)
{
	g_autoptr(LabCompare) before = NULL, after = NULL;
	g_autofree char *text = NULL, *json = NULL, *csv = NULL;

	add_run(&compared, NULL, TRUE);
	before = compare(NULL, "1", NULL);
	add_run(&itself, aa, TRUE);
	after = compare(NULL, "1", NULL);
	ck_assert_uint_eq(after->verdicts->len, 2);
	for (guint i = 0; i < 2; i++) {
		const LabCompareVerdict *old = before->verdicts->pdata[i];
		const LabCompareVerdict *new = after->verdicts->pdata[i];
		const double *v = itself.metrics[i].values[0];

		ck_assert(isnan(old->noise_floor) && !old->below_floor);
		ck_assert_double_eq(new->noise_floor,
				    lab_noise_floor(LAB_DESIGN_UNPAIRED, v, 3, v + 3, 3, 3, 0.05));
		ck_assert_int_eq(new->below_floor, i == 0);
		ck_assert_int_eq(new->judgement.verdict, old->judgement.verdict);
	}
	ck_assert_int_eq(lab_compare_exit_code(after), lab_compare_exit_code(before));
	text = lab_compare_text(after, NULL, NULL);
	assert_contains(text, "3 pairs, below the noise floor of run 2, 3.91 %)\n");
	ck_assert_ptr_eq(strstr(text, "below the"), g_strrstr(text, "below the"));
	json = lab_compare_json(after);
	assert_contains(json, "\"noise\": {\"run\": 2, \"kernel\": \"6.1.192 bookworm\"}");
	assert_contains(json, "\"below_noise_floor\": \"yes\"");
	assert_contains(json, "\"below_noise_floor\": \"no\"");
	csv = lab_compare_csv(after);
	assert_contains(csv, ",yes,\r\n");
	assert_contains(csv, ",no,\r\n");
}
END_TEST

/* An A/A run that is compared is not its own measure; another one is. */
START_TEST(itself_compared)
{
	g_autoptr(LabCompare) alone = NULL, with_other = NULL;

	add_run(&compared, aa, TRUE);
	alone = compare(NULL, "1", NULL);
	ck_assert_uint_eq(alone->noise_run, 0);
	add_run(&itself, aa, TRUE);
	with_other = compare(NULL, "1", NULL);
	ck_assert_uint_eq(with_other->noise_run, 2);
}
END_TEST

/* Two builds of one source, the same seeds: paired as the comparison is. */
START_TEST(pairs)
{
	const Metric *m = &compared.metrics[0];
	g_autoptr(LabCompare) result = NULL;

	add_run(&compared, NULL, TRUE);
	add_run(&compared, aa, TRUE);
	result = compare(NULL, "1", NULL);
	ck_assert_double_eq(
		((LabCompareVerdict *)result->verdicts->pdata[0])->noise_floor,
		lab_noise_floor(LAB_DESIGN_PAIRED, m->values[0], 3, m->values[1], 3, 3, 0.05));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("noise_marks");
	TCase *tcase = tcase_create("noise_marks");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, which_run, 0, 2 * G_N_ELEMENTS(finds));
	tcase_add_test(tcase, marks);
	tcase_add_test(tcase, itself_compared);
	tcase_add_test(tcase, pairs);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
