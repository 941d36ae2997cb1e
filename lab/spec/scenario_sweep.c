/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sweep: keys with several values each, and the points that are their combinations. */
#include <string.h>

#include "lab/base/units.h"
#include "lab/spec/scenario_parts.h"

#define MAX_KEYS 8
#define MAX_POINTS 1000
#define MAX_VALUE 40 /* characters: it is part of a line of a table */
#define DEFAULT "default"

/* What is a column or a sample, or is in the way of comparing them. Further ones: lab_sweep_check(). */
static const char *const not_swept[] = {"name",	     "about", "kernels", "clock", "boots",
					"seeds",     "image", "files",	 "boot",  "judge",
					"deadlines", "sweep", NULL};

static void key_free(gpointer data)
{
	LabSweepKey *key = data;

	g_free(key->path);
	g_free(key->name);
	g_ptr_array_unref(key->values);
	g_free(key);
}

static gboolean is_null(const LabYamlNode *node)
{
	return !node->quoted && !strcmp(node->text, "null");
}

static LabYamlNode *scalar_new(const char *text, gboolean quoted, const LabOrigin *origin)
{
	LabYamlNode *node = lab_yaml_new(LAB_YAML_SCALAR, origin);

	g_free(node->text);
	node->text = g_strdup(text);
	node->quoted = quoted;
	return node;
}

/* "1..16" -> 1, 2, ... 16. @is: (out): it is meant as a range */
static gboolean read_range(const LabYamlNode *node, GPtrArray *values, gboolean *is, GError **error)
{
	const char *dots = node->quoted ? NULL : strstr(node->text, "..");
	g_autofree char *first = dots ? g_strndup(node->text, (gsize)(dots - node->text)) : NULL;
	guint64 from, to;

	*is = dots && first[strspn(first, G_CSET_DIGITS)] == 0 && *first;
	if (!*is)
		return TRUE;
	if (!lab_parse_uint(first, G_MAXUINT32, &from, NULL) ||
	    !lab_parse_uint(dots + 2, G_MAXUINT32, &to, NULL) || to < from ||
	    to - from >= MAX_POINTS)
		return lab_yaml_fail(node, error, "a range like 1..16, of up to %d", MAX_POINTS);
	for (guint64 n = from; n <= to; n++) {
		g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT, n);

		g_ptr_array_add(values, scalar_new(text, FALSE, &node->origin));
	}
	return TRUE;
}

static gboolean read_value(const LabYamlNode *node, GPtrArray *values, GError **error)
{
	gboolean is_range;

	if (node->kind != LAB_YAML_SCALAR)
		return lab_yaml_fail(node, error, "one value (or a key below it: 'a.b: [1, 2]')");
	if (!read_range(node, values, &is_range, error))
		return FALSE;
	if (is_range)
		return TRUE;
	for (const char *p = node->text; *p; p++)
		if (!g_ascii_isgraph(*p))
			return lab_yaml_fail(node, error,
					     "a value of ASCII characters without blanks");
	if (!*node->text || strlen(node->text) > MAX_VALUE)
		return lab_yaml_fail(node, error,
				     "a value of 1 to %d characters (null: without the key)",
				     MAX_VALUE);
	g_ptr_array_add(values, scalar_new(node->text, node->quoted, &node->origin));
	return TRUE;
}

static gboolean read_values(const LabYamlNode *node, GPtrArray *values, GError **error)
{
	if (node->kind != LAB_YAML_LIST) {
		if (!read_value(node, values, error))
			return FALSE;
	} else
		for (guint i = 0; i < node->children->len; i++)
			if (!read_value(node->children->pdata[i], values, error))
				return FALSE;
	if (!values->len)
		return lab_yaml_fail(node, error, "a list of values");
	for (guint i = 0; i < values->len; i++)
		for (guint j = 0; j < i; j++)
			if (!strcmp(((LabYamlNode *)values->pdata[i])->text,
				    ((LabYamlNode *)values->pdata[j])->text))
				return lab_yaml_fail(values->pdata[i], error, "each value once");
	return TRUE;
}

static gboolean check_key(const LabYamlNode *node, GError **error)
{
	gsize n = strcspn(node->key, ".");

	for (const char *const *word = not_swept; *word; word++)
		if (strlen(*word) == n && !strncmp(*word, node->key, n)) {
			lab_error_set_at(
				error, &node->key_origin,
				"'%s' cannot be swept: wanted a key of the machine or of the "
				"workload (kernels and seeds are run at every point as it is)",
				node->key);
			return FALSE;
		}
	return TRUE;
}

gboolean lab_sweep_is_key(const char *path, const char *name)
{
	gsize n = strlen(path), m = strlen(name);

	return n == m ? !strcmp(path, name)
		      : n > m && path[n - m - 1] == '.' && !strcmp(path + n - m, name);
}

/* The last parts of its path that no other key has: "bhash", or "xfsrepair.options.bhash" */
static char *short_name(const GPtrArray *keys, const char *path)
{
	const char *name = path + strlen(path);
	gboolean unique = FALSE;

	while (!unique && name > path) {
		for (name--; name > path && name[-1] != '.'; name--)
			;
		unique = TRUE;
		for (guint i = 0; i < keys->len; i++) {
			const LabSweepKey *other = keys->pdata[i];

			unique &= !strcmp(other->path, path) || !lab_sweep_is_key(other->path, name);
		}
		if (!unique && name > path)
			name--;
	}
	return g_strdup(name);
}

static LabSweepKey *read_key(const LabYamlNode *node, GError **error)
{
	LabSweepKey *key;

	if (!check_key(node, error))
		return NULL;
	key = g_new0(LabSweepKey, 1);
	key->path = g_strdup(node->key);
	key->origin = node->key_origin;
	key->values = g_ptr_array_new_with_free_func((GDestroyNotify)lab_yaml_free);
	if (read_values(node, key->values, error))
		return key;
	key_free(key);
	return NULL;
}

guint lab_sweep_count(const GPtrArray *keys)
{
	guint n = 1;

	for (guint i = 0; i < keys->len && n <= MAX_POINTS; i++)
		n *= ((const LabSweepKey *)keys->pdata[i])->values->len;
	return n;
}

GPtrArray *lab_sweep_read(const LabYamlNode *node, GError **error)
{
	g_autoptr(GPtrArray) keys = g_ptr_array_new_with_free_func(key_free);

	if (!node)
		return g_steal_pointer(&keys);
	if (node->kind != LAB_YAML_MAP) {
		lab_yaml_fail(node, error, "a mapping of keys to lists of values");
		return NULL;
	}
	if (node->children->len > MAX_KEYS) {
		lab_yaml_fail(node, error, "up to %d keys", MAX_KEYS);
		return NULL;
	}
	for (guint i = 0; i < node->children->len; i++) {
		LabSweepKey *key = read_key(node->children->pdata[i], error);

		if (!key)
			return NULL;
		g_ptr_array_add(keys, key);
	}
	for (guint i = 0; i < keys->len; i++) {
		LabSweepKey *key = keys->pdata[i];

		key->name = short_name(keys, key->path);
	}
	if (lab_sweep_count(keys) <= MAX_POINTS)
		return g_steal_pointer(&keys);
	lab_yaml_fail(node, error, "up to %d points", MAX_POINTS);
	return NULL;
}

/* The last key's values change fastest. */
static const LabYamlNode *value_at(const GPtrArray *keys, guint key, guint index)
{
	const GPtrArray *values = ((const LabSweepKey *)keys->pdata[key])->values;

	for (guint i = keys->len; --i > key;)
		index /= ((const LabSweepKey *)keys->pdata[i])->values->len;
	return values->pdata[index % values->len];
}

char **lab_sweep_put(const GPtrArray *keys, guint index, LabYamlNode *root, GError **error)
{
	g_auto(GStrv) values = g_new0(char *, keys->len + 1);

	for (guint i = 0; i < keys->len; i++) {
		const LabSweepKey *key = keys->pdata[i];
		const LabYamlNode *value = value_at(keys, i, index);
		LabYamlNode *copy =
			is_null(value) ? NULL
				       : scalar_new(value->text, value->quoted, &value->origin);

		values[i] = g_strdup(copy ? value->text : DEFAULT);
		if (!lab_scenario_put(root, key->path, copy, &key->origin, error))
			return NULL;
	}
	return g_steal_pointer(&values);
}

static const char *what_differs(const LabScenario *a, const LabScenario *b)
{
	if (strcmp(a->image->digest, b->image->digest) || a->boot != b->boot ||
	    g_strcmp0(a->disk.root, b->disk.root) ||
	    g_strcmp0(a->disk.bootloader, b->disk.bootloader) || a->disk.bytes != b->disk.bytes)
		return "the disk that is booted";
	if (a->n_seeds != b->n_seeds || a->kernels->len != b->kernels->len || a->clock != b->clock)
		return "kernels, seeds and clock";
	return NULL;
}

gboolean lab_sweep_check(const GPtrArray *keys, const LabScenario *s, GError **error)
{
	const LabOrigin *origin = &((const LabSweepKey *)keys->pdata[0])->origin;
	const LabPoint *first = s->points->pdata[0];

	for (guint i = 0; i < s->points->len; i++) {
		const LabPoint *point = s->points->pdata[i];
		const char *what = what_differs(first->scenario, point->scenario);
		g_autofree char *text = g_strjoinv(" ", point->values);

		if (what) {
			lab_error_set_at(error, origin,
					 "wanted %s the same at every point, found another at '%s'",
					 what, text);
			return FALSE;
		}
		for (guint j = 0; j < i; j++) {
			const LabPoint *other = s->points->pdata[j];
			g_autofree char *before = g_strjoinv(" ", other->values);

			if (strcmp(other->scenario->digest, point->scenario->digest))
				continue;
			lab_error_set_at(error, origin,
					 "wanted points that differ, found '%s' and '%s', which "
					 "are the same",
					 before, text);
			return FALSE;
		}
	}
	return TRUE;
}
