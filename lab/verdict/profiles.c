/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/verdict/profiles.h"

#include <string.h>

#include "agent/protocol.h"
#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/measure/perf_data.h"
#include "lab/verdict/compare_internal.h"

static void node_free(gpointer data)
{
	LabCallNode *node = data;

	g_clear_pointer(&node->children, g_ptr_array_unref);
	g_free(node);
}

static void row_free(gpointer data)
{
	LabProfileRow *row = data;

	g_free(row->shares);
	node_free(row->root);
	g_free(row);
}

static void profiles_free(gpointer data)
{
	LabProfiles *p = data;

	g_free(p->label[0]);
	g_free(p->label[1]);
	g_free(p->step);
	g_free(p->event);
	g_ptr_array_unref(p->rows);
	g_hash_table_unref(p->keys);
	g_ptr_array_unref(p->boots);
	g_array_unref(p->seeds);
	g_strfreev(p->notes);
	g_free(p);
}

/* ---- boots -------------------------------------------------------------------------------------- */

static const LabCompareRun *run_of(const GPtrArray *runs, guint id)
{
	for (guint i = 0; i < runs->len; i++) {
		const LabCompareRun *run = runs->pdata[i];

		if (run->run->id == id)
			return run;
	}
	return NULL;
}

static LabRecords *records_of(const LabRun *run, const char *boot)
{
	g_autofree char *path = g_build_filename(run->dir, "boots", boot, "results.img", NULL);

	return lab_records_read(path, NULL);
}

/* Why a boot's profile cannot be used, or NULL. */
static char *why_not(const LabProfile *profile)
{
	if (!profile)
		return g_strdup("has no profile");
	if (profile->why_not)
		return g_strdup_printf("was not sampled: %s", profile->why_not);
	if (!profile->weight)
		return g_strdup("has no samples");
	return NULL;
}

static void add_note(GStrvBuilder *notes, const LabCompareBoot *boot, const char *what)
{
	g_autofree char *text = g_strdup_printf("boot %s %s", boot->id, what);

	g_strv_builder_add(notes, text);
}

static void note_flaws(GStrvBuilder *notes, const LabCompareBoot *boot, const LabProfile *profile)
{
	g_autofree char *lost = NULL;

	if (profile->truncated)
		add_note(notes, boot, "was cut at collect: perf: max-size: its end is missing");
	if (profile->n_lost) {
		lost = g_strdup_printf("lost %" G_GUINT64_FORMAT " records (collect: perf: ring)",
				       profile->n_lost);
		add_note(notes, boot, lost);
	}
	if (profile->n_bad)
		add_note(notes, boot, "left records that make no sense");
	if (!profile->has_symbols)
		add_note(notes, boot, "has no kallsyms: the kernel's functions have no names");
}

static void add_event(LabProfiles *p, const char *event)
{
	g_auto(GStrv) known = p->event ? g_strsplit(p->event, ", ", -1) : NULL;
	char *both;

	if (known && g_strv_contains((const char *const *)known, event))
		return;
	both = p->event ? g_strconcat(p->event, ", ", event, NULL) : g_strdup(event);
	g_free(p->event);
	p->event = both;
}

static void find_fault_entry(LabProfiles *p, const LabProfile *profile)
{
	static const char *const entries[] = {"async_page_fault", "page_fault", "asm_exc_page_fault"};
	GHashTableIter iter;
	gpointer key;

	g_hash_table_iter_init(&iter, profile->frames);
	while (!p->fault_entry && g_hash_table_iter_next(&iter, &key, NULL)) {
		const LabProfileFrame *frame = key;

		for (guint i = 0; frame->is_kernel && i < G_N_ELEMENTS(entries); i++)
			if (!strcmp(frame->symbol, entries[i]))
				p->fault_entry = entries[i];
	}
}

static void add_boot(LabProfiles *p, const LabRun *run, const LabCompareBoot *boot,
		     GStrvBuilder *notes)
{
	g_autoptr(LabRecords) records = records_of(run, boot->id);
	g_autoptr(LabProfile) profile = records ? lab_profile_read(records, p->step, NULL) : NULL;
	g_autofree char *why = why_not(profile);

	if (why) {
		add_note(notes, boot, why);
		return;
	}
	note_flaws(notes, boot, profile);
	add_event(p, profile->event);
	find_fault_entry(p, profile);
	p->n_samples += profile->n_samples;
	g_array_append_val(p->seeds, boot->seed);
	g_ptr_array_add(p->boots, g_steal_pointer(&profile));
}

/* ---- rows --------------------------------------------------------------------------------------- */

static LabCallNode *node_new(const char *symbol)
{
	LabCallNode *node = g_new0(LabCallNode, 1);

	node->symbol = symbol;
	return node;
}

static LabCallNode *child_of(LabCallNode *node, const char *symbol)
{
	LabCallNode *child;

	if (!node->children)
		node->children = g_ptr_array_new_with_free_func(node_free);
	for (guint i = 0; i < node->children->len; i++) {
		child = node->children->pdata[i];
		if (!strcmp(child->symbol, symbol))
			return child;
	}
	child = node_new(symbol);
	g_ptr_array_add(node->children, child);
	return child;
}

static LabProfileRow *row_of(LabProfiles *p, const LabProfileChain *chain)
{
	const LabProfileFrame *leaf = chain->frames[0];
	char *key = g_strjoin("\n", chain->comm, leaf->object, leaf->symbol, NULL);
	LabProfileRow *row = g_hash_table_lookup(p->keys, key);

	if (row) {
		g_free(key);
		return row;
	}
	row = g_new0(LabProfileRow, 1);
	row->comm = chain->comm;
	row->object = leaf->object;
	row->symbol = leaf->symbol;
	row->is_kernel = leaf->is_kernel;
	row->shares = g_new0(double, p->boots->len);
	row->root = node_new(leaf->symbol);
	g_ptr_array_add(p->rows, row);
	g_hash_table_insert(p->keys, key, row);
	return row;
}

static void add_chain(LabProfiles *p, guint boot, const LabProfileChain *chain)
{
	const LabProfile *profile = p->boots->pdata[boot];
	LabProfileRow *row = row_of(p, chain);
	double share = 100.0 * (double)chain->weight / (double)profile->weight;
	LabCallNode *node = row->root;

	row->shares[boot] += share;
	node->share += share / p->boots->len;
	for (guint i = 1; i < chain->n_frames; i++) {
		node = child_of(node, chain->frames[i]->symbol);
		node->share += share / p->boots->len;
	}
}

static int by_share(gconstpointer left, gconstpointer right)
{
	const LabCallNode *a = *(LabCallNode *const *)left, *b = *(LabCallNode *const *)right;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return strcmp(a->symbol, b->symbol);
}

static void sort_node(LabCallNode *node)
{
	if (!node->children)
		return;
	g_ptr_array_sort(node->children, by_share);
	for (guint i = 0; i < node->children->len; i++)
		sort_node(node->children->pdata[i]);
}

static int by_mean(gconstpointer left, gconstpointer right)
{
	const LabProfileRow *a = *(LabProfileRow *const *)left, *b = *(LabProfileRow *const *)right;
	int order;

	if (a->summary.amean != b->summary.amean)
		return a->summary.amean > b->summary.amean ? -1 : 1;
	order = strcmp(a->symbol, b->symbol);
	return order ? order : strcmp(a->comm, b->comm);
}

static void make_rows(LabProfiles *p)
{
	for (guint i = 0; i < p->boots->len; i++) {
		const LabProfile *profile = p->boots->pdata[i];

		for (guint j = 0; j < profile->chains->len; j++)
			add_chain(p, i, profile->chains->pdata[j]);
	}
	for (guint i = 0; i < p->rows->len; i++) {
		LabProfileRow *row = p->rows->pdata[i];

		row->summary = lab_summary(row->shares, p->boots->len);
		sort_node(row->root);
	}
	g_ptr_array_sort(p->rows, by_mean);
}

/* ---- all of it ---------------------------------------------------------------------------------- */

static LabProfiles *read_column(const LabCompareColumn *column, const LabRun *run, const char *step)
{
	LabProfiles *p = g_new0(LabProfiles, 1);
	g_autoptr(GStrvBuilder) notes = g_strv_builder_new();
	g_autofree char *clock = lab_plan_clock_note(run->plan);

	g_strv_builder_add(notes, clock);
	p->run = column->run;
	p->is_exact = !strcmp(run->plan->clock, "exact");
	p->label[0] = g_strdup(column->label[0]);
	p->label[1] = g_strdup(column->label[1]);
	p->step = g_strdup(step);
	p->boots = g_ptr_array_new_with_free_func((GDestroyNotify)lab_profile_free);
	p->seeds = g_array_new(FALSE, FALSE, sizeof(guint64));
	p->rows = g_ptr_array_new_with_free_func(row_free);
	p->keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (guint i = 0; i < column->boots->len; i++)
		add_boot(p, run, column->boots->pdata[i], notes);
	make_rows(p);
	p->notes = g_strv_builder_end(notes);
	return p;
}

/* Of any boot: they all have the same job. */
static char **steps_of(const GPtrArray *columns, const GPtrArray *runs)
{
	for (guint i = 0; i < columns->len; i++) {
		const LabCompareColumn *column = columns->pdata[i];

		for (guint j = 0; j < column->boots->len; j++) {
			const LabCompareBoot *boot = column->boots->pdata[j];
			g_autoptr(LabRecords) records =
				records_of(run_of(runs, column->run)->run, boot->id);
			char **steps = records ? lab_profile_steps(records) : NULL;

			if (steps && *steps)
				return steps;
			g_strfreev(steps);
		}
	}
	return g_new0(char *, 1);
}

static gboolean check_step(char **steps, const char *step, GError **error)
{
	g_autofree char *all = g_strjoinv(", ", steps);

	if (!*steps)
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "nothing was sampled: the scenario needs 'collect: {perf: {}}'");
	else if (step && !g_strv_contains((const char *const *)steps, step))
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "step '%s' was not sampled; these were: %s", step, all);
	else
		return TRUE;
	return FALSE;
}

typedef struct {
	GPtrArray *runs;
	LabCompare *compare;
	GPtrArray *columns; /* borrowed of @compare */
	char **steps;
} Selected;

static void selected_clear(Selected *selected)
{
	g_clear_pointer(&selected->compare, lab_compare_free);
	g_clear_pointer(&selected->runs, g_ptr_array_unref);
	g_strfreev(selected->steps);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Selected, selected_clear)

/* Samples of different settings have no shares together. @points: labels */
static gboolean check_point(const LabCompareColumn *column, char **points, GError **error)
{
	const LabCompareBoot *first = column->boots->len ? column->boots->pdata[0] : NULL;

	for (guint i = 1; i < column->boots->len; i++) {
		g_autofree char *label = NULL;

		if (((const LabCompareBoot *)column->boots->pdata[i])->point == first->point)
			continue;
		label = g_strdelimit(g_strdup(points[first->point]), " ", ',');
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "%s is a sweep: wanted one point of it, like %u@%s", column->origin, column->run, label);
		return FALSE;
	}
	return TRUE;
}

/* Columns of one kernel are told apart by their points. */
static gboolean name_points(const LabCompare *compare, GError **error)
{
	for (guint c = 0; c < compare->columns->len; c++) {
		LabCompareColumn *column = compare->columns->pdata[c];
		const LabCompareBoot *first = column->boots->len ? column->boots->pdata[0] : NULL;
		char *name;

		if (!check_point(column, compare->points, error))
			return FALSE;
		name = first ? lab_compare_metric_name(compare, column->label[1], first->point) : NULL;
		if (!name)
			continue;
		g_free(column->label[1]);
		column->label[1] = name;
	}
	return TRUE;
}

static gboolean resolve(Selected *s, LabStore *store, const char *const *selections,
			const char *step, GError **error)
{
	s->runs = g_ptr_array_new_with_free_func(lab_compare_run_free);
	s->compare = g_new0(LabCompare, 1);
	if (!lab_compare_columns(s->compare, store, selections, NULL, s->runs, error) ||
	    !name_points(s->compare, error))
		return FALSE;
	s->columns = s->compare->columns;
	s->steps = steps_of(s->columns, s->runs);
	if (!check_step(s->steps, step, error))
		return FALSE;
	if (step) {
		g_strfreev(s->steps);
		s->steps = g_new0(char *, 2);
		s->steps[0] = g_strdup(step);
	}
	return TRUE;
}

GPtrArray *lab_profiles_read(LabStore *store, const char *const *selections, const char *step,
			     GError **error)
{
	g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(profiles_free);
	g_auto(Selected) s = {0};

	if (!resolve(&s, store, selections, step, error))
		return NULL;
	for (char **one = s.steps; *one; one++)
		for (guint i = 0; i < s.columns->len; i++) {
			const LabCompareColumn *column = s.columns->pdata[i];

			g_ptr_array_add(
				all, read_column(column, run_of(s.runs, column->run)->run, *one));
		}
	return g_steal_pointer(&all);
}

/* One boot and step. @path: (out): NULL when it has no profile */
static gboolean export_one(const LabRun *run, const LabCompareBoot *boot, const char *step,
			   const char *dir, gboolean with_run, char **path, GError **error)
{
	g_autoptr(LabRecords) records = records_of(run, boot->id);
	g_autofree char *number = g_strdup_printf("%u.", run->id);
	g_autofree char *base =
		g_strdup_printf("%s/%s%s.%s", dir, with_run ? number : "", boot->id, step);
	g_autofree char *data = g_strconcat(base, ".data", NULL);
	g_autofree char *kallsyms = g_strconcat(base, ".kallsyms", NULL);

	*path = NULL;
	if (!records || !lab_records_find(records, AGENT_REC_PROFILE_END, step))
		return TRUE;
	if (!lab_perf_data_write(records, step, data, kallsyms, error))
		return FALSE;
	*path = g_steal_pointer(&data);
	return TRUE;
}

char **lab_profiles_export(LabStore *store, const char *const *selections, const char *step,
			   const char *dir, GError **error)
{
	g_autoptr(GStrvBuilder) paths = g_strv_builder_new();
	g_auto(Selected) s = {0};

	if (!resolve(&s, store, selections, step, error) || !lab_dir_make(dir, error))
		return NULL;
	for (char **one = s.steps; *one; one++)
		for (guint i = 0; i < s.columns->len; i++) {
			const LabCompareColumn *column = s.columns->pdata[i];

			for (guint j = 0; j < column->boots->len; j++) {
				g_autofree char *path = NULL;

				if (!export_one(run_of(s.runs, column->run)->run,
						column->boots->pdata[j], *one, dir, s.runs->len > 1,
						&path, error))
					return NULL;
				if (path)
					g_strv_builder_add(paths, path);
			}
		}
	return g_strv_builder_end(paths);
}
