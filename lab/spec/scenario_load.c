/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files and --set -> a scenario. */
#include "lab/spec/scenario_parts.h"

static LabScenario *from_root(LabYamlNode *root, const char *path, const char *const *overrides,
			      GError **error)
{
	static const char *const none[] = {NULL};
	LabScenario *s;

	for (guint i = 0; overrides && overrides[i]; i++)
		if (!lab_scenario_set(root, overrides[i], error))
			return NULL;
	s = lab_scenario_from_node(root, path, error);
	if (s)
		s->overrides = g_strdupv((char **)(overrides ? overrides : none));
	return s;
}

LabScenario *lab_scenario_parse(const char *text, gssize length, const char *path,
				const char *const *overrides, GError **error)
{
	g_autoptr(LabYamlNode) root = lab_yaml_parse(text, length, path, error);
	LabScenario *s = root ? from_root(root, path, overrides, error) : NULL;

	if (s)
		s->text = length < 0 ? g_strdup(text) : g_strndup(text, (gsize)length);
	return s;
}

LabScenario *lab_scenario_load(const char *path, const char *const *overrides, GError **error)
{
	g_autofree char *text = NULL;
	g_autoptr(LabYamlNode) root = lab_yaml_load(path, "a scenario", &text, error);
	LabScenario *s = root ? from_root(root, path, overrides, error) : NULL;

	if (s)
		s->text = g_steal_pointer(&text);
	return s;
}

LabScenario *lab_scenario_find(const char *name, const char *const *overrides, GError **error)
{
	g_autofree char *path = lab_spec_find("scenarios", "a scenario", name, NULL, NULL, error);

	return path ? lab_scenario_load(path, overrides, error) : NULL;
}
