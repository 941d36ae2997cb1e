// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/base/json.h"

#include "lab/base/file.h"

JsonObject *lab_json_read(const char *path, LabErrorCode code, GError **error)
{
	g_autofree char *text = lab_file_read(path, NULL, error);
	g_autoptr(GError) local = NULL;
	g_autoptr(JsonNode) root = text ? json_from_string(text, &local) : NULL;

	if (root && JSON_NODE_HOLDS_OBJECT(root))
		return json_node_dup_object(root);
	if (text)
		g_set_error(error, LAB_ERROR, code, "%s: wanted a JSON object, found %s", path,
			    local ? local->message : "another value");
	return NULL;
}

char *lab_json_string(JsonObject *object, const char *name)
{
	return g_strdup(json_object_get_string_member_with_default(object, name, ""));
}

char **lab_json_strings(JsonObject *object, const char *name)
{
	JsonNode *node = json_object_get_member(object, name);
	g_autoptr(GStrvBuilder) strings = g_strv_builder_new();
	JsonArray *array = node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;

	for (guint i = 0; array && i < json_array_get_length(array); i++) {
		JsonNode *element = json_array_get_element(array, i);

		if (json_node_get_value_type(element) == G_TYPE_STRING)
			g_strv_builder_add(strings, json_node_get_string(element));
	}
	return g_strv_builder_end(strings);
}

char *lab_json_text(JsonBuilder *builder)
{
	g_autoptr(JsonNode) root = json_builder_get_root(builder);
	g_autofree char *text = json_to_string(root, TRUE);

	return g_strconcat(text, "\n", NULL);
}
