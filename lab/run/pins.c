/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/run/pins.h"

#include <json-glib/json-glib.h>
#include <string.h>

#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/base/json.h"

static char *pins_path(const LabRun *run)
{
	return g_build_filename(run->dir, "pins.json", NULL);
}

/* "debian:bookworm" -> "debian:bookworm/linux-image-6.1.0-57-amd64=6.1.192-1": what it was on the
 * day of the run. */
static char *pin(const LabKernel *kernel)
{
	g_auto(GStrv) parts = g_strsplit(kernel->text, "/", 2);

	if (!g_str_has_prefix(kernel->text, "debian:") || !*kernel->version)
		return g_strdup(kernel->text);
	return g_strdup_printf("%s/linux-image-%s=%s", parts[0], kernel->release, kernel->version);
}

static void add_strings(JsonBuilder *b, const char *name, char **strings)
{
	json_builder_set_member_name(b, name);
	json_builder_begin_array(b);
	for (; strings && *strings; strings++)
		json_builder_add_string_value(b, *strings);
	json_builder_end_array(b);
}

gboolean lab_pins_write(const LabRun *run, const GPtrArray *kernels, const LabScenario *scenario,
			GError **error)
{
	g_autofree char *path = pins_path(run);
	g_autoptr(JsonBuilder) b = json_builder_new();
	g_autoptr(GPtrArray) pins = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(JsonNode) root = NULL;
	g_autofree char *text = NULL;

	for (guint i = 0; i < kernels->len; i++)
		g_ptr_array_add(pins, pin(g_ptr_array_index(kernels, i)));
	g_ptr_array_add(pins, NULL);
	json_builder_begin_object(b);
	add_strings(b, "kernels", (char **)pins->pdata);
	add_strings(b, "overrides", scenario->overrides);
	json_builder_set_member_name(b, "scenario_path");
	json_builder_add_string_value(b, scenario->path);
	if (scenario->files) {
		json_builder_set_member_name(b, "files");
		json_builder_add_string_value(b, scenario->files);
	}
	json_builder_end_object(b);
	root = json_builder_get_root(b);
	text = json_to_string(root, TRUE);
	return lab_file_write(path, text, -1, error);
}

static JsonObject *read_pins(const LabRun *run, GError **error)
{
	g_autofree char *path = pins_path(run);

	return lab_json_read(path, LAB_ERROR_INFRA, error);
}

GPtrArray *lab_pins_kernels(const LabRun *run, GError **error)
{
	g_autoptr(JsonObject) pins = read_pins(run, error);
	g_autoptr(GPtrArray) specs =
		g_ptr_array_new_with_free_func((GDestroyNotify)lab_kernel_spec_free);
	g_auto(GStrv) texts = NULL;

	if (!pins)
		return NULL;
	texts = lab_json_strings(pins, "kernels");
	for (char **t = texts; *t; t++) {
		LabKernelSpec *spec = lab_kernel_spec_parse(*t, NULL, NULL, error);

		if (!spec)
			return NULL;
		g_ptr_array_add(specs, spec);
	}
	return g_steal_pointer(&specs);
}

GPtrArray *lab_run_judge(const LabRun *run, GError **error)
{
	g_autofree char *path = g_build_filename(run->dir, "scenario.yaml", NULL);
	g_autofree char *text = lab_file_read(path, NULL, error);
	/* A run that was stopped early may not have them yet. */
	g_autoptr(JsonObject) pins = read_pins(run, NULL);
	g_auto(GStrv) overrides = pins ? lab_json_strings(pins, "overrides") : NULL;

	if (!text)
		return NULL;
	if (!*text)
		return g_ptr_array_new_with_free_func((GDestroyNotify)lab_judge_free);
	return lab_scenario_judge(text, path, (const char *const *)overrides, error);
}

LabScenario *lab_pins_scenario(const LabRun *run, GError **error)
{
	g_autoptr(JsonObject) pins = read_pins(run, error);
	g_autofree char *copy = g_build_filename(run->dir, "scenario.yaml", NULL);
	g_auto(GStrv) overrides = NULL;
	const char *places[2];

	if (!pins)
		return NULL;
	overrides = lab_json_strings(pins, "overrides");
	/* The run's own copy names shipped topologies and recipes; files beside the original are
	 * found from there. */
	places[0] = copy;
	places[1] = json_object_get_string_member_with_default(pins, "scenario_path", "");
	for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
		g_autoptr(LabScenario) scenario =
			lab_scenario_load(places[i], (const char *const *)overrides, NULL);

		if (!scenario || strcmp(scenario->digest, run->plan->scenario_digest))
			continue;
		/* A relative path of the copy would start from the copy. */
		g_clear_pointer(&scenario->files, g_free);
		if (json_object_has_member(pins, "files"))
			scenario->files = lab_json_string(pins, "files");
		return g_steal_pointer(&scenario);
	}
	g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
		    "run %u cannot be made again: its scenario, topology or image recipe is no "
		    "longer what it was "
		    "(looked at %s and %s)",
		    run->id, places[0], places[1]);
	return NULL;
}
