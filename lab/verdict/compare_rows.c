/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples -> rows, in the order they are shown in. */
#include <math.h>
#include <string.h>

#include "lab/base/error.h"
#include "lab/base/suggest.h"
#include "lab/measure/samples.h"
#include "lab/verdict/compare_internal.h"

/* In the order of the table: times of a step together, rates after all of them. */
static const struct {
	const char *prefix;
	gboolean rate;
} kinds[] = {
	{"real-", FALSE},   {"user-", FALSE},	{"syst-", FALSE},
	{"files/s-", TRUE}, {"touches-", TRUE}, {"overhead-", TRUE},
};

/* What NUMA balancing does, where memory came from, and what it cost. */
static const char *const default_counters[] = {
	"numa_pte_updates",
	"numa_huge_pte_updates",
	"numa_hint_faults",
	"numa_hint_faults_local",
	"numa_pages_migrated",
	"pgmigrate_success",
	"pgmigrate_fail",
	"numa_hit",
	"numa_miss",
	"numa_foreign",
	"numa_interleave",
	"numa_local",
	"numa_other",
	"pgfault",
	"pgmajfault",
	"irq.TLB",
	"irq.CAL",
	"irq.RES",
	NULL,
};

/* Of clock kvm, where they were counted. */
static const char *const kvm_counters[] = {
	"irq.HYP", "host.async_pf_not_present", "host.async_pf_ready", "host.async_pf_interrupts",
	NULL,
};

static guint kind_of(const char *metric)
{
	guint kind = 0;

	while (kind < G_N_ELEMENTS(kinds) && !g_str_has_prefix(metric, kinds[kind].prefix))
		kind++;
	return kind;
}

static guint step_of(const char *metric, char **steps)
{
	const char *step = metric + strlen(kinds[kind_of(metric)].prefix);
	guint i = 0;

	while (steps[i] && strcmp(steps[i], step) != 0)
		i++;
	return i;
}

static int time_order(gconstpointer a, gconstpointer b, gpointer data)
{
	const char *x = (*(LabCompareRow *const *)a)->metric;
	const char *y = (*(LabCompareRow *const *)b)->metric;
	guint kind_x = kind_of(x), kind_y = kind_of(y);
	guint step_x = step_of(x, data), step_y = step_of(y, data);
	int by_name;

	if (kinds[kind_x].rate != kinds[kind_y].rate)
		return kinds[kind_x].rate ? 1 : -1;
	if (step_x != step_y)
		return step_x < step_y ? -1 : 1;
	/* Steps that the scenario does not name come last, each by itself. */
	by_name = strcmp(x + strlen(kinds[kind_x].prefix), y + strlen(kinds[kind_y].prefix));
	return by_name ? by_name : (int)kind_x - (int)kind_y;
}

static int name_order(gconstpointer a, gconstpointer b)
{
	return strcmp((*(LabCompareRow *const *)a)->metric, (*(LabCompareRow *const *)b)->metric);
}

void lab_compare_row_free(LabCompareRow *row)
{
	for (guint i = 0; i < row->n_columns; i++)
		g_array_unref(row->values[i]);
	g_free(row->values);
	g_free(row->summary);
	g_free(row->mean);
	g_free(row->differs);
	g_free(row->metric);
	g_free(row->unit);
	g_free(row);
}

/* Work done in a time. overhead- is a time. */
static gboolean is_rate(const char *metric)
{
	return g_str_has_prefix(metric, "files/s-") || g_str_has_prefix(metric, "touches-");
}

LabCompareRow *lab_compare_row_new(const LabCompare *compare, const char *metric, const char *unit,
				   int better)
{
	LabCompareRow *row = g_new0(LabCompareRow, 1);

	row->metric = g_strdup(metric);
	row->unit = g_strdup(unit);
	row->better = better;
	row->rate = is_rate(metric);
	row->n_columns = compare->columns->len;
	row->values = g_new0(GArray *, row->n_columns);
	row->summary = g_new0(LabSummary, row->n_columns);
	row->mean = g_new0(double, row->n_columns);
	row->differs = g_new0(gboolean, row->n_columns);
	for (guint i = 0; i < row->n_columns; i++) {
		const LabCompareColumn *column = compare->columns->pdata[i];

		row->values[i] = g_array_new(FALSE, FALSE, sizeof(double));
		for (guint b = 0; b < column->boots->len; b++)
			g_array_append_val(row->values[i], ((double){NAN}));
	}
	return row;
}

static const LabBootSamples *find_boot(const GPtrArray *runs, const LabCompareBoot *boot)
{
	for (guint i = 0; i < runs->len; i++) {
		const LabCompareRun *entry = runs->pdata[i];

		if (entry->run->id != boot->run)
			continue;
		for (guint b = 0; b < entry->boots->len; b++) {
			const LabBootSamples *found = entry->boots->pdata[b];

			if (strcmp(found->boot->id, boot->id) == 0)
				return found;
		}
	}
	return NULL;
}

static void summarize(LabCompareRow *row, guint c)
{
	g_autofree double *there = g_new(double, row->values[c]->len + 1);
	guint n = 0;

	for (guint b = 0; b < row->values[c]->len; b++) {
		double value = g_array_index(row->values[c], double, b);

		if (!isnan(value))
			there[n++] = value;
	}
	row->summary[c] = lab_summary(there, n);
	row->mean[c] = row->rate ? lab_hmean(there, n) : row->summary[c].amean;
}

void lab_compare_row_finish(const LabCompare *compare, LabCompareRow *row)
{
	for (guint c = 0; c < row->n_columns; c++) {
		LabDifference difference;
		LabInterval interval;

		summarize(row, c);
		if (!c || isnan(row->mean[0]) || isnan(row->mean[c]))
			continue;
		difference = lab_compare_difference(compare, row, c, row->rate);
		interval = lab_difference_interval(&difference, LAB_COMPARE_ALPHA);
		row->differs[c] = interval.low > 0 || interval.high < 0;
	}
}

/* All metrics of all columns: char* -> LabCompareRow, which the table owns. */
static GHashTable *gather(const LabCompare *compare, const GPtrArray *runs)
{
	GHashTable *rows = g_hash_table_new_full(g_str_hash, g_str_equal, NULL,
						 (GDestroyNotify)lab_compare_row_free);
	GHashTableIter iter;
	gpointer value;

	for (guint c = 0; c < compare->columns->len; c++) {
		const LabCompareColumn *column = compare->columns->pdata[c];

		for (guint b = 0; b < column->boots->len; b++) {
			const LabBootSamples *boot = find_boot(runs, column->boots->pdata[b]);

			for (guint s = 0; boot && boot->samples && s < boot->samples->len; s++) {
				const LabSample *sample = boot->samples->pdata[s];
				LabCompareRow *row = g_hash_table_lookup(rows, sample->metric);

				if (!row) {
					row = lab_compare_row_new(compare, sample->metric,
								  sample->unit, sample->better);
					g_hash_table_insert(rows, row->metric, row);
				}
				g_array_index(row->values[c], double, b) = sample->value;
			}
		}
	}
	g_hash_table_iter_init(&iter, rows);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		lab_compare_row_finish(compare, value);
	return rows;
}

static gboolean take(GHashTable *rows, const char *metric, GPtrArray *into)
{
	gpointer row;

	if (!g_hash_table_steal_extended(rows, metric, NULL, &row))
		return FALSE;
	g_ptr_array_add(into, row);
	return TRUE;
}

/* Of a sweep there are many lines, or columns of one kernel: a counter that is 0 in every boot is only named. */
static gboolean is_zero(const LabCompare *compare, const LabCompareRow *row)
{
	gboolean any = FALSE;

	for (guint c = 0; c < row->n_columns; c++)
		for (guint b = 0; b < row->values[c]->len; b++) {
			double value = g_array_index(row->values[c], double, b);

			if (value != 0 && !isnan(value))
				return FALSE;
			any |= value == 0;
		}
	return any && (compare->points[1] || compare->by);
}

static void drop_zeros(const LabCompare *compare, GPtrArray *rows, GPtrArray *notes)
{
	g_autoptr(GString) dropped = g_string_new(NULL);

	for (guint i = rows->len; i-- > 0;) {
		const LabCompareRow *row = rows->pdata[i];

		if (!is_zero(compare, row))
			continue;
		g_string_prepend(dropped, row->metric);
		g_string_prepend_c(dropped, ' ');
		g_ptr_array_remove_index(rows, i);
	}
	if (dropped->len)
		g_ptr_array_add(notes, g_strdup_printf("0 in every boot:%s", dropped->str));
}

/* @but: those that are there under another name */
static void take_default(GHashTable *rows, GHashTable *but, GPtrArray *into, GPtrArray *notes)
{
	g_autoptr(GString) absent = g_string_new(NULL);

	for (guint i = 0; default_counters[i]; i++)
		if (g_hash_table_contains(but, default_counters[i])
			    ? !g_hash_table_contains(rows, default_counters[i])
			    : !take(rows, default_counters[i], into))
			g_string_append_printf(absent, " %s", default_counters[i]);
	if (into->len && absent->len)
		g_ptr_array_add(
			notes, g_strdup_printf("counted by none of these kernels:%s", absent->str));
	else if (!into->len)
		g_ptr_array_add(notes, g_strdup("no counters were collected"));
}

/* Rows that @pattern matches, by name. */
static guint take_pattern(GHashTable *rows, const char *pattern, GPtrArray *into)
{
	g_autoptr(GPtrArray) found = g_ptr_array_new();
	GHashTableIter iter;
	gpointer metric, row;

	g_hash_table_iter_init(&iter, rows);
	while (g_hash_table_iter_next(&iter, &metric, &row))
		if (g_pattern_match_simple(pattern, metric))
			g_ptr_array_add(found, row);
	g_ptr_array_sort(found, name_order);
	for (guint i = 0; i < found->len; i++)
		take(rows, ((LabCompareRow *)found->pdata[i])->metric, into);
	return found->len;
}

static gboolean has_match(const GPtrArray *rows, const char *pattern)
{
	for (guint i = 0; i < rows->len; i++)
		if (g_pattern_match_simple(pattern, ((LabCompareRow *)rows->pdata[i])->metric))
			return TRUE;
	return FALSE;
}

static gboolean take_asked(GHashTable *rows, const char *counters, GPtrArray *into, GError **error)
{
	g_auto(GStrv) patterns = g_strsplit(counters, ",", -1);

	for (char **pattern = patterns; *pattern; pattern++) {
		g_autofree char *hint = NULL;
		g_autofree const char **names = NULL;

		if (take_pattern(rows, g_strstrip(*pattern), into) || has_match(into, *pattern))
			continue;
		names = (const char **)g_hash_table_get_keys_as_array(rows, NULL);
		hint = lab_suggest_text(*pattern, names);
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "no counter '%s' was collected%s",
			    *pattern, hint);
		return FALSE;
	}
	return TRUE;
}

static gboolean take_counters(LabCompare *compare, GHashTable *rows, gboolean kvm,
			      const LabCompareOptions *options, GPtrArray *notes, GError **error)
{
	g_autoptr(GHashTable) taken = g_hash_table_new(g_str_hash, g_str_equal);

	if (options->counters && strcmp(options->counters, "all") == 0)
		take_pattern(rows, "*", compare->counters);
	else if (options->counters)
		return take_asked(rows, options->counters, compare->counters, error);
	else {
		if (options->mmtests_names)
			lab_compare_mmtests_rows(compare, rows, compare->counters, taken);
		take_default(rows, taken, compare->counters, notes);
		drop_zeros(compare, compare->counters, notes);
		for (guint i = 0; kvm && kvm_counters[i]; i++)
			take(rows, kvm_counters[i], compare->counters);
	}
	return TRUE;
}

gboolean lab_compare_rows(LabCompare *compare, const GPtrArray *runs,
			  const LabCompareOptions *options, GPtrArray *notes, GError **error)
{
	g_autoptr(GHashTable) rows = gather(compare, runs);
	const LabCompareRun *base = runs->pdata[0];
	g_auto(GStrv) steps = lab_compare_steps(base->run);
	GPtrArray **const all[] = {&compare->times, &compare->counters, &compare->others};

	for (guint i = 0; i < G_N_ELEMENTS(all); i++)
		*all[i] = g_ptr_array_new_with_free_func((GDestroyNotify)lab_compare_row_free);
	for (guint kind = 0; kind < G_N_ELEMENTS(kinds); kind++) {
		g_autofree char *pattern = g_strconcat(kinds[kind].prefix, "*", NULL);

		take_pattern(rows, pattern, compare->times);
	}
	g_ptr_array_sort_with_data(compare->times, time_order, steps);
	if (!take_counters(compare, rows, strcmp(compare->clock, "kvm") == 0, options, notes,
			   error))
		return FALSE;
	take_pattern(rows, "*", compare->others);
	for (guint i = 0; i < G_N_ELEMENTS(all); i++)
		*all[i] = lab_compare_split(compare, *all[i]);
	lab_compare_wholes(compare);
	return TRUE;
}

static const LabCompareRow *find_in(const GPtrArray *rows, const char *metric, guint point)
{
	for (guint i = 0; i < rows->len; i++) {
		const LabCompareRow *row = rows->pdata[i];

		if (row->point == point && strcmp(row->metric, metric) == 0)
			return row;
	}
	return NULL;
}

const LabCompareRow *lab_compare_find_row(const LabCompare *compare, const char *metric, guint point)
{
	const GPtrArray *const all[] = {compare->times, compare->counters, compare->others};
	const LabCompareRow *row = NULL;

	for (guint i = 0; i < G_N_ELEMENTS(all) && !row; i++)
		row = find_in(all[i], metric, point);
	return row;
}
