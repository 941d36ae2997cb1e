/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files and --set -> a scenario, and the points of its sweep. */
#include <string.h>

#include "lab/spec/scenario_parts.h"

/* Values that a key is set to take the place of those that it is swept over. */
static void take_from_sweep(LabYamlNode *root, const char *assignment)
{
	LabYamlNode *sweep = root->kind == LAB_YAML_MAP ? lab_yaml_get(root, "sweep") : NULL;
	g_autofree char *key = g_strndup(assignment, strcspn(assignment, "="));

	if (sweep && sweep->kind == LAB_YAML_MAP)
		lab_yaml_take_away(sweep, key);
}

static gboolean set_all(LabYamlNode *root, const char *const *overrides, GError **error)
{
	for (guint i = 0; overrides && overrides[i]; i++) {
		if (!lab_scenario_set(root, overrides[i], error))
			return FALSE;
		take_from_sweep(root, overrides[i]);
	}
	return TRUE;
}

/* Text and what was set -> a tree without a sweep. @keys: (out): its keys, of LabSweepKey */
static LabYamlNode *read_tree(const char *text, gssize length, const char *path,
			      const char *const *overrides, GPtrArray **keys, GError **error)
{
	g_autoptr(LabYamlNode) root = lab_yaml_parse(text, length, path, error);

	if (!root || !set_all(root, overrides, error))
		return NULL;
	*keys = lab_sweep_read(root->kind == LAB_YAML_MAP ? lab_yaml_get(root, "sweep") : NULL,
			       error);
	if (!*keys)
		return NULL;
	if (root->kind == LAB_YAML_MAP)
		lab_yaml_take_away(root, "sweep");
	return g_steal_pointer(&root);
}

static gboolean add_point(LabScenario *s, guint index, const char *const *overrides,
			  const char *text, gssize length, GError **error)
{
	g_autoptr(GPtrArray) keys = NULL;
	g_autoptr(LabYamlNode) root = read_tree(text, length, s->path, overrides, &keys, error);
	g_auto(GStrv) values = root ? lab_sweep_put(keys, index, root, error) : NULL;
	LabScenario *scenario = values ? lab_scenario_from_node(root, s->path, error) : NULL;
	LabPoint *point;

	if (!scenario)
		return FALSE;
	point = g_new0(LabPoint, 1);
	point->values = g_steal_pointer(&values);
	point->scenario = scenario;
	g_ptr_array_add(s->points, point);
	return TRUE;
}

static gboolean add_points(LabScenario *s, const GPtrArray *keys, const char *const *overrides,
			   const char *text, gssize length, GError **error)
{
	for (guint i = 0; i < lab_sweep_count(keys); i++)
		if (!add_point(s, i, overrides, text, length, error))
			return FALSE;
	if (!lab_sweep_check(keys, s, error))
		return FALSE;
	g_strfreev(s->sweep);
	s->sweep = g_new0(char *, keys->len + 1);
	for (guint i = 0; i < keys->len; i++)
		s->sweep[i] = g_strdup(((const LabSweepKey *)keys->pdata[i])->name);
	lab_scenario_finish_sweep(s);
	return TRUE;
}

LabScenario *lab_scenario_parse(const char *text, gssize length, const char *path,
				const char *const *overrides, GError **error)
{
	static const char *const none[] = {NULL};
	g_autoptr(GPtrArray) keys = NULL;
	g_autoptr(LabYamlNode) root = read_tree(text, length, path, overrides, &keys, error);
	g_auto(GStrv) first = root ? lab_sweep_put(keys, 0, root, error) : NULL;
	g_autoptr(LabScenario) s = first ? lab_scenario_from_node(root, path, error) : NULL;

	if (!s || (keys->len && !add_points(s, keys, overrides, text, length, error)))
		return NULL;
	s->overrides = g_strdupv((char **)(overrides ? overrides : none));
	s->text = length < 0 ? g_strdup(text) : g_strndup(text, (gsize)length);
	return g_steal_pointer(&s);
}

LabScenario *lab_scenario_load(const char *path, const char *const *overrides, GError **error)
{
	g_autofree char *text = NULL;
	/* Reads the file safely, and says what is wrong with it as a file. */
	g_autoptr(LabYamlNode) root = lab_yaml_load(path, "a scenario", &text, error);

	return root ? lab_scenario_parse(text, -1, path, overrides, error) : NULL;
}

LabScenario *lab_scenario_find(const char *name, const char *const *overrides, GError **error)
{
	g_autofree char *path = lab_spec_find("scenarios", "a scenario", name, NULL, NULL, error);

	return path ? lab_scenario_load(path, overrides, error) : NULL;
}
