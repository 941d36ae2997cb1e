/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/image.h"

#include <json-glib/json-glib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "lab/base/digest.h"
#include "lab/base/file.h"
#include "lab/base/json.h"
#include "lab/base/suggest.h"
#include "lab/build/image_make.h"
#include "lab/build/meaning.h"

#define KIND "images"
/* ROOT/image-recipe/SHA256(recipe): the key of the image that a recipe meant when a mirror was last asked. */
#define POINTER_KIND "image-recipe"
#define MIN_DIGITS 6

void lab_image_free(LabImage *image)
{
	if (!image)
		return;
	g_free(image->name);
	g_free(image->suite);
	g_free(image->recipe_digest);
	g_free(image->digest);
	g_free(image->path);
	g_free(image->type);
	g_free(image->packages_path);
	g_free(image);
}

/* ---- image.json ------------------------------------------------------------------------------ */

static LabImage *load(const char *dir, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "image.json", NULL);
	g_autoptr(JsonObject) object = lab_json_read(path, LAB_ERROR_INFRA, error);
	LabImage *image;

	if (!object)
		return NULL;
	image = g_new0(LabImage, 1);
	image->name = lab_json_string(object, "name");
	image->suite = lab_json_string(object, "suite");
	image->recipe_digest = lab_json_string(object, "recipe_digest");
	image->digest = lab_json_string(object, "digest");
	image->type = lab_json_string(object, "type");
	image->bytes = (guint64)json_object_get_int_member_with_default(object, "bytes", 0);
	image->made_s = json_object_get_int_member_with_default(object, "made_s", 0);
	image->path = g_build_filename(dir, LAB_IMAGE_FILE, NULL);
	image->packages_path = g_build_filename(dir, "packages.txt", NULL);
	return image;
}

static void add_string(JsonBuilder *b, const char *name, const char *value)
{
	json_builder_set_member_name(b, name);
	json_builder_add_string_value(b, value);
}

static gboolean describe(const LabImageRecipe *recipe, const char *dir, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "image.json", NULL);
	g_autofree char *image = g_build_filename(dir, LAB_IMAGE_FILE, NULL);
	g_autofree char *digest = lab_digest_file(image, error);
	g_autoptr(JsonBuilder) b = json_builder_new();
	g_autoptr(JsonNode) root = NULL;
	g_autofree char *text = NULL;
	struct stat st;

	if (!digest || stat(image, &st) < 0)
		return FALSE;
	json_builder_begin_object(b);
	add_string(b, "name", recipe->name);
	add_string(b, "suite", recipe->suite);
	add_string(b, "recipe_digest", recipe->digest);
	add_string(b, "recipe", recipe->canonical);
	add_string(b, "digest", digest);
	add_string(b, "type", "erofs");
	json_builder_set_member_name(b, "bytes");
	json_builder_add_int_value(b, st.st_size);
	json_builder_set_member_name(b, "made_s");
	json_builder_add_int_value(b, time(NULL));
	json_builder_end_object(b);
	root = json_builder_get_root(b);
	text = json_to_string(root, TRUE);
	return lab_file_write(path, text, -1, error);
}

/* ---- what a recipe meant last time ----------------------------------------------------------- */

static char *meaning(const LabImageRecipe *recipe)
{
	return g_strconcat(LAB_IMAGE_LAYOUT, recipe->digest, NULL);
}

/* The entry of the image that @recipe meant at most @max_age_s seconds ago (0: ever), or NULL. */
static char *last_meaning(LabCache *cache, const LabImageRecipe *recipe, guint max_age_s)
{
	g_autofree char *text = meaning(recipe);

	return lab_meaning_last(cache, POINTER_KIND, text, KIND, max_age_s);
}

static gboolean remember(LabCache *cache, const LabImageRecipe *recipe, const char *key,
			 GError **error)
{
	g_autofree char *text = meaning(recipe);

	return lab_meaning_set(cache, POINTER_KIND, text, key, error);
}

/* ---- get ------------------------------------------------------------------------------------- */

typedef struct {
	LabApt *apt;
	const LabImageRecipe *recipe;
	const GPtrArray *packages;
	LabProgress progress;
	gpointer data;
} Get;

static gboolean make_image(const char *dir, gpointer data, GError **error)
{
	Get *get = data;

	return lab_image_make(get->apt, get->recipe, get->packages, dir, get->progress, get->data,
			      error) &&
	       describe(get->recipe, dir, error);
}

/* A package that does not exist is told where it was written, before anything is fetched. */
gboolean lab_image_check_packages(LabApt *apt, const LabImageRecipe *recipe, GError **error)
{
	g_auto(GStrv) names = lab_apt_names(apt, error);
	g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);

	if (!names)
		return FALSE;
	for (char **name = names; *name; name++)
		g_hash_table_add(known, *name);
	for (guint i = 0; recipe->packages[i]; i++) {
		g_autofree char *hint = NULL;

		if (g_hash_table_contains(known, recipe->packages[i]))
			continue;
		hint = lab_suggest_text(recipe->packages[i], (const char *const *)names);
		lab_error_set_at(error, &recipe->package_origins[i], "%s has no package '%s'%s",
				 recipe->suite, recipe->packages[i], hint);
		return FALSE;
	}
	return TRUE;
}

static char *key_of(const LabImageRecipe *recipe, const GPtrArray *packages)
{
	g_autoptr(GString) text = g_string_new(LAB_IMAGE_LAYOUT);

	g_string_append_printf(text, "%s\n", recipe->canonical);
	for (guint i = 0; i < packages->len; i++) {
		const LabAptPackage *p = packages->pdata[i];

		g_string_append_printf(text, "%s %s %s\n", p->name, p->version, p->sha256);
	}
	return lab_digest_data(text->str, (gssize)text->len);
}

/* The apt state is locked before the entry, as with kernels: two processes never wait for each other. */
static char *get_dir(LabCache *cache, Get *get, gboolean *made, GError **error)
{
	const LabImageRecipe *recipe = get->recipe;
	g_autoptr(LabApt) apt = lab_apt_open(cache, recipe->suite, TRUE, &recipe->suite_origin, error);
	g_autoptr(GPtrArray) packages = NULL;
	g_autofree char *key = NULL;
	g_autofree char *dir = NULL;

	if (!apt || !lab_apt_refresh(apt, LAB_MEANING_MAX_AGE_S, NULL, error) ||
	    !lab_image_check_packages(apt, recipe, error))
		return NULL;
	packages = lab_apt_solve(apt, (const char *const *)recipe->packages, error);
	if (!packages)
		return NULL;
	get->apt = apt;
	get->packages = packages;
	key = key_of(recipe, packages);
	dir = lab_cache_get(cache, KIND, key, make_image, get, made, error);
	return dir && remember(cache, recipe, key, error) ? g_steal_pointer(&dir) : NULL;
}

LabImage *lab_image_get(LabCache *cache, const LabImageRecipe *recipe, gboolean offline,
			LabProgress progress, gpointer data, gboolean *made, GError **error)
{
	g_autofree char *dir = last_meaning(cache, recipe, offline ? 0 : LAB_MEANING_MAX_AGE_S);
	Get get = {.recipe = recipe, .progress = progress, .data = data};
	gboolean built = FALSE;
	LabImage *image;

	if (!dir && offline) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
			    "image %s is not in the cache %s, and without the network it cannot be "
			    "built",
			    recipe->name, lab_cache_root(cache));
		return NULL;
	}
	if (!dir) {
		g_autofree char *what = g_strdup_printf("looking for image %s", recipe->name);

		if (progress)
			progress(what, -1, data);
		dir = get_dir(cache, &get, &built, error);
	}
	image = dir ? load(dir, error) : NULL;
	if (!image)
		return NULL;
	/* The same recipe under another name is the same image. */
	g_free(image->name);
	image->name = g_strdup(recipe->name);
	if (made)
		*made = built;
	return image;
}

/* ---- list and open --------------------------------------------------------------------------- */

static int by_name(gconstpointer a, gconstpointer b)
{
	const LabImage *x = *(LabImage *const *)a, *y = *(LabImage *const *)b;
	int order = strcmp(x->name, y->name);

	if (!order)
		order = (x->made_s < y->made_s) - (x->made_s > y->made_s);
	return order ? order : strcmp(x->digest, y->digest);
}

GPtrArray *lab_image_list(LabCache *cache, GError **error)
{
	g_autoptr(GPtrArray) images =
		g_ptr_array_new_with_free_func((GDestroyNotify)lab_image_free);
	g_auto(GStrv) keys = lab_cache_list(cache, KIND);

	for (char **key = keys; *key; key++) {
		g_autofree char *dir = lab_cache_lookup(cache, KIND, *key);
		LabImage *image;

		if (!dir)
			continue; /* removed meanwhile */
		image = load(dir, error);
		if (!image)
			return NULL;
		g_ptr_array_add(images, image);
	}
	g_ptr_array_sort(images, by_name);
	return g_steal_pointer(&images);
}

static LabImage *find(const GPtrArray *images, const char *name, const char *root, GError **error)
{
	LabImage *found = NULL;

	for (guint i = 0; i < images->len; i++) {
		LabImage *image = images->pdata[i];

		if (g_str_equal(image->name, name))
			return image;
	}
	for (guint i = 0; i < images->len && strlen(name) >= MIN_DIGITS; i++) {
		LabImage *image = images->pdata[i];

		if (!g_str_has_prefix(image->digest, name))
			continue;
		if (found && !g_str_equal(found->digest, image->digest)) {
			g_set_error(
				error, LAB_ERROR, LAB_ERROR_USER,
				"'%s' is the start of several images: %.12s (%s) and %.12s (%s)",
				name, found->digest, found->name, image->digest, image->name);
			return NULL;
		}
		found = found ? found : image;
	}
	if (!found)
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "no image '%s' in the cache %s (wanted a recipe's name, or at least %d "
			    "digits of a digest)",
			    name, root, MIN_DIGITS);
	return found;
}

LabImage *lab_image_open(LabCache *cache, const char *name, GError **error)
{
	g_autoptr(GPtrArray) images = lab_image_list(cache, error);
	LabImage *found = images ? find(images, name, lab_cache_root(cache), error) : NULL;
	g_autofree char *dir = found ? g_path_get_dirname(found->path) : NULL;

	return dir ? load(dir, error) : NULL;
}
