/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/spec/internal.h"

#include <string.h>

#include "lab/base/paths.h"
#include "lab/base/suggest.h"

char *lab_spec_name(const char *path)
{
	char *name = g_path_get_basename(path);

	if (g_str_has_suffix(name, ".yaml"))
		name[strlen(name) - strlen(".yaml")] = 0;
	return name;
}

gboolean lab_spec_check_name(const LabYamlNode *node, GError **error)
{
	gboolean ok = node->kind == LAB_YAML_SCALAR && *node->text && !strchr(".-", *node->text);

	for (const char *p = node->text; ok && *p; p++)
		ok = g_ascii_isalnum(*p) || strchr("._+-", *p);
	return ok || lab_yaml_fail(node, error, "a name of letters, digits, '.', '_', '+' and '-'");
}

static gint by_name(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* NULL-terminated, sorted: the order of a directory is the host's business. */
static GPtrArray *shipped(const char *dir)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GDir) d = g_dir_open(dir, 0, NULL);
	const char *entry;

	while (d && (entry = g_dir_read_name(d)))
		if (g_str_has_suffix(entry, ".yaml"))
			g_ptr_array_add(names, lab_spec_name(entry));
	g_ptr_array_sort(names, by_name);
	g_ptr_array_add(names, NULL);
	return names;
}

char *lab_spec_find(const char *folder, const char *what, const char *name, const char *relative_to,
		    const LabOrigin *origin, GError **error)
{
	g_autofree char *dir = lab_path_data(folder);
	g_autofree char *file = g_strconcat(name, ".yaml", NULL);
	g_autofree char *path = g_build_filename(dir, file, NULL);
	g_autofree char *quoted = NULL, *suggestion = NULL;
	g_autoptr(GPtrArray) names = NULL;

	if (strchr(name, '/') || g_str_has_suffix(name, ".yaml")) {
		if (!relative_to || !strcmp(relative_to, ".") || g_path_is_absolute(name))
			return g_strdup(name);
		return g_build_filename(relative_to, name, NULL);
	}
	if (g_file_test(path, G_FILE_TEST_EXISTS))
		return g_steal_pointer(&path);
	names = shipped(dir);
	quoted = lab_yaml_quote(name);
	suggestion = lab_suggest_text(name, (const char *const *)names->pdata);
	lab_error_set_at(error, origin, "wanted %s of %s/ or a path, found %s%s", what, folder,
			 quoted, suggestion);
	return NULL;
}

JsonArray *lab_spec_json_strv(char *const *strv)
{
	JsonArray *array = json_array_new();

	for (; strv && *strv; strv++)
		json_array_add_string_element(array, *strv);
	return array;
}

static JsonNode *sorted(JsonNode *node);

static JsonNode *sorted_object(JsonObject *object)
{
	g_autoptr(GList) members =
		g_list_sort(json_object_get_members(object), (GCompareFunc)strcmp);
	JsonObject *result = json_object_new();
	JsonNode *node = json_node_new(JSON_NODE_OBJECT);

	for (GList *m = members; m; m = m->next)
		json_object_set_member(result, m->data,
				       sorted(json_object_get_member(object, m->data)));
	json_node_take_object(node, result);
	return node;
}

static JsonNode *sorted_array(JsonArray *array)
{
	JsonArray *result = json_array_new();
	JsonNode *node = json_node_new(JSON_NODE_ARRAY);

	for (guint i = 0; i < json_array_get_length(array); i++)
		json_array_add_element(result, sorted(json_array_get_element(array, i)));
	json_node_take_array(node, result);
	return node;
}

static JsonNode *sorted(JsonNode *node)
{
	if (JSON_NODE_HOLDS_OBJECT(node))
		return sorted_object(json_node_get_object(node));
	if (JSON_NODE_HOLDS_ARRAY(node))
		return sorted_array(json_node_get_array(node));
	return json_node_copy(node);
}

char *lab_spec_canonical(JsonObject *object)
{
	g_autoptr(JsonNode) node = sorted_object(object);

	json_object_unref(object);
	return json_to_string(node, FALSE);
}
