// SPDX-License-Identifier: GPL-2.0-or-later
/* result.json: how a boot ended. Its presence makes a boot complete. */
#include "lab/guest/boot.h"

#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/base/json.h"
#include "lab/base/suggest.h"
#include "lab/guest/fields.h"

#define FIELD(member, type) LAB_FIELD(LabBootResult, member, type)

#define COUNT(count) G_STRUCT_OFFSET(LabBootResult, async_pf_counts[count])

static const LabField fields[] = {
	FIELD(stage, LAB_FIELD_STRING),
	FIELD(message, LAB_FIELD_STRING),
	FIELD(evidence, LAB_FIELD_STRING),
	FIELD(digest, LAB_FIELD_STRING),
	FIELD(job_digest, LAB_FIELD_STRING),
	FIELD(host_us, LAB_FIELD_INT64),
	FIELD(host_qemu_version, LAB_FIELD_STRING),
	FIELD(placement, LAB_FIELD_NULLABLE),
	FIELD(cpu_features, LAB_FIELD_NULLABLE),
	FIELD(kvm_features, LAB_FIELD_NULLABLE),
	FIELD(async_pf, LAB_FIELD_NULLABLE),
	{"async_pf_not_present", LAB_FIELD_INT64, COUNT(LAB_ASYNC_PF_NOT_PRESENT)},
	{"async_pf_ready", LAB_FIELD_INT64, COUNT(LAB_ASYNC_PF_READY)},
	{"async_pf_interrupts", LAB_FIELD_INT64, COUNT(LAB_ASYNC_PF_INTERRUPTS)},
};

static const char *const outcomes[] = {
	[LAB_OUTCOME_OK] = "ok",
	[LAB_OUTCOME_INFRA] = "infra",
	[LAB_OUTCOME_KERNEL] = "kernel",
	[LAB_OUTCOME_STEP] = "step",
	NULL,
};

const char *lab_async_pf_count_name(LabAsyncPfCount count)
{
	static const char *const names[] = {
		[LAB_ASYNC_PF_NOT_PRESENT] = "async_pf_not_present",
		[LAB_ASYNC_PF_READY] = "async_pf_ready",
		[LAB_ASYNC_PF_INTERRUPTS] = "async_pf_interrupts",
	};

	return names[count];
}

const char *lab_outcome_name(LabOutcome outcome)
{
	return outcomes[outcome];
}

gboolean lab_outcome_parse(const char *text, LabOutcome *outcome)
{
	int i = lab_word_index(outcomes, text);

	if (i >= 0)
		*outcome = (LabOutcome)i;
	return i >= 0;
}

void lab_boot_result_free(LabBootResult *result)
{
	if (!result)
		return;
	lab_fields_clear(fields, G_N_ELEMENTS(fields), result);
	g_free(result);
}

gboolean lab_boot_result_write(const LabBootResult *result, const char *dir, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "result.json", NULL);
	g_autoptr(JsonBuilder) b = json_builder_new();
	g_autofree char *text = NULL;

	json_builder_begin_object(b);
	json_builder_set_member_name(b, "outcome");
	json_builder_add_string_value(b, lab_outcome_name(result->outcome));
	lab_fields_write(b, fields, G_N_ELEMENTS(fields), result);
	json_builder_set_member_name(b, "stage_us");
	json_builder_begin_array(b);
	for (gsize i = 0; i < G_N_ELEMENTS(result->stage_us); i++)
		json_builder_add_int_value(b, result->stage_us[i]);
	json_builder_end_array(b);
	json_builder_end_object(b);
	text = lab_json_text(b);
	return lab_file_write(path, text, -1, error);
}

static gboolean read_stages(JsonObject *object, LabBootResult *result)
{
	JsonNode *node = json_object_get_member(object, "stage_us");
	JsonArray *array = node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;

	if (!array || json_array_get_length(array) != G_N_ELEMENTS(result->stage_us))
		return FALSE;
	for (guint i = 0; i < G_N_ELEMENTS(result->stage_us); i++) {
		JsonNode *us = json_array_get_element(array, i);

		if (json_node_get_value_type(us) != G_TYPE_INT64)
			return FALSE;
		result->stage_us[i] = json_node_get_int(us);
	}
	return TRUE;
}

static LabBootResult *from_json(JsonObject *object, GError **error)
{
	g_autoptr(LabBootResult) result = g_new0(LabBootResult, 1);
	JsonNode *outcome = json_object_get_member(object, "outcome");

	if (!outcome || json_node_get_value_type(outcome) != G_TYPE_STRING ||
	    !lab_outcome_parse(json_node_get_string(outcome), &result->outcome)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "wanted 'outcome' with ok, infra, kernel or step");
		return NULL;
	}
	if (!lab_fields_read(object, fields, G_N_ELEMENTS(fields), result, error))
		return NULL;
	if (!read_stages(object, result)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "wanted 'stage_us' with %zu numbers",
			    G_N_ELEMENTS(result->stage_us));
		return NULL;
	}
	return g_steal_pointer(&result);
}

LabBootResult *lab_boot_result_read(const char *dir, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "result.json", NULL);
	g_autoptr(JsonObject) object = lab_json_read(path, LAB_ERROR_USER, error);
	LabBootResult *result;

	if (!object)
		return NULL;
	result = from_json(object, error);
	if (!result)
		g_prefix_error(error, "%s: ", path);
	return result;
}
