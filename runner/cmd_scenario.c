/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "lab/base/digest.h"
#include "lab/base/units.h"
#include "lab/spec/scenario.h"
#include "runner/command.h"
#include "runner/print.h"
#include "runner/shipped.h"

static char **overrides;
static gboolean json, list_json;

static const GOptionEntry check_options[] = {
	{"set", 0, 0, G_OPTION_ARG_STRING_ARRAY, &overrides,
	 "another value for a key, as in steps.xfsrepair.options.bhash=4096; may be repeated",
	 "KEY=VALUE"},
	{"json", 0, 0, G_OPTION_ARG_NONE, &json, "print the canonical form", NULL},
	{NULL},
};

static char *kernels_text(const LabScenario *scenario)
{
	g_autoptr(GString) s = g_string_new(NULL);

	for (guint i = 0; i < scenario->kernels->len; i++) {
		const LabKernelSpec *kernel = scenario->kernels->pdata[i];

		g_string_append_printf(s, "%s%s", i ? ", " : "", kernel->text);
	}
	return g_string_free(g_steal_pointer(&s), FALSE);
}

static char *seeds_text(const LabScenario *scenario)
{
	g_autoptr(GString) s = g_string_new(NULL);

	for (guint i = 0; i < scenario->n_seeds; i++)
		g_string_append_printf(s, "%s%" G_GUINT64_FORMAT, i ? ", " : "",
				       scenario->seeds[i]);
	return g_string_free(g_steal_pointer(&s), FALSE);
}

static void print_disk(const LabScenario *scenario)
{
	const LabDisk *disk = &scenario->disk;
	g_autofree char *size = lab_format_bytes(disk->bytes);

	if (scenario->boot == LAB_BOOT_DIRECT)
		return;
	printf("disk      bootloader %s, cache %s, io %s", disk->bootloader, disk->cache, disk->io);
	if (!scenario->image->disk)
		printf(", root %s of %s", disk->root, size);
	printf("\n");
}

static void print_sweep(const LabScenario *scenario, guint key)
{
	g_autoptr(GPtrArray) values = g_ptr_array_new();
	g_autofree char *text = NULL;

	for (guint i = 0; i < scenario->points->len; i++) {
		char *value = ((const LabPoint *)scenario->points->pdata[i])->values[key];

		if (!g_ptr_array_find_with_equal_func(values, value, g_str_equal, NULL))
			g_ptr_array_add(values, value);
	}
	g_ptr_array_add(values, NULL);
	text = g_strjoinv(", ", (char **)values->pdata);
	printf("%s%s: %s\n", key ? "          " : "sweep     ", scenario->sweep[key], text);
}

static void print_machine(const LabScenario *scenario)
{
	const LabTopology *t = scenario->topology;
	g_autofree char *memory = lab_format_bytes(t->memory_bytes);
	g_autofree char *kernels = kernels_text(scenario);
	g_autofree char *seeds = seeds_text(scenario);
	g_autofree char *packages = g_strjoinv(" ", scenario->image->packages);
	g_autofree char *modules = g_strjoinv(", ", scenario->modules);
	g_autofree char *files = scenario->files ? print_clean(scenario->files) : NULL;

	printf("topology  %s (%s: %u nodes, %u CPUs, %s)\n", t->name,
	       t->kind == LAB_TOPOLOGY_FAKE ? "fake" : "vnuma", t->n_nodes, t->n_cpus, memory);
	if (scenario->image->disk) {
		g_autofree char *disk = print_clean(scenario->image->disk);

		printf("image     %s\n", disk);
	} else {
		printf("image     %s (%s: %s)\n", scenario->image->name, scenario->image->suite,
		       packages);
	}
	printf("kernels   %s\n", kernels);
	if (*scenario->modules)
		printf("modules   %s\n", modules);
	if (scenario->files)
		printf("files     %s\n", files);
	printf("clock     %s\n", lab_clock_name(scenario->clock));
	print_disk(scenario);
	for (guint i = 0; scenario->sweep[i]; i++)
		print_sweep(scenario, i);
	printf("boots     %u (seeds %s)\n",
	       scenario->kernels->len * scenario->n_seeds * MAX(scenario->points->len, 1), seeds);
	if (scenario->scratch_bytes) {
		g_autofree char *scratch = lab_format_bytes(scenario->scratch_bytes);

		printf("scratch   %s\n", scratch);
	}
}

static void print_settings(const LabScenario *scenario)
{
	for (guint i = 0; i < scenario->settings->len; i++) {
		const LabSetting *setting = scenario->settings->pdata[i];
		g_autofree char *value = print_clean(setting->value);

		printf("%s%s = %s\n", i ? "          " : "settings  ", setting->name, value);
	}
}

static void add_steps(PrintTable *table, const char *phase, const GPtrArray *steps)
{
	for (guint i = 0; i < steps->len; i++) {
		const LabStep *step = steps->pdata[i];
		g_autofree char *argv = g_strjoinv(" ", step->argv);

		print_table_add(table, phase, step->name, step->measure ? "yes" : "no", step->verb,
				argv, NULL);
	}
}

static void print_scenario(const LabScenario *scenario)
{
	g_autoptr(PrintTable) steps =
		print_table_new("PHASE", "STEP", "MEASURED", "VERB", "ARGUMENTS", NULL);

	printf("scenario  %s (%.*s)\n", scenario->name, LAB_DIGEST_SHORT, scenario->digest);
	print_machine(scenario);
	print_settings(scenario);
	add_steps(steps, scenario->prepare_fresh ? "each boot" : "prepare", scenario->prepare);
	add_steps(steps, "each boot", scenario->steps);
	printf("\n");
	print_table(steps);
}

static int check(int argc, char **argv, CommandContext *context, GError **error)
{
	g_autoptr(LabScenario) scenario =
		lab_scenario_find(argv[0], (const char *const *)overrides, error);

	if (!scenario)
		return COMMAND_FAILED;
	if (json)
		puts(scenario->canonical);
	else
		print_scenario(scenario);
	return 0;
}

static const GOptionEntry list_options[] = {
	{"json", 0, 0, G_OPTION_ARG_NONE, &list_json, "print JSON", NULL},
	{NULL},
};

static void add_json(JsonBuilder *b, const LabScenario *scenario)
{
	const char *members[][2] = {
		{"name", scenario->name},
		{"about", scenario->about ? scenario->about : ""},
		{"topology", scenario->topology->name},
		{"image", scenario->image->name},
		{"clock", lab_clock_name(scenario->clock)},
		{"boot", lab_boot_kind_name(scenario->boot)},
		{"path", scenario->path},
		{"digest", scenario->digest},
	};

	json_builder_begin_object(b);
	for (gsize i = 0; i < G_N_ELEMENTS(members); i++) {
		json_builder_set_member_name(b, members[i][0]);
		json_builder_add_string_value(b, members[i][1]);
	}
	json_builder_end_object(b);
}

static int list(int argc, char **argv, CommandContext *context, GError **error)
{
	g_auto(GStrv) names = shipped_names("scenarios");
	g_autoptr(PrintTable) table = print_table_new("NAME", "TOPOLOGY", "CLOCK", "ABOUT", NULL);
	g_autoptr(JsonBuilder) b = json_builder_new();

	json_builder_begin_array(b);
	for (char **n = names; *n; n++) {
		g_autofree char *path = shipped_path("scenarios", *n);
		g_autoptr(LabScenario) scenario = lab_scenario_load(path, NULL, error);

		if (!scenario)
			return COMMAND_FAILED;
		add_json(b, scenario);
		print_table_add(table, scenario->name, scenario->topology->name,
				lab_clock_name(scenario->clock),
				scenario->about ? scenario->about : "", NULL);
	}
	json_builder_end_array(b);
	if (list_json)
		print_json_builder(b);
	else
		print_table(table);
	return 0;
}

static const Command verbs[] = {
	{.name = "check",
	 .arguments = "SCENARIO",
	 .summary = "Check a scenario and all that it names, and show what would be run",
	 .description = "Nothing is fetched or started: whether the kernels and packages exist, "
			"and whether "
			"a kernel has what the scenario needs, is found by 'numalab run' before "
			"its first boot.",
	 .options = check_options,
	 .run = check},
	{.name = "list",
	 .summary = "List the scenarios that come with numalab",
	 .options = list_options,
	 .run = list},
	{NULL},
};

const Command cmd_scenario = {
	.name = "scenario",
	.group = COMMAND_GROUP_INPUTS,
	.order = 10,
	.summary = "Check and list scenarios: what a run boots, and what it does there",
	.description = "SCENARIO is the name of one that comes with numalab, or a file (with a '/' "
		       "or ending in "
		       ".yaml). The whole file is checked, and the topology and the image that it "
		       "names; the "
		       "first error is told with line and column.",
	.verbs = verbs,
};
COMMAND_REGISTER(cmd_scenario);
