/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A topology -> text: canonical, for programs, for people. */
#include "lab/spec/topology.h"

#include "lab/base/units.h"
#include "lab/spec/internal.h"

static void set_int(JsonObject *object, const char *key, gint64 value)
{
	json_object_set_int_member(object, key, value);
}

static JsonObject *cpu_object(const LabTopology *t)
{
	JsonObject *cpu = json_object_new();

	set_int(cpu, "sockets", t->sockets);
	set_int(cpu, "dies", t->dies);
	set_int(cpu, "cores", t->cores);
	set_int(cpu, "threads", t->threads);
	return cpu;
}

static JsonArray *distance_rows(const LabTopology *t)
{
	JsonArray *rows = json_array_new();

	for (guint from = 0; from < t->n_nodes; from++) {
		JsonArray *row = json_array_new();

		for (guint to = 0; to < t->n_nodes; to++)
			json_array_add_int_element(row, lab_topology_distance(t, from, to));
		json_array_add_array_element(rows, row);
	}
	return rows;
}

static JsonArray *node_objects(const LabTopology *t)
{
	JsonArray *nodes = json_array_new();

	for (guint i = 0; i < t->n_nodes; i++) {
		JsonObject *node = json_object_new();
		g_autofree char *cpus = lab_cpuset_format(&t->nodes[i].cpus);
		g_autofree char *memory = lab_format_bytes(t->nodes[i].memory_bytes);

		json_object_set_string_member(node, "cpus", cpus);
		json_object_set_string_member(node, "memory", memory);
		json_array_add_object_element(nodes, node);
	}
	return nodes;
}

static const char *kind_name(const LabTopology *t)
{
	return t->kind == LAB_TOPOLOGY_FAKE ? "fake" : "vnuma";
}

/* Keys and values of a topology file, so that it can be read again by the same checks. */
char *lab_topology_canonical(const LabTopology *t)
{
	JsonObject *o = json_object_new();
	g_autofree char *memory = lab_format_bytes(t->memory_bytes);

	json_object_set_string_member(o, "kind", kind_name(t));
	json_object_set_object_member(o, "cpu", cpu_object(t));
	if (t->kind == LAB_TOPOLOGY_FAKE) {
		set_int(o, "nodes", t->n_nodes);
		set_int(o, "cpus", t->n_cpus);
		json_object_set_string_member(o, "memory", memory);
	} else {
		json_object_set_array_member(o, "nodes", node_objects(t));
		json_object_set_array_member(o, "distances", distance_rows(t));
	}
	return lab_spec_canonical(o);
}

char *lab_topology_json(const LabTopology *t)
{
	g_autoptr(JsonNode) root = json_node_new(JSON_NODE_OBJECT);
	JsonObject *o = json_object_new();
	JsonArray *nodes = node_objects(t);
	g_autofree char *text = NULL;

	for (guint i = 0; i < t->n_nodes; i++) {
		JsonObject *node = json_array_get_object_element(nodes, i);

		set_int(node, "id", i);
		json_object_remove_member(node, "memory");
		set_int(node, "memory_bytes", (gint64)t->nodes[i].memory_bytes);
	}
	json_object_set_string_member(o, "name", t->name);
	json_object_set_string_member(o, "kind", kind_name(t));
	json_object_set_string_member(o, "digest", t->digest);
	set_int(o, "cpus", t->n_cpus);
	json_object_set_object_member(o, "cpu", cpu_object(t));
	set_int(o, "memory_bytes", (gint64)t->memory_bytes);
	json_object_set_array_member(o, "nodes", nodes);
	json_object_set_array_member(o, "distances", distance_rows(t));
	json_node_take_object(root, o);
	text = json_to_string(root, TRUE);
	return g_strconcat(text, "\n", NULL);
}

/* The form of numactl's hardware() and print_distances(), to the spaces at the ends of lines. */
char *lab_topology_hardware_text(const LabTopology *t)
{
	g_autoptr(GString) s = g_string_new(NULL);
	guint n = t->n_nodes;

	g_string_printf(s, n == 1 ? "available: %u nodes (0)\n" : "available: %u nodes (0-%u)\n", n,
			n - 1);
	for (guint i = 0; i < n; i++) {
		g_string_append_printf(s, "node %u cpus:", i);
		LAB_CPUSET_FOREACH (cpu, &t->nodes[i].cpus)
			g_string_append_printf(s, " %u", cpu);
		g_string_append_printf(s, "\nnode %u size: %" G_GUINT64_FORMAT " MB\n", i,
				       t->nodes[i].memory_bytes >> 20);
	}
	g_string_append(s, "node distances:\nnode ");
	for (guint i = 0; i < n; i++)
		g_string_append_printf(s, "% 3d ", (int)i);
	g_string_append_c(s, '\n');
	for (guint from = 0; from < n; from++) {
		g_string_append_printf(s, "% 3d: ", (int)from);
		for (guint to = 0; to < n; to++)
			g_string_append_printf(s, "% 3d ", (int)lab_topology_distance(t, from, to));
		g_string_append_c(s, '\n');
	}
	return g_string_free(g_steal_pointer(&s), FALSE);
}
