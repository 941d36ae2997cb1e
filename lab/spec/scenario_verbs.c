/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/spec/scenario_verbs.h"

#include <string.h>

#include "lab/base/suggest.h"
#include "lab/base/units.h"

/* ---- what went before ---- */

gboolean lab_steps_need_unmounted(const struct lab_steps *steps, const LabStep *step,
				  GError **error)
{
	if (!steps->mounted || steps->unknown)
		return TRUE;
	lab_error_set_at(error, &step->origin,
			 "wanted umount before %s, found a mounted file system", step->verb);
	return FALSE;
}

gboolean lab_steps_need_made(const struct lab_steps *steps, const LabStep *step, GError **error)
{
	if (steps->made || steps->unknown)
		return TRUE;
	lab_error_set_at(error, &step->origin, "wanted mkfs.xfs before %s, found none", step->verb);
	return FALSE;
}

gboolean lab_steps_need_mounted(const struct lab_steps *steps, const LabStep *step, GError **error)
{
	if (steps->mounted || steps->unknown)
		return TRUE;
	lab_error_set_at(error, &step->origin,
			 "wanted mount before %s, found no mounted file system", step->verb);
	return FALSE;
}

/* ---- file systems ---- */

struct mkfs {
	struct lab_step_common common;
	guint64 size_bytes;
	const GPtrArray *options;
};

static const LabYamlField mkfs_fields[] = {
	LAB_STEP_COMMON_FIELDS,
	{"size", LAB_YAML_BYTES, offsetof(struct mkfs, size_bytes)},
	{"options", LAB_YAML_TEXTS, offsetof(struct mkfs, options)},
	{0},
};

static gboolean read_mkfs(const LabYamlNode *body, struct lab_steps *steps,
			  struct lab_step_common *common, LabStep *step, GError **error)
{
	struct mkfs m = {.common = *common};
	const LabYamlNode *size = lab_yaml_get(body, "size");
	g_autoptr(GStrvBuilder) argv = g_strv_builder_new();

	if (!lab_yaml_read(body, "mkfs.xfs", mkfs_fields, &m, error) ||
	    !lab_steps_need_unmounted(steps, step, error) ||
	    (size && !lab_scenario_read_scratch(size, steps->scenario, error)))
		return FALSE;
	if (!steps->scenario->scratch_bytes) {
		lab_error_set_at(error, &body->origin,
				 "wanted the key 'size' of mkfs.xfs (or 'scratch' of the "
				 "scenario), found none");
		return FALSE;
	}
	if (steps->scenario->scratch_bytes < LAB_SCRATCH_MIN_XFS) {
		g_autofree char *found = lab_format_bytes(steps->scenario->scratch_bytes);

		lab_error_set_at(error, size ? &size->origin : &body->origin,
				 "wanted a scratch device of at least 302MiB (mkfs.xfs refuses "
				 "less), found '%s'",
				 found);
		return FALSE;
	}
	g_strv_builder_add(argv, "mkfs.xfs");
	g_strv_builder_add(argv, "-f");
	lab_argv_add_texts(argv, m.options);
	g_strv_builder_add(argv, LAB_SCRATCH_DEVICE);
	step->argv = g_strv_builder_end(argv);
	*common = m.common;
	steps->made = TRUE;
	return TRUE;
}

struct mount {
	struct lab_step_common common;
	const char *type;
	const LabYamlNode *options;
};

static const LabYamlField mount_fields[] = {
	LAB_STEP_COMMON_FIELDS,
	{"type", LAB_YAML_TEXT, offsetof(struct mount, type)},
	{"options", LAB_YAML_ANY, offsetof(struct mount, options)},
	{0},
};

static gboolean mount_options(const LabYamlNode *node, char **options, GError **error)
{
	g_auto(GStrv) parts = NULL;
	const char *text = "";

	if (!node) {
		*options = g_strdup("");
		return TRUE;
	}
	if (node->kind == LAB_YAML_SCALAR) {
		if (!lab_yaml_text(node, "mount options", &text, error))
			return FALSE;
		*options = g_strdup(text);
		return TRUE;
	}
	if (node->kind == LAB_YAML_MAP)
		return lab_yaml_fail(node, error, "a list of mount options");
	for (guint i = 0; i < node->children->len; i++)
		if (!lab_yaml_text(node->children->pdata[i], "a mount option", &text, error))
			return FALSE;
	parts = lab_yaml_strv(node->children);
	*options = g_strjoinv(",", parts);
	return TRUE;
}

static gboolean read_mount(const LabYamlNode *body, struct lab_steps *steps,
			   struct lab_step_common *common, LabStep *step, GError **error)
{
	struct mount m = {.common = *common, .type = "xfs"};
	g_autofree char *options = NULL;
	g_autoptr(GStrvBuilder) argv = g_strv_builder_new();

	if (!lab_yaml_read(body, "mount", mount_fields, &m, error) ||
	    !mount_options(m.options, &options, error) ||
	    !lab_steps_need_made(steps, step, error) ||
	    !lab_steps_need_unmounted(steps, step, error))
		return FALSE;
	g_strv_builder_add(argv, LAB_SCRATCH_DEVICE);
	g_strv_builder_add(argv, LAB_SCRATCH_DIRECTORY);
	g_strv_builder_add(argv, m.type);
	g_strv_builder_add(argv, options);
	step->argv = g_strv_builder_end(argv);
	*common = m.common;
	steps->mounted = TRUE;
	return TRUE;
}

static const LabYamlField common_fields[] = {LAB_STEP_COMMON_FIELDS, {0}};

static gboolean read_umount(const LabYamlNode *body, struct lab_steps *steps,
			    struct lab_step_common *common, LabStep *step, GError **error)
{
	const char *argv[] = {LAB_SCRATCH_DIRECTORY, NULL};

	if (!lab_yaml_read(body, "umount", common_fields, common, error) ||
	    !lab_steps_need_mounted(steps, step, error))
		return FALSE;
	step->argv = g_strdupv((char **)argv);
	steps->mounted = FALSE;
	return TRUE;
}

static gboolean read_drop_caches(const LabYamlNode *body, struct lab_steps *steps,
				 struct lab_step_common *common, LabStep *step, GError **error)
{
	(void)steps;
	step->argv = g_new0(char *, 1);
	return lab_yaml_read(body, "drop_caches", common_fields, common, error);
}

struct mkdir {
	struct lab_step_common common;
	const GPtrArray *dirs;
};

static const LabYamlField mkdir_fields[] = {
	LAB_STEP_COMMON_FIELDS,
	{"dirs", LAB_YAML_TEXTS, offsetof(struct mkdir, dirs), .required = TRUE},
	{0},
};

static gboolean read_mkdir(const LabYamlNode *body, struct lab_steps *steps,
			   struct lab_step_common *common, LabStep *step, GError **error)
{
	struct mkdir m = {.common = *common};
	gboolean ok = body->kind == LAB_YAML_LIST
			      ? lab_yaml_texts(body, &m.dirs, error)
			      : lab_yaml_read(body, "mkdir", mkdir_fields, &m, error);

	if (!ok)
		return FALSE;
	if (!m.dirs->len)
		return lab_yaml_fail(body, error, "directories");
	for (guint i = 0; i < m.dirs->len; i++) {
		const LabYamlNode *dir = m.dirs->pdata[i];

		if (*dir->text != '/')
			return lab_yaml_fail(dir, error, "an absolute path");
		if (g_str_has_prefix(dir->text, LAB_SCRATCH_DIRECTORY "/") &&
		    !lab_steps_need_mounted(steps, step, error))
			return FALSE;
	}
	step->argv = lab_yaml_strv(m.dirs);
	*common = m.common;
	return TRUE;
}

static const struct lab_verb verbs[] = {
	{"mkfs.xfs", LAB_STEP_EXEC, "mkfs", TRUE, read_mkfs},
	{"mount", LAB_STEP_MOUNT, "mount", FALSE, read_mount},
	{"umount", LAB_STEP_UMOUNT, "umount", FALSE, read_umount},
	{"drop_caches", LAB_STEP_DROP_CACHES, "dropcaches", FALSE, read_drop_caches},
	{"mkdir", LAB_STEP_MKDIR, "mkdir", FALSE, read_mkdir},
	{"fs_mark", LAB_STEP_EXEC, "fsmark", TRUE, lab_verb_read_fs_mark},
	{"xfs_repair", LAB_STEP_EXEC, "xfsrepair", TRUE, lab_verb_read_xfs_repair},
	{"numa_touch", LAB_STEP_NUMA_TOUCH, "numatouch", TRUE, lab_verb_read_numa_touch},
	{"run", LAB_STEP_EXEC, NULL, TRUE, lab_verb_read_run},
};

const struct lab_verb *lab_verb_find(const char *text)
{
	for (guint i = 0; text && i < G_N_ELEMENTS(verbs); i++)
		if (!strcmp(verbs[i].verb, text))
			return &verbs[i];
	return NULL;
}

gboolean lab_verb_unknown(const LabOrigin *origin, const char *text, GError **error)
{
	const char *names[G_N_ELEMENTS(verbs) + 1] = {0};
	g_autofree char *list = NULL, *found = lab_yaml_quote(text), *suggestion = NULL;

	for (guint i = 0; i < G_N_ELEMENTS(verbs); i++)
		names[i] = verbs[i].verb;
	list = g_strjoinv(", ", (char **)names);
	suggestion = lab_suggest_text(text, names);
	lab_error_set_at(error, origin, "wanted a step (%s), found %s%s", list, found, suggestion);
	return FALSE;
}
