/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A scenario with a sweep: its points, and what is wrong with one. */
#include "lab/spec/scenario.h"

#include <string.h>

#include "tests/unit/scenario_texts.h"
#include "tests/unit/spec_cases.h"

#define TWO                                                                                        \
	"sweep:\n"                                                                                 \
	"  steps.xfsrepair.options.bhash: [null, 101073]\n"                                        \
	"  prepare.make.dirs: 1..3\n"

static LabScenario *load(const char *sweep, const char *const *overrides)
{
	g_autofree char *text = g_strconcat(small, sweep, NULL);
	g_autoptr(GError) error = NULL;
	LabScenario *s;

	spec_write("t.yaml", text);
	s = lab_scenario_load("t.yaml", overrides, &error);
	ck_assert_msg(s != NULL, "%s", error ? error->message : "no error set");
	return s;
}

static const LabPoint *point(const LabScenario *s, guint i)
{
	ck_assert_uint_lt(i, s->points->len);
	return s->points->pdata[i];
}

static void check_values(const LabScenario *s, guint i, const char *wanted)
{
	g_autofree char *values = g_strjoinv(" ", point(s, i)->values);

	ck_assert_str_eq(values, wanted);
}

static char *argv_of(const GPtrArray *steps, guint i)
{
	return g_strjoinv(" ", ((const LabStep *)steps->pdata[i])->argv);
}

START_TEST(all_combinations)
{
	g_autoptr(LabScenario) s = load(TWO, NULL), plain = load("", NULL);
	static const char *const wanted[] = {"default 1", "default 2", "default 3",
					     "101073 1",  "101073 2",  "101073 3"};
	g_autofree char *first = NULL, *last = NULL, *prepare = NULL, *own = NULL;

	ck_assert_uint_eq(plain->points->len, 0);
	ck_assert_ptr_null(*plain->sweep);
	ck_assert_str_eq(s->sweep[0], "bhash");
	ck_assert_str_eq(s->sweep[1], "dirs");
	ck_assert_ptr_null(s->sweep[2]);
	ck_assert_uint_eq(s->points->len, 6);
	for (guint i = 0; i < 6; i++)
		check_values(s, i, wanted[i]);
	/* null takes away what the step has. */
	first = argv_of(point(s, 0)->scenario->steps, 1);
	ck_assert_ptr_null(strstr(first, "bhash"));
	last = argv_of(point(s, 5)->scenario->steps, 1);
	ck_assert_ptr_nonnull(strstr(last, "bhash=101073"));
	prepare = argv_of(point(s, 5)->scenario->prepare, 2);
	ck_assert_ptr_nonnull(strstr(prepare, "-d /mnt/scratch/2"));
	/* The scenario itself is the first of them. */
	own = argv_of(s->steps, 1);
	ck_assert_str_eq(own, first);
}
END_TEST

START_TEST(every_point_decides)
{
	g_autoptr(LabScenario) s = load(TWO, NULL), same = load(TWO, NULL), plain = load("", NULL);
	g_autoptr(LabScenario) more = load("sweep: {prepare.make.dirs: 1..4}\n", NULL);
	g_autoptr(LabScenario) fewer = load("sweep: {prepare.make.dirs: 1..3}\n", NULL);

	ck_assert_str_eq(s->digest, same->digest);
	ck_assert_str_ne(s->digest, plain->digest);
	ck_assert_str_ne(more->digest, fewer->digest);
	/* One point is one experiment, whatever else is swept. */
	ck_assert_str_eq(point(more, 1)->scenario->digest, point(fewer, 1)->scenario->digest);
	/* dirs is 2 there, and bhash as written. */
	ck_assert_str_eq(point(more, 1)->scenario->digest, plain->digest);
	ck_assert_str_ne(point(more, 0)->scenario->prepare_canonical,
			 point(more, 1)->scenario->prepare_canonical);
	ck_assert_ptr_nonnull(
		strstr(s->canonical, "\"sweep\":{\"keys\":[\"bhash\",\"dirs\"],\"points\":[{"));
}
END_TEST

START_TEST(names_are_short_and_unique)
{
	g_autoptr(LabScenario) s = load("sweep:\n"
					"  settings.sysctl.vm.swappiness: [10, 60]\n"
					"  prepare.make.timeout: [1s, 2s]\n"
					"  steps.xfsrepair.timeout: [1s, 2s]\n",
					NULL);

	ck_assert_str_eq(s->sweep[0], "swappiness");
	ck_assert_str_eq(s->sweep[1], "make.timeout");
	ck_assert_str_eq(s->sweep[2], "xfsrepair.timeout");
	ck_assert_uint_eq(s->points->len, 8);
}
END_TEST

START_TEST(set_and_swept)
{
	const char *const set[] = {"prepare.make.dirs=2", NULL};
	const char *const swept[] = {"sweep.prepare.make.dirs=[4, 8]", NULL};
	const char *const none[] = {"sweep=null", NULL};
	g_autoptr(LabScenario) s = load(TWO, set);
	g_autoptr(LabScenario) other = load(TWO, swept), plain = load(TWO, none),
			       without = load("", NULL);

	ck_assert_uint_eq(s->points->len, 2);
	check_values(s, 1, "101073");
	ck_assert_uint_eq(other->points->len, 4);
	check_values(other, 1, "default 8");
	ck_assert_str_eq(plain->digest, without->digest);
}
END_TEST

static const struct spec_case errors[] = {
	{"no mapping", "sweep: [1]\n",
	 "t.yaml:13:8: wanted a mapping of keys to lists of values, found a list"},
	{"kernels", "sweep: {kernels: [a, b]}\n",
	 "t.yaml:13:9: 'kernels' cannot be swept: wanted a key of the machine or of the workload "
	 "(kernels and seeds are "
	 "run at every point as it is)"},
	{"clock", "sweep: {clock: [exact, tcg]}\n",
	 "t.yaml:13:9: 'clock' cannot be swept: wanted a key of the machine or of the workload "
	 "(kernels and seeds are "
	 "run at every point as it is)"},
	{"no value", "sweep: {settle: []}\n",
	 "t.yaml:13:17: wanted a list of values, found a list"},
	{"a mapping", "sweep: {settle: [{a: 1}]}\n",
	 "t.yaml:13:18: wanted one value (or a key below it: 'a.b: [1, 2]'), found a mapping"},
	{"twice", "sweep: {settle: [1s, 2s, 1s]}\n",
	 "t.yaml:13:26: wanted each value once, found '1s'"},
	{"blank", "sweep: {settle: ['1 s']}\n",
	 "t.yaml:13:18: wanted a value of ASCII characters without blanks, found '1 s'"},
	{"empty", "sweep: {settle: ['']}\n",
	 "t.yaml:13:18: wanted a value of 1 to 40 characters (null: without the key), found ''"},
	{"backwards", "sweep: {prepare.make.dirs: 3..1}\n",
	 "t.yaml:13:28: wanted a range like 1..16, of up to 1000, found '3..1'"},
	{"no end", "sweep: {prepare.make.dirs: 3..}\n",
	 "t.yaml:13:28: wanted a range like 1..16, of up to 1000, found '3..'"},
	{"a range and its number", "sweep: {prepare.make.dirs: [1..3, 2]}\n",
	 "t.yaml:13:35: wanted each value once, found '2'"},
	{"too many", "sweep: {prepare.make.dirs: 1..64, steps.xfsrepair.options.bhash: 1..64}\n",
	 "t.yaml:13:8: wanted up to 1000 points, found a mapping"},
	{"no such step", "sweep: {steps.xfsrepiar.timeout: [1s, 2s]}\n",
	 "t.yaml:13:9: wanted a step (dropcaches, xfsrepair), found 'xfsrepiar' (did you mean "
	 "'xfsrepair'?)"},
	{"no such key", "sweep: {setle: [1s, 2s]}\n",
	 "t.yaml:13:17: wanted a key of a scenario, found 'setle' (did you mean 'settle'?)"},
	{"a bad value", "sweep: {settle: [1s, 2x]}\n",
	 "t.yaml:13:22: wanted a duration like 30s or 50ms, found '2x'"},
	{"the same", "sweep: {settle: [1s, 1000ms]}\n",
	 "t.yaml:13:9: wanted points that differ, found '1s' and '1000ms', which are the same"},
};

START_TEST(errors_are_exact)
{
	const struct spec_case *c = &errors[_i];
	g_autofree char *text = g_strconcat(small, c->text, NULL);
	g_autoptr(GError) error = NULL;
	g_autoptr(LabScenario) s = NULL;

	spec_write("t.yaml", text);
	s = lab_scenario_load("t.yaml", NULL, &error);
	spec_check_error(c, s, error);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sweep");
	TCase *tc = tcase_create("sweep");

	tcase_add_unchecked_fixture(tc, spec_setup, spec_teardown);
	tcase_add_test(tc, all_combinations);
	tcase_add_test(tc, every_point_decides);
	tcase_add_test(tc, names_are_short_and_unique);
	tcase_add_test(tc, set_and_swept);
	tcase_add_loop_test(tc, errors_are_exact, 0, G_N_ELEMENTS(errors));
	suite_add_tcase(suite, tc);
	return spec_run(suite);
}
