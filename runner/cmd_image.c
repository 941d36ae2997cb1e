/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "lab/base/digest.h"
#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/base/paths.h"
#include "lab/base/units.h"
#include "lab/build/image.h"
#include "runner/command.h"
#include "runner/print.h"
#include "runner/progress.h"

static gboolean offline, list_json, show_json, show_packages;

static LabCache *open_cache(const CommandContext *context, GError **error)
{
	g_autofree char *root = lab_path_cache(context->cache);

	return lab_cache_open(root, error);
}

static const GOptionEntry build_options[] = {
	{"offline", 0, 0, G_OPTION_ARG_NONE, &offline,
	 "never ask a mirror: only what is in the cache", NULL},
	{NULL},
};

static int build(int argc, char **argv, CommandContext *context, GError **error)
{
	g_autoptr(LabCache) cache = open_cache(context, error);
	g_autoptr(Progress) progress = cache ? progress_new(context->quiet) : NULL;

	if (!cache)
		return COMMAND_FAILED;
	for (int i = 0; i < argc; i++) {
		g_autoptr(LabImageRecipe) recipe = lab_image_recipe_find(argv[i], NULL, error);
		gint64 start = g_get_monotonic_time();
		g_autoptr(LabImage) image = NULL;
		g_autofree char *size = NULL;
		g_autofree char *took = NULL;
		gboolean made = FALSE;

		if (recipe)
			image = lab_image_get(cache, recipe, offline, progress_lab, progress, &made,
					      error);
		if (!image)
			return COMMAND_FAILED;
		progress_clear(progress);
		size = lab_format_bytes(image->bytes);
		took = lab_format_elapsed(g_get_monotonic_time() - start);
		printf("image %s %.*s %s, %s%s\n", image->name, LAB_DIGEST_SHORT, image->digest,
		       size, made ? "built in " : "cached", made ? took : "");
	}
	return 0;
}

static void add_json(JsonBuilder *b, const LabImage *image)
{
	const char *const strings[][2] = {
		{"name", image->name},
		{"suite", image->suite},
		{"digest", image->digest},
		{"recipe_digest", image->recipe_digest},
		{"type", image->type},
		{"path", image->path},
		{"packages", image->packages_path},
	};

	json_builder_begin_object(b);
	for (guint i = 0; i < G_N_ELEMENTS(strings); i++) {
		json_builder_set_member_name(b, strings[i][0]);
		json_builder_add_string_value(b, strings[i][1]);
	}
	json_builder_set_member_name(b, "bytes");
	json_builder_add_int_value(b, (gint64)image->bytes);
	json_builder_set_member_name(b, "made_s");
	json_builder_add_int_value(b, image->made_s);
	json_builder_end_object(b);
}

static char *made_text(const LabImage *image)
{
	g_autoptr(GDateTime) made = g_date_time_new_from_unix_utc(image->made_s);

	return made ? g_date_time_format(made, "%Y-%m-%d %H:%M UTC") : g_strdup("-");
}

static const GOptionEntry list_options[] = {
	{"json", 0, 0, G_OPTION_ARG_NONE, &list_json, "print JSON", NULL},
	{NULL},
};

static int list(int argc, char **argv, CommandContext *context, GError **error)
{
	g_autoptr(LabCache) cache = open_cache(context, error);
	g_autoptr(GPtrArray) images = cache ? lab_image_list(cache, error) : NULL;
	g_autoptr(PrintTable) table =
		print_table_new("NAME", "DIGEST", "SUITE", ">SIZE", "BUILT", NULL);
	g_autoptr(JsonBuilder) b = json_builder_new();

	if (!images)
		return COMMAND_FAILED;
	json_builder_begin_array(b);
	for (guint i = 0; i < images->len; i++) {
		const LabImage *image = images->pdata[i];
		g_autofree char *digest = g_strndup(image->digest, LAB_DIGEST_SHORT);
		g_autofree char *size = lab_format_bytes(image->bytes);
		g_autofree char *made = made_text(image);

		add_json(b, image);
		print_table_add(table, image->name, digest, image->suite, size, made, NULL);
	}
	json_builder_end_array(b);
	if (list_json)
		print_json_builder(b);
	else
		print_table(table);
	return 0;
}

static const GOptionEntry show_options[] = {
	{"json", 0, 0, G_OPTION_ARG_NONE, &show_json, "print JSON", NULL},
	{"packages", 0, 0, G_OPTION_ARG_NONE, &show_packages,
	 "print only the packages: name, version, architecture", NULL},
	{NULL},
};

static int show(int argc, char **argv, CommandContext *context, GError **error)
{
	g_autoptr(LabCache) cache = open_cache(context, error);
	g_autoptr(LabImage) image = cache ? lab_image_open(cache, argv[0], error) : NULL;
	g_autofree char *packages = image ? lab_file_read(image->packages_path, NULL, error) : NULL;
	g_autofree char *size = NULL;
	g_autofree char *made = NULL;

	if (!packages)
		return COMMAND_FAILED;
	if (show_json) {
		g_autoptr(JsonBuilder) b = json_builder_new();

		add_json(b, image);
		print_json_builder(b);
		return 0;
	}
	if (!show_packages) {
		size = lab_format_bytes(image->bytes);
		made = made_text(image);
		printf("name     %s\nsuite    %s\ndigest   %s\nrecipe   %s\nsize     %s (%s)\n"
		       "built    %s\npath     %s\npackages %s\n\n",
		       image->name, image->suite, image->digest, image->recipe_digest, size,
		       image->type, made, image->path, image->packages_path);
	}
	fputs(packages, stdout);
	return 0;
}

static const Command verbs[] = {
	{.name = "build",
	 .arguments = "IMAGE...",
	 .summary = "Build the images of recipes that the cache does not hold yet",
	 .options = build_options,
	 .run = build},
	{.name = "list",
	 .summary = "List the images in the cache, the newest of a name first",
	 .options = list_options,
	 .run = list},
	{.name = "show",
	 .arguments = "IMAGE",
	 .summary = "Show an image of the cache and the packages in it",
	 .description =
		 "IMAGE is the name of a recipe (its newest image) or the start of a digest.",
	 .options = show_options,
	 .run = show},
	{NULL},
};

const Command cmd_image = {
	.name = "image",
	.group = COMMAND_GROUP_INPUTS,
	.order = 30,
	.summary = "Build, list and show images: the guest's user space",
	.description = "An image is a read-only file system made of the packages of a recipe; it "
		       "holds nothing of the host that built it, and comes "
		       "out bit for bit the same wherever the same packages are installed. Mirrors "
		       "and keys are those of the host's apt. A recipe "
		       "is the name of one that comes with numalab, or a file (with a '/' or "
		       "ending in .yaml).\n\n"
		       "Without root, building needs a kernel that allows user namespaces, and the "
		       "package uidmap.",
	.verbs = verbs,
};
COMMAND_REGISTER(cmd_image);
