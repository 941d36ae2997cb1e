/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is collected while steps run. */
#include <string.h>

#include "lab/spec/scenario_parts.h"

#define MIB (1ull << 20)
#define MS_NS 1000000ull
#define DEFAULT_HZ 997 /* in no step with the kernel's own ticks */
#define DEFAULT_RING_BYTES (256 * 1024)
#define DEFAULT_PERF_BYTES (16 * MIB)
#define RING_MIN 8192
#define RING_MAX (16 * MIB)
#define PERF_BYTES_MAX (1ull << 30)
#define DEFAULT_SERIES_NS (100 * MS_NS)
/* What agent/series.c and agent/hist.c keep, and kallsyms: 2.6 MB of code symbols in Debian 6.1. */
#define SERIES_BYTES MIB
#define HIST_BYTES MIB
#define SYMBOLS_BYTES (16 * MIB)
/* A last chunk of each CPU's ring, with its header. */
#define RECORD_SLACK 4096

struct raw_collect {
	const LabYamlNode *counters, *perf, *stat, *series, *hist;
};

struct raw_perf {
	const LabYamlNode *steps;
	guint event, call_graph;
	guint64 hz, ring, bytes;
};

struct raw_list {
	const LabYamlNode *steps;
	const GPtrArray *names;
	guint64 interval_ns;
};

struct raw_hist {
	const LabYamlNode *steps;
	const char *event, *keys;
};

static const char *const counters[] = {"vmstat", "numastat", "interrupts", NULL};
static const char *const call_graphs[] = {"fp", NULL};
/* What goes on all the time, so that "so many samples a second" means something. */
static const char *const perf_events[] = {"auto",
					  "cycles",
					  "cpu-cycles",
					  "instructions",
					  "cache-references",
					  "cache-misses",
					  "branches",
					  "branch-misses",
					  "bus-cycles",
					  "ref-cycles",
					  "cpu-clock",
					  "task-clock",
					  NULL};

static const LabYamlField collect_fields[] = {
	{"counters", LAB_YAML_NODES, offsetof(struct raw_collect, counters)},
	{"perf", LAB_YAML_MEMBERS, offsetof(struct raw_collect, perf)},
	{"stat", LAB_YAML_ANY, offsetof(struct raw_collect, stat)},
	{"series", LAB_YAML_MEMBERS, offsetof(struct raw_collect, series)},
	{"hist", LAB_YAML_NODES, offsetof(struct raw_collect, hist)},
	{0},
};

static const LabYamlField perf_fields[] = {
	{"steps", LAB_YAML_ANY, offsetof(struct raw_perf, steps)},
	{"event", LAB_YAML_WORD, offsetof(struct raw_perf, event), .words = perf_events},
	{"call-graph", LAB_YAML_WORD, offsetof(struct raw_perf, call_graph), .words = call_graphs},
	{"frequency", LAB_YAML_UINT, offsetof(struct raw_perf, hz), .min = 1, .max = 100000},
	{"ring", LAB_YAML_BYTES, offsetof(struct raw_perf, ring)},
	{"max-size", LAB_YAML_BYTES, offsetof(struct raw_perf, bytes)},
	{0},
};

static const LabYamlField stat_fields[] = {
	{"steps", LAB_YAML_ANY, offsetof(struct raw_list, steps)},
	{"events", LAB_YAML_TEXTS, offsetof(struct raw_list, names), .required = TRUE},
	{0},
};

static const LabYamlField series_fields[] = {
	{"steps", LAB_YAML_ANY, offsetof(struct raw_list, steps)},
	{"counters", LAB_YAML_TEXTS, offsetof(struct raw_list, names), .required = TRUE},
	{"interval", LAB_YAML_DURATION, offsetof(struct raw_list, interval_ns)},
	{0},
};

static const LabYamlField hist_fields[] = {
	{"steps", LAB_YAML_ANY, offsetof(struct raw_hist, steps)},
	{"event", LAB_YAML_TEXT, offsetof(struct raw_hist, event), .required = TRUE},
	{"keys", LAB_YAML_TEXT, offsetof(struct raw_hist, keys), .required = TRUE},
	{0},
};

static void hist_free(gpointer data)
{
	LabHist *hist = data;

	g_free(hist->event);
	g_free(hist->keys);
	g_strfreev(hist->steps);
	g_free(hist);
}

void lab_collect_clear(LabCollect *c)
{
	g_strfreev(c->perf_steps);
	g_free(c->perf_event);
	g_strfreev(c->stat_steps);
	g_strfreev(c->stat_events);
	g_strfreev(c->series_steps);
	g_strfreev(c->series_counters);
	g_clear_pointer(&c->hists, g_ptr_array_unref);
}

guint64 lab_collect_bytes(const LabCollect *c, guint n_cpus)
{
	guint64 bytes = 0;

	if (c->perf_steps)
		bytes += SYMBOLS_BYTES + g_strv_length(c->perf_steps) *
						 (c->perf_bytes + n_cpus * (guint64)RECORD_SLACK);
	if (c->series_steps)
		bytes += g_strv_length(c->series_steps) * SERIES_BYTES;
	for (guint i = 0; c->hists && i < c->hists->len; i++)
		bytes += g_strv_length(((LabHist *)c->hists->pdata[i])->steps) * HIST_BYTES;
	return bytes;
}

static const LabStep *find_step(const LabScenario *s, const char *name)
{
	for (guint i = 0; i < s->steps->len; i++) {
		const LabStep *step = s->steps->pdata[i];

		if (step->measure && !strcmp(step->name, name))
			return step;
	}
	return NULL;
}

/* @node: (nullable): all measured steps */
static gboolean read_steps(const LabYamlNode *node, const LabScenario *s, char ***steps,
			   GError **error)
{
	g_autoptr(GStrvBuilder) names = g_strv_builder_new();
	g_autoptr(GString) known = g_string_new(NULL);
	const GPtrArray *list = NULL;

	if (node && !lab_yaml_texts(node, &list, error))
		return FALSE;
	for (guint i = 0; i < s->steps->len; i++) {
		const LabStep *step = s->steps->pdata[i];

		if (!step->measure)
			continue;
		g_string_append_printf(known, "%s%s", known->len ? ", " : "", step->name);
		if (!list)
			g_strv_builder_add(names, step->name);
	}
	if (list && !list->len)
		return lab_yaml_fail(node, error, "at least one step");
	for (guint i = 0; list && i < list->len; i++) {
		const LabYamlNode *name = list->pdata[i];

		if (!find_step(s, name->text))
			return lab_yaml_fail(name, error, "a measured step (%s)", known->str);
		for (guint j = 0; j < i; j++)
			if (!strcmp(((LabYamlNode *)list->pdata[j])->text, name->text))
				return lab_yaml_fail(name, error, "each step once");
		g_strv_builder_add(names, name->text);
	}
	*steps = g_strv_builder_end(names);
	return TRUE;
}

static gboolean is_event(const char *text, gboolean pattern)
{
	return g_regex_match_simple(pattern ? "^[A-Za-z0-9_.-]+(:[A-Za-z0-9_*?-]+)?$"
					    : "^[A-Za-z0-9_.-]+(:[A-Za-z0-9_-]+)?$",
				    text, 0, 0) &&
	       strlen(text) < 100;
}

static gboolean read_perf(const LabYamlNode *node, LabScenario *s, GError **error)
{
	struct raw_perf raw = {
		.hz = DEFAULT_HZ, .ring = DEFAULT_RING_BYTES, .bytes = DEFAULT_PERF_BYTES};
	LabCollect *c = &s->collect;

	if (!node)
		return TRUE;
	if (!lab_yaml_read(node, "perf", perf_fields, &raw, error) ||
	    !read_steps(raw.steps, s, &c->perf_steps, error))
		return FALSE;
	if (raw.ring < RING_MIN || raw.ring > RING_MAX || raw.ring & (raw.ring - 1))
		return lab_yaml_fail(lab_yaml_get(node, "ring"), error,
				     "a power of 2 from 8KiB to 16MiB");
	if (raw.bytes < raw.ring || raw.bytes > PERF_BYTES_MAX)
		return lab_yaml_fail(lab_yaml_get(node, "max-size"), error,
				     "a size from that of the ring to 1GiB");
	c->perf_event = g_strdup(perf_events[raw.event]);
	c->perf_hz = raw.hz;
	c->perf_ring_bytes = raw.ring;
	c->perf_bytes = raw.bytes;
	return TRUE;
}

static gboolean check_names(const GPtrArray *names, gboolean events, GError **error)
{
	for (guint i = 0; i < names->len; i++) {
		const LabYamlNode *name = names->pdata[i];

		if (events && !is_event(name->text, TRUE))
			return lab_yaml_fail(name, error, "an event as perf names it");
		if (!events &&
		    !g_regex_match_simple("^(numastat\\.(node[0-9]+\\.)?)?[a-z0-9_]{1,80}$",
					  name->text, 0, 0))
			return lab_yaml_fail(name, error,
					     "a counter of /proc/vmstat, or numastat.NAME");
		for (guint j = 0; j < i; j++)
			if (!strcmp(((LabYamlNode *)names->pdata[j])->text, name->text))
				return lab_yaml_fail(name, error, "each name once");
	}
	return TRUE;
}

/* A list of events, or {steps, events}. */
static gboolean read_stat(const LabYamlNode *node, LabScenario *s, GError **error)
{
	struct raw_list raw = {0};
	gboolean ok;

	if (!node)
		return TRUE;
	if (node->kind == LAB_YAML_LIST)
		ok = lab_yaml_texts(node, &raw.names, error);
	else
		ok = lab_yaml_read(node, "stat", stat_fields, &raw, error);
	if (!ok || !check_names(raw.names, TRUE, error) ||
	    !read_steps(raw.steps, s, &s->collect.stat_steps, error))
		return FALSE;
	s->collect.stat_events = lab_yaml_strv(raw.names);
	return raw.names->len || lab_yaml_fail(node, error, "at least one event");
}

static gboolean read_series(const LabYamlNode *node, LabScenario *s, GError **error)
{
	struct raw_list raw = {.interval_ns = DEFAULT_SERIES_NS};

	if (!node)
		return TRUE;
	if (!lab_yaml_read(node, "series", series_fields, &raw, error) ||
	    !check_names(raw.names, FALSE, error) ||
	    !read_steps(raw.steps, s, &s->collect.series_steps, error))
		return FALSE;
	if (raw.interval_ns < MS_NS)
		return lab_yaml_fail(lab_yaml_get(node, "interval"), error, "1ms or more");
	s->collect.series_ns = raw.interval_ns;
	s->collect.series_counters = lab_yaml_strv(raw.names);
	return raw.names->len || lab_yaml_fail(node, error, "at least one counter");
}

static gboolean read_hists(const LabYamlNode *list, LabScenario *s, GError **error)
{
	if (!list)
		return TRUE;
	s->collect.hists = g_ptr_array_new_with_free_func(hist_free);
	for (guint i = 0; i < list->children->len; i++) {
		const LabYamlNode *node = list->children->pdata[i];
		struct raw_hist raw = {0};
		LabHist *hist = g_new0(LabHist, 1);

		g_ptr_array_add(s->collect.hists, hist);
		if (!lab_yaml_read(node, "a hist", hist_fields, &raw, error) ||
		    !read_steps(raw.steps, s, &hist->steps, error))
			return FALSE;
		if (!is_event(raw.event, FALSE) || !strchr(raw.event, ':'))
			return lab_yaml_fail(lab_yaml_get(node, "event"), error,
					     "a tracepoint, SYSTEM:EVENT");
		/* One trigger, and no action of its own. */
		if (!g_regex_match_simple("^keys=[A-Za-z0-9_.,:=$+-]{1,300}$", raw.keys, 0, 0))
			return lab_yaml_fail(
				lab_yaml_get(node, "keys"), error,
				"keys of a hist trigger: keys=FIELD[,FIELD][:vals=...]");
		hist->event = g_strdup(raw.event);
		hist->keys = g_strdup(raw.keys);
	}
	return TRUE;
}

static gboolean read_counters(const LabYamlNode *list, LabScenario *s, GError **error)
{
	g_autoptr(GStrvBuilder) chosen = g_strv_builder_new();
	gboolean seen[G_N_ELEMENTS(counters)] = {FALSE};

	for (guint i = 0; list && i < list->children->len; i++) {
		const LabYamlNode *node = list->children->pdata[i];
		guint word;

		if (!lab_yaml_word(node, counters, &word, error))
			return FALSE;
		if (seen[word])
			return lab_yaml_fail(node, error, "each counter once");
		seen[word] = TRUE;
		g_strv_builder_add(chosen, counters[word]);
	}
	s->counters = list ? g_strv_builder_end(chosen) : g_strdupv((char **)counters);
	return TRUE;
}

gboolean lab_scenario_read_collect(const LabYamlNode *node, LabScenario *s, GError **error)
{
	struct raw_collect raw = {0};

	return (!node || lab_yaml_read(node, "collect", collect_fields, &raw, error)) &&
	       read_counters(raw.counters, s, error) && read_perf(raw.perf, s, error) &&
	       read_stat(raw.stat, s, error) && read_series(raw.series, s, error) &&
	       read_hists(raw.hist, s, error);
}

/* ---- canonical ------------------------------------------------------------------------------------ */

JsonObject *lab_scenario_collect_json(const LabScenario *s)
{
	const LabCollect *c = &s->collect;
	JsonObject *o = json_object_new();
	JsonArray *hists = json_array_new();

	if (c->perf_steps) {
		json_object_set_array_member(o, "perf_steps", lab_spec_json_strv(c->perf_steps));
		json_object_set_string_member(o, "perf_event", c->perf_event);
		json_object_set_int_member(o, "perf_hz", (gint64)c->perf_hz);
		json_object_set_int_member(o, "perf_ring_bytes", (gint64)c->perf_ring_bytes);
		json_object_set_int_member(o, "perf_bytes", (gint64)c->perf_bytes);
	}
	if (c->stat_steps) {
		json_object_set_array_member(o, "stat_steps", lab_spec_json_strv(c->stat_steps));
		json_object_set_array_member(o, "stat_events", lab_spec_json_strv(c->stat_events));
	}
	if (c->series_steps) {
		json_object_set_array_member(o, "series_steps",
					     lab_spec_json_strv(c->series_steps));
		json_object_set_array_member(o, "series_counters",
					     lab_spec_json_strv(c->series_counters));
		json_object_set_int_member(o, "series_ns", (gint64)c->series_ns);
	}
	for (guint i = 0; c->hists && i < c->hists->len; i++) {
		const LabHist *hist = c->hists->pdata[i];
		JsonObject *h = json_object_new();

		json_object_set_string_member(h, "event", hist->event);
		json_object_set_string_member(h, "keys", hist->keys);
		json_object_set_array_member(h, "steps", lab_spec_json_strv(hist->steps));
		json_array_add_object_element(hists, h);
	}
	json_object_set_array_member(o, "hists", hists);
	return o;
}
