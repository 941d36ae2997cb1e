/* SPDX-License-Identifier: GPL-2.0-or-later */
/* YAML -> a checked topology. */
#include "lab/spec/topology.h"

#include <string.h>

#include "lab/base/digest.h"
#include "lab/base/units.h"
#include "lab/spec/internal.h"

struct raw {
	guint kind;
	const char *name, *about;
	const LabYamlNode *cpu, *nodes, *distances;
	guint64 cpus, memory_bytes;
};

static const char *const kinds[] = {"vnuma", "fake", NULL};

static const LabYamlField topology_fields[] = {
	{"kind", LAB_YAML_WORD, offsetof(struct raw, kind), .required = TRUE, .words = kinds},
	{"name", LAB_YAML_TEXT, offsetof(struct raw, name)},
	{"about", LAB_YAML_TEXT, offsetof(struct raw, about)},
	{"cpu", LAB_YAML_MEMBERS, offsetof(struct raw, cpu)},
	{"cpus", LAB_YAML_UINT, offsetof(struct raw, cpus), .min = 1, .max = LAB_TOPOLOGY_MAX_CPUS},
	{"memory", LAB_YAML_BYTES, offsetof(struct raw, memory_bytes)},
	{"nodes", LAB_YAML_ANY, offsetof(struct raw, nodes), .required = TRUE},
	{"distances", LAB_YAML_NODES, offsetof(struct raw, distances)},
	{0},
};

void lab_topology_free(LabTopology *topology)
{
	if (!topology)
		return;
	g_free(topology->name);
	g_free(topology->about);
	g_free(topology->nodes);
	g_free(topology->distances);
	g_free(topology->canonical);
	g_free(topology->digest);
	g_free(topology);
}

guint lab_topology_distance(const LabTopology *topology, guint from, guint to)
{
	g_return_val_if_fail(from < topology->n_nodes && to < topology->n_nodes, 0);
	return topology->distances[from * topology->n_nodes + to];
}

/* ---- distances ---- */

static gboolean read_distance_row(const LabYamlNode *row, guint from, LabTopology *t,
				  GError **error)
{
	if (row->kind != LAB_YAML_LIST)
		return lab_yaml_fail(row, error, "a list of %u distances", t->n_nodes);
	if (row->children->len != t->n_nodes) {
		lab_error_set_at(error, &row->origin, "wanted %u distances from node %u, found %u",
				 t->n_nodes, from, row->children->len);
		return FALSE;
	}
	for (guint to = 0; to < t->n_nodes; to++) {
		const LabYamlNode *cell = row->children->pdata[to];
		guint64 distance = 0;
		gboolean number = cell->kind == LAB_YAML_SCALAR &&
				  lab_parse_uint(cell->text, 255, &distance, NULL);

		if (from == to && (!number || distance != LAB_DISTANCE_LOCAL))
			return lab_yaml_fail(cell, error, "distance %d of node %u to itself",
					     LAB_DISTANCE_LOCAL, from);
		/* Linux drops the whole SLIT when two nodes are as near as a node to itself
		 * (slit_valid()). */
		if (from != to &&
		    (!number || distance <= LAB_DISTANCE_LOCAL || distance > LAB_DISTANCE_MAX))
			return lab_yaml_fail(cell, error,
					     "a distance from %d to %d of node %u to node %u",
					     LAB_DISTANCE_LOCAL + 1, LAB_DISTANCE_MAX, from, to);
		t->distances[from * t->n_nodes + to] = (guint8)distance;
	}
	return TRUE;
}

static gboolean set_distances(const LabYamlNode *yaml, LabTopology *t, GError **error)
{
	t->distances = g_new(guint8, t->n_nodes * t->n_nodes);
	if (!yaml) {
		for (guint i = 0; i < t->n_nodes * t->n_nodes; i++)
			t->distances[i] =
				i % (t->n_nodes + 1) ? LAB_DISTANCE_REMOTE : LAB_DISTANCE_LOCAL;
		return TRUE;
	}
	if (yaml->children->len != t->n_nodes) {
		lab_error_set_at(error, &yaml->origin,
				 "wanted %u rows of distances, one for each node, found %u",
				 t->n_nodes, yaml->children->len);
		return FALSE;
	}
	for (guint from = 0; from < t->n_nodes; from++)
		if (!read_distance_row(yaml->children->pdata[from], from, t, error))
			return FALSE;
	return TRUE;
}

/* ---- the two kinds ---- */

static gboolean check_total_memory(const LabYamlNode *yaml, const LabTopology *t, GError **error)
{
	const LabYamlNode *total = lab_yaml_get(yaml, "memory");
	const LabOrigin *at = total ? &total->origin : lab_yaml_origin(yaml, "nodes");
	g_autofree char *sum = lab_format_bytes(t->memory_bytes);

	if (t->memory_bytes >= LAB_TOPOLOGY_MIN_MEMORY &&
	    t->memory_bytes <= LAB_TOPOLOGY_MAX_MEMORY)
		return TRUE;
	lab_error_set_at(error, at, "wanted 64MiB to 16TiB of memory in all, found '%s'", sum);
	return FALSE;
}

static gboolean check_totals(const LabYamlNode *yaml, const struct raw *raw, const LabTopology *t,
			     GError **error)
{
	const LabYamlNode *cpus = lab_yaml_get(yaml, "cpus"),
			  *memory = lab_yaml_get(yaml, "memory");
	g_autofree char *sum = lab_format_bytes(t->memory_bytes);

	if (cpus && raw->cpus != t->n_cpus)
		return lab_yaml_fail(cpus, error, "'%u' (the CPUs of all nodes)", t->n_cpus);
	if (memory && raw->memory_bytes != t->memory_bytes)
		return lab_yaml_fail(memory, error, "'%s' (the memory of all nodes)", sum);
	return TRUE;
}

static gboolean read_vnuma(const LabYamlNode *yaml, const struct raw *raw, LabTopology *t,
			   GError **error)
{
	if (!lab_topology_read_nodes(raw->nodes, raw->cpu, t, error))
		return FALSE;
	/* 64 nodes of at most 16 TiB: the sum cannot overflow. */
	for (guint i = 0; i < t->n_nodes; i++)
		t->memory_bytes += t->nodes[i].memory_bytes;
	return check_totals(yaml, raw, t, error) && check_total_memory(yaml, t, error) &&
	       set_distances(raw->distances, t, error);
}

static gboolean require(const LabYamlNode *yaml, const char *key, GError **error)
{
	if (lab_yaml_get(yaml, key))
		return TRUE;
	lab_error_set_at(error, &yaml->origin, "wanted the key '%s' of a fake topology, found none",
			 key);
	return FALSE;
}

static gboolean read_fake_cpus(const LabYamlNode *yaml, const struct raw *raw, LabTopology *t,
			       GError **error)
{
	t->n_cpus = t->cores = (guint)raw->cpus;
	t->sockets = t->dies = t->threads = 1;
	if (!raw->cpu)
		return TRUE;
	if (!lab_topology_read_cpu_model(raw->cpu, t, error))
		return FALSE;
	if (t->n_cpus != raw->cpus)
		return lab_yaml_fail(lab_yaml_get(yaml, "cpus"), error,
				     "'%u' (%u sockets x %u dies x %u cores x %u threads)",
				     t->n_cpus, t->sockets, t->dies, t->cores, t->threads);
	return TRUE;
}

static gboolean read_fake(const LabYamlNode *yaml, const struct raw *raw, LabTopology *t,
			  GError **error)
{
	guint64 n_nodes, share;

	if (raw->distances)
		return lab_yaml_fail(raw->distances, error,
				     "no distances with kind fake (they are all 10)");
	if (!require(yaml, "cpus", error) || !require(yaml, "memory", error) ||
	    !lab_yaml_uint(raw->nodes, 1, LAB_TOPOLOGY_MAX_NODES, &n_nodes, error) ||
	    !read_fake_cpus(yaml, raw, t, error))
		return FALSE;
	t->n_nodes = (guint)n_nodes;
	t->memory_bytes = raw->memory_bytes;
	if (!check_total_memory(yaml, t, error))
		return FALSE;
	share = t->memory_bytes / n_nodes;
	if (t->memory_bytes % n_nodes || !share || share % LAB_TOPOLOGY_FAKE_SHARE)
		return lab_yaml_fail(lab_yaml_get(yaml, "memory"), error,
				     "%u equal shares, each a multiple of 32MiB", t->n_nodes);
	t->nodes = g_new0(LabTopologyNode, t->n_nodes);
	t->distances = g_new(guint8, t->n_nodes * t->n_nodes);
	memset(t->distances, LAB_DISTANCE_LOCAL, t->n_nodes * t->n_nodes);
	for (guint i = 0; i < t->n_nodes; i++) {
		t->nodes[i].memory_bytes = share;
		for (guint cpu = 0; cpu < t->n_cpus; cpu++)
			lab_cpuset_add(&t->nodes[i].cpus, cpu);
	}
	return TRUE;
}

LabTopology *lab_topology_from_node(const LabYamlNode *node, const char *name, GError **error)
{
	g_autoptr(LabTopology) t = g_new0(LabTopology, 1);
	struct raw raw = {0};
	gboolean ok;

	if (!lab_yaml_read(node, "a topology", topology_fields, &raw, error))
		return NULL;
	if (raw.name && !lab_spec_check_name(lab_yaml_get(node, "name"), error))
		return NULL;
	t->name = g_strdup(raw.name ? raw.name : name);
	t->about = g_strdup(raw.about);
	t->kind = raw.kind == 0 ? LAB_TOPOLOGY_VNUMA : LAB_TOPOLOGY_FAKE;
	ok = t->kind == LAB_TOPOLOGY_VNUMA ? read_vnuma(node, &raw, t, error)
					   : read_fake(node, &raw, t, error);
	if (!ok)
		return NULL;
	t->canonical = lab_topology_canonical(t);
	t->digest = lab_digest_data(t->canonical, -1);
	return g_steal_pointer(&t);
}

LabTopology *lab_topology_load(const char *path, GError **error)
{
	g_autoptr(LabYamlNode) root = lab_yaml_load(path, "a topology", NULL, error);
	g_autofree char *name = lab_spec_name(path);

	return root ? lab_topology_from_node(root, name, error) : NULL;
}

LabTopology *lab_topology_find(const char *name, const char *relative_to, GError **error)
{
	g_autofree char *path =
		lab_spec_find("topologies", "a topology", name, relative_to, NULL, error);

	return path ? lab_topology_load(path, error) : NULL;
}

LabTopology *lab_topology_from_canonical(const char *canonical, GError **error)
{
	g_autoptr(LabYamlNode) root = lab_yaml_parse(canonical, -1, "topology", error);
	g_autofree char *digest = lab_digest_data(canonical, -1);

	digest[LAB_DIGEST_SHORT] = 0;
	return root ? lab_topology_from_node(root, digest, error) : NULL;
}
