/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "lab/base/error.h"
#include "lab/base/units.h"
#include "lab/spec/topology.h"
#include "runner/command.h"
#include "runner/print.h"
#include "runner/shipped.h"

static gboolean json, list_json;

static const GOptionEntry show_options[] = {
	{"json", 0, 0, G_OPTION_ARG_NONE, &json, "print JSON", NULL},
	{NULL},
};

static int show(int argc, char **argv, CommandContext *context, GError **error)
{
	g_autoptr(LabTopology) topology = lab_topology_find(argv[0], NULL, error);
	g_autofree char *text = NULL;

	if (!topology)
		return COMMAND_FAILED;
	text = json ? lab_topology_json(topology) : lab_topology_hardware_text(topology);
	fputs(text, stdout);
	if (!g_str_has_suffix(text, "\n"))
		putchar('\n');
	return 0;
}

static const char *kind_name(const LabTopology *topology)
{
	return topology->kind == LAB_TOPOLOGY_FAKE ? "fake" : "vnuma";
}

static void add_json(JsonBuilder *b, const LabTopology *topology)
{
	json_builder_begin_object(b);
	json_builder_set_member_name(b, "name");
	json_builder_add_string_value(b, topology->name);
	json_builder_set_member_name(b, "kind");
	json_builder_add_string_value(b, kind_name(topology));
	json_builder_set_member_name(b, "nodes");
	json_builder_add_int_value(b, topology->n_nodes);
	json_builder_set_member_name(b, "cpus");
	json_builder_add_int_value(b, topology->n_cpus);
	json_builder_set_member_name(b, "memory_bytes");
	json_builder_add_int_value(b, (gint64)topology->memory_bytes);
	json_builder_set_member_name(b, "digest");
	json_builder_add_string_value(b, topology->digest);
	json_builder_set_member_name(b, "about");
	json_builder_add_string_value(b, topology->about ? topology->about : "");
	json_builder_end_object(b);
}

static void add_row(PrintTable *table, const LabTopology *topology)
{
	g_autofree char *nodes = g_strdup_printf("%u", topology->n_nodes);
	g_autofree char *cpus = g_strdup_printf("%u", topology->n_cpus);
	g_autofree char *memory = lab_format_bytes(topology->memory_bytes);

	print_table_add(table, topology->name, kind_name(topology), nodes, cpus, memory,
			topology->about ? topology->about : "", NULL);
}

static const GOptionEntry list_options[] = {
	{"json", 0, 0, G_OPTION_ARG_NONE, &list_json, "print JSON", NULL},
	{NULL},
};

static int list(int argc, char **argv, CommandContext *context, GError **error)
{
	g_auto(GStrv) names = shipped_names("topologies");
	g_autoptr(PrintTable) table =
		print_table_new("NAME", "KIND", ">NODES", ">CPUS", ">MEMORY", "ABOUT", NULL);
	g_autoptr(JsonBuilder) b = json_builder_new();

	json_builder_begin_array(b);
	for (char **n = names; *n; n++) {
		g_autofree char *path = shipped_path("topologies", *n);
		g_autoptr(LabTopology) topology = lab_topology_load(path, error);

		if (!topology)
			return COMMAND_FAILED;
		add_json(b, topology);
		add_row(table, topology);
	}
	json_builder_end_array(b);
	if (list_json)
		print_json_builder(b);
	else
		print_table(table);
	return 0;
}

static const Command verbs[] = {
	{.name = "show",
	 .arguments = "TOPOLOGY",
	 .summary = "Check a topology and show the machine as 'numactl -H' would",
	 .options = show_options,
	 .run = show},
	{.name = "list",
	 .summary = "List the topologies that come with numalab",
	 .options = list_options,
	 .run = list},
	{NULL},
};

const Command cmd_topology = {
	.name = "topology",
	.group = COMMAND_GROUP_INPUTS,
	.order = 20,
	.summary = "Check and show topologies: nodes, CPUs, memory, distances",
	.description =
		"TOPOLOGY is the name of one that comes with numalab, or a file (with a '/' or "
		"ending in "
		".yaml). The whole file is checked; the first error is told with line and column.",
	.verbs = verbs,
};
COMMAND_REGISTER(cmd_topology);
