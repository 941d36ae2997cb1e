/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --set KEY.PATH=VALUE, and the points of a sweep: changes to the tree of a scenario before it is read. */
#include "lab/spec/scenario_parts.h"

#include <string.h>

#include "lab/base/suggest.h"
#include "lab/base/units.h"

/* A list of steps takes names; other lists take numbers. */
struct target {
	LabYamlNode *root;
	LabOrigin origin;   /* "--set KEY=VALUE", or of the value in the file */
	LabYamlNode *value; /* NULL: the key is taken away */
};

static void set_origin(LabYamlNode *node, const LabOrigin *origin)
{
	node->origin = node->key_origin = *origin;
	for (guint i = 0; node->children && i < node->children->len; i++)
		set_origin(node->children->pdata[i], origin);
}

static LabYamlNode *parse_value(const char *text, const LabOrigin *origin, GError **error)
{
	g_autoptr(GError) cause = NULL;
	LabYamlNode *value;
	const char *what;

	if (!*text)
		return lab_yaml_new(LAB_YAML_SCALAR, origin);
	value = lab_yaml_parse(text, -1, "value", &cause);
	if (!value) {
		what = strstr(cause->message, ": ");
		lab_error_set_at(error, origin, "%s", what ? what + 2 : cause->message);
		return NULL;
	}
	set_origin(value, origin);
	return value;
}

/* Length of the part of @path that is the key of a member of @map: the longest, as keys may have dots (mkfs.xfs). */
static gsize member_length(const LabYamlNode *map, const char *path)
{
	gsize longest = 0;

	for (guint i = 0; i < map->children->len; i++) {
		const LabYamlNode *child = map->children->pdata[i];
		gsize n = strlen(child->key);

		if (g_str_has_prefix(path, child->key) && (path[n] == '.' || !path[n]))
			longest = MAX(longest, n);
	}
	return longest ? longest : strcspn(path, ".");
}

/* A step becomes {verb: {}} where it is just a verb, so that keys can be added. */
static LabYamlNode *step_body(LabYamlNode **step, const LabOrigin *origin)
{
	LabYamlNode *body;

	if ((*step)->kind == LAB_YAML_SCALAR) {
		LabYamlNode *map = lab_yaml_new(LAB_YAML_MAP, &(*step)->origin);

		lab_yaml_put(map, (*step)->text, lab_yaml_new(LAB_YAML_MAP, &(*step)->origin));
		lab_yaml_free(*step);
		*step = map;
	}
	if ((*step)->kind != LAB_YAML_MAP || (*step)->children->len != 1)
		return *step;
	body = (*step)->children->pdata[0];
	if (body->kind == LAB_YAML_SCALAR && !*body->text && !body->quoted) {
		g_autofree char *verb = g_strdup(body->key);

		lab_yaml_put(*step, verb, lab_yaml_new(LAB_YAML_MAP, origin));
	}
	return (*step)->children->pdata[0];
}

static gboolean no_step(const struct target *t, const LabYamlNode *list, GHashTable *names,
			const char *word, GError **error)
{
	g_autoptr(GPtrArray) known = g_ptr_array_new();
	g_autofree char *all = NULL, *suggestion = NULL, *found = lab_yaml_quote(word);

	for (guint i = 0; i < list->children->len; i++) {
		char *name = g_hash_table_lookup(names, list->children->pdata[i]);

		if (name && lab_yaml_is_plain(name))
			g_ptr_array_add(known, name);
	}
	g_ptr_array_add(known, NULL);
	all = g_strjoinv(", ", (char **)known->pdata);
	suggestion = lab_suggest_text(word, (const char *const *)known->pdata);
	lab_error_set_at(error, &t->origin, "wanted a step (%s), found %s%s", all, found,
			 suggestion);
	return FALSE;
}

/* Index in @list of a step's name or a number. */
static gboolean find_item(const struct target *t, const LabYamlNode *list, const char *word,
			  guint *index, GError **error)
{
	g_autofree char *quoted = NULL;
	LabYamlNode *lists[2];
	guint64 number;

	if (lab_parse_uint(word, G_MAXUINT, &number, NULL) && number < list->children->len) {
		*index = (guint)number;
		return TRUE;
	}
	lab_scenario_step_lists(t->root, lists);
	if (list == lists[0] || list == lists[1]) {
		g_autoptr(GHashTable) names = lab_scenario_step_names(t->root);

		for (guint i = 0; i < list->children->len; i++) {
			const char *name = g_hash_table_lookup(names, list->children->pdata[i]);

			if (name && !strcmp(name, word)) {
				*index = i;
				return TRUE;
			}
		}
		return no_step(t, list, names, word, error);
	}
	quoted = lab_yaml_quote(word);
	if (list->children->len)
		lab_error_set_at(error, &t->origin, "wanted a number from 0 to %u, found %s",
				 list->children->len - 1, quoted);
	else
		lab_error_set_at(error, &t->origin,
				 "wanted a number in a list, found %s in an empty one", quoted);
	return FALSE;
}

static gboolean put(struct target *t, LabYamlNode *node, const char *path, GError **error);

static gboolean put_in_list(struct target *t, LabYamlNode *list, const char *path, GError **error)
{
	gsize n = strcspn(path, ".");
	g_autofree char *word = g_strndup(path, n);
	LabYamlNode **item, *lists[2];
	guint index;

	if (!find_item(t, list, word, &index, error))
		return FALSE;
	item = (LabYamlNode **)&list->children->pdata[index];
	lab_scenario_step_lists(t->root, lists);
	if (path[n])
		return put(t,
			   list == lists[0] || list == lists[1] ? step_body(item, &t->origin)
								: *item,
			   path + n + 1, error);
	lab_yaml_free(*item);
	if (t->value)
		*item = g_steal_pointer(&t->value);
	else
		g_ptr_array_steal_index(list->children, index);
	return TRUE;
}

static gboolean put_in_map(struct target *t, LabYamlNode *map, const char *path, GError **error)
{
	/* Keys of sysctl and sweep have dots, and nothing is below them. */
	gboolean whole = map->key && (!strcmp(map->key, "sysctl") || !strcmp(map->key, "sweep"));
	gsize n = whole ? strlen(path) : member_length(map, path);
	g_autofree char *key = g_strndup(path, n);
	LabYamlNode *child = lab_yaml_get(map, key);

	if (!*key || (path[n] && !path[n + 1])) {
		lab_error_set_at(error, &t->origin, "wanted KEY.KEY=VALUE, found an empty key");
		return FALSE;
	}
	if (path[n]) {
		if (!child || (child->kind == LAB_YAML_SCALAR && !*child->text && !child->quoted)) {
			child = lab_yaml_new(LAB_YAML_MAP, &t->origin);
			lab_yaml_put(map, key, child);
		}
		return put(t, child, path + n + 1, error);
	}
	if (t->value)
		lab_yaml_put(map, key, g_steal_pointer(&t->value));
	else
		lab_yaml_take_away(map, key);
	return TRUE;
}

static gboolean put(struct target *t, LabYamlNode *node, const char *path, GError **error)
{
	g_autofree char *found = NULL, *quoted = NULL;

	if (node->kind == LAB_YAML_MAP)
		return put_in_map(t, node, path, error);
	if (node->kind == LAB_YAML_LIST)
		return put_in_list(t, node, path, error);
	found = lab_yaml_found(node);
	quoted = lab_yaml_quote(path);
	lab_error_set_at(error, &t->origin, "wanted a mapping to put %s into, found %s", quoted,
			 found);
	return FALSE;
}

gboolean lab_scenario_put(LabYamlNode *root, const char *path, LabYamlNode *value,
			  const LabOrigin *origin, GError **error)
{
	struct target t = {root, *origin, value};
	gboolean ok = put(&t, root, path, error);

	lab_yaml_free(t.value);
	return ok;
}

gboolean lab_scenario_set(LabYamlNode *root, const char *assignment, GError **error)
{
	g_autofree char *shown = lab_yaml_escape(assignment, G_MAXUINT);
	g_autofree char *text = g_strconcat("--set ", shown, NULL);
	LabOrigin origin = {g_intern_string(text), 0, 0};
	const char *equals = strchr(assignment, '=');
	g_autofree char *path = equals ? g_strndup(assignment, (gsize)(equals - assignment)) : NULL;
	LabYamlNode *value = NULL;

	if (!g_utf8_validate(assignment, -1, NULL)) {
		lab_error_set_at(error, &origin, "wanted UTF-8 text, found other bytes");
		return FALSE;
	}
	if (!path || !*path) {
		lab_error_set_at(error, &origin, "wanted KEY=VALUE, found no %s",
				 path ? "key" : "'='");
		return FALSE;
	}
	if (strcmp(equals + 1, "null")) {
		value = parse_value(equals + 1, &origin, error);
		if (!value)
			return FALSE;
	}
	return lab_scenario_put(root, path, value, &origin, error);
}
