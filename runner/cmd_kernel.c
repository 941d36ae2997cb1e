/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "lab/base/digest.h"
#include "lab/base/paths.h"
#include "lab/base/units.h"
#include "lab/build/kernel.h"
#include "lab/spec/kernel.h"
#include "runner/command.h"
#include "runner/print.h"
#include "runner/progress.h"

static gboolean offline, json, list_json;

static const GOptionEntry add_options[] = {
	{"offline", 0, 0, G_OPTION_ARG_NONE, &offline, "never ask a mirror", NULL},
	{NULL},
};

static LabCache *open_cache(CommandContext *context, GError **error)
{
	g_autofree char *root = lab_path_cache(context->cache);

	return lab_cache_open(root, error);
}

static LabKernel *get(LabCache *cache, const char *text, CommandContext *context, gboolean *fetched,
		      GError **error)
{
	g_autoptr(LabKernelSpec) spec = lab_kernel_spec_parse(text, NULL, NULL, error);
	g_autoptr(Progress) progress = spec ? progress_new(context->quiet) : NULL;

	return spec ? lab_kernel_get(cache, spec, offline, progress_lab, progress, fetched, error)
		    : NULL;
}

static int add(int argc, char **argv, CommandContext *context, GError **error)
{
	g_autoptr(LabCache) cache = open_cache(context, error);

	if (!cache)
		return COMMAND_FAILED;
	for (int i = 0; i < argc; i++) {
		g_autoptr(LabKernel) kernel = NULL;
		gboolean fetched = FALSE;

		kernel = get(cache, argv[i], context, &fetched, error);
		if (!kernel)
			return COMMAND_FAILED;
		printf("%s: %s %.*s %s\n", kernel->text, kernel->release, LAB_DIGEST_SHORT,
		       kernel->digest, fetched ? "fetched" : "in the cache");
	}
	return 0;
}

static void add_string(JsonBuilder *b, const char *name, const char *value)
{
	json_builder_set_member_name(b, name);
	if (value)
		json_builder_add_string_value(b, value);
	else
		json_builder_add_null_value(b);
}

static void add_json(JsonBuilder *b, const LabKernel *kernel)
{
	json_builder_begin_object(b);
	add_string(b, "digest", kernel->digest);
	add_string(b, "kernel", kernel->text);
	add_string(b, "release", kernel->release);
	add_string(b, "version", kernel->version);
	add_string(b, "build_id", kernel->build_id);
	add_string(b, "boot_path", kernel->boot_path);
	json_builder_set_member_name(b, "pvh");
	json_builder_add_boolean_value(b, kernel->pvh);
	add_string(b, "config_path", kernel->config_path);
	add_string(b, "modules_path", kernel->modules_path);
	json_builder_set_member_name(b, "bytes");
	json_builder_add_int_value(b, (gint64)kernel->bytes);
	json_builder_end_object(b);
}

static const GOptionEntry list_options[] = {
	{"json", 0, 0, G_OPTION_ARG_NONE, &list_json, "print JSON", NULL},
	{NULL},
};

static int list(int argc, char **argv, CommandContext *context, GError **error)
{
	g_autoptr(LabCache) cache = open_cache(context, error);
	g_autoptr(GPtrArray) kernels = cache ? lab_kernel_list(cache, error) : NULL;
	g_autoptr(PrintTable) table =
		print_table_new("DIGEST", "RELEASE", "VERSION", "ENTRY", ">SIZE", "KERNEL", NULL);
	g_autoptr(JsonBuilder) b = json_builder_new();

	if (!kernels)
		return COMMAND_FAILED;
	json_builder_begin_array(b);
	for (guint i = 0; i < kernels->len; i++) {
		const LabKernel *kernel = kernels->pdata[i];
		g_autofree char *digest = g_strndup(kernel->digest, LAB_DIGEST_SHORT);
		g_autofree char *size = print_size(kernel->bytes);

		add_json(b, kernel);
		print_table_add(table, digest, kernel->release,
				*kernel->version ? kernel->version : "-",
				kernel->pvh ? "PVH" : "bzImage", size, kernel->text, NULL);
	}
	json_builder_end_array(b);
	if (list_json)
		print_json_builder(b);
	else
		print_table(table);
	return 0;
}

static const GOptionEntry show_options[] = {
	{"json", 0, 0, G_OPTION_ARG_NONE, &json, "print JSON", NULL},
	{NULL},
};

/* A spec as it is written in scenarios, taken from the cache; or the start of a digest. */
static LabKernel *find(LabCache *cache, const char *text, GError **error)
{
	g_autoptr(LabKernelSpec) spec = NULL;

	if (!strchr(text, ':'))
		return lab_kernel_open(cache, text, error);
	spec = lab_kernel_spec_parse(text, NULL, NULL, error);
	return spec ? lab_kernel_get(cache, spec, TRUE, NULL, NULL, NULL, error) : NULL;
}

static void show_one(const LabKernel *kernel)
{
	g_autofree char *size = print_size(kernel->bytes);

	printf("digest    %s\nkernel    %s\nrelease   %s\n", kernel->digest, kernel->text,
	       kernel->release);
	if (*kernel->version)
		printf("version   %s\n", kernel->version);
	printf("build id  %s\n", *kernel->build_id ? kernel->build_id : "unknown");
	printf("boots     %s (%s)\n", kernel->boot_path, kernel->pvh ? "by PVH" : "bzImage");
	printf("config    %s\n", kernel->config_path ? kernel->config_path : "unknown");
	printf("modules   %s\nsize      %s\n", kernel->modules_path, size);
}

static int show(int argc, char **argv, CommandContext *context, GError **error)
{
	g_autoptr(LabCache) cache = open_cache(context, error);
	g_autoptr(GPtrArray) kernels =
		g_ptr_array_new_with_free_func((GDestroyNotify)lab_kernel_free);
	g_autoptr(JsonBuilder) b = json_builder_new();

	for (int i = 0; cache && i < argc; i++) {
		LabKernel *kernel = find(cache, argv[i], error);

		if (!kernel)
			return COMMAND_FAILED;
		g_ptr_array_add(kernels, kernel);
	}
	if (!cache)
		return COMMAND_FAILED;
	json_builder_begin_array(b);
	for (guint i = 0; i < kernels->len; i++) {
		add_json(b, kernels->pdata[i]);
		if (json)
			continue;
		if (i)
			putchar('\n');
		show_one(kernels->pdata[i]);
	}
	json_builder_end_array(b);
	if (json)
		print_json_builder(b);
	return 0;
}

static const Command verbs[] = {
	{.name = "add",
	 .arguments = "KERNEL...",
	 .summary = "Fetch kernels, or read them, into the cache",
	 .options = add_options,
	 .run = add},
	{.name = "list",
	 .summary = "List the kernels in the cache",
	 .options = list_options,
	 .run = list},
	{.name = "show",
	 .arguments = "KERNEL...",
	 .summary = "Show kernels in the cache: release, build id, where their parts are",
	 .options = show_options,
	 .run = show},
	{NULL},
};

const Command cmd_kernel = {
	.name = "kernel",
	.group = COMMAND_GROUP_INPUTS,
	.order = 40,
	.summary = "Fetch, list and show kernels",
	.description =
		"KERNEL is what a scenario has: debian:SUITE (bullseye, bookworm, "
		"bookworm-backports, trixie, sid, "
		"...), the kernel that a user of the suite would get today, security updates and "
		"all; "
		"debian:SUITE/PACKAGE or debian:SUITE/PACKAGE=VERSION; or dir:PATH, a build tree "
		"or a directory "
		"with vmlinuz, config and modules. For show it may be the start of a digest.\n\n"
		"Debian's packages are fetched by apt from the host's mirrors with the host's "
		"keys; nothing is "
		"installed, and apt's state on the host stays as it is. The index of a suite is "
		"asked for again "
		"after an hour.",
	.verbs = verbs,
};
COMMAND_REGISTER(cmd_kernel);
