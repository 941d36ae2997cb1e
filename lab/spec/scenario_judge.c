/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which metrics decide, and by how much. */
#include "lab/spec/scenario_parts.h"

#include <string.h>

#include "lab/base/error.h"
#include "lab/base/suggest.h"
#include "lab/base/units.h"

#define MAX_PCT 10000

/* In the order of words; what is not said is last. */
enum { HIGHER, LOWER, AS_MEASURED };

static const char *const directions[] = {"higher", "lower", NULL};

struct raw_judge {
	const char *metric, *threshold;
	guint better;
};

static const LabYamlField judge_fields[] = {
	{"metric", LAB_YAML_TEXT, offsetof(struct raw_judge, metric), .required = TRUE},
	{"threshold", LAB_YAML_TEXT, offsetof(struct raw_judge, threshold), .required = TRUE},
	{"better", LAB_YAML_WORD, offsetof(struct raw_judge, better), .words = directions},
	{0},
};

/* Metrics of one step, before the step's name (lab/measure/samples.h). */
static const char *const step_metrics[] = {"real-",    "user-",	    "syst-",   "maxrss-",
					   "minflt-",  "majflt-",   "csw-",    "icsw-",
					   "files/s-", "overhead-", "touches-"};

void lab_judge_free(LabJudge *judge)
{
	if (judge)
		g_free(judge->metric);
	g_free(judge);
}

/* "2%", "0.25%" -> parts per million; at most four digits behind the point, so the value is exact */
static gboolean parse_percent(const char *text, gint64 *ppm)
{
	g_autofree char *number = g_strdup(text);
	guint64 whole, part = 0, unit = 10000;
	char *point;

	if (!g_str_has_suffix(number, "%"))
		return FALSE;
	number[strlen(number) - 1] = 0;
	point = strchr(number, '.');
	if (point) {
		*point++ = 0;
		for (const char *p = point; *p; p++)
			unit /= 10;
		if (!unit || !*point || !lab_parse_uint(point, 9999, &part, NULL))
			return FALSE;
	}
	if (!lab_parse_uint(number, MAX_PCT, &whole, NULL))
		return FALSE;
	*ppm = (gint64)(whole * 10000 + part * unit);
	return *ppm > 0;
}

/* The step that a metric is of: "real-STEP", "COUNTER:STEP"; NULL: of all steps */
static const char *step_of(const char *metric)
{
	const char *colon = strchr(metric, ':');

	if (colon)
		return colon + 1;
	for (guint i = 0; i < G_N_ELEMENTS(step_metrics); i++)
		if (g_str_has_prefix(metric, step_metrics[i]))
			return metric + strlen(step_metrics[i]);
	return NULL;
}

static gboolean check_metric(const LabYamlNode *node, const LabScenario *s, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();
	const char *wanted = step_of(node->text), *nearest;
	g_autofree char *list = NULL, *found = NULL;

	for (guint i = 0; wanted && i < s->steps->len; i++) {
		const LabStep *step = s->steps->pdata[i];

		if (!step->measure)
			continue;
		if (!strcmp(step->name, wanted))
			return TRUE;
		g_ptr_array_add(names, step->name);
	}
	if (!wanted)
		return TRUE;
	g_ptr_array_add(names, NULL);
	list = g_strjoinv(", ", (char **)names->pdata);
	nearest = lab_suggest(wanted, (const char *const *)names->pdata);
	if (nearest) {
		g_autofree char *prefix = g_strndup(node->text, (gsize)(wanted - node->text));

		found = lab_yaml_found(node);
		lab_error_set_at(
			error, &node->origin,
			"wanted a metric of a measured step, found %s (did you mean '%s%s'?)",
			found, prefix, nearest);
		return FALSE;
	}
	return lab_yaml_fail(node, error, "a metric of a measured step (%s)", list);
}

static int better_of(guint direction)
{
	return direction == HIGHER ? 1 : direction == LOWER ? -1 : 0;
}

static gboolean has_metric(const GPtrArray *judges, const char *metric)
{
	for (guint i = 0; i < judges->len; i++)
		if (!strcmp(((const LabJudge *)judges->pdata[i])->metric, metric))
			return TRUE;
	return FALSE;
}

/* @s: (nullable): the scenario whose steps metrics must be of; NULL: any */
static GPtrArray *read_list(const LabYamlNode *list, const LabScenario *s, GError **error)
{
	g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify)lab_judge_free);

	for (guint i = 0; list && i < list->children->len; i++) {
		const LabYamlNode *node = list->children->pdata[i];
		struct raw_judge raw = {.better = AS_MEASURED};
		LabJudge *judge;
		gint64 ppm;

		if (!lab_yaml_read(node, "a judge", judge_fields, &raw, error) ||
		    (s && !check_metric(lab_yaml_get(node, "metric"), s, error)))
			return NULL;
		if (!parse_percent(raw.threshold, &ppm)) {
			lab_yaml_fail(lab_yaml_get(node, "threshold"), error,
				      "a percentage above 0, like 2%%");
			return NULL;
		}
		if (has_metric(all, raw.metric)) {
			lab_yaml_fail(lab_yaml_get(node, "metric"), error, "each metric once");
			return NULL;
		}
		judge = g_new0(LabJudge, 1);
		judge->metric = g_strdup(raw.metric);
		judge->threshold_ppm = ppm;
		judge->better = better_of(raw.better);
		g_ptr_array_add(all, judge);
	}
	return g_steal_pointer(&all);
}

gboolean lab_scenario_read_judge(const LabYamlNode *list, LabScenario *s, GError **error)
{
	s->judge = read_list(list, s, error);
	return s->judge != NULL;
}

GPtrArray *lab_scenario_judge(const char *text, const char *path, const char *const *overrides,
			      GError **error)
{
	g_autoptr(LabYamlNode) root = lab_yaml_parse(text, -1, path, error);
	const LabYamlNode *list;

	if (!root)
		return NULL;
	for (guint i = 0; overrides && overrides[i]; i++)
		if ((g_str_has_prefix(overrides[i], "judge=") ||
		     g_str_has_prefix(overrides[i], "judge.")) &&
		    !lab_scenario_set(root, overrides[i], error))
			return NULL;
	list = root->kind == LAB_YAML_MAP ? lab_yaml_get(root, "judge") : NULL;
	if (list && list->kind != LAB_YAML_LIST) {
		lab_yaml_fail(list, error, "a list");
		return NULL;
	}
	return read_list(list, NULL, error);
}

LabJudge *lab_judge_parse(const char *text, GError **error)
{
	const char *equals = strrchr(text, '=');
	const char *colon = equals ? strchr(equals, ':') : NULL;
	int direction = colon ? lab_word_index(directions, colon + 1) : AS_MEASURED;
	g_autofree char *percent = NULL;
	LabJudge *judge;
	gint64 ppm;

	if (equals) {
		g_autofree char *number = colon ? g_strndup(equals + 1, (gsize)(colon - equals - 1))
						: g_strdup(equals + 1);

		percent = g_strconcat(number, g_str_has_suffix(number, "%") ? "" : "%", NULL);
	}
	if (!equals || equals == text || direction < 0 || !parse_percent(percent, &ppm)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "wanted METRIC=PERCENT, like real-fsmark=2%%, or with ':lower' or "
			    "':higher' after it, found '%s'",
			    text);
		return NULL;
	}
	judge = g_new0(LabJudge, 1);
	judge->metric = g_strndup(text, (gsize)(equals - text));
	judge->threshold_ppm = ppm;
	judge->better = better_of((guint)direction);
	return judge;
}
