/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/spec/image.h"

#include <string.h>

#include "lab/base/digest.h"
#include "lab/spec/internal.h"

struct raw {
	const char *name, *about, *suite;
	const GPtrArray *packages, *exclude;
};

static const LabYamlField fields[] = {
	{"name", LAB_YAML_TEXT, offsetof(struct raw, name)},
	{"about", LAB_YAML_TEXT, offsetof(struct raw, about)},
	{"suite", LAB_YAML_TEXT, offsetof(struct raw, suite), .required = TRUE},
	{"packages", LAB_YAML_TEXTS, offsetof(struct raw, packages), .required = TRUE},
	{"exclude", LAB_YAML_TEXTS, offsetof(struct raw, exclude)},
	{0},
};

void lab_image_recipe_free(LabImageRecipe *recipe)
{
	if (!recipe)
		return;
	g_free(recipe->name);
	g_free(recipe->about);
	g_free(recipe->suite);
	g_strfreev(recipe->packages);
	g_free(recipe->package_origins);
	g_strfreev(recipe->exclude);
	g_free(recipe->origin_path);
	g_free(recipe->disk);
	g_free(recipe->canonical);
	g_free(recipe->digest);
	g_free(recipe);
}

static gint by_text(gconstpointer a, gconstpointer b)
{
	const LabYamlNode *x = *(const LabYamlNode *const *)a, *y = *(const LabYamlNode *const *)b;

	return strcmp(x->text, y->text);
}

/* Sorted copy of the list; a text twice is an error at its second place. */
static GPtrArray *sorted(const GPtrArray *list, const char *what, GError **error)
{
	g_autoptr(GPtrArray) result = g_ptr_array_new();

	for (guint i = 0; list && i < list->len; i++) {
		const LabYamlNode *node = list->pdata[i];

		for (guint j = 0; j < i; j++)
			if (!by_text(&list->pdata[i], &list->pdata[j])) {
				lab_yaml_fail(node, error, "each %s once", what);
				return NULL;
			}
		g_ptr_array_add(result, list->pdata[i]);
	}
	g_ptr_array_sort(result, by_text);
	return g_steal_pointer(&result);
}

static gboolean is_pattern(const char *text)
{
	if (*text != '/')
		return FALSE;
	for (; *text; text++)
		if (g_ascii_iscntrl(*text))
			return FALSE;
	return TRUE;
}

static gboolean check(const LabYamlNode *root, const struct raw *raw, GError **error)
{
	if (raw->name && !lab_spec_check_name(lab_yaml_get(root, "name"), error))
		return FALSE;
	if (!lab_spec_is_suite(raw->suite))
		return lab_yaml_fail(lab_yaml_get(root, "suite"), error,
				     "a Debian suite like bookworm");
	if (!raw->packages->len)
		return lab_yaml_fail(lab_yaml_get(root, "packages"), error, "packages");
	for (guint i = 0; i < raw->packages->len; i++) {
		const LabYamlNode *node = raw->packages->pdata[i];

		if (!lab_spec_is_package(node->text))
			return lab_yaml_fail(node, error, "the name of a Debian package");
	}
	for (guint i = 0; raw->exclude && i < raw->exclude->len; i++) {
		const LabYamlNode *node = raw->exclude->pdata[i];

		if (!is_pattern(node->text))
			return lab_yaml_fail(node, error, "a pattern that starts with '/'");
	}
	return TRUE;
}

static char *canonical(const LabImageRecipe *r)
{
	JsonObject *o = json_object_new();

	json_object_set_string_member(o, "suite", r->suite);
	json_object_set_array_member(o, "packages", lab_spec_json_strv(r->packages));
	json_object_set_array_member(o, "exclude", lab_spec_json_strv(r->exclude));
	return lab_spec_canonical(o);
}

LabImageRecipe *lab_image_recipe_from_node(const LabYamlNode *root, const char *path,
					   GError **error)
{
	g_autoptr(LabImageRecipe) r = g_new0(LabImageRecipe, 1);
	g_autoptr(GPtrArray) packages = NULL, exclude = NULL;
	struct raw raw = {0};

	if (!lab_yaml_read(root, "an image recipe", fields, &raw, error) ||
	    !check(root, &raw, error))
		return NULL;
	packages = sorted(raw.packages, "package", error);
	exclude = packages ? sorted(raw.exclude, "pattern", error) : NULL;
	if (!exclude)
		return NULL;
	r->name = raw.name ? g_strdup(raw.name) : lab_spec_name(path);
	r->about = g_strdup(raw.about);
	r->suite = g_strdup(raw.suite);
	r->suite_origin = *lab_yaml_origin(root, "suite");
	r->packages = lab_yaml_strv(packages);
	r->package_origins = g_new(LabOrigin, packages->len);
	for (guint i = 0; i < packages->len; i++)
		r->package_origins[i] = ((const LabYamlNode *)packages->pdata[i])->origin;
	r->exclude = lab_yaml_strv(exclude);
	r->origin_path = g_strdup(path);
	r->canonical = canonical(r);
	r->digest = lab_digest_data(r->canonical, -1);
	return g_steal_pointer(&r);
}

LabImageRecipe *lab_image_recipe_load(const char *path, GError **error)
{
	g_autoptr(LabYamlNode) root = lab_yaml_load(path, "an image recipe", NULL, error);

	return root ? lab_image_recipe_from_node(root, path, error) : NULL;
}

LabImageRecipe *lab_image_recipe_find(const char *name, const char *relative_to, GError **error)
{
	g_autofree char *path = lab_spec_find("images", "an image", name, relative_to, NULL, error);

	return path ? lab_image_recipe_load(path, error) : NULL;
}

LabImageRecipe *lab_image_recipe_of_disk(const LabYamlNode *node, const char *relative_to,
					 GError **error)
{
	g_autoptr(LabImageRecipe) r = g_new0(LabImageRecipe, 1);
	const char *path = node->text + strlen(LAB_IMAGE_DISK_PREFIX);
	g_autofree char *base = relative_to ? g_canonicalize_filename(relative_to, NULL) : NULL;

	if (!*path) {
		lab_yaml_fail(node, error, "a disk image as " LAB_IMAGE_DISK_PREFIX "FILE");
		return NULL;
	}
	r->disk = g_canonicalize_filename(path, base);
	r->name = g_path_get_basename(r->disk);
	r->suite = g_strdup("");
	r->suite_origin = node->origin;
	r->packages = g_new0(char *, 1);
	r->exclude = g_new0(char *, 1);
	r->origin_path = g_strdup(r->disk);
	r->canonical = g_strdup("{\"disk\":true}");
	r->digest = lab_digest_data(r->canonical, -1);
	return g_steal_pointer(&r);
}
