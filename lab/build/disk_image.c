/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/disk.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "lab/base/digest.h"
#include "lab/base/file.h"
#include "lab/base/json.h"
#include "lab/base/qcow2.h"
#include "lab/build/apt.h"
#include "lab/build/disk_internal.h"
#include "lab/build/image_make.h"
#include "lab/build/meaning.h"

/* ROOT/disk-recipe/SHA256(recipe and options): the key of the disk that was meant when a mirror was last asked. */
#define POINTER_KIND "disk-recipe"
/* ROOT/disk-seen/SHA256(path, inode, size, times): digest of somebody's image, so that it is read once. */
#define SEEN_KIND "disk-seen"
/** Enters every key: a new number where the same packages would give another disk. */
#define LAYOUT "numalab disk 1\n"

/* What a recipe's packages are joined by: an init, what a kernel's installation calls, a boot loader, tools of both root file
 * systems. */
static const char *const system_packages[] = {
	"dbus",	   "e2fsprogs",	   "grub-pc-bin", "grub2-common", "initramfs-tools", "kmod",
	"systemd", "systemd-sysv", "tar",	  "udev",	  "xfsprogs",	     "zstd",
	NULL};

/* As in images of the distribution's for containers: what nobody reads there. dpkg goes on leaving it out. */
static const char *const options[] = {"--dpkgopt=path-exclude=/usr/share/doc/*",
				      "--dpkgopt=path-exclude=/usr/share/info/*",
				      "--dpkgopt=path-exclude=/usr/share/locale/*",
				      "--dpkgopt=path-exclude=/usr/share/man/*", NULL};

void lab_disk_image_free(LabDiskImage *image)
{
	if (!image)
		return;
	g_free(image->name);
	g_free(image->digest);
	g_free(image->root);
	g_free(image->path);
	g_free(image->initrd_path);
	g_free(image->initrd_digest);
	g_strfreev(image->parts);
	g_free(image);
}

/* ---- an entry ---------------------------------------------------------------------------------- */

gboolean lab_disk_describe(const char *dir, const char *name, const char *digest, const char *root,
			   const LabDiskSaid *said, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "disk.json", NULL);
	g_autoptr(JsonBuilder) b = json_builder_new();
	g_autofree char *text = NULL;
	const struct {
		const char *name, *value;
	} strings[] = {{"name", name}, {"digest", digest}, {"root", root}};

	json_builder_begin_object(b);
	for (gsize i = 0; i < G_N_ELEMENTS(strings); i++) {
		json_builder_set_member_name(b, strings[i].name);
		json_builder_add_string_value(b, strings[i].value);
	}
	json_builder_set_member_name(b, "parts");
	json_builder_begin_array(b);
	for (guint i = 0; said->parts && i < said->parts->len; i++)
		json_builder_add_string_value(b, said->parts->pdata[i]);
	json_builder_end_array(b);
	json_builder_end_object(b);
	text = lab_json_text(b);
	return lab_file_write(path, text, -1, error);
}

LabDiskImage *lab_disk_load(const char *dir, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "disk.json", NULL);
	g_autofree char *initrd = g_build_filename(dir, "initrd", NULL);
	g_autoptr(JsonObject) object = lab_json_read(path, LAB_ERROR_INFRA, error);
	LabDiskImage *image;

	if (!object)
		return NULL;
	image = g_new0(LabDiskImage, 1);
	image->name = lab_json_string(object, "name");
	image->digest = lab_json_string(object, "digest");
	image->root = lab_json_string(object, "root");
	image->parts = lab_json_strings(object, "parts");
	image->path = g_build_filename(dir, LAB_DISK_FILE, NULL);
	if (g_file_test(initrd, G_FILE_TEST_EXISTS))
		image->initrd_path = g_steal_pointer(&initrd);
	return image;
}

/* ---- from a recipe ----------------------------------------------------------------------------- */

typedef struct {
	LabDiskTool *tool;
	const LabImageRecipe *recipe;
	const LabDisk *options;
	LabApt *apt;
	GPtrArray *packages;
	const char *key, *format; /* of somebody's image */
} Make;

static char *meaning(const LabImageRecipe *recipe, const LabDisk *disk)
{
	return g_strdup_printf(LAYOUT "%s\n%s\n%" G_GUINT64_FORMAT "\n", recipe->canonical,
			       disk->root, disk->bytes);
}

static gboolean make_disk(const char *dir, gpointer data, GError **error)
{
	const Make *m = data;
	LabDiskTool *tool = m->tool;
	g_autofree char *tar = g_build_filename(dir, LAB_IMAGE_TAR, NULL);
	g_autofree char *path = g_build_filename(dir, LAB_DISK_FILE, NULL);
	g_autofree char *what = g_strdup_printf("disk of image %s", m->recipe->name);
	g_auto(LabDiskSaid) said = {0};
	JsonObject *request = json_object_new();
	gint64 begin = g_get_monotonic_time();

	json_object_set_string_member(request, "verb", "make");
	json_object_set_string_member(request, "disk", path);
	json_object_set_string_member(request, "tar", tar);
	json_object_set_string_member(request, "root", m->options->root);
	json_object_set_int_member(request, "bytes", (gint64)m->options->bytes);
	if (!lab_image_make_tar(m->apt, m->recipe->name, m->packages, options, dir, tool->progress,
				tool->data, error)) {
		json_object_unref(request);
		return FALSE;
	}
	lab_disk_said_part(&said, "packages", begin);
	return lab_disk_tool_run(tool, request, what, &said, error) && lab_dir_remove(tar, error) &&
	       lab_disk_describe(dir, m->recipe->name, m->key, said.root ? said.root : "", &said,
				 error);
}

/* The recipe's packages and the system's, each once. */
static char **wanted_packages(const LabImageRecipe *recipe)
{
	g_autoptr(GStrvBuilder) all = g_strv_builder_new();

	g_strv_builder_addv(all, (const char **)recipe->packages);
	for (const char *const *p = system_packages; *p; p++)
		if (!g_strv_contains((const char *const *)recipe->packages, *p))
			g_strv_builder_add(all, *p);
	return g_strv_builder_end(all);
}

static char *key_of(const Make *m)
{
	g_autofree char *what = meaning(m->recipe, m->options);
	g_autoptr(GString) text = g_string_new(what);

	for (guint i = 0; i < m->packages->len; i++) {
		const LabAptPackage *p = m->packages->pdata[i];

		g_string_append_printf(text, "%s %s %s\n", p->name, p->version, p->sha256);
	}
	return lab_digest_data(text->str, (gssize)text->len);
}

static char *get_of_recipe(Make *m, gboolean *made, GError **error)
{
	const LabImageRecipe *recipe = m->recipe;
	g_autoptr(LabApt) apt =
		lab_apt_open(m->tool->cache, recipe->suite, TRUE, &recipe->suite_origin, error);
	g_auto(GStrv) wanted = wanted_packages(recipe);
	g_autoptr(GPtrArray) packages = NULL;
	g_autofree char *key = NULL, *text = meaning(recipe, m->options), *dir = NULL;

	if (!apt || !lab_apt_refresh(apt, LAB_MEANING_MAX_AGE_S, NULL, error) ||
	    !lab_image_check_packages(apt, recipe, error) ||
	    !(packages = lab_apt_solve(apt, (const char *const *)wanted, error)))
		return NULL;
	m->apt = apt;
	m->packages = packages;
	m->key = key = key_of(m);
	dir = lab_cache_get(m->tool->cache, LAB_DISK_KIND, key, make_disk, m, made, error);
	m->key = NULL;
	return dir && lab_meaning_set(m->tool->cache, POINTER_KIND, text, key, error)
		       ? g_steal_pointer(&dir)
		       : NULL;
}

/* ---- somebody's -------------------------------------------------------------------------------- */

static const char *format_of(const char *path)
{
	static const char qcow2[] = {'Q', 'F', 'I', (char)0xfb};
	char start[sizeof qcow2] = {0};
	FILE *file = fopen(path, "re");
	gboolean whole = file && fread(start, sizeof start, 1, file) == 1;

	if (file)
		fclose(file);
	return whole && !memcmp(start, qcow2, sizeof qcow2) ? "qcow2" : "raw";
}

static char *digest_of(LabDiskTool *tool, const LabImageRecipe *recipe, GError **error)
{
	g_autofree char *text = NULL, *key = NULL, *seen = NULL, *dir = NULL, *digest = NULL;
	struct stat st;

	if (stat(recipe->disk, &st) < 0 || !S_ISREG(st.st_mode)) {
		lab_error_set_at(error, &recipe->suite_origin,
				 "wanted a disk image, found none: %s", recipe->disk);
		return NULL;
	}
	text = g_strdup_printf("%s %ju %ju %jd %jd.%09ld %jd.%09ld", recipe->disk,
			       (uintmax_t)st.st_dev, (uintmax_t)st.st_ino, (intmax_t)st.st_size,
			       (intmax_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
			       (intmax_t)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
	key = lab_digest_data(text, -1);
	seen = lab_cache_path(tool->cache, SEEN_KIND, key);
	digest = lab_file_read(seen, NULL, NULL);
	if (digest)
		return g_steal_pointer(&digest);
	lab_disk_tool_say(tool, "reading %s", recipe->disk);
	dir = g_path_get_dirname(seen);
	digest = lab_digest_file(recipe->disk, error);
	if (!digest || !lab_dir_make(dir, error) || !lab_file_write(seen, digest, -1, error))
		return NULL;
	return g_steal_pointer(&digest);
}

static gboolean adopt(const char *dir, gpointer data, GError **error)
{
	const Make *m = data;
	g_autofree char *path = g_build_filename(dir, LAB_DISK_FILE, NULL);
	g_autofree char *what = g_strdup_printf("image %s", m->recipe->name);
	g_auto(LabDiskSaid) said = {0};
	JsonObject *request;

	if (!lab_qcow2_above(m->recipe->disk, m->format, path, error))
		return FALSE;
	request = json_object_new();
	json_object_set_string_member(request, "verb", "adopt");
	json_object_set_string_member(request, "disk", path);
	return lab_disk_tool_run(m->tool, request, what, &said, error) &&
	       lab_disk_describe(dir, m->recipe->name, m->key, said.root ? said.root : "", &said,
				 error);
}

static char *get_of_somebody(Make *m, gboolean *made, GError **error)
{
	g_autofree char *digest = digest_of(m->tool, m->recipe, error);
	g_autofree char *text =
		digest ? g_strdup_printf(LAYOUT "%s\n%s\n", m->recipe->disk, digest) : NULL;
	g_autofree char *key = text ? lab_digest_data(text, -1) : NULL;
	g_autoptr(GError) local = NULL;
	char *dir;

	if (!key)
		return NULL;
	m->key = key;
	m->format = format_of(m->recipe->disk);
	dir = lab_cache_get(m->tool->cache, LAB_DISK_KIND, key, adopt, m, made, &local);
	m->key = NULL;
	if (g_error_matches(local, LAB_ERROR, LAB_ERROR_USER))
		lab_error_set_at(error, &m->recipe->suite_origin, "%s", local->message);
	else if (local)
		g_propagate_error(error, g_steal_pointer(&local));
	return dir;
}

LabDiskImage *lab_disk_image_get(LabDiskTool *tool, const LabImageRecipe *recipe,
				 const LabDisk *disk, gboolean *made, GError **error)
{
	Make m = {.tool = tool, .recipe = recipe, .options = disk};
	g_autofree char *text = meaning(recipe, disk), *dir = NULL;
	LabDiskImage *image;

	*made = FALSE;
	if (recipe->disk)
		dir = get_of_somebody(&m, made, error);
	else if ((dir = lab_meaning_last(tool->cache, POINTER_KIND, text, LAB_DISK_KIND,
					 tool->offline ? 0 : LAB_MEANING_MAX_AGE_S)))
		;
	else if (tool->offline)
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
			    "the disk of image %s is not in the cache %s, and without the network "
			    "it cannot be built",
			    recipe->name, lab_cache_root(tool->cache));
	else
		dir = get_of_recipe(&m, made, error);
	image = dir ? lab_disk_load(dir, error) : NULL;
	if (!image)
		return NULL;
	g_free(image->name);
	image->name = g_strdup(recipe->name);
	return image;
}
