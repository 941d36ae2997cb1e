/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records -> samples. */
#include "lab/measure/samples.h"

#include <string.h>

#include "agent/protocol.h"
#include "lab/base/error.h"
#include "lab/base/units.h"
#include "lab/measure/counters.h"
#include "lab/measure/stat.h"

/* The measured steps of one boot, being gathered. */
typedef struct {
	const LabRecords *records;
	GHashTable *by_name; /* "TYPE NAME" -> LabRecord, borrowed */
	GHashTable *totals;  /* counter -> Total */
	guint n_steps;	     /* measured */
	GHashTable *stat_totals; /* event -> Total */
	guint n_stats;		 /* steps in which events were counted */
	GPtrArray *samples;
} Gather;

typedef struct {
	guint64 sum;
	guint n_steps; /* that have it */
} Total;

static void gather_clear(Gather *gather)
{
	g_clear_pointer(&gather->by_name, g_hash_table_unref);
	g_clear_pointer(&gather->totals, g_hash_table_unref);
	g_clear_pointer(&gather->stat_totals, g_hash_table_unref);
	g_clear_pointer(&gather->samples, g_ptr_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Gather, gather_clear)

void lab_sample_free(LabSample *sample)
{
	if (!sample)
		return;
	g_free(sample->metric);
	g_free(sample);
}

static void add(Gather *gather, char *metric, double value, const char *unit, int better)
{
	LabSample *sample = g_new(LabSample, 1);

	*sample = (LabSample){.metric = metric, .value = value, .unit = unit, .better = better};
	g_ptr_array_add(gather->samples, sample);
}

static char *key_of(guint type, const char *name)
{
	return g_strdup_printf("%u %s", type, name);
}

static const LabRecord *find(const Gather *gather, guint type, const char *name)
{
	g_autofree char *key = key_of(type, name);

	return g_hash_table_lookup(gather->by_name, key);
}

static gboolean index_records(Gather *gather, GError **error)
{
	for (guint i = 0; i < gather->records->records->len; i++) {
		LabRecord *record = gather->records->records->pdata[i];

		/* In pieces, and not for samples. */
		if (record->type == AGENT_REC_PROFILE || record->type == AGENT_REC_SYMBOLS)
			continue;
		if (g_hash_table_insert(gather->by_name, key_of(record->type, record->name),
					record))
			continue;
		g_autofree char *shown = g_strescape(record->name, NULL);

		g_set_error(error, LAB_ERROR, LAB_ERROR_UNKNOWN, "record %u: '%s' comes twice", i,
			    shown);
		return FALSE;
	}
	return TRUE;
}

/* ---- what the step's end says ---------------------------------------------------------------- */

/* @found FALSE: the key is absent, or its value is no number; an error only in the latter case, or
 * when @required. */
static gboolean number(const LabRecord *record, const char *key, gboolean required, guint64 *value,
		       gboolean *found, GError **error)
{
	g_autofree char *text = lab_record_value(record, key);

	*found = text && lab_parse_uint(text, G_MAXUINT64, value, NULL);
	if (*found || (!text && !required))
		return TRUE;
	g_autofree char *shown = g_strescape(text ? text : "nothing", NULL);

	g_set_error(error, LAB_ERROR, LAB_ERROR_UNKNOWN,
		    "end of step %s: wanted a number as %s, found '%s'", record->name, key, shown);
	return FALSE;
}

static gboolean add_step_end(Gather *gather, const LabRecord *end, GError **error)
{
	static const struct {
		const char *key, *prefix, *unit;
		double divisor;
		int better;
		gboolean required;
	} values[] = {
		{"wall_ns", "real", "s", 1e9, -1, TRUE},
		{"user_ns", "user", "s", 1e9, -1, TRUE},
		{"system_ns", "syst", "s", 1e9, -1, TRUE},
		{"maxrss_kib", "maxrss", "KiB", 1, -1, FALSE},
		{"minor_faults", "minflt", "count", 1, 0, FALSE},
		{"major_faults", "majflt", "count", 1, 0, FALSE},
		{"voluntary_switches", "csw", "count", 1, 0, FALSE},
		{"involuntary_switches", "icsw", "count", 1, 0, FALSE},
		{"touches", "touches", "count", 1, +1, FALSE},
	};

	for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
		gboolean found;
		guint64 value;

		if (!number(end, values[i].key, values[i].required, &value, &found, error))
			return FALSE;
		if (found)
			add(gather, g_strdup_printf("%s-%s", values[i].prefix, end->name),
			    (double)value / values[i].divisor, values[i].unit, values[i].better);
	}
	return TRUE;
}

static void add_fs_mark(Gather *gather, const char *step)
{
	g_autofree char *name = g_strconcat(step, "/stdout", NULL);
	const LabRecord *output = find(gather, AGENT_REC_OUTPUT, name);
	LabFsMark mark = {0};

	if (output)
		mark = lab_fs_mark_parse(output->payload);
	if (!mark.lines)
		return;
	add(gather, g_strdup_printf("files/s-%s", step), mark.files_per_s, "files/s", +1);
	add(gather, g_strdup_printf("overhead-%s", step), mark.overhead_us, "us", -1);
}

/* ---- counters -------------------------------------------------------------------------------- */

/* Both snapshots of a file. A file that is there only before or only after is an error, one that is
 * not there at all none. */
static gboolean snapshots(const Gather *gather, const char *step, const char *file,
			  const LabRecord **before, const LabRecord **after, GError **error)
{
	g_autofree char *name_before = g_strdup_printf("%s/before/%s", step, file);
	g_autofree char *name_after = g_strdup_printf("%s/after/%s", step, file);

	*before = find(gather, AGENT_REC_SNAPSHOT, name_before);
	*after = find(gather, AGENT_REC_SNAPSHOT, name_after);
	if (!*before == !*after)
		return TRUE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_UNKNOWN, "%s is there, but %s is not",
		    *before ? name_before : name_after, *before ? name_after : name_before);
	return FALSE;
}

static gboolean counter_deltas(const Gather *gather, const char *step, const char *file,
			       const char *prefix, GHashTable *deltas, gboolean *found,
			       GError **error)
{
	g_autoptr(GHashTable) start = NULL;
	g_autoptr(GHashTable) end = NULL;
	const LabRecord *before, *after;

	*found = FALSE;
	if (!snapshots(gather, step, file, &before, &after, error))
		return FALSE;
	if (!before)
		return TRUE;
	start = lab_counters_parse(before->payload, before->name, error);
	end = start ? lab_counters_parse(after->payload, after->name, error) : NULL;
	if (!end)
		return FALSE;
	lab_counters_delta(start, end, prefix, deltas);
	*found = TRUE;
	return TRUE;
}

static gboolean vmstat_deltas(const Gather *gather, const char *step, GHashTable *deltas,
			      GError **error)
{
	GHashTableIter iter;
	gboolean found;
	gpointer name;

	if (!counter_deltas(gather, step, "vmstat", "", deltas, &found, error))
		return FALSE;
	g_hash_table_iter_init(&iter, deltas);
	while (g_hash_table_iter_next(&iter, &name, NULL))
		if (lab_counters_is_level(name))
			g_hash_table_iter_remove(&iter);
	return TRUE;
}

/* Numbers of the nodes that have a numastat snapshot of this step, ascending. */
static GArray *nodes_of(const Gather *gather, const char *step)
{
	g_autofree char *start = g_strdup_printf("%s/before/node", step);
	GArray *nodes = g_array_new(FALSE, FALSE, sizeof(guint));

	for (guint node = 0; node < 1024; node++) {
		g_autofree char *name = g_strdup_printf("%s%u-numastat", start, node);

		if (find(gather, AGENT_REC_SNAPSHOT, name))
			g_array_append_val(nodes, node);
	}
	return nodes;
}

static void add_to_total(GHashTable *totals, const char *name, guint64 value)
{
	Total *total = g_hash_table_lookup(totals, name);

	if (!total) {
		total = g_new0(Total, 1);
		g_hash_table_insert(totals, g_strdup(name), total);
	}
	if (!__builtin_add_overflow(total->sum, value, &total->sum))
		total->n_steps++;
}

/* Per node, and summed where every node has it. */
static gboolean numastat_deltas(const Gather *gather, const char *step, GHashTable *deltas,
				GError **error)
{
	g_autoptr(GArray) nodes = nodes_of(gather, step);
	g_autoptr(GHashTable) sums = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	GHashTableIter iter;
	gpointer name, value;

	for (guint i = 0; i < nodes->len; i++) {
		guint node = g_array_index(nodes, guint, i);
		g_autoptr(GHashTable) own =
			g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
		g_autofree char *file = g_strdup_printf("node%u-numastat", node);
		gboolean found;

		if (!counter_deltas(gather, step, file, "", own, &found, error))
			return FALSE;
		g_hash_table_iter_init(&iter, own);
		while (g_hash_table_iter_next(&iter, &name, &value)) {
			add_to_total(sums, name, *(guint64 *)value);
			g_hash_table_insert(
				deltas, g_strdup_printf("numastat.node%u.%s", node, (char *)name),
				g_memdup2(value, sizeof(guint64)));
		}
	}
	g_hash_table_iter_init(&iter, sums);
	while (g_hash_table_iter_next(&iter, &name, &value))
		if (((Total *)value)->n_steps == nodes->len)
			g_hash_table_insert(deltas, g_strconcat("numastat.", name, NULL),
					    g_memdup2(&((Total *)value)->sum, sizeof(guint64)));
	return TRUE;
}

static gboolean interrupt_deltas(const Gather *gather, const char *step, GHashTable *deltas,
				 GError **error)
{
	const LabRecord *before, *after;
	g_autofree char *what = g_strconcat(step, "/interrupts", NULL);

	if (!snapshots(gather, step, "interrupts", &before, &after, error))
		return FALSE;
	return !before ||
	       lab_interrupts_delta(before->payload, after->payload, what, deltas, error);
}

static gboolean add_counters(Gather *gather, const char *step, GError **error)
{
	g_autoptr(GHashTable) deltas =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	GHashTableIter iter;
	gpointer name, value;

	if (!vmstat_deltas(gather, step, deltas, error) ||
	    !numastat_deltas(gather, step, deltas, error) ||
	    !interrupt_deltas(gather, step, deltas, error))
		return FALSE;
	g_hash_table_iter_init(&iter, deltas);
	while (g_hash_table_iter_next(&iter, &name, &value)) {
		guint64 delta = *(guint64 *)value;

		add_to_total(gather->totals, name, delta);
		add(gather, g_strdup_printf("%s:%s", (char *)name, step), (double)delta, "count",
		    0);
	}
	return TRUE;
}

/* ---- events ------------------------------------------------------------------------------------ */

/* Clocks count nanoseconds. */
static void add_event(Gather *gather, const char *event, const char *step, guint64 count)
{
	gboolean clock = g_str_has_suffix(event, "-clock");

	add(gather,
	    step ? g_strdup_printf("perf.%s:%s", event, step) : g_strconcat("perf.", event, NULL),
	    clock ? (double)count / 1e9 : (double)count, clock ? "s" : "count", 0);
}

/* What the step's "stat" record has: see lab_stat_parse(). */
static gboolean add_stat(Gather *gather, const char *step, GError **error)
{
	const LabRecord *record = find(gather, AGENT_REC_STAT, step);
	g_autoptr(GPtrArray) counts = NULL;

	if (!record)
		return TRUE;
	counts = lab_stat_parse(record->payload, step, error);
	if (!counts)
		return FALSE;
	gather->n_stats++;
	for (guint i = 0; i < counts->len; i++) {
		const LabStatCount *count = counts->pdata[i];

		if (!count->supported)
			continue;
		add_event(gather, count->event, step, count->count);
		add_to_total(gather->stat_totals, count->event, count->count);
	}
	return TRUE;
}

static void add_stat_totals(Gather *gather)
{
	GHashTableIter iter;
	gpointer name, value;

	g_hash_table_iter_init(&iter, gather->stat_totals);
	while (g_hash_table_iter_next(&iter, &name, &value))
		if (((Total *)value)->n_steps == gather->n_stats)
			add_event(gather, name, NULL, ((Total *)value)->sum);
}

/* A counter that one measured step lacks has no total: a sum over some of the steps would look like
 * one over all. */
static void add_totals(Gather *gather)
{
	GHashTableIter iter;
	gpointer name, value;

	g_hash_table_iter_init(&iter, gather->totals);
	while (g_hash_table_iter_next(&iter, &name, &value)) {
		const Total *total = value;

		if (total->n_steps == gather->n_steps)
			add(gather, g_strdup(name), (double)total->sum, "count", 0);
	}
}

/* ---- all of it ------------------------------------------------------------------------------- */

static gboolean add_step(Gather *gather, const LabRecord *begin, GError **error)
{
	g_autofree char *measure = lab_record_value(begin, "measure");
	const LabRecord *end = find(gather, AGENT_REC_STEP_END, begin->name);

	if (!*begin->name ||
	    strspn(begin->name, G_CSET_a_2_z G_CSET_DIGITS "._-") != strlen(begin->name)) {
		g_autofree char *shown = g_strescape(begin->name, NULL);

		g_set_error(error, LAB_ERROR, LAB_ERROR_UNKNOWN, "'%s' is no name of a step",
			    shown);
		return FALSE;
	}
	if (!end) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_UNKNOWN, "step %s has no end", begin->name);
		return FALSE;
	}
	if (g_strcmp0(measure, "1") != 0)
		return TRUE;
	gather->n_steps++;
	if (!add_step_end(gather, end, error))
		return FALSE;
	add_fs_mark(gather, begin->name);
	return add_counters(gather, begin->name, error) && add_stat(gather, begin->name, error);
}

static int by_metric(gconstpointer a, gconstpointer b)
{
	const LabSample *const *left = a, *const *right = b;

	return strcmp((*left)->metric, (*right)->metric);
}

void lab_samples_add_count(GPtrArray *samples, const char *metric, gint64 value)
{
	LabSample *sample;

	if (value < 0)
		return;
	sample = g_new(LabSample, 1);
	*sample = (LabSample){g_strdup(metric), (double)value, "count", 0};
	g_ptr_array_add(samples, sample);
	g_ptr_array_sort(samples, by_metric);
}

GPtrArray *lab_samples_from_records(const LabRecords *records, GError **error)
{
	g_auto(Gather) gather = {
		.records = records,
		.by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.totals = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
		.stat_totals = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
		.samples = g_ptr_array_new_with_free_func((GDestroyNotify)lab_sample_free),
	};

	if (!records->complete) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_UNKNOWN,
			    "the results are not complete (%s)",
			    records->damage ? records->damage : "no end record");
		return NULL;
	}
	if (!index_records(&gather, error))
		return NULL;
	for (guint i = 0; i < records->records->len; i++) {
		const LabRecord *record = records->records->pdata[i];

		if (record->type == AGENT_REC_STEP_BEGIN && !add_step(&gather, record, error))
			return NULL;
	}
	add_totals(&gather);
	add_stat_totals(&gather);
	g_ptr_array_sort(gather.samples, by_metric);
	return g_steal_pointer(&gather.samples);
}
