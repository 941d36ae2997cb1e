/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The key pin: what of it contradicts the topology is an error of the file. Whether the host has it is asked later. */
#include "lab/spec/scenario_parts.h"

#include <string.h>

#include "lab/base/units.h"

struct pin {
	const LabYamlNode *cpus, *emulator, *nodes;
	guint hugepages;
};

static const char *const hugepages[] = {"2MiB", "1GiB", NULL};
static const guint64 hugepage_bytes[] = {2ull << 20, 1ull << 30};

static const LabYamlField pin_fields[] = {
	{"cpus", LAB_YAML_ANY, offsetof(struct pin, cpus)},
	{"emulator", LAB_YAML_ANY, offsetof(struct pin, emulator)},
	{"nodes", LAB_YAML_NODES, offsetof(struct pin, nodes)},
	{"hugepages", LAB_YAML_WORD, offsetof(struct pin, hugepages), .words = hugepages},
	{0},
};

/* A list of numbers, which may repeat, or a CPU list ("2-5"), as "2,3,4,5". NULL with @error set. */
static char *read_numbers(const LabYamlNode *node, guint *count, GError **error)
{
	g_autoptr(GString) s = g_string_new(NULL);
	LabCpuSet set = {0};

	*count = 0;
	if (node->kind == LAB_YAML_LIST) {
		for (guint i = 0; i < node->children->len; i++) {
			guint64 number;

			if (!lab_yaml_uint(node->children->pdata[i], 0, LAB_CPUSET_MAX - 1, &number,
					   error))
				return NULL;
			g_string_append_printf(s, "%s%" G_GUINT64_FORMAT, i ? "," : "", number);
			++*count;
		}
	} else if (node->kind == LAB_YAML_SCALAR && lab_cpuset_parse(node->text, &set, NULL)) {
		LAB_CPUSET_FOREACH (cpu, &set) {
			g_string_append_printf(s, "%s%u", *count ? "," : "", cpu);
			++*count;
		}
	}
	if (*count)
		return g_string_free(g_steal_pointer(&s), FALSE);
	lab_yaml_fail(node, error, "a list of CPUs like [2, 3] or 2-3");
	return NULL;
}

static gboolean read_cpus(const LabYamlNode *node, LabScenario *s, GError **error)
{
	guint count;

	if (!node)
		return TRUE;
	s->pin.cpus_origin = node->origin;
	s->pin.cpus = read_numbers(node, &count, error);
	if (!s->pin.cpus || count == s->topology->n_cpus)
		return s->pin.cpus != NULL;
	lab_error_set_at(error, &node->origin,
			 "wanted a host CPU for each of the guest's %u CPUs, found %u",
			 s->topology->n_cpus, count);
	return FALSE;
}

static gboolean read_emulator(const LabYamlNode *node, LabScenario *s, GError **error)
{
	g_autofree char *numbers = NULL;
	g_autoptr(GArray) list = NULL;
	LabCpuSet set = {0};
	guint count;

	if (!node)
		return TRUE;
	numbers = read_numbers(node, &count, error);
	if (!numbers)
		return FALSE;
	list = lab_placement_list(numbers);
	for (guint i = 0; i < list->len; i++)
		lab_cpuset_add(&set, g_array_index(list, guint, i));
	s->pin.emulator = lab_cpuset_format(&set);
	s->pin.emulator_origin = node->origin;
	return TRUE;
}

/* QEMU's own view: with numa=fake it has one node, and past libvirt its nodes have backends of our own. */
static gboolean check_nodes(const LabYamlNode *node, const LabTopology *t, gboolean of_nodes,
			    GError **error)
{
	if (of_nodes && t->kind == LAB_TOPOLOGY_FAKE)
		return lab_yaml_fail(node, error, "a topology of kind vnuma for this");
	for (guint i = 0; t->kind == LAB_TOPOLOGY_VNUMA && i < t->n_nodes; i++) {
		if (t->nodes[i].memory_bytes)
			continue;
		lab_error_set_at(error, &node->origin,
				 "wanted a topology whose nodes all have memory for this, found "
				 "node %u without",
				 i);
		return FALSE;
	}
	return TRUE;
}

static gboolean read_nodes(const LabYamlNode *node, LabScenario *s, GError **error)
{
	guint count;

	if (!node)
		return TRUE;
	s->pin.nodes_origin = node->origin;
	if (!check_nodes(node, s->topology, TRUE, error) ||
	    !(s->pin.nodes = read_numbers(node, &count, error)))
		return FALSE;
	if (count == s->topology->n_nodes)
		return TRUE;
	lab_error_set_at(error, &node->origin,
			 "wanted a host node for each of the guest's %u nodes, found %u",
			 s->topology->n_nodes, count);
	return FALSE;
}

static gboolean read_hugepages(const LabYamlNode *node, guint word, LabScenario *s, GError **error)
{
	const LabTopology *t = s->topology;
	guint64 bytes;

	if (!node)
		return TRUE;
	if (!check_nodes(node, t, FALSE, error))
		return FALSE;
	bytes = hugepage_bytes[word];
	for (guint i = 0; t->kind == LAB_TOPOLOGY_VNUMA && i < t->n_nodes; i++) {
		g_autofree char *memory = lab_format_bytes(t->nodes[i].memory_bytes);

		if (t->nodes[i].memory_bytes % bytes) {
			lab_error_set_at(error, &node->origin,
					 "wanted nodes whose memory is a multiple of %s, found "
					 "node %u with %s",
					 hugepages[word], i, memory);
			return FALSE;
		}
	}
	if (t->memory_bytes % bytes)
		return lab_yaml_fail(node, error,
				     "a size of which the guest's memory is a multiple");
	s->pin.hugepage_bytes = bytes;
	s->pin.hugepages_origin = node->origin;
	return TRUE;
}

gboolean lab_scenario_read_pin(const LabYamlNode *node, LabScenario *s, GError **error)
{
	struct pin pin = {0};

	if (!node)
		return TRUE;
	if (!lab_yaml_read(node, "pin", pin_fields, &pin, error))
		return FALSE;
	if (!node->children->len)
		return lab_yaml_fail(node, error, "cpus, emulator, nodes or hugepages");
	return read_cpus(pin.cpus, s, error) && read_emulator(pin.emulator, s, error) &&
	       read_nodes(pin.nodes, s, error) &&
	       read_hugepages(lab_yaml_get(node, "hugepages"), pin.hugepages, s, error);
}
