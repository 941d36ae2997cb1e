/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/module_order.h"

#include <libkmod.h>
#include <string.h>

#include "lab/base/file.h"
#include "lab/base/suggest.h"
#include "lab/build/kernel_config.h"

typedef struct {
	const LabKernel *kernel;
	GHashTable *seen;      /* names */
	GStrvBuilder *ordered; /* paths */
} Walk;

/* libkmod logs to stderr by default; its return values say enough. */
static void say_nothing(void *data, int priority, const char *file, int line, const char *function,
			const char *format, va_list ap)
{
}

static struct kmod_ctx *open_modules(const LabKernel *kernel, GError **error)
{
	/* an empty list, so that the host's modprobe.d plays no part; modules.softdep is read all
	 * the same */
	const char *const no_config = NULL;
	struct kmod_ctx *ctx = kmod_new(kernel->modules_path, &no_config);

	if (ctx)
		kmod_set_log_fn(ctx, say_nothing, NULL);
	if (ctx && kmod_load_resources(ctx) >= 0)
		return ctx;
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "%s: cannot read the indices of modules",
		    kernel->modules_path);
	kmod_unref(ctx);
	return NULL;
}

static void visit(Walk *walk, struct kmod_module *module);

static void visit_list(Walk *walk, struct kmod_list *list)
{
	struct kmod_list *item;

	kmod_list_foreach(item, list)
	{
		struct kmod_module *module = kmod_module_get_module(item);

		visit(walk, module);
		kmod_module_unref(module);
	}
	kmod_module_unref_list(list);
}

/* Depth first: soft dependencies, dependencies, the module, what it wants after itself. */
static void visit(Walk *walk, struct kmod_module *module)
{
	struct kmod_list *before = NULL, *after = NULL;
	const char *path = kmod_module_get_path(module);

	if (!g_hash_table_add(walk->seen, g_strdup(kmod_module_get_name(module))))
		return;
	if (kmod_module_get_softdeps(module, &before, &after) < 0)
		before = after = NULL;
	visit_list(walk, before);
	visit_list(walk, kmod_module_get_dependencies(module));
	if (path) /* what is built in has none */
		g_strv_builder_add(walk->ordered, path);
	visit_list(walk, after);
}

/*
 * Trees before 5.2 know only after `make modules_install` what is built in, and a kernel without
 * modules may have no list at all: then the config knows.
 */
static gboolean is_built_in(const LabKernel *kernel, const char *name)
{
	static const struct {
		const char *module, *option;
	} options[] = {
		{"xfs", "XFS_FS"},	  {"erofs", "EROFS_FS"},       {"overlay", "OVERLAY_FS"},
		{"nfit", "ACPI_NFIT"},	  {"nd_pmem", "BLK_DEV_PMEM"}, {"libnvdimm", "LIBNVDIMM"},
		{"ext4", "EXT4_FS"},	  {"brd", "BLK_DEV_RAM"},      {"loop", "BLK_DEV_LOOP"},
		{"squashfs", "SQUASHFS"},
	};

	for (guint i = 0; i < G_N_ELEMENTS(options); i++)
		if (!strcmp(options[i].module, name))
			return lab_kernel_config(kernel, options[i].option) == 'y';
	return FALSE;
}

/* " (did you mean 'X'?)" of the modules there are, or "". Free with g_free(). */
static char *suggestion(const LabKernel *kernel, const char *name)
{
	g_autofree char *path = g_build_filename(kernel->modules_path, "modules.dep", NULL);
	g_autofree char *text = lab_file_read(path, NULL, NULL);
	g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	/* "kernel/fs/xfs/xfs.ko.zst: kernel/lib/libcrc32c.ko.zst" */
	for (char **line = lines; *line; line++) {
		char *end = strstr(*line, ".ko"), *slash;

		if (!end)
			continue;
		*end = 0;
		slash = strrchr(*line, '/');
		g_ptr_array_add(names, g_strdelimit(slash ? slash + 1 : *line, "-", '_'));
	}
	g_ptr_array_add(names, NULL);
	return lab_suggest_text(name, (const char *const *)names->pdata);
}

static gboolean visit_wanted(Walk *walk, struct kmod_ctx *ctx, const char *name, GError **error)
{
	struct kmod_list *list = NULL;
	g_autofree char *suggested = NULL;

	if (kmod_module_new_from_lookup(ctx, name, &list) >= 0 && list) {
		visit_list(walk, list);
		return TRUE;
	}
	if (is_built_in(walk->kernel, name))
		return TRUE;
	suggested = suggestion(walk->kernel, name);
	g_set_error(error, LAB_ERROR, LAB_ERROR_KERNEL,
		    "%s (%s) has no module '%s', built in or not%s", walk->kernel->text,
		    walk->kernel->release, name, suggested);
	return FALSE;
}

char **lab_module_order(const LabKernel *kernel, const char *const *wanted, GError **error)
{
	struct kmod_ctx *ctx = open_modules(kernel, error);
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GStrvBuilder) ordered = g_strv_builder_new();
	Walk walk = {kernel, seen, ordered};
	gboolean ok = ctx != NULL;

	for (; ok && *wanted; wanted++)
		ok = visit_wanted(&walk, ctx, *wanted, error);
	if (ctx) {
		kmod_unload_resources(ctx);
		kmod_unref(ctx);
	}
	return ok ? g_strv_builder_end(ordered) : NULL;
}
