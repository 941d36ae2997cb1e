/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/stats/summary.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define assert_near(got, want)                                                                     \
	ck_assert_msg(isnan(want) ? isnan(got) : fabs((got) - (want)) <= 1e-9 * (1 + fabs(want)),  \
		      "%s is %.17g, wanted %.17g", #got, (double)(got), (double)(want))

static const struct {
	guint n;
	double values[5];
	LabSummary want;
} summaries[] = {
	{0, {}, {0, NAN, NAN, NAN, NAN, NAN}},
	{1, {7.5}, {1, 7.5, 7.5, 7.5, NAN, NAN}},
	{1, {0}, {1, 0, 0, 0, NAN, NAN}},
	{2, {1, 3}, {2, 1, 3, 2, M_SQRT2, 50 * M_SQRT2}},
	{3, {0, 0, 0}, {3, 0, 0, 0, 0, NAN}},
	{3, {0.1, 0.1, 0.1}, {3, 0.1, 0.1, 0.1, 0, 0}},
	{3, {-4, -2, -3}, {3, -4, -2, -3, 1, 100.0 / 3}},
	{2, {-1, 1}, {2, -1, 1, 0, M_SQRT2, NAN}},
	{5, {2, 4, 4, 5, 5}, {5, 2, 5, 4, 1.2247448713915890, 30.618621784789725}},
	/* a two-pass formula keeps what sum(x^2) - n * mean^2 would lose */
	{3, {1e15 + 1, 1e15 + 2, 1e15 + 3}, {3, 1e15 + 1, 1e15 + 3, 1e15 + 2, 1, 1e-13}},
};

START_TEST(summary)
{
	LabSummary got = lab_summary(summaries[_i].values, summaries[_i].n);
	const LabSummary *want = &summaries[_i].want;

	ck_assert_uint_eq(got.n, want->n);
	assert_near(got.min, want->min);
	assert_near(got.max, want->max);
	assert_near(got.amean, want->amean);
	assert_near(got.stddev, want->stddev);
	assert_near(got.coeffvar, want->coeffvar);
}
END_TEST

START_TEST(equal_values_have_no_spread)
{
	static const double values[] = {0.1, 1.1, 1e-300, 123456789.123, 5.2};

	for (guint v = 0; v < G_N_ELEMENTS(values); v++) {
		double same[7];
		LabSummary s;

		for (guint i = 0; i < G_N_ELEMENTS(same); i++)
			same[i] = values[v];
		s = lab_summary(same, G_N_ELEMENTS(same));
		ck_assert(s.amean == values[v] && s.stddev == 0 && s.coeffvar == 0);
	}
}
END_TEST

static const struct {
	double base, value;
	int better;
	double want;
} changes[] = {
	{200, 100, -1, 50},  {100, 200, -1, -100}, {200, 100, +1, -50},
	{100, 200, +1, 100}, {200, 100, 0, 50},	   {100, 100, +1, 0},
	{100, 0, -1, 100},   {100, 0, +1, -100},   {0, 0, -1, 0},
	{0, 0, +1, 0},	     {0, 5, -1, NAN},	   {0, 5, +1, NAN},
	{-10, -5, -1, -50},  {-10, -5, +1, 50},	   {-10, 0, -1, -100},
	{NAN, 1, -1, NAN},   {1, NAN, +1, NAN},	   {1e300, 1e-300, -1, 100},
};

START_TEST(change)
{
	double got = lab_change_pct(changes[_i].base, changes[_i].value, changes[_i].better);

	assert_near(got, changes[_i].want);
}
END_TEST

static const struct {
	guint n;
	double values[5], hmean, gmean;
} means[] = {
	{0, {}, NAN, NAN},
	{1, {7.5}, 7.5, 7.5},
	/* 40 km/h there and 60 km/h back are 48 km/h; a square of the area of 4 x 9 has sides of 6 */
	{2, {40, 60}, 48, 48.989794855663561},
	{2, {4, 9}, 72.0 / 13, 6},
	{3, {1, 2, 4}, 12.0 / 7, 2},
	{3, {0, 2, 4}, NAN, NAN},
	{3, {-1, 2, 4}, NAN, NAN},
	{2, {-1, -4}, NAN, NAN},
	{3, {1, NAN, 4}, NAN, NAN},
	/* a product would leave the range of doubles */
	{3, {1e200, 1e200, 1e200}, 1e200, 1e200},
	{3, {1e-200, 1e-200, 1e-200}, 1e-200, 1e-200},
};

START_TEST(other_means)
{
	double hmean = lab_hmean(means[_i].values, means[_i].n);
	double gmean = lab_gmean(means[_i].values, means[_i].n);

	assert_near(hmean / means[_i].hmean, means[_i].hmean / means[_i].hmean);
	assert_near(gmean / means[_i].gmean, means[_i].gmean / means[_i].gmean);
	ck_assert_int_eq(isnan(hmean), isnan(means[_i].hmean));
	ck_assert_int_eq(isnan(gmean), isnan(means[_i].gmean));
}
END_TEST

/* Sorted: 1 to 10; MMTests takes the element int(9 * p / 100 + 0.5), from 0. */
static const struct {
	guint n;
	double percent, want;
} percentiles[] = {
	{10, 0, 1},    {10, 5, 1},   {10, 6, 2},    {10, 25, 3},    {10, 50, 6},
	{10, 75, 8},   {10, 90, 9},  {10, 94.4, 9}, {10, 94.5, 10}, {10, 99.9, 10},
	{10, 100, 10}, {1, 0, 7},    {1, 50, 7},    {1, 100, 7},    {2, 49, 3},
	{2, 50, 7},    {0, 50, NAN}, {10, -1, NAN}, {10, 101, NAN}, {10, NAN, NAN},
};

START_TEST(percentile)
{
	static const double values[] = {7, 3, 10, 1, 9, 2, 6, 4, 8, 5};
	double got = lab_percentile(values, percentiles[_i].n, percentiles[_i].percent);

	assert_near(got, percentiles[_i].want);
	ck_assert(values[0] == 7 && values[3] == 1); /* not sorted in place */
}
END_TEST

/* One cell of a posted table: "497.64 (  0.00%)", or "877245.7033 *  -2.38%*" where significant. */
typedef struct {
	double value, pct;
} Cell;

typedef struct {
	char *statistic, *metric;
	Cell cells[8];
	guint n;
} Line;

static gboolean read_line(const char *text, Line *line)
{
	const char *at = text;
	int length = 0;

	if (sscanf(text, "%ms %ms%n", &line->statistic, &line->metric, &length) != 2)
		return FALSE;
	at += length;
	while (*(at += strspn(at, " ")) && line->n < G_N_ELEMENTS(line->cells)) {
		Cell *cell = &line->cells[line->n++];
		char *end;

		cell->value = g_ascii_strtod(at, &end);
		end += strspn(end, " (*");
		cell->pct = g_ascii_strtod(end, &end);
		ck_assert_msg(*end == '%', "no percentage at '%s' of '%s'", end, text);
		at = end + strspn(end, "%)* ");
	}
	return TRUE;
}

/*
 * The printed percentage must lie between those of the extreme unrounded values that print as the
 * two values do.
 */
static void check_cell(const Line *line, const Cell *base, const Cell *cell, double half)
{
	gboolean spread =
		strcmp(line->statistic, "Stddev") == 0 || strcmp(line->statistic, "CoeffVar") == 0;
	int better = !spread && strchr(line->metric, '/') ? +1 : -1;
	double low = INFINITY, high = -INFINITY;

	for (int i = -1; i <= 1; i += 2)
		for (int j = -1; j <= 1; j += 2) {
			double pct = lab_change_pct(base->value + i * half, cell->value + j * half,
						    better);

			low = MIN(low, pct);
			high = MAX(high, pct);
		}
	ck_assert_msg(cell->pct >= low - 0.0051 && cell->pct <= high + 0.0051,
		      "%s %s: printed %.2f%%, computed %.4f%% to %.4f%%", line->statistic,
		      line->metric, cell->pct, low, high);
}

static const struct {
	const char *file;
	double half; /* of the last printed digit */
	guint cells;
} tables[] = {
	{TEST_DATA "/mmtests/slowscan-v2.txt", 0.005, 60},
	{TEST_DATA "/mmtests/slowscan-v3.txt", 0.005, 60},
	{TEST_DATA "/mmtests/pft.txt", 0.00005, 75},
};

static GArray *read_table(const char *file)
{
	GArray *lines = g_array_new(FALSE, FALSE, sizeof(Line));
	g_autofree char *text = NULL;

	ck_assert(g_file_get_contents(file, &text, NULL, NULL));
	for (char *save, *row = strtok_r(text, "\n", &save); row;
	     row = strtok_r(NULL, "\n", &save)) {
		Line line = {};

		if (strchr(row, '%') && read_line(row, &line))
			g_array_append_val(lines, line);
	}
	return lines;
}

START_TEST(posted_percentages)
{
	GArray *lines = read_table(tables[_i].file);
	guint checked = 0;

	for (guint i = 0; i < lines->len; i++) {
		Line *line = &g_array_index(lines, Line, i);

		for (guint c = 0; c < line->n; c++, checked++)
			check_cell(line, &line->cells[0], &line->cells[c], tables[_i].half);
	}
	ck_assert_uint_eq(checked, tables[_i].cells);
}
END_TEST

static const Cell *find_cell(GArray *lines, const char *statistic, const char *metric, guint column)
{
	for (guint i = 0; i < lines->len; i++) {
		Line *line = &g_array_index(lines, Line, i);

		if (!strcmp(line->statistic, statistic) && !strcmp(line->metric, metric))
			return &line->cells[column];
	}
	ck_abort_msg("no row %s %s", statistic, metric);
}

/* Three iterations: the middle one is 3 * Amean - Min - Max, so the whole column can be had again.
 */
START_TEST(posted_spread)
{
	static const char *const metrics[] = {"real-fsmark", "syst-fsmark", "real-xfsrepair",
					      "syst-xfsrepair"};
	GArray *lines = read_table(tables[_i].file);

	for (guint m = 0; m < G_N_ELEMENTS(metrics); m++)
		for (guint c = 0; c < 3; c++) {
			double min = find_cell(lines, "Min", metrics[m], c)->value;
			double max = find_cell(lines, "Max", metrics[m], c)->value;
			double mean = find_cell(lines, "Amean", metrics[m], c)->value;
			double values[] = {min, 3 * mean - min - max, max};
			LabSummary s = lab_summary(values, 3);
			double by_n = sqrt(2.0 / 3);

			ck_assert_double_eq_tol(s.amean, mean, 1e-9 * mean);
			ck_assert_double_eq_tol(s.stddev * by_n,
						find_cell(lines, "Stddev", metrics[m], c)->value,
						0.03);
			ck_assert_double_eq_tol(s.coeffvar * by_n,
						find_cell(lines, "CoeffVar", metrics[m], c)->value,
						0.012);
		}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("summary");
	TCase *tcase = tcase_create("summary");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, summary, 0, G_N_ELEMENTS(summaries));
	tcase_add_test(tcase, equal_values_have_no_spread);
	tcase_add_loop_test(tcase, change, 0, G_N_ELEMENTS(changes));
	tcase_add_loop_test(tcase, other_means, 0, G_N_ELEMENTS(means));
	tcase_add_loop_test(tcase, percentile, 0, G_N_ELEMENTS(percentiles));
	tcase_add_loop_test(tcase, posted_percentages, 0, G_N_ELEMENTS(tables));
	tcase_add_loop_test(tcase, posted_spread, 0, 2);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
