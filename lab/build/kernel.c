/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/kernel.h"

#include <json-glib/json-glib.h>
#include <string.h>

#include "lab/base/file.h"
#include "lab/base/json.h"
#include "lab/build/kernel_source.h"

#define MIN_DIGITS 6

void lab_kernel_free(LabKernel *kernel)
{
	if (!kernel)
		return;
	g_free(kernel->digest);
	g_free(kernel->text);
	g_free(kernel->release);
	g_free(kernel->version);
	g_free(kernel->label);
	g_free(kernel->build_id);
	g_free(kernel->dir);
	g_free(kernel->boot_path);
	g_free(kernel->config_path);
	g_free(kernel->modules_path);
	g_free(kernel);
}

char *lab_kernel_find_entry(const char *root, const char *dir, const char *prefix)
{
	g_autofree char *path = g_build_filename(root, dir, NULL);
	g_autoptr(GDir) open = g_dir_open(path, 0, NULL);
	g_autofree char *first = NULL;
	const char *name;

	while (open && (name = g_dir_read_name(open)))
		if (g_str_has_prefix(name, prefix) && (!first || strverscmp(name, first) < 0)) {
			g_free(first);
			first = g_strdup(name);
		}
	return first ? g_build_filename(path, first, NULL) : NULL;
}

LabKernel *lab_kernel_load(const char *dir, const char *text, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "kernel.json", NULL);
	g_autofree char *boot = NULL;
	g_autoptr(JsonObject) object = lab_json_read(path, LAB_ERROR_INFRA, error);
	LabKernel *kernel;

	if (!object)
		return NULL;
	kernel = g_new0(LabKernel, 1);
	kernel->dir = g_strdup(dir);
	kernel->digest = lab_json_string(object, "digest");
	kernel->text = text ? g_strdup(text) : lab_json_string(object, "text");
	kernel->release = lab_json_string(object, "release");
	kernel->version = lab_json_string(object, "version");
	kernel->label = lab_json_string(object, "label");
	kernel->build_id = lab_json_string(object, "build_id");
	kernel->pvh = json_object_get_boolean_member_with_default(object, "pvh", FALSE);
	kernel->bytes = (guint64)json_object_get_int_member_with_default(object, "bytes", 0);
	boot = lab_json_string(object, "boot");
	kernel->boot_path = g_build_filename(dir, boot, NULL);
	if (json_object_get_boolean_member_with_default(object, "config", FALSE))
		kernel->config_path = g_build_filename(dir, "config", NULL);
	kernel->modules_path = g_build_filename(dir, "modules", kernel->release, NULL);
	return kernel;
}

LabKernel *lab_kernel_get(LabCache *cache, const LabKernelSpec *spec, gboolean offline,
			  LabProgress progress, gpointer data, gboolean *fetched, GError **error)
{
	gboolean downloaded = FALSE;
	LabKernel *kernel = spec->kind == LAB_KERNEL_DEBIAN
				    ? lab_kernel_get_debian(cache, spec, offline, progress, data,
							    &downloaded, error)
				    : lab_kernel_get_dir(cache, spec, progress, data, error);

	if (kernel && fetched)
		*fetched = downloaded;
	return kernel;
}

static int by_release(gconstpointer a, gconstpointer b)
{
	const LabKernel *x = *(LabKernel *const *)a, *y = *(LabKernel *const *)b;
	int order = strverscmp(x->release, y->release);

	return order ? order : strcmp(x->digest, y->digest);
}

GPtrArray *lab_kernel_list(LabCache *cache, GError **error)
{
	g_autoptr(GPtrArray) kernels =
		g_ptr_array_new_with_free_func((GDestroyNotify)lab_kernel_free);
	g_auto(GStrv) keys = lab_cache_list(cache, LAB_KERNEL_KIND);

	for (char **key = keys; *key; key++) {
		g_autofree char *dir = lab_cache_lookup(cache, LAB_KERNEL_KIND, *key);
		LabKernel *kernel;

		if (!dir)
			continue; /* removed meanwhile */
		kernel = lab_kernel_load(dir, NULL, error);
		if (!kernel)
			return NULL;
		g_ptr_array_add(kernels, kernel);
	}
	g_ptr_array_sort(kernels, by_release);
	return g_steal_pointer(&kernels);
}

LabKernel *lab_kernel_open(LabCache *cache, const char *digest, GError **error)
{
	g_autoptr(GPtrArray) kernels = NULL;
	LabKernel *found = NULL;

	if (strlen(digest) < MIN_DIGITS) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "wanted at least %d digits of a kernel's digest, found '%s'",
			    MIN_DIGITS, digest);
		return NULL;
	}
	kernels = lab_kernel_list(cache, error);
	if (!kernels)
		return NULL;
	for (guint i = 0; i < kernels->len; i++) {
		LabKernel *kernel = kernels->pdata[i];

		if (!g_str_has_prefix(kernel->digest, digest))
			continue;
		/* two ways to one kernel (a package, and a folder with its files) are one */
		if (found && strcmp(found->digest, kernel->digest) != 0) {
			g_set_error(
				error, LAB_ERROR, LAB_ERROR_USER,
				"'%s' is the start of several kernels: %.12s (%s) and %.12s (%s)",
				digest, found->digest, found->release, kernel->digest,
				kernel->release);
			return NULL;
		}
		if (!found)
			found = kernel;
	}
	if (!found) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "no kernel '%s' in the cache %s",
			    digest, lab_cache_root(cache));
		return NULL;
	}
	return lab_kernel_load(found->dir, NULL, error);
}
