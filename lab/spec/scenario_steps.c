/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Steps: names, order, and the verbs' way into the agent's argv (scenario_verbs.c). */
#include "lab/spec/scenario_verbs.h"

#include <string.h>

#include "lab/base/suggest.h"

#define NAME_MAX_BYTES 63 /* the agent's limit */

const char *const lab_oom_kills[] = {"fail", "allowed", NULL};

void lab_step_free(LabStep *step)
{
	if (!step)
		return;
	g_free(step->name);
	g_free(step->verb);
	g_strfreev(step->argv);
	g_free(step);
}

void lab_scenario_step_lists(const LabYamlNode *root, LabYamlNode *lists[2])
{
	LabYamlNode *prepare = lab_yaml_get(root, "prepare"), *steps = lab_yaml_get(root, "steps");

	if (prepare && prepare->kind == LAB_YAML_MAP)
		prepare = lab_yaml_get(prepare, "steps");
	lists[0] = prepare && prepare->kind == LAB_YAML_LIST ? prepare : NULL;
	lists[1] = steps && steps->kind == LAB_YAML_LIST ? steps : NULL;
}

/* ---- a step as it is written: "umount", or {verb: body} ---- */

static const char *verb_of(const LabYamlNode *step)
{
	if (step->kind == LAB_YAML_SCALAR && *step->text)
		return step->text;
	if (step->kind == LAB_YAML_MAP && step->children->len == 1)
		return ((const LabYamlNode *)step->children->pdata[0])->key;
	return NULL;
}

static const LabYamlNode *body_of(const LabYamlNode *step)
{
	return step->kind == LAB_YAML_MAP && step->children->len == 1 ? step->children->pdata[0]
								      : NULL;
}

static const char *given_name(const LabYamlNode *step)
{
	const LabYamlNode *body = body_of(step);
	const LabYamlNode *name = body ? lab_yaml_get(body, "name") : NULL;

	return name && name->kind == LAB_YAML_SCALAR && *name->text ? name->text : NULL;
}

/* The last part of a command's path, with what a name may not have made '-'. */
static char *command_name(const LabYamlNode *body)
{
	const LabYamlNode *argv =
		body && body->kind == LAB_YAML_MAP ? lab_yaml_get(body, "argv") : body;
	const LabYamlNode *first = argv && argv->kind == LAB_YAML_LIST && argv->children->len
					   ? argv->children->pdata[0]
					   : NULL;
	g_autofree char *base = first && first->kind == LAB_YAML_SCALAR && *first->text
					? g_path_get_basename(first->text)
					: g_strdup("run");
	g_autofree char *name =
		g_ascii_strdown(base, MIN((gssize)strlen(base), NAME_MAX_BYTES - 8));

	for (char *p = name; *p; p++)
		if (!g_ascii_isalnum(*p) && !strchr("._-", *p))
			*p = '-';
	return g_ascii_isalnum(*name) ? g_steal_pointer(&name) : g_strdup("run");
}

static char *default_name(const LabYamlNode *step)
{
	const struct lab_verb *verb = lab_verb_find(verb_of(step));

	if (!verb)
		return NULL;
	return verb->name ? g_strdup(verb->name) : command_name(body_of(step));
}

static char *unique_name(const char *base, GHashTable *taken)
{
	char *name = g_strdup(base);

	for (guint n = 2; g_hash_table_contains(taken, name); n++) {
		g_free(name);
		name = g_strdup_printf("%s-%u", base, n);
	}
	return name;
}

GHashTable *lab_scenario_step_names(const LabYamlNode *root)
{
	GHashTable *names = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	g_autoptr(GHashTable) taken = g_hash_table_new(g_str_hash, g_str_equal);
	LabYamlNode *lists[2];

	lab_scenario_step_lists(root, lists);
	/* First those that a person chose, so that no default takes them. */
	for (int given = 1; given >= 0; given--) {
		for (int l = 0; l < 2; l++) {
			for (guint i = 0; lists[l] && i < lists[l]->children->len; i++) {
				LabYamlNode *step = lists[l]->children->pdata[i];
				const char *name = given_name(step);
				g_autofree char *base = given  ? g_strdup(name)
							: name ? NULL
							       : default_name(step);
				char *chosen;

				if (!base)
					continue;
				chosen = given ? g_strdup(base) : unique_name(base, taken);
				g_hash_table_insert(names, step, chosen);
				g_hash_table_add(taken, chosen);
			}
		}
	}
	return names;
}

/* ---- reading ---- */

static gboolean check_step_name(const LabYamlNode *node, GError **error)
{
	gsize length = strlen(node->text);

	if (length > NAME_MAX_BYTES || *node->text == '.' || *node->text == '-' ||
	    strspn(node->text, "abcdefghijklmnopqrstuvwxyz0123456789._-") != length)
		return lab_yaml_fail(node, error,
				     "a name of at most %d of a-z, 0-9, '.', '_' and '-'",
				     NAME_MAX_BYTES);
	return TRUE;
}

static gboolean check_unique(const LabYamlNode *node, const LabScenario *s, GError **error)
{
	const GPtrArray *lists[] = {s->prepare, s->steps};

	for (guint l = 0; l < 2; l++)
		for (guint i = 0; i < lists[l]->len; i++)
			if (!strcmp(((const LabStep *)lists[l]->pdata[i])->name, node->text))
				return lab_yaml_fail(node, error, "each step's name once");
	return TRUE;
}

static gboolean read_common(const LabYamlNode *body, const struct lab_step_common *common,
			    LabScenario *s, GError **error)
{
	const LabYamlNode *name = lab_yaml_get(body, "name"),
			  *timeout = lab_yaml_get(body, "timeout");

	if (name && (!check_step_name(name, error) || !check_unique(name, s, error)))
		return FALSE;
	if (timeout && !common->timeout_ns)
		return lab_yaml_fail(timeout, error, "a duration above 0s");
	return TRUE;
}

static gboolean read_step(const LabYamlNode *yaml, const char *name, struct lab_steps *steps,
			  GPtrArray *into, GError **error)
{
	const char *text = verb_of(yaml);
	const struct lab_verb *verb = lab_verb_find(text);
	const LabYamlNode *written = body_of(yaml);
	g_autoptr(LabYamlNode) empty = NULL;
	struct lab_step_common common = {0};
	LabStep *step;

	if (!text)
		return lab_yaml_fail(yaml, error, "a step like 'umount' or 'fs_mark: {...}'");
	if (!verb)
		return lab_verb_unknown(written ? &written->key_origin : &yaml->origin, text,
					error);
	if (!written || (written->kind == LAB_YAML_SCALAR && !*written->text && !written->quoted))
		written = empty =
			lab_yaml_new(LAB_YAML_MAP, written ? &written->key_origin : &yaml->origin);
	step = g_new0(LabStep, 1);
	g_ptr_array_add(into, step);
	step->kind = verb->kind;
	step->verb = g_strdup(verb->verb);
	step->origin = yaml->kind == LAB_YAML_MAP
			       ? ((const LabYamlNode *)yaml->children->pdata[0])->key_origin
			       : yaml->origin;
	common.measure = verb->measure;
	/* Named last: until then the step takes no name from others. */
	step->name = g_strdup("");
	if (!verb->read(written, steps, &common, step, error))
		return FALSE;
	if (written->kind == LAB_YAML_MAP && !read_common(written, &common, steps->scenario, error))
		return FALSE;
	g_free(step->name);
	step->name = g_strdup(name);
	step->measure = common.measure;
	step->timeout_ns = common.timeout_ns;
	step->oom_kills_allowed = common.oom_kills != 0;
	return TRUE;
}

static gboolean read_list(const LabYamlNode *list, GHashTable *names, struct lab_steps *steps,
			  GPtrArray *into, GError **error)
{
	for (guint i = 0; list && i < list->children->len; i++) {
		LabYamlNode *yaml = list->children->pdata[i];

		if (!read_step(yaml, g_hash_table_lookup(names, yaml), steps, into, error))
			return FALSE;
	}
	return TRUE;
}

gboolean lab_scenario_read_steps(const LabYamlNode *root, LabScenario *s, GError **error)
{
	struct lab_steps steps = {.scenario = s};
	g_autoptr(GHashTable) names = lab_scenario_step_names(root);
	LabYamlNode *lists[2];

	lab_scenario_step_lists(root, lists);
	s->prepare = g_ptr_array_new_with_free_func((GDestroyNotify)lab_step_free);
	s->steps = g_ptr_array_new_with_free_func((GDestroyNotify)lab_step_free);
	if (!read_list(lists[0], names, &steps, s->prepare, error))
		return FALSE;
	if (s->prepare->len && steps.mounted && !steps.unknown) {
		const LabStep *last = s->prepare->pdata[s->prepare->len - 1];

		lab_error_set_at(
			error, &last->origin,
			"wanted umount at the end of prepare, found a mounted file system");
		return FALSE;
	}
	if (!read_list(lists[1], names, &steps, s->steps, error))
		return FALSE;
	if (!s->steps->len) {
		lab_error_set_at(error, lab_yaml_origin(root, "steps"), "wanted steps, found none");
		return FALSE;
	}
	return TRUE;
}
