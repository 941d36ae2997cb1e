/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <json-glib/json-glib.h>
#include <string.h>

#include "lab/base/digest.h"
#include "lab/base/error.h"
#include "lab/base/units.h"
#include "lab/store/store.h"

#define PLAN_VERSION 1
#define BOOT_ID_CHARACTERS G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._+~-"

void lab_plan_boot_free(LabPlanBoot *boot)
{
	g_free(boot->id);
	g_free(boot->kernel_label);
	g_free(boot->kernel_text);
	g_free(boot->kernel_digest);
	g_free(boot);
}

void lab_plan_point_free(LabPlanPoint *point)
{
	g_strfreev(point->values);
	g_free(point->scenario_digest);
	g_free(point->prepared_digest);
	g_free(point);
}

guint lab_plan_n_points(const LabPlan *plan)
{
	return MAX(plan->points->len, 1);
}

char *lab_plan_point_label(const LabPlan *plan, guint index, const char *but)
{
	g_autoptr(GString) text = g_string_new(NULL);
	const LabPlanPoint *point = plan->points->len ? plan->points->pdata[index] : NULL;

	for (guint i = 0; point && plan->sweep[i]; i++)
		if (g_strcmp0(plan->sweep[i], but))
			g_string_append_printf(text, "%s%s=%s", text->len ? " " : "", plan->sweep[i],
					       point->values[i]);
	return g_string_free(g_steal_pointer(&text), FALSE);
}

char *lab_plan_boot_label(const LabPlan *plan, const LabPlanBoot *boot)
{
	g_autofree char *point = lab_plan_point_label(plan, boot->point, NULL);

	return g_strdup_printf("%s%s%s seed %" G_GUINT64_FORMAT, boot->kernel_label, *point ? " " : "", point,
			       boot->seed);
}

char *lab_plan_clock_note(const LabPlan *plan)
{
	/* icount shift=1: QEMU lets 2^1 ns of guest time pass with each instruction. */
	if (strcmp(plan->clock, "exact") == 0)
		return g_strdup_printf(
			"exact clock (QEMU %s, 2 ns an instruction): counts work, not "
			"caches, TLB misses or real NUMA latency",
			plan->qemu_version);
	if (strcmp(plan->clock, "kvm") == 0)
		return g_strdup_printf("kvm clock (QEMU %s): real time, of one host; depends on "
				       "its hardware, load and settings",
				       plan->qemu_version);
	return g_strdup_printf(
		"%s clock (QEMU %s): time of an emulator, which depends on the host and "
		"its load",
		plan->clock, plan->qemu_version);
}

LabPlan *lab_plan_new(void)
{
	LabPlan *plan = g_new0(LabPlan, 1);

	plan->sweep = g_new0(char *, 1);
	plan->points = g_ptr_array_new_with_free_func((GDestroyNotify)lab_plan_point_free);
	plan->boots = g_ptr_array_new_with_free_func((GDestroyNotify)lab_plan_boot_free);
	return plan;
}

void lab_plan_free(LabPlan *plan)
{
	if (!plan)
		return;
	g_free(plan->scenario_name);
	g_free(plan->scenario_path);
	g_free(plan->scenario_digest);
	g_free(plan->clock);
	g_free(plan->image_digest);
	g_free(plan->prepared_digest);
	g_free(plan->files_digest);
	g_free(plan->qemu_version);
	g_strfreev(plan->sweep);
	g_clear_pointer(&plan->points, g_ptr_array_unref);
	g_clear_pointer(&plan->boots, g_ptr_array_unref);
	g_strfreev(plan->kernels);
	g_free(plan->digest);
	g_free(plan);
}

static int by_id(gconstpointer a, gconstpointer b)
{
	return strcmp((*(LabPlanBoot *const *)a)->id, (*(LabPlanBoot *const *)b)->id);
}

char *lab_plan_digest(const LabPlan *plan)
{
	g_autoptr(GString) text = g_string_new("numalab-plan 1\n");
	g_autoptr(GPtrArray) boots = g_ptr_array_copy(plan->boots, NULL, NULL);

	g_ptr_array_set_free_func(boots, NULL);
	g_ptr_array_sort(boots, by_id);
	g_string_append_printf(text, "scenario %s\nclock %s\nimage %s\nprepared %s\nqemu %s\n",
			       plan->scenario_digest, plan->clock, plan->image_digest,
			       plan->prepared_digest ? plan->prepared_digest : "-",
			       plan->qemu_version);
	if (plan->files_digest)
		g_string_append_printf(text, "files %s\n", plan->files_digest);
	if (plan->is_aa)
		g_string_append(text, "a/a\n");
	for (char **kernel = plan->kernels; *kernel; kernel++)
		g_string_append_printf(text, "kernel %s\n", *kernel);
	for (guint i = 0; i < plan->points->len; i++) {
		const LabPlanPoint *point = plan->points->pdata[i];

		g_string_append_printf(text, "point %s %s\n", point->scenario_digest,
				       point->prepared_digest ? point->prepared_digest : "-");
	}
	for (guint i = 0; i < boots->len; i++) {
		const LabPlanBoot *boot = boots->pdata[i];

		g_string_append_printf(text, "boot %s %s %" G_GUINT64_FORMAT, boot->id,
				       boot->kernel_digest, boot->seed);
		if (plan->points->len)
			g_string_append_printf(text, " %u", boot->point);
		g_string_append_c(text, '\n');
	}
	return lab_digest_data(text->str, (gssize)text->len);
}

static void add_text(JsonBuilder *builder, const char *key, const char *value)
{
	json_builder_set_member_name(builder, key);
	if (value)
		json_builder_add_string_value(builder, value);
	else
		json_builder_add_null_value(builder);
}

/* JSON integers are signed 64-bit in json-glib: the upper half is written as text. */
static void add_seed(JsonBuilder *builder, const char *key, guint64 seed)
{
	g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT, seed);

	if (seed > G_MAXINT64) {
		add_text(builder, key, text);
		return;
	}
	json_builder_set_member_name(builder, key);
	json_builder_add_int_value(builder, (gint64)seed);
}

static void add_strings(JsonBuilder *builder, const char *key, char **strings)
{
	json_builder_set_member_name(builder, key);
	json_builder_begin_array(builder);
	for (char **string = strings; *string; string++)
		json_builder_add_string_value(builder, *string);
	json_builder_end_array(builder);
}

static void add_points(JsonBuilder *builder, const LabPlan *plan)
{
	if (!plan->points->len)
		return;
	add_strings(builder, "sweep", plan->sweep);
	json_builder_set_member_name(builder, "points");
	json_builder_begin_array(builder);
	for (guint i = 0; i < plan->points->len; i++) {
		const LabPlanPoint *point = plan->points->pdata[i];

		json_builder_begin_object(builder);
		add_strings(builder, "values", point->values);
		add_text(builder, "scenario_digest", point->scenario_digest);
		add_text(builder, "prepared_digest", point->prepared_digest);
		json_builder_end_object(builder);
	}
	json_builder_end_array(builder);
}

static void add_boot(JsonBuilder *builder, const LabPlan *plan, const LabPlanBoot *boot)
{
	json_builder_begin_object(builder);
	add_text(builder, "id", boot->id);
	add_text(builder, "kernel_label", boot->kernel_label);
	add_text(builder, "kernel_text", boot->kernel_text);
	add_text(builder, "kernel_digest", boot->kernel_digest);
	if (plan->points->len)
		add_seed(builder, "point", boot->point);
	add_seed(builder, "seed", boot->seed);
	json_builder_end_object(builder);
}

char *lab_plan_json(const LabPlan *plan)
{
	g_autoptr(JsonBuilder) builder = json_builder_new();
	g_autoptr(JsonNode) root = NULL;
	g_autofree char *digest = lab_plan_digest(plan);
	g_autofree char *text = NULL;

	json_builder_begin_object(builder);
	json_builder_set_member_name(builder, "version");
	json_builder_add_int_value(builder, PLAN_VERSION);
	add_text(builder, "digest", digest);
	add_text(builder, "scenario_name", plan->scenario_name);
	add_text(builder, "scenario_path", plan->scenario_path);
	add_text(builder, "scenario_digest", plan->scenario_digest);
	add_text(builder, "clock", plan->clock);
	add_text(builder, "image_digest", plan->image_digest);
	add_text(builder, "prepared_digest", plan->prepared_digest);
	add_text(builder, "files_digest", plan->files_digest);
	add_text(builder, "qemu_version", plan->qemu_version);
	add_seed(builder, "order_seed", plan->order_seed);
	if (plan->is_aa) {
		json_builder_set_member_name(builder, "aa");
		json_builder_add_boolean_value(builder, TRUE);
	}
	add_points(builder, plan);
	add_strings(builder, "kernels", plan->kernels);
	json_builder_set_member_name(builder, "boots");
	json_builder_begin_array(builder);
	for (guint i = 0; i < plan->boots->len; i++)
		add_boot(builder, plan, plan->boots->pdata[i]);
	json_builder_end_array(builder);
	json_builder_end_object(builder);
	root = json_builder_get_root(builder);
	text = json_to_string(root, TRUE);
	return g_strconcat(text, "\n", NULL);
}

static gboolean bad(GError **error, const char *format, const char *what)
{
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, format, what);
	return FALSE;
}

static JsonNode *member(JsonObject *object, const char *key, JsonNodeType type)
{
	JsonNode *node = json_object_get_member(object, key);

	return node && json_node_get_node_type(node) == type ? node : NULL;
}

static gboolean get_text(JsonObject *object, const char *key, char **value, GError **error)
{
	JsonNode *node = member(object, key, JSON_NODE_VALUE);

	if (!node || json_node_get_value_type(node) != G_TYPE_STRING)
		return bad(error, "plan: '%s' is missing or no text", key);
	*value = json_node_dup_string(node);
	return TRUE;
}

/* One that is absent or null stays NULL. */
static gboolean get_nullable(JsonObject *object, const char *key, char **value, GError **error)
{
	if (!json_object_has_member(object, key) || json_object_get_null_member(object, key))
		return TRUE;
	return get_text(object, key, value, error);
}

static gboolean get_seed(JsonObject *object, const char *key, guint64 *seed, GError **error)
{
	JsonNode *node = member(object, key, JSON_NODE_VALUE);

	if (node && json_node_get_value_type(node) == G_TYPE_INT64 &&
	    json_node_get_int(node) >= 0) {
		*seed = (guint64)json_node_get_int(node);
		return TRUE;
	}
	if (node && json_node_get_value_type(node) == G_TYPE_STRING &&
	    lab_parse_uint(json_node_get_string(node), G_MAXUINT64, seed, NULL))
		return TRUE;
	return bad(error, "plan: '%s' is missing or no number", key);
}

static gboolean get_strings(JsonObject *object, const char *key, char ***strings, GError **error)
{
	JsonNode *node = member(object, key, JSON_NODE_ARRAY);
	g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
	JsonArray *array = node ? json_node_get_array(node) : NULL;

	for (guint i = 0; array && i < json_array_get_length(array); i++) {
		JsonNode *string = json_array_get_element(array, i);

		if (!JSON_NODE_HOLDS_VALUE(string) || !json_node_get_string(string))
			return bad(error, "plan: '%s' holds something else than text", key);
		g_strv_builder_add(builder, json_node_get_string(string));
	}
	*strings = g_strv_builder_end(builder);
	return (*strings)[0] || bad(error, "plan: '%s' is missing or empty", key);
}

static gboolean get_point(JsonNode *node, LabPlan *plan, GError **error)
{
	JsonObject *object = JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
	LabPlanPoint *point;

	if (!object)
		return bad(error, "plan: '%s' holds something else than objects", "points");
	point = g_new0(LabPlanPoint, 1);
	g_ptr_array_add(plan->points, point);
	if (!get_strings(object, "values", &point->values, error) ||
	    !get_text(object, "scenario_digest", &point->scenario_digest, error) ||
	    !get_nullable(object, "prepared_digest", &point->prepared_digest, error))
		return FALSE;
	return g_strv_length(point->values) == g_strv_length(plan->sweep) ||
	       bad(error, "plan: a point has not as many values as '%s' has keys", "sweep");
}

static gboolean get_points(JsonObject *object, LabPlan *plan, GError **error)
{
	JsonNode *node = member(object, "points", JSON_NODE_ARRAY);
	JsonArray *array = node ? json_node_get_array(node) : NULL;

	if (!json_object_has_member(object, "points"))
		return TRUE;
	g_clear_pointer(&plan->sweep, g_strfreev);
	if (!get_strings(object, "sweep", &plan->sweep, error))
		return FALSE;
	for (guint i = 0; array && i < json_array_get_length(array); i++)
		if (!get_point(json_array_get_element(array, i), plan, error))
			return FALSE;
	return plan->points->len || bad(error, "plan: '%s' is missing or empty", "points");
}

/* The id becomes a path. */
static gboolean id_is_safe(const char *id)
{
	return *id && *id != '.' && strlen(id) <= 200 && !id[strspn(id, BOOT_ID_CHARACTERS)];
}

static gboolean get_boot(JsonNode *node, LabPlan *plan, GHashTable *seen, GError **error)
{
	JsonObject *object = JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
	LabPlanBoot *boot;
	guint64 point = 0;

	if (!object)
		return bad(error, "plan: '%s' holds something else than objects", "boots");
	boot = g_new0(LabPlanBoot, 1);
	g_ptr_array_add(plan->boots, boot);
	if (!get_text(object, "id", &boot->id, error) ||
	    !get_text(object, "kernel_label", &boot->kernel_label, error) ||
	    !get_text(object, "kernel_text", &boot->kernel_text, error) ||
	    !get_text(object, "kernel_digest", &boot->kernel_digest, error) ||
	    (plan->points->len && !get_seed(object, "point", &point, error)) ||
	    !get_seed(object, "seed", &boot->seed, error))
		return FALSE;
	if (point >= lab_plan_n_points(plan))
		return bad(error, "plan: the point of boot '%s' is not among the points", boot->id);
	boot->point = (guint)point;
	if (!id_is_safe(boot->id))
		return bad(error, "plan: '%s' cannot be the id of a boot", boot->id);
	if (!g_hash_table_add(seen, boot->id))
		return bad(error, "plan: boot '%s' is there twice", boot->id);
	if (!g_strv_contains((const char *const *)plan->kernels, boot->kernel_digest))
		return bad(error, "plan: the kernel of boot '%s' is not among the kernels",
			   boot->id);
	return TRUE;
}

static gboolean get_boots(JsonObject *object, LabPlan *plan, GError **error)
{
	JsonNode *node = member(object, "boots", JSON_NODE_ARRAY);
	JsonArray *array = node ? json_node_get_array(node) : NULL;
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; array && i < json_array_get_length(array); i++)
		if (!get_boot(json_array_get_element(array, i), plan, seen, error))
			return FALSE;
	return plan->boots->len || bad(error, "plan: '%s' is missing or empty", "boots");
}

LabPlan *lab_plan_from_json(const char *json, GError **error)
{
	g_autoptr(JsonParser) parser = json_parser_new_immutable();
	g_autoptr(LabPlan) plan = lab_plan_new();
	g_autoptr(GError) syntax = NULL;
	guint64 version = 0;
	JsonNode *root;
	JsonObject *object;

	if (!json_parser_load_from_data(parser, json, -1, &syntax)) {
		bad(error, "plan: %s", syntax->message);
		return NULL;
	}
	root = json_parser_get_root(parser);
	if (!root || !JSON_NODE_HOLDS_OBJECT(root)) {
		bad(error, "plan: %s", "no object");
		return NULL;
	}
	object = json_node_get_object(root);
	if (!get_seed(object, "version", &version, error))
		return NULL;
	if (version != PLAN_VERSION) {
		bad(error, "plan: %s", "written by another version of numalab");
		return NULL;
	}
	plan->is_aa = json_object_get_boolean_member_with_default(object, "aa", FALSE);
	if (!get_nullable(object, "prepared_digest", &plan->prepared_digest, error) ||
	    !get_nullable(object, "files_digest", &plan->files_digest, error) ||
	    !get_text(object, "digest", &plan->digest, error) ||
	    !get_text(object, "scenario_name", &plan->scenario_name, error) ||
	    !get_text(object, "scenario_path", &plan->scenario_path, error) ||
	    !get_text(object, "scenario_digest", &plan->scenario_digest, error) ||
	    !get_text(object, "clock", &plan->clock, error) ||
	    !get_text(object, "image_digest", &plan->image_digest, error) ||
	    !get_text(object, "qemu_version", &plan->qemu_version, error) ||
	    !get_seed(object, "order_seed", &plan->order_seed, error) ||
	    !get_points(object, plan, error) ||
	    !get_strings(object, "kernels", &plan->kernels, error) || !get_boots(object, plan, error))
		return NULL;
	return g_steal_pointer(&plan);
}
