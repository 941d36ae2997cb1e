/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/kernel_source.h"

#include <string.h>

#include "lab/base/digest.h"
#include "lab/base/file.h"
#include "lab/base/process.h"
#include "lab/build/apt.h"
#include "lab/build/meaning.h"
#include "lab/build/modules.h"

/* ROOT/kernel-spec/SHA256(spec): what a spec meant when a mirror was last asked. */
#define POINTER_KIND "kernel-spec"

#define DEFAULT_PACKAGE "linux-image-amd64"

static void say(LabProgress progress, gpointer data, const char *format, ...) G_GNUC_PRINTF(3, 4);
static void say(LabProgress progress, gpointer data, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list ap;

	if (!progress)
		return;
	va_start(ap, format);
	text = g_strdup_vprintf(format, ap);
	va_end(ap);
	progress(text, -1, data);
}

/* ---- what a spec meant last time ----------------------------------------------------------------
 */

static char *meaning(const LabKernelSpec *spec)
{
	return g_strdup_printf("%s%s/%s=%s", LAB_KERNEL_LAYOUT, spec->suite,
			       spec->package ? spec->package : "",
			       spec->version ? spec->version : "");
}

/* The entry of the kernel that @spec meant at most @max_age_s seconds ago (0: ever), or NULL. */
static char *last_meaning(LabCache *cache, const LabKernelSpec *spec, guint max_age_s)
{
	g_autofree char *text = meaning(spec);

	return lab_meaning_last(cache, POINTER_KIND, text, LAB_KERNEL_KIND, max_age_s);
}

static gboolean remember(LabCache *cache, const LabKernelSpec *spec, const char *key,
			 GError **error)
{
	g_autofree char *text = meaning(spec);

	return lab_meaning_set(cache, POINTER_KIND, text, key, error);
}

/* ---- which packages -----------------------------------------------------------------------------
 */

/* The kernel release in the name of a package ("linux-image-6.1.0-57-amd64"), or NULL
 * ("linux-image-amd64"). Borrowed. */
static const char *release_in(const char *package)
{
	const char *p = package;

	if (!g_str_has_prefix(package, "linux-"))
		return NULL;
	while ((p = strchr(p, '-'))) {
		p++;
		if (g_ascii_isdigit(*p) && strchr(p, '.'))
			return p;
	}
	return NULL;
}

/* "linux-image-6.1.0-57-amd64 (= 6.1.192-3)": name and version (nullable) of a dependency's first
 * alternative */
static void parse_dependency(const char *text, char **name, char **version)
{
	g_autoptr(GRegex) regex = g_regex_new(
		"^\\s*([a-z0-9][a-z0-9+.-]*)(?::any)?\\s*(?:\\(=\\s*([^)\\s]+)\\s*\\))?", 0, 0,
		NULL);
	g_autoptr(GMatchInfo) match = NULL;

	*name = *version = NULL;
	if (!g_regex_match(regex, text, 0, &match))
		return;
	*name = g_match_info_fetch(match, 1);
	*version = g_match_info_fetch(match, 2);
	if (*version && !**version)
		g_clear_pointer(version, g_free);
}

static gboolean has_package(const GPtrArray *packages, const char *name)
{
	for (guint i = 0; i < packages->len; i++)
		if (!strcmp(((LabAptPackage *)packages->pdata[i])->name, name))
			return TRUE;
	return FALSE;
}

/*
 * The package, and those that it depends on for the same kernel release: a kernel may be one
 * package (linux-image-6.1.0-57-amd64) or several (7.x: linux-image-* depends on linux-binary-*,
 * linux-modules-*, linux-base-*).
 */
static gboolean add_package(LabApt *apt, const char *name, const char *version, GPtrArray *packages,
			    GError **error)
{
	LabAptPackage *package = lab_apt_show(apt, name, version, error);
	const char *release = release_in(name);
	g_auto(GStrv) dependencies = NULL;

	if (!package)
		return FALSE;
	if (release)
		g_ptr_array_add(packages, package);
	dependencies = g_strsplit(package->depends, ",", -1);
	if (!release)
		lab_apt_package_free(package); /* a metapackage */
	for (char **d = dependencies; *d; d++) {
		g_autofree char *other = NULL, *other_version = NULL;
		const char *other_release;

		parse_dependency(*d, &other, &other_version);
		other_release = other ? release_in(other) : NULL;
		if (!other_release || (release && strcmp(release, other_release)) ||
		    has_package(packages, other))
			continue;
		if (!add_package(apt, other, other_version, packages, error))
			return FALSE;
	}
	return TRUE;
}

static int by_package_name(gconstpointer a, gconstpointer b)
{
	return strcmp((*(LabAptPackage *const *)a)->name, (*(LabAptPackage *const *)b)->name);
}

static GPtrArray *resolve(LabApt *apt, const LabKernelSpec *spec, GError **error)
{
	g_autoptr(GPtrArray) packages =
		g_ptr_array_new_with_free_func((GDestroyNotify)lab_apt_package_free);
	const char *name = spec->package ? spec->package : DEFAULT_PACKAGE;

	if (!add_package(apt, name, spec->version, packages, error))
		return NULL;
	if (packages->len == 0) {
		lab_error_set_at(error, &spec->origin, "%s in %s is not a package of a kernel",
				 name, spec->suite);
		return NULL;
	}
	g_ptr_array_sort(packages, by_package_name);
	return g_steal_pointer(&packages);
}

static char *key_of(const GPtrArray *packages)
{
	g_autoptr(GString) text = g_string_new(LAB_KERNEL_LAYOUT);

	for (guint i = 0; i < packages->len; i++) {
		const LabAptPackage *p = packages->pdata[i];

		g_string_append_printf(text, "debian %s %s %s\n", p->name, p->version, p->sha256);
	}
	return lab_digest_data(text->str, (gssize)text->len);
}

/* ---- fetch and unpack ---------------------------------------------------------------------------
 */

typedef struct {
	LabApt *apt;
	const LabKernelSpec *spec;
	const GPtrArray *packages;
	LabProgress progress;
	gpointer data;
} Fetch;

/* Packages have boot/vmlinuz-RELEASE or, from 7.x on, usr/lib/modules/RELEASE/vmlinuz; lib/ or
 * usr/lib/. */
static gboolean find_parts(const char *root, LabKernelSource *source, const char *package,
			   GError **error)
{
	g_autofree char *modules = lab_kernel_find_entry(root, "usr/lib/modules", "");

	if (!modules)
		modules = lab_kernel_find_entry(root, "lib/modules", "");
	source->boot = lab_kernel_find_entry(root, "boot", "vmlinuz-");
	source->config = lab_kernel_find_entry(root, "boot", "config-");
	if (modules && !source->boot)
		source->boot = lab_kernel_find_entry(modules, ".", "vmlinuz");
	if (modules && !source->config)
		source->config = lab_kernel_find_entry(modules, ".", "config");
	if (!source->boot) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
			    "%s holds no kernel (boot/vmlinuz-* or lib/modules/*/vmlinuz)",
			    package);
		return FALSE;
	}
	if (!modules)
		return TRUE;
	source->modules_release = g_path_get_basename(modules);
	source->modules = lab_modules_find(modules, error);
	return source->modules != NULL;
}

static gboolean unpack(const char *debs, const char *root, GError **error)
{
	g_autoptr(GDir) dir = g_dir_open(debs, 0, error);
	const char *name;

	if (!dir)
		return FALSE;
	while ((name = g_dir_read_name(dir))) {
		g_autofree char *deb = g_build_filename(debs, name, NULL);
		const char *const argv[] = {"dpkg-deb", "-x", deb, root, NULL};

		if (g_str_has_suffix(name, ".deb") && !lab_process_check(argv, NULL, NULL, error))
			return FALSE;
	}
	return TRUE;
}

static JsonArray *describe(const GPtrArray *packages)
{
	JsonArray *array = json_array_new();

	for (guint i = 0; i < packages->len; i++) {
		const LabAptPackage *p = packages->pdata[i];
		JsonObject *object = json_object_new();

		json_object_set_string_member(object, "name", p->name);
		json_object_set_string_member(object, "version", p->version);
		json_object_set_string_member(object, "sha256", p->sha256);
		json_array_add_object_element(array, object);
	}
	return array;
}

static gboolean make_kernel(const char *dir, gpointer data, GError **error)
{
	Fetch *f = data;
	const LabAptPackage *first = f->packages->pdata[0];
	g_autofree char *debs = g_build_filename(dir, "debs", NULL);
	g_autofree char *root = g_build_filename(dir, "root", NULL);
	g_auto(LabKernelSource) source = {.movable = TRUE, .version = g_strdup(first->version)};
	guint64 bytes = 0;

	for (guint i = 0; i < f->packages->len; i++)
		bytes += ((LabAptPackage *)f->packages->pdata[i])->bytes;
	say(f->progress, f->data, "fetching %s %s (%" G_GUINT64_FORMAT " MiB)", f->spec->text,
	    first->version, (bytes + (1 << 19)) >> 20);
	if (!lab_dir_make(debs, error) || !lab_dir_make(root, error) ||
	    !lab_apt_download(f->apt, f->packages, debs, error))
		return FALSE;
	say(f->progress, f->data, "unpacking %s %s", f->spec->text, first->version);
	source.packages = describe(f->packages);
	return unpack(debs, root, error) && lab_dir_remove(debs, error) &&
	       find_parts(root, &source, first->name, error) &&
	       lab_kernel_install(&source, f->spec->text, dir, error) &&
	       lab_dir_remove(root, error);
}

LabKernel *lab_kernel_get_debian(LabCache *cache, const LabKernelSpec *spec, gboolean offline,
				 LabProgress progress, gpointer data, gboolean *fetched,
				 GError **error)
{
	/* one version of one package: what it means never changes */
	gboolean fixed = spec->package && spec->version;
	g_autofree char *dir = last_meaning(cache, spec, offline || fixed ? 0 : LAB_MEANING_MAX_AGE_S);
	g_autoptr(LabApt) apt = NULL;
	g_autoptr(GPtrArray) packages = NULL;
	g_autofree char *key = NULL;
	Fetch fetch = {.spec = spec, .progress = progress, .data = data};

	if (dir)
		return lab_kernel_load(dir, spec->text, error);
	if (offline) {
		g_set_error(
			error, LAB_ERROR, LAB_ERROR_INFRA,
			"%s is not in the cache %s, and without the network it cannot be fetched",
			spec->text, lab_cache_root(cache));
		return NULL;
	}
	say(progress, data, "looking for %s", spec->text);
	apt = lab_apt_open(cache, spec->suite, FALSE, &spec->origin, error);
	if (!apt || !lab_apt_refresh(apt, LAB_MEANING_MAX_AGE_S, NULL, error))
		return NULL;
	packages = resolve(apt, spec, error);
	if (!packages)
		return NULL;
	key = key_of(packages);
	fetch.apt = apt;
	fetch.packages = packages;
	dir = lab_cache_get(cache, LAB_KERNEL_KIND, key, make_kernel, &fetch, fetched, error);
	if (!dir || !remember(cache, spec, key, error))
		return NULL;
	return lab_kernel_load(dir, spec->text, error);
}
