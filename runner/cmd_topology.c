/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "lab/base/error.h"
#include "lab/base/units.h"
#include "lab/guest/boot.h"
#include "lab/guest/domain.h"
#include "lab/spec/topology.h"
#include "runner/command.h"
#include "runner/print.h"
#include "runner/shipped.h"

#define EXAMPLE_RESULTS_BYTES (16u << 20)

static gboolean json, list_json, xml, qemu_args;

static const GOptionEntry show_options[] = {
	{"json", 0, 0, G_OPTION_ARG_NONE, &json, "print JSON", NULL},
	{"xml", 0, 0, G_OPTION_ARG_NONE, &xml, "print libvirt's domain", NULL},
	{"args", 0, 0, G_OPTION_ARG_NONE, &qemu_args, "print QEMU's arguments, one a line", NULL},
	{NULL},
};

/* A boot of this topology: what it does not decide is a stand-in. */
static LabBootJob *example_job(LabTopology *topology)
{
	LabBootJob *job = g_new0(LabBootJob, 1);
	char *emulator = g_find_program_in_path("qemu-system-x86_64");

	job->id = g_strdup(topology->name);
	job->topology = topology;
	job->clock = LAB_CLOCK_EXACT;
	job->seed = 1;
	job->kernel_path = g_strdup("/KERNEL/vmlinux");
	job->initrd_path = g_strdup("initrd");
	job->console_quiet = TRUE;
	job->results_bytes = EXAMPLE_RESULTS_BYTES;
	job->emulator = emulator ? emulator : g_strdup("/usr/bin/qemu-system-x86_64");
	return job;
}

static char *domain_text(LabTopology *topology, GError **error)
{
	g_autoptr(LabBootJob) job = example_job(topology);
	g_autofree char *domain = lab_domain_xml(job, "/BOOT", &(LabDomainHost){0}, error);

	if (!domain || xml)
		return g_steal_pointer(&domain);
	return lab_domain_qemu_args(domain, error);
}

static int show(int argc, char **argv, CommandContext *context, GError **error)
{
	g_autoptr(LabTopology) topology = NULL;
	g_autofree char *text = NULL;

	if (json + xml + qemu_args > 1) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "topology show: wanted one of --json, --xml and --args");
		return COMMAND_FAILED;
	}
	topology = lab_topology_find(argv[0], NULL, error);
	if (!topology)
		return COMMAND_FAILED;
	if (xml || qemu_args)
		text = domain_text(g_steal_pointer(&topology), error);
	else
		text = json ? lab_topology_json(topology) : lab_topology_hardware_text(topology);
	if (!text)
		return COMMAND_FAILED;
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
	 .description = "With --xml or --args it is shown as a boot of it gets it, under the exact "
			"clock with "
			"seed 1, without image and scratch device; /KERNEL and /BOOT stand for the "
			"kernel and "
			"the boot's directory.",
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
