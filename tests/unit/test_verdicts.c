/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which metrics decide, which boots are compared, and what the verdicts of a comparison are. */
#include <stdlib.h>

#include "lab/run/run.h"
#include "lab/spec/scenario.h"
#include "tests/unit/compare_cases.h"

#define TWO                                                                                        \
	{                                                                                          \
		{"6.1.192", "debian:bookworm"},                                                    \
		{                                                                                  \
			"6.12.95", "debian:bookworm-backports"                                     \
		}                                                                                  \
	}
#define JUDGE_REAL "judge: [{metric: real-xfsrepair, threshold: 2%}]\n"

static LabCompare *judged(const char *const *judge, double alpha, GError **error)
{
	static const char *const selections[] = {"latest", NULL};
	g_autoptr(GPtrArray) judges =
		g_ptr_array_new_with_free_func((GDestroyNotify)lab_judge_free);

	for (guint i = 0; judge && judge[i]; i++) {
		LabJudge *parsed = lab_judge_parse(judge[i], error);

		ck_assert_ptr_nonnull(parsed);
		g_ptr_array_add(judges, parsed);
	}
	return lab_compare(store, selections,
			   &(LabCompareOptions){.judge = judge ? judges : NULL, .alpha = alpha},
			   error);
}

static const LabCompareVerdict *verdict_at(const LabCompare *compare, guint i)
{
	ck_assert_uint_lt(i, compare->verdicts->len);
	return compare->verdicts->pdata[i];
}

static void assert_verdict(const LabCompare *compare, guint i, const char *wanted)
{
	const LabCompareVerdict *v = verdict_at(compare, i);
	g_autofree char *got = g_strdup_printf("%s %s", lab_compare_verdict_name(v), v->metric);

	ck_assert_str_eq(got, wanted);
}

/* ---- one metric: every verdict, and the exit code ----------------------------------------------- */

typedef struct {
	Case c;
	const char *line;
	int exit_code;
} OneCase;

static const OneCase one_metric[] = {
	{{"regression",
	  3,
	  TWO,
	  {{"real-xfsrepair", "s", -1, {{5, 5.1, 5.2}, {5.5, 5.61, 5.72}}}},
	  .yaml = JUDGE_REAL},
	 "REGRESSION real-xfsrepair: 10.00 % worse (-10.00 % .. -10.00 %, threshold 2 %, 3 pairs)",
	 1},
	{{"improvement",
	  3,
	  TWO,
	  {{"real-xfsrepair", "s", -1, {{5.5, 5.61, 5.72}, {4.95, 5.05, 5.15}}}},
	  .yaml = JUDGE_REAL},
	 "IMPROVEMENT real-xfsrepair: 9.98 % better (",
	 0},
	{{"same",
	  3,
	  TWO,
	  {{"real-xfsrepair", "s", -1, {{5, 5.1, 5.2}, {5, 5.1, 5.2}}}},
	  .yaml = JUDGE_REAL},
	 "SAME real-xfsrepair: equal (+0.00 % .. +0.00 %, threshold 2 %, 3 pairs)",
	 0},
	{{"unknown",
	  3,
	  TWO,
	  {{"real-xfsrepair", "s", -1, {{5, 5.1, 5.2}, {5.4, 5.1, 5.2}}}},
	  .yaml = JUDGE_REAL},
	 "UNKNOWN real-xfsrepair: 2.61 % worse (",
	 4},
	{{"rate",
	  3,
	  TWO,
	  {{"files/s-fsmark", "files/s", 1, {{50, 51, 52}, {45, 45.9, 46.8}}}},
	  .yaml = "judge: [{metric: files/s-fsmark, threshold: 2%}]\n"},
	 "REGRESSION files/s-fsmark: 10.00 % worse (-10.00 % .. -10.00 %, ",
	 1},
	/* whether more of it is bad is not known: no boots would tell */
	{{"counter",
	  3,
	  TWO,
	  {{"numa_hint_faults", "count", 0, {{10, 11, 12}, {20, 22, 24}}},
	   {"real-xfsrepair", "s", -1, {{5, 5, 5}, {5, 5, 5}}}},
	  .yaml = "judge: [{metric: numa_hint_faults, threshold: 25%}]\n"},
	 "UNKNOWN numa_hint_faults: 100.00 % more (+100.00 % .. +100.00 %, threshold 25 %, 3 "
	 "pairs; "
	 "whether that is bad is not known)",
	 4},
	{{"lower-is-better",
	  3,
	  TWO,
	  {{"numa_hint_faults", "count", 0, {{10, 11, 12}, {20, 22, 24}}}},
	  .yaml = "judge: [{metric: numa_hint_faults, threshold: 25%, better: lower}]\n"},
	 "REGRESSION numa_hint_faults: 100.00 % worse (-100.00 % .. -100.00 %, threshold 25 %, 3 "
	 "pairs)",
	 1},
	{{"higher-is-better",
	  3,
	  TWO,
	  {{"numa_hint_faults", "count", 0, {{10, 11, 12}, {20, 22, 24}}}},
	  .yaml = "judge: [{metric: numa_hint_faults, threshold: 25%, better: higher}]\n"},
	 "IMPROVEMENT numa_hint_faults: 100.00 % better (+100.00 % .. +100.00 %, threshold 25 %, "
	 "3 pairs)",
	 0},
	{{"default",
	  3,
	  TWO,
	  {{"real-xfsrepair", "s", -1, {{5, 5.1, 5.2}, {5.05, 5.151, 5.252}}},
	   {"syst-xfsrepair", "s", -1, {{5, 5.1, 5.2}, {8, 8.1, 8.2}}}}},
	 "SAME real-xfsrepair: 1.00 % worse (",
	 0},
	{{"one-boot", 1, TWO, {{"real-xfsrepair", "s", -1, {{5}, {8}}}}, .yaml = JUDGE_REAL},
	 "UNKNOWN real-xfsrepair: 60.00 % worse (any difference is possible, threshold 2 %, 1 "
	 "pair; "
	 "one boot has no spread: 2 or more of each kernel)",
	 4},
	{{"lab",
	  2,
	  TWO,
	  {{"real-xfsrepair", "s", -1, {{5, 5}, {8, 8}}}},
	  {{1, 0, 'i'}, {1, 1, 'm'}},
	  JUDGE_REAL},
	 "INFRA real-xfsrepair (no boot of 6.12.95 bookworm-backports is ok: the lab failed, or "
	 "did "
	 "not get to it)",
	 3},
	{{"kernel",
	  2,
	  TWO,
	  {{"real-xfsrepair", "s", -1, {{5, 5}, {8, 8}}}},
	  {{1, 0, 'i'}, {1, 1, 'f'}},
	  JUDGE_REAL},
	 "UNKNOWN real-xfsrepair (no boot of 6.12.95 bookworm-backports is ok)",
	 4},
	{{"absent", 2, TWO, {{"real-fsmark", "s", -1, {{5, 5}, {8, 8}}}}, .yaml = JUDGE_REAL},
	 "UNKNOWN real-xfsrepair (no boot of 6.1.192 bookworm has it)",
	 4},
	{{"apart", 2, TWO, {{"real-xfsrepair", "s", -1, {{5, NAN}, {NAN, 8}}}}, .yaml = JUDGE_REAL},
	 "UNKNOWN real-xfsrepair (no seed has it on both kernels)",
	 4},
};

START_TEST(each_verdict)
{
	const OneCase *one = &one_metric[_i];
	g_autoptr(LabRun) run = make_run(&one->c, NULL, scenario);
	g_autoptr(GError) error = NULL;
	g_autoptr(LabCompare) result = judged(NULL, 0, &error);
	g_autofree char *text = NULL, *wanted = g_strconcat("\n", one->line, NULL);

	assert_no_error(error);
	text = lab_compare_text(result, NULL, NULL);
	assert_contains(text, wanted);
	ck_assert_uint_eq(result->verdicts->len, 1);
	ck_assert_int_eq(lab_compare_exit_code(result), one->exit_code);
}
END_TEST

/* ---- several ------------------------------------------------------------------------------------ */

static const Case several = {
	"several",
	5,
	{{"6.1", "debian:a"}, {"6.6", "debian:b"}, {"6.12", "debian:c"}},
	{{"real-xfsrepair",
	  "s",
	  -1,
	  {{5, 5.1, 5.2, 5.3, 5.15}, {5.2, 5.3, 5.35, 5.6, 5.33}, {5.01, 5.11, 5.2, 5.29, 5.15}}},
	 {"files/s-fsmark",
	  "files/s",
	  1,
	  {{50, 51, 52, 53, 54}, {50.2, 50.9, 52, 53.3, 54}, {40, 41, 43, 45, 44}}},
	 {"numa_hint_faults",
	  "count",
	  0,
	  {{10, 11, 12, 13, 14}, {22, 11, 33, 10, 12}, {10, 11, 12, 13, 14}}}},
	.yaml = "judge:\n- {metric: real-xfsrepair, threshold: 2%}\n"
		"- {metric: files/s-fsmark, threshold: 3%}\n"
		"- {metric: numa_hint_faults, threshold: 25%}\n",
};

static void assert_as_judged(const LabCompare *result, const Case *c, guint column,
			     LabDesign design, double alpha)
{
	static const double thresholds[] = {0.02, 0.03, 0.25};
	LabJudgement wanted[3];
	LabJudgeCase cases[3];

	for (guint i = 0; i < 3; i++)
		cases[i] =
			(LabJudgeCase){lab_difference(design, c->metrics[i].values[0], c->n_boots,
						      c->metrics[i].values[column], c->n_boots),
				       thresholds[i], c->metrics[i].better};
	lab_judge(cases, 3, alpha, wanted);
	for (guint i = 0; i < 3; i++) {
		const LabCompareVerdict *v = verdict_at(result, 3 * (column - 1) + i);

		ck_assert_uint_eq(v->column, column);
		ck_assert_str_eq(v->metric, c->metrics[i].metric);
		ck_assert_int_eq(v->difference.design, design);
		ck_assert_int_eq(v->judgement.verdict, wanted[i].verdict);
		ck_assert_double_eq(v->judgement.alpha, wanted[i].alpha);
		ck_assert_double_eq(v->judgement.interval.low, wanted[i].interval.low);
		ck_assert_double_eq(v->judgement.interval.high, wanted[i].interval.high);
	}
}

static void clock_tcg(LabPlan *plan)
{
	set_text(&plan->clock, "tcg");
}

/* Holm's rule over the metrics of each kernel; paired under the exact clock alone. */
START_TEST(holm_for_each_kernel)
{
	g_autoptr(LabRun) run = make_run(&several, _i ? clock_tcg : NULL, scenario);
	g_autoptr(GError) error = NULL;
	g_autoptr(LabCompare) result = judged(NULL, 0, &error);
	g_autoptr(LabCompare) strict = judged(NULL, 0.001, &error);
	LabDesign design = _i ? LAB_DESIGN_UNPAIRED : LAB_DESIGN_PAIRED;
	g_autofree char *text = NULL;

	assert_no_error(error);
	ck_assert_uint_eq(result->verdicts->len, 6);
	for (guint column = 1; column < 3; column++) {
		assert_as_judged(result, &several, column, design, 0.05);
		assert_as_judged(strict, &several, column, design, 0.001);
	}
	text = lab_compare_text(result, NULL, NULL);
	assert_contains(text, "\n6.12 c: REGRESSION files/s-fsmark: ");
	assert_contains(text,
			_i ? "; boots not paired; 95 % for the 3 metrics of each kernel together "
			     "(Holm)\n"
			   : "; boots paired by seed; 95 % for the 3 metrics of each kernel "
			     "together (Holm)\n");
	assert_contains(text, "judged by the scenario; ");
	ck_assert_int_eq(lab_compare_exit_code(result), 1);
}
END_TEST

START_TEST(asked_for)
{
	static const char *const some[] = {"files/s-fsmark=50%", NULL};
	static const char *const wrong[] = {"files/s-fsmrk=2", NULL};
	static const char *const none[] = {NULL};
	g_autoptr(LabRun) run = make_run(&several, NULL, scenario);
	g_autoptr(GError) error = NULL;
	g_autoptr(LabCompare) result = judged(some, 0, &error);
	g_autoptr(LabCompare) nothing = judged(none, 0, &error);
	g_autofree char *text = NULL;

	assert_no_error(error);
	ck_assert_uint_eq(result->verdicts->len, 2);
	assert_verdict(result, 1, "SAME files/s-fsmark");
	ck_assert_int_eq(lab_compare_exit_code(result), 0);
	ck_assert_uint_eq(nothing->verdicts->len, 0);
	text = lab_compare_text(nothing, NULL, NULL);
	ck_assert_ptr_null(strstr(text, "judged"));
	ck_assert_ptr_null(judged(wrong, 0, &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_USER));
	assert_contains(error->message, "no boot has it (did you mean 'files/s-fsmark'?)");
}
END_TEST

START_TEST(judge_texts)
{
	static const struct {
		const char *text, *metric;
		gint64 ppm;
		int better;
	} cases[] = {
		{"real-x=2%", "real-x", 20000},
		{"real-x=0.5", "real-x", 5000},
		{"a=b=0.0001%", "a=b", 1},
		{"files/s-x=150", "files/s-x", 1500000},
		{"pgfault:x=25%:lower", "pgfault:x", 250000, -1},
		{"pgfault=25:higher", "pgfault", 250000, 1},
		{"pgfault=25:less", NULL, 0},
		{"pgfault=25:", NULL, 0},
		{"pgfault=:lower", NULL, 0},
		{"pgfault=25:lower%", NULL, 0},
		{"real-x", NULL, 0},
		{"=2%", NULL, 0},
		{"real-x=", NULL, 0},
		{"real-x=0", NULL, 0},
		{"real-x=-2%", NULL, 0},
		{"real-x=2%%", NULL, 0},
		{"real-x=0.00001%", NULL, 0},
		{"real-x=nan", NULL, 0},
	};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(LabJudge) judge = lab_judge_parse(cases[i].text, &error);

		ck_assert_msg(!judge == !cases[i].metric, "%s", cases[i].text);
		if (judge) {
			ck_assert_str_eq(judge->metric, cases[i].metric);
			ck_assert_int_eq(judge->threshold_ppm, cases[i].ppm);
			ck_assert_int_eq(judge->better, cases[i].better);
		} else {
			ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_USER));
		}
	}
}
END_TEST

/* As it was run, with --set; and a scenario that can no longer be read. */
START_TEST(of_the_run)
{
	g_autoptr(LabRun) run = make_run(&several, NULL, scenario);
	g_autofree char *pins = g_build_filename(run->dir, "pins.json", NULL);
	g_autofree char *yaml = g_build_filename(run->dir, "scenario.yaml", NULL);
	g_autoptr(GError) error = NULL;
	g_autoptr(LabCompare) set = NULL;
	g_autoptr(LabCompare) damaged = NULL;
	g_autofree char *text = NULL;

	ck_assert(lab_file_write(pins,
				 "{\"overrides\": [\"boots=3\", \"steps.gone.options.x=1\", "
				 "\"judge=[{metric: real-xfsrepair, threshold: 50%}]\"]}",
				 -1, NULL));
	set = judged(NULL, 0, &error);
	assert_no_error(error);
	ck_assert_uint_eq(set->verdicts->len, 2);
	assert_verdict(set, 0, "SAME real-xfsrepair");
	ck_assert_double_eq(verdict_at(set, 0)->threshold, 0.5);

	ck_assert(lab_file_write(yaml, "judge: [{metric: x}]\n", -1, NULL));
	ck_assert(lab_file_write(pins, "{}", -1, NULL));
	damaged = judged(NULL, 0, &error);
	assert_no_error(error);
	text = lab_compare_text(damaged, NULL, NULL);
	assert_contains(text, "\nthe scenario of run 1 does not say what to judge: ");
	assert_contains(text, "\njudged by default: real- of each step; ");
	ck_assert_uint_eq(damaged->verdicts->len, 2);
}
END_TEST

/* ---- which boots -------------------------------------------------------------------------------- */

static const Case with_holes = {
	"holes",
	5,
	TWO,
	{{"real-xfsrepair", "s", -1, {{5, 5.1, 9, 5.3, 5.15}, {5.5, 9, 5.7, 5.8, 5.6}}}},
	{{0, 2, 'f'}, {1, 1, 'i'}},
	JUDGE_REAL,
};

START_TEST(pairs_alone)
{
	static const double base[] = {5, 5.3, 5.15}, candidate[] = {5.5, 5.8, 5.6};
	g_autoptr(LabRun) run = make_run(&with_holes, NULL, scenario);
	g_autoptr(GError) error = NULL;
	g_autoptr(LabCompare) result = judged(NULL, 0, &error);
	LabDifference wanted = lab_difference(LAB_DESIGN_PAIRED, base, 3, candidate, 3);
	g_autofree char *text = NULL;

	assert_no_error(error);
	ck_assert_uint_eq(verdict_at(result, 0)->difference.n[0], 3);
	ck_assert_double_eq(verdict_at(result, 0)->difference.t, wanted.t);
	text = lab_compare_text(result, NULL, NULL);
	assert_contains(text,
			"\n6.12.95 bookworm-backports, run 1: seeds 2, 3 left out of verdicts "
			"and stars: one boot of the pair is not there, or failed\n");
}
END_TEST

static void other_seeds(LabPlan *plan)
{
	for (guint i = 0; i < plan->boots->len; i++) {
		LabPlanBoot *boot = plan->boots->pdata[i];

		if (g_str_has_prefix(boot->id, "k1"))
			boot->seed += 100;
	}
}

/* Under the exact clock, too, what has no seed in common is not paired. */
START_TEST(no_seed_in_common)
{
	static const Case c = {"seeds", 3, TWO, {{"real-xfsrepair", "s", -1, {{1, 2, 3}}}}};
	g_autoptr(GError) error = NULL;
	g_autoptr(LabPlan) plan = case_plan(&c);
	g_autoptr(LabRun) run = NULL;
	g_autoptr(LabCompare) result = NULL;

	other_seeds(plan);
	run = lab_store_create_run(store, plan, JUDGE_REAL, scenario, &error);
	assert_no_error(error);
	for (guint i = 0; i < plan->boots->len; i++) {
		const LabPlanBoot *boot = run->plan->boots->pdata[i];
		g_autoptr(GPtrArray) samples = g_ptr_array_new();
		LabSample sample = {(char *)"real-xfsrepair", 5 + 0.1 * i, "s", -1};

		g_ptr_array_add(samples, &sample);
		complete_boot(run, boot, LAB_OUTCOME_OK, "", boot->id, samples);
	}
	result = judged(NULL, 0, &error);
	assert_no_error(error);
	ck_assert_int_eq(verdict_at(result, 0)->difference.design, LAB_DESIGN_UNPAIRED);
	ck_assert_uint_eq(verdict_at(result, 0)->difference.n[1], 3);
}
END_TEST

/* Seeds that gave the same bytes on both kernels are one pair, not three. */
START_TEST(identical_pairs)
{
	static const Case c = {"same",
			       3,
			       TWO,
			       {{"real-xfsrepair", "s", -1, {{5, 5, 5}, {6, 6, 6}}}},
			       .yaml = JUDGE_REAL};
	g_autoptr(LabRun) run = make_run(&c, NULL, scenario);
	g_autoptr(GError) error = NULL;
	g_autoptr(LabCompare) before = judged(NULL, 0, &error);
	g_autoptr(LabCompare) after = NULL;

	assert_no_error(error);
	assert_verdict(before, 0, "REGRESSION real-xfsrepair");
	for (guint i = 0; i < run->plan->boots->len; i++) {
		const LabPlanBoot *boot = run->plan->boots->pdata[i];
		g_autoptr(GPtrArray) samples = g_ptr_array_new();
		gboolean first = g_str_has_prefix(boot->id, "k0");
		LabSample sample = {(char *)"real-xfsrepair", first ? 5 : 6, "s", -1};

		g_ptr_array_add(samples, &sample);
		complete_boot(run, boot, LAB_OUTCOME_OK, "", first ? "one" : "two", samples);
	}
	after = judged(NULL, 0, &error);
	assert_no_error(error);
	assert_verdict(after, 0, "UNKNOWN real-xfsrepair");
	ck_assert_uint_eq(verdict_at(after, 0)->difference.n[0], 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verdicts");
	TCase *tcase = tcase_create("verdicts");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, each_verdict, 0, G_N_ELEMENTS(one_metric));
	tcase_add_loop_test(tcase, holm_for_each_kernel, 0, 2);
	tcase_add_test(tcase, asked_for);
	tcase_add_test(tcase, judge_texts);
	tcase_add_test(tcase, of_the_run);
	tcase_add_test(tcase, pairs_alone);
	tcase_add_test(tcase, no_seed_in_common);
	tcase_add_test(tcase, identical_pairs);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
