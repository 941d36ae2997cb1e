/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A comparison of different machines says nothing about kernels: what decides a result must be the
 * same in all columns, or the reader must be told.
 */
#include <json-glib/json-glib.h>
#include <string.h>

#include "lab/base/digest.h"
#include "lab/base/error.h"
#include "lab/verdict/compare_internal.h"

#define MAX_DIFFERENCES 3 /* that an error lists */

static JsonNode *read_scenario(const LabRun *run)
{
	g_autofree char *path = g_build_filename(run->dir, "scenario.json", NULL);
	g_autoptr(JsonParser) parser = json_parser_new_immutable();

	return json_parser_load_from_file(parser, path, NULL) ? json_parser_steal_root(parser)
							      : NULL;
}

static char *value_text(JsonNode *node)
{
	g_autofree char *text = node ? json_to_string(node, FALSE) : g_strdup("absent");

	return strlen(text) <= 60 ? g_steal_pointer(&text) : g_strdup_printf("%.57s...", text);
}

static void differences(JsonNode *a, JsonNode *b, const char *path, GPtrArray *found);

static void member_differences(JsonObject *a, JsonObject *b, const char *path, GPtrArray *found)
{
	g_autoptr(GList) in_a = json_object_get_members(a);
	g_autoptr(GList) in_b = json_object_get_members(b);

	for (GList *m = in_a; m; m = m->next) {
		g_autofree char *below = g_strconcat(path, *path ? "." : "", m->data, NULL);

		differences(json_object_get_member(a, m->data), json_object_get_member(b, m->data),
			    below, found);
	}
	for (GList *m = in_b; m; m = m->next) {
		g_autofree char *below = g_strconcat(path, *path ? "." : "", m->data, NULL);

		if (!json_object_has_member(a, m->data))
			differences(NULL, json_object_get_member(b, m->data), below, found);
	}
}

/* Where two JSON values differ: "settings.thp is "never" / "always"", one string for each place. */
static void differences(JsonNode *a, JsonNode *b, const char *path, GPtrArray *found)
{
	g_autofree char *text_a = NULL, *text_b = NULL;

	if (a && b && json_node_equal(a, b))
		return;
	if (a && b && JSON_NODE_HOLDS_OBJECT(a) && JSON_NODE_HOLDS_OBJECT(b)) {
		member_differences(json_node_get_object(a), json_node_get_object(b), path, found);
		return;
	}
	if (a && b && JSON_NODE_HOLDS_ARRAY(a) && JSON_NODE_HOLDS_ARRAY(b) &&
	    json_array_get_length(json_node_get_array(a)) ==
		    json_array_get_length(json_node_get_array(b))) {
		for (guint i = 0; i < json_array_get_length(json_node_get_array(a)); i++) {
			g_autofree char *below = g_strdup_printf("%s[%u]", path, i);

			differences(json_array_get_element(json_node_get_array(a), i),
				    json_array_get_element(json_node_get_array(b), i), below,
				    found);
		}
		return;
	}
	text_a = value_text(a);
	text_b = value_text(b);
	g_ptr_array_add(found, g_strdup_printf("%s is %s / %s", path, text_a, text_b));
}

/* Places where the scenarios of two runs differ; none when a scenario is no longer there. */
static GPtrArray *scenario_differences(const LabRun *a, const LabRun *b)
{
	g_autoptr(JsonNode) scenario_a = read_scenario(a), scenario_b = read_scenario(b);
	g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);

	if (scenario_a && scenario_b)
		differences(scenario_a, scenario_b, "", found);
	return g_steal_pointer(&found);
}

/* What a host under KVM does to the same guest, and what the guest boots from, are factors to be compared, not another
 * experiment. */
static gboolean is_factor(const GPtrArray *found)
{
	static const char *const factors[] = {"kvm.", "disk.", "disk "};

	for (guint i = 0; i < found->len; i++) {
		gboolean is = FALSE;

		for (gsize j = 0; j < G_N_ELEMENTS(factors); j++)
			is |= g_str_has_prefix(found->pdata[i], factors[j]);
		if (!is)
			return FALSE;
	}
	return found->len > 0;
}

static char *describe_differences(const GPtrArray *found, const LabRun *a, const LabRun *b)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint i = 0; i < MIN(found->len, MAX_DIFFERENCES); i++)
		g_string_append_printf(text, "%s%s", i ? "; " : "", (char *)found->pdata[i]);
	if (found->len > MAX_DIFFERENCES)
		g_string_append_printf(text, "; and %u more", found->len - MAX_DIFFERENCES);
	if (!found->len)
		g_string_printf(text, "digests %.*s / %.*s", LAB_DIGEST_SHORT,
				a->plan->scenario_digest, LAB_DIGEST_SHORT,
				b->plan->scenario_digest);
	return g_string_free(g_steal_pointer(&text), FALSE);
}

static void note_difference(const LabRun *a, const LabRun *b, const char *what, const char *in_a,
			    const char *in_b, GPtrArray *notes)
{
	if (g_strcmp0(in_a, in_b) == 0)
		return;
	g_ptr_array_add(notes,
			g_strdup_printf("runs %u and %u have different %s: %.*s / %.*s", a->id,
					b->id, what, LAB_DIGEST_SHORT, in_a ? in_a : "none",
					LAB_DIGEST_SHORT, in_b ? in_b : "none"));
}

static const LabPlanPoint *find_point(const LabPlan *plan, const char *label)
{
	for (guint i = 0; i < plan->points->len; i++) {
		g_autofree char *own = lab_plan_point_label(plan, i, NULL);

		if (strcmp(own, label) == 0)
			return plan->points->pdata[i];
	}
	return NULL;
}

/* Two sweeps are compared point by point: points of one name must have the same settings. */
static gboolean check_points(const LabRun *a, const LabRun *b, GPtrArray *notes, GError **error)
{
	for (guint i = 0; i < a->plan->points->len; i++) {
		g_autofree char *label = lab_plan_point_label(a->plan, i, NULL);
		const LabPlanPoint *in_a = a->plan->points->pdata[i], *in_b = find_point(b->plan, label);

		if (!in_b)
			continue;
		if (strcmp(in_a->scenario_digest, in_b->scenario_digest) != 0) {
			g_autoptr(GPtrArray) found = scenario_differences(a, b);
			g_autofree char *what = describe_differences(found, a, b);

			g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
				    "runs %u and %u cannot be compared, they have different settings at %s: %s", a->id,
				    b->id, label, what);
			return FALSE;
		}
		if (g_strcmp0(in_a->prepared_digest, in_b->prepared_digest) != 0)
			g_ptr_array_add(notes, g_strdup_printf("runs %u and %u have different prepared file systems at %s",
							       a->id, b->id, label));
	}
	return TRUE;
}

static gboolean check_pair(const LabRun *a, const LabRun *b, GPtrArray *notes, GError **error)
{
	if (strcmp(a->plan->clock, b->plan->clock) != 0) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "runs %u and %u cannot be compared: a second is something else in each "
			    "(clock %s / %s)",
			    a->id, b->id, a->plan->clock, b->plan->clock);
		return FALSE;
	}
	if (a->plan->points->len && b->plan->points->len) {
		if (!check_points(a, b, notes, error))
			return FALSE;
	} else if (strcmp(a->plan->scenario_digest, b->plan->scenario_digest) != 0) {
		g_autoptr(GPtrArray) found = scenario_differences(a, b);
		g_autofree char *what = describe_differences(found, a, b);

		if (!is_factor(found)) {
			g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
				    "runs %u and %u cannot be compared, they are different "
				    "experiments: %s",
				    a->id, b->id, what);
			return FALSE;
		}
		g_ptr_array_add(notes,
				g_strdup_printf("runs %u and %u differ by: %s", a->id, b->id, what));
	}
	note_difference(a, b, "images", a->plan->image_digest, b->plan->image_digest, notes);
	note_difference(a, b, "prepared file systems", a->plan->prepared_digest,
			b->plan->prepared_digest, notes);
	note_difference(a, b, "files", a->plan->files_digest, b->plan->files_digest, notes);
	note_difference(a, b, "versions of QEMU", a->plan->qemu_version, b->plan->qemu_version,
			notes);
	return TRUE;
}

gboolean lab_compare_check(const GPtrArray *runs, GPtrArray *notes, GError **error)
{
	const LabCompareRun *base = runs->pdata[0];

	for (guint i = 1; i < runs->len; i++) {
		const LabCompareRun *other = runs->pdata[i];

		if (!check_pair(base->run, other->run, notes, error))
			return FALSE;
	}
	return TRUE;
}

static void add_step_names(JsonNode *steps, GStrvBuilder *names)
{
	JsonArray *array;

	if (steps && JSON_NODE_HOLDS_OBJECT(steps))
		steps = json_object_get_member(json_node_get_object(steps), "steps");
	array = steps && JSON_NODE_HOLDS_ARRAY(steps) ? json_node_get_array(steps) : NULL;
	for (guint i = 0; array && i < json_array_get_length(array); i++) {
		JsonNode *step = json_array_get_element(array, i);
		JsonNode *name =
			JSON_NODE_HOLDS_OBJECT(step)
				? json_object_get_member(json_node_get_object(step), "name")
				: NULL;

		if (name && json_node_get_value_type(name) == G_TYPE_STRING)
			g_strv_builder_add(names, json_node_get_string(name));
	}
}

char **lab_compare_steps(const LabRun *run)
{
	g_autoptr(GStrvBuilder) names = g_strv_builder_new();
	g_autoptr(JsonNode) scenario = read_scenario(run);

	if (scenario && JSON_NODE_HOLDS_OBJECT(scenario)) {
		JsonObject *object = json_node_get_object(scenario);

		add_step_names(json_object_get_member(object, "prepare"), names);
		add_step_names(json_object_get_member(object, "steps"), names);
	}
	return g_strv_builder_end(names);
}
