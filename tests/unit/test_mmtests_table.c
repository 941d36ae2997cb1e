/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Posted tables (tests/data/mmtests) made again from numbers: from the figures printed the samples
 * behind them are found, and from the samples the same table must come out.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lab/base/units.h"
#include "tests/unit/compare_cases.h"

#define N_COLUMNS 3
#define N_METRICS 4
#define N_STATISTICS 5
enum { MIN, AMEAN, STDDEV, COEFFVAR, MAX };

static const char *const statistics[N_STATISTICS] = {"Min", "Amean", "Stddev", "CoeffVar", "Max"};
static const char *const metrics[N_METRICS] = {"real-fsmark", "syst-fsmark", "real-xfsrepair",
					       "syst-xfsrepair"};
static const char steps[] = "{\"steps\": [{\"name\": \"fsmark\"}, {\"name\": \"xfsrepair\"}]}";

/* Figures as printed: hundredths of a unit, and of a percent */
typedef struct {
	gint64 value[N_METRICS][N_STATISTICS][N_COLUMNS];
	gint64 percent[N_METRICS][N_STATISTICS][N_COLUMNS];
} Posted;

/* "  523.40 ( -4.23%)  ..." */
static void read_cells(const char *text, gint64 *values, gint64 *percents)
{
	for (guint c = 0; c < N_COLUMNS; c++) {
		char *end;

		values[c] = llround(100 * g_ascii_strtod(text, &end));
		ck_assert_int_eq(end[1], '(');
		percents[c] = llround(100 * g_ascii_strtod(end + 2, &end));
		ck_assert_int_eq(end[0], '%');
		text = end + 2;
	}
}

static char *read_posted(const char *name, Posted *posted)
{
	g_autofree char *path = g_strdup_printf("%s/mmtests/%s", TEST_DATA, name);
	char *text = lab_file_read(path, NULL, NULL);
	guint found = 0;

	ck_assert_ptr_nonnull(text);
	for (guint m = 0; m < N_METRICS; m++)
		for (guint s = 0; s < N_STATISTICS; s++) {
			g_autofree char *label =
				g_strdup_printf("\n%-9s%-14s", statistics[s], metrics[m]);
			const char *line = strstr(text, label);

			ck_assert_msg(line, "%s lacks%s", name, label);
			read_cells(line + strlen(label), posted->value[m][s],
				   posted->percent[m][s]);
			found++;
		}
	ck_assert_uint_eq(found, N_METRICS * N_STATISTICS);
	return text;
}

/* ---- the solver ---------------------------------------------------------------------------------
 * Three iterations, timed to hundredths of a second: Min and Max are two of them, and Amean leaves
 * a few candidates for the third. Of all kernels' candidates those are taken that give most of the
 * figures and percentages printed, by the division by n that MMTests made in 2015.
 */

#define SPAN                                                                                       \
	4 /* hundredths to either side: three times the rounding of Amean, and of nothing else */
#define N_CANDIDATES (2 * SPAN + 1)

static void figures(gint64 min, gint64 middle, gint64 max, double f[N_STATISTICS])
{
	double x[3] = {min / 100.0, middle / 100.0, max / 100.0};
	double mean = (x[0] + x[1] + x[2]) / 3, squares = 0;

	for (guint i = 0; i < 3; i++)
		squares += (x[i] - mean) * (x[i] - mean);
	f[MIN] = x[0];
	f[AMEAN] = mean;
	f[STDDEV] = sqrt(squares / 3);
	f[COEFFVAR] = 100 * f[STDDEV] / mean;
	f[MAX] = x[2];
}

static guint misprints(const Posted *p, guint m, const gint64 middles[N_COLUMNS])
{
	double base[N_STATISTICS], f[N_STATISTICS];
	guint n = 0;

	for (guint c = 0; c < N_COLUMNS; c++) {
		figures(p->value[m][MIN][c], middles[c], p->value[m][MAX][c], c ? f : base);
		for (guint s = 0; s < N_STATISTICS; s++) {
			double value = c ? f[s] : base[s];

			n += llround(100 * value) != p->value[m][s][c];
			n += llround(1e4 * (base[s] - value) / base[s]) != p->percent[m][s][c];
		}
	}
	return n;
}

/* Return: figures and percentages that no candidates give */
static guint solve(const Posted *p, guint m, gint64 best[N_COLUMNS])
{
	gint64 start[N_COLUMNS];
	guint least = G_MAXUINT;

	for (guint c = 0; c < N_COLUMNS; c++)
		start[c] = 3 * p->value[m][AMEAN][c] - p->value[m][MIN][c] - p->value[m][MAX][c] -
			   SPAN;
	for (guint i = 0; i < N_CANDIDATES * N_CANDIDATES * N_CANDIDATES; i++) {
		gint64 middles[N_COLUMNS] = {start[0] + i % N_CANDIDATES,
					     start[1] + i / N_CANDIDATES % N_CANDIDATES,
					     start[2] + i / N_CANDIDATES / N_CANDIDATES};
		guint n = misprints(p, m, middles);

		if (n >= least)
			continue;
		least = n;
		memcpy(best, middles, sizeof(middles));
	}
	return least;
}

/*
 * As boots: the three, and with @of_2015 a fourth at their mean, by which n - 1 divides what n
 * divided: the spread of today's formula is then that of 2015.
 */
static guint fill_case(Case *c, const Posted *p, gboolean of_2015)
{
	guint n = 0;

	c->n_boots = of_2015 ? 4 : 3;
	for (guint m = 0; m < N_METRICS; m++) {
		Metric *metric = &c->metrics[m];
		gint64 middles[N_COLUMNS];

		n += solve(p, m, middles);
		*metric = (Metric){metrics[m], "s", -1, {}};
		for (guint k = 0; k < N_COLUMNS; k++) {
			double f[N_STATISTICS];

			figures(p->value[m][MIN][k], middles[k], p->value[m][MAX][k], f);
			metric->values[k][0] = f[MAX];
			metric->values[k][1] = f[MIN];
			metric->values[k][2] = (double)middles[k] / 100;
			metric->values[k][3] = f[AMEAN];
		}
	}
	return n;
}

static const Case kernels = {
	.name = "xfsrepair",
	.kernels = {{"4.0.0-rc1", "dir:/vanilla"},
		    {"4.0.0-rc1", "dir:/slowscan-v2"},
		    {"3.19.0", "dir:/k/vanilla"}},
};

static char *mmtests_table(const Case *c)
{
	const char *const selections[] = {"latest", NULL};
	g_autoptr(LabRun) run = make_run(c, NULL, steps);
	g_autoptr(GError) error = NULL;
	g_autoptr(LabCompare) result =
		lab_compare(store, selections, &(LabCompareOptions){.mmtests_names = TRUE}, &error);

	assert_no_error(error);
	return lab_compare_text(result, &(LabTableOptions){.mmtests = TRUE}, NULL);
}

/* @got starts with the lines of @wanted, from line @from (of 0) on, to the last blank */
static void assert_starts_with(const char *got, const char *wanted, guint from)
{
	g_auto(GStrv) a = g_strsplit(got, "\n", -1), b = g_strsplit(wanted, "\n", -1);

	for (guint i = from; b[i] && (b[i + 1] || *b[i]); i++)
		ck_assert_msg(a[i] && strcmp(a[i], b[i]) == 0, "line %u:\n   got %s\nwanted %s",
			      i + 1, a[i] ? a[i] : "(end)", b[i]);
}

/* Character for character: all 60 figures and their 60 percentages, heads, widths, and the line
 * that its "-163.23%" moves aside. */
START_TEST(posted_table)
{
	Posted posted;
	Case c = kernels;
	g_autofree char *wanted = read_posted("slowscan-v2.txt", &posted), *got = NULL;

	ck_assert_uint_eq(fill_case(&c, &posted, TRUE), 0);
	got = mmtests_table(&c);
	assert_starts_with(got, wanted, 0);
}
END_TEST

/*
 * From the three iterations alone, as MMTests divides today: only the figures of Stddev and CoeffVar
 * are others, by sqrt(3 / 2) and the rounding of what was posted.
 */
START_TEST(posted_table_of_today)
{
	Posted posted, today;
	Case c = kernels;
	g_autofree char *text = read_posted("slowscan-v2.txt", &posted), *got = NULL;
	double factor = sqrt(1.5);

	fill_case(&c, &posted, FALSE);
	got = mmtests_table(&c);
	for (guint m = 0; m < N_METRICS; m++)
		for (guint s = 0; s < N_STATISTICS; s++) {
			gboolean spread = s == STDDEV || s == COEFFVAR;
			g_autofree char *label =
				g_strdup_printf("\n%-9s%-14s", statistics[s], metrics[m]);
			double off = 0;

			read_cells(strstr(got, label) + strlen(label), today.value[m][s],
				   today.percent[m][s]);
			for (guint k = 0; k < N_COLUMNS; k++) {
				double wanted = posted.value[m][s][k] * (spread ? factor : 1);

				off = MAX(off, fabs(today.value[m][s][k] - wanted));
				ck_assert_int_eq(today.percent[m][s][k], posted.percent[m][s][k]);
			}
			printf("%s %s: off by %.4f\n", statistics[s], metrics[m], off / 100);
			/* half of a digit each: of what was posted, and of what is printed */
			ck_assert_double_le(off, spread ? 0.5 * factor + 0.5 : 0);
		}
}
END_TEST

/* ---- durations -------------------------------------------------------------------------------- */

/* Posted above the table: of two steps, one of which has a third of it all. */
START_TEST(duration_block)
{
	static const char *const names[][2] = {
		{"User", "user-"}, {"System", "syst-"}, {"Elapsed", "real-"}};
	g_autofree char *wanted = lab_file_read(TEST_DATA "/mmtests/duration.txt", NULL, NULL);
	g_autofree char *got = NULL;
	const char *block;
	Case c = kernels;

	c.n_boots = 2;
	for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *start = g_strdup_printf("\n%-8s", names[i][0]);
		const char *line = strstr(wanted, start);
		Metric *first = &c.metrics[2 * i], *second = &c.metrics[2 * i + 1];
		char *at;

		ck_assert_ptr_nonnull(line);
		at = (char *)line + strlen(start);
		*first = (Metric){g_strconcat(names[i][1], "fsmark", NULL), "s", -1, {}};
		*second = (Metric){g_strconcat(names[i][1], "xfsrepair", NULL), "s", -1, {}};
		for (guint k = 0; k < N_COLUMNS; k++) {
			double all = g_ascii_strtod(at, &at);

			/* the mean of two boots */
			for (guint b = 0; b < 2; b++) {
				first->values[k][b] = all / 3 + (b ? 2 : -2);
				second->values[k][b] = all * 2 / 3 + (b ? -1 : 1);
			}
		}
	}
	got = mmtests_table(&c);
	block = strstr(got, "\n\n");
	ck_assert_ptr_nonnull(block);
	/* As below: a name is a blank off its column. */
	ck_assert_int_eq(strncmp(block + 2, wanted, strcspn(wanted, "\n")), 0);
	assert_contains(block + 2, "\n             vanilla slowscan-v2     vanilla\n");
	assert_starts_with(block + 2, wanted, 2);
	for (guint i = 0; i < 2 * G_N_ELEMENTS(names); i++)
		g_free((char *)c.metrics[i].metric);
}
END_TEST

/* ---- counters --------------------------------------------------------------------------------- */

START_TEST(numa_block)
{
	static const struct {
		const char *label, *counter;
	} names[] = {
		{"NUMA alloc hit", "numa_hit"},
		{"NUMA alloc miss", "numa_miss"},
		{"NUMA interleave hit", "numa_interleave"},
		{"NUMA alloc local", "numa_local"},
		{"NUMA base PTE updates", "numa_pte_updates"},
		{"NUMA huge PMD updates", "numa_huge_pte_updates"},
		{"NUMA hint faults", "numa_hint_faults"},
		{"NUMA hint local faults", "numa_hint_faults_local"},
		{"NUMA pages migrated", "numa_pages_migrated"},
	};
	g_autofree char *wanted = lab_file_read(TEST_DATA "/mmtests/numa-block.txt", NULL, NULL);
	g_autofree char *got = NULL;
	const char *block;
	Case c = kernels;

	c.n_boots = 1;
	c.metrics[0] = (Metric){"real-xfsrepair", "s", -1, {{497}, {456}, {442}}};
	for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *start = g_strdup_printf("\n%-26s", names[i].label);
		const char *line = strstr(wanted, start);
		Metric *metric = &c.metrics[1 + i];
		char *at;

		ck_assert_ptr_nonnull(line);
		at = (char *)line + strlen(start);
		*metric = (Metric){names[i].counter, "count", 0, {}};
		for (guint k = 0; k < N_COLUMNS; k++)
			metric->values[k][0] = g_ascii_strtod(at, &at);
	}
	got = mmtests_table(&c);
	/* below the times and the durations */
	block = strstr(got, "\n\n");
	ck_assert_ptr_nonnull(block);
	block = strstr(block + 2, "\n\n");
	ck_assert_ptr_nonnull(block);
	/* The names were edited by whoever posted it: one is a blank off its column, and figures stay. */
	assert_contains(wanted, " vanilla  slowscan-v2     vanilla\n");
	assert_contains(block + 2,
			"\n                               vanilla slowscan-v2     vanilla\n");
	ck_assert_int_eq(strncmp(block + 2, wanted, strcspn(wanted, "\n")), 0);
	assert_starts_with(block + 2, wanted, 2);
	/* its percentages of local faults are cut, not rounded: 37.73 is 37 */
	assert_contains(wanted, "NUMA hint local percent             40          37          42\n");
}
END_TEST

/* Posted with their cost: lore.kernel.org/r/2ea7cbce80ac7c62e90cbfb9653a7972f902439f.1697816692.git
 * (kernbench, then NUMA01_THREADLOCAL of autonumabench: base and patched) */
START_TEST(autonuma_cost)
{
	static const double wanted[4] = {1328.67, 1114.69, 7.77, 44666.84};
	const char *const selections[] = {"latest", NULL};
	static const Case c = {
		"cost",
		1,
		{{"6.6", "dir:/a"}, {"6.6", "dir:/b"}, {"6.6", "dir:/c"}, {"6.6", "dir:/d"}},
		{{"real-kernbench", "s", -1, {{165.09}, {164.78}, {81.79}, {67.74}}},
		 {"numa_pte_updates", "count", 0, {{1041416}, {831536}, {394429}, {11121044}}},
		 {"numa_hint_faults", "count", 0, {{263296}, {220966}, {1001}, {8906404}}},
		 {"numa_pages_migrated", "count", 0, {{258021}, {212769}, {288}, {2998694}}}},
	};
	g_autoptr(LabRun) run = make_run(&c, NULL, steps);
	g_autoptr(GError) error = NULL;
	g_autoptr(LabCompare) result =
		lab_compare(store, selections, &(LabCompareOptions){.mmtests_names = TRUE}, &error);
	const LabCompareRow *row;

	assert_no_error(error);
	row = result->counters->pdata[result->counters->len - 1];
	ck_assert_str_eq(row->metric, "AutoNUMA cost");
	for (guint k = 0; k < 4; k++)
		ck_assert_double_eq_tol(row->summary[k].amean, wanted[k], 0.005);
	/* page ranges need no huge pages; what was not counted has no row */
	ck_assert_uint_eq(result->counters->len, 5);
}
END_TEST

/* ---- throughput by the number of threads ------------------------------------------------------- */

/* But for the number of blanks: that benchmark had wider columns. */
static void assert_same_words(const char *got, const char *wanted)
{
	g_autoptr(GRegex) blanks = g_regex_new(" +", 0, 0, NULL);
	g_autofree char *a = g_regex_replace_literal(blanks, got, -1, 0, " ", 0, NULL);
	g_autofree char *b = g_regex_replace_literal(blanks, wanted, -1, 0, " ", 0, NULL);

	ck_assert_str_eq(g_strstrip(a), g_strstrip(b));
}

/* The figures of a posted table of 2012, warehouse by warehouse, as a rate of steps. */
START_TEST(throughput_by_threads)
{
	g_autofree char *text = lab_file_read(TEST_DATA "/mmtests/specjbb.txt", NULL, NULL);
	g_auto(GStrv) wanted = g_strsplit(text, "\n", -1), got = NULL;
	const char *const selections[] = {"latest", NULL};
	static Case c = {
		.name = "specjbb",
		.n_boots = 1,
		.kernels = {{"3.7.0", "dir:/rc5-base-v4r3"}, {"3.7.0", "dir:/rc5-balance-v17r2"}},
	};
	g_autoptr(GString) step_list = g_string_new("{\"steps\": [");
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(LabCompare) result = NULL;
	g_autoptr(LabRun) run = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *table = NULL;

	for (guint i = 0; i < 12; i++) {
		char *at = wanted[2 + i] + strlen("TPut   12");
		Metric *m = &c.metrics[i];

		g_ptr_array_add(names, g_strdup_printf("files/s-%u", i + 1));
		*m = (Metric){names->pdata[i], "files/s", 1, {}};
		m->values[0][0] = g_ascii_strtod(at, &at);
		m->values[1][0] = g_ascii_strtod(strchr(at, ')') + 1, NULL);
		g_string_append_printf(step_list, "%s{\"name\": \"%u\"}", i ? ", " : "", i + 1);
	}
	g_string_append(step_list, "]}");
	run = make_run(&c, NULL, step_list->str);
	result = lab_compare(store, selections, NULL, &error);
	assert_no_error(error);
	table = lab_compare_text(result, &(LabTableOptions){.mmtests = TRUE, .rows = "mean"}, NULL);
	got = g_strsplit(table, "\n", -1);
	/* title and head; then a line for each number of threads, in order, never the peak alone */
	for (guint i = 0; i < 12; i++) {
		g_autofree char *label = g_strdup_printf("Hmean    files/s-%-2u", i + 1);
		const char *cells, *posted = wanted[2 + i] + strlen("TPut   12");

		ck_assert_msg(g_str_has_prefix(got[3 + i], label), "%s", got[3 + i]);
		cells = got[3 + i] + strlen(label);
		assert_same_words(cells, posted);
	}
	ck_assert(!g_str_has_prefix(got[15], "Hmean"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("mmtests_table");
	TCase *tcase = tcase_create("mmtests_table");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, posted_table);
	tcase_add_test(tcase, posted_table_of_today);
	tcase_add_test(tcase, duration_block);
	tcase_add_test(tcase, numa_block);
	tcase_add_test(tcase, autonuma_cost);
	tcase_add_test(tcase, throughput_by_threads);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
