/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which metrics decide, and by how much. */
#include "lab/spec/scenario_parts.h"

#include <string.h>

#include "lab/base/suggest.h"
#include "lab/base/units.h"

#define MAX_PCT 10000

struct raw_judge {
	const char *metric, *threshold;
};

static const LabYamlField judge_fields[] = {
	{"metric", LAB_YAML_TEXT, offsetof(struct raw_judge, metric), .required = TRUE},
	{"threshold", LAB_YAML_TEXT, offsetof(struct raw_judge, threshold), .required = TRUE},
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

gboolean lab_scenario_read_judge(const LabYamlNode *list, LabScenario *s, GError **error)
{
	s->judge = g_ptr_array_new_with_free_func((GDestroyNotify)lab_judge_free);
	for (guint i = 0; list && i < list->children->len; i++) {
		const LabYamlNode *node = list->children->pdata[i];
		struct raw_judge raw = {0};
		LabJudge *judge;
		gint64 ppm;

		if (!lab_yaml_read(node, "a judge", judge_fields, &raw, error) ||
		    !check_metric(lab_yaml_get(node, "metric"), s, error))
			return FALSE;
		if (!parse_percent(raw.threshold, &ppm))
			return lab_yaml_fail(lab_yaml_get(node, "threshold"), error,
					     "a percentage above 0, like 2%%");
		for (guint j = 0; j < i; j++)
			if (!strcmp(((const LabJudge *)s->judge->pdata[j])->metric, raw.metric))
				return lab_yaml_fail(lab_yaml_get(node, "metric"), error,
						     "each metric once");
		judge = g_new0(LabJudge, 1);
		judge->metric = g_strdup(raw.metric);
		judge->threshold_ppm = ppm;
		g_ptr_array_add(s->judge, judge);
	}
	return TRUE;
}
