/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which CPUs and how much memory each node has, and whether that adds up. */
#include "lab/spec/internal.h"

#define MIB (1ull << 20)

struct cpu_model {
	guint64 sockets, dies, cores, threads;
};

struct raw_node {
	const LabYamlNode *cpus;
	guint64 memory_bytes;
};

struct uniform {
	guint64 count, cpus_per_node, memory_per_node_bytes;
};

#define CPU_FIELD(member)                                                                          \
	{                                                                                          \
#member, LAB_YAML_UINT, offsetof(struct cpu_model, member),                        \
			.min = 1, .max = LAB_TOPOLOGY_MAX_CPUS                                     \
	}
static const LabYamlField cpu_fields[] = {
	CPU_FIELD(sockets), CPU_FIELD(dies), CPU_FIELD(cores), CPU_FIELD(threads), {0},
};

static const LabYamlField node_fields[] = {
	{"cpus", LAB_YAML_ANY, offsetof(struct raw_node, cpus), .required = TRUE},
	{"memory", LAB_YAML_BYTES, offsetof(struct raw_node, memory_bytes), .required = TRUE},
	{0},
};

static const LabYamlField uniform_fields[] = {
	{"count", LAB_YAML_UINT, offsetof(struct uniform, count), .required = TRUE, .min = 1,
	 .max = LAB_TOPOLOGY_MAX_NODES},
	{"cpus-per-node", LAB_YAML_UINT, offsetof(struct uniform, cpus_per_node), .required = TRUE,
	 .min = 1, .max = LAB_TOPOLOGY_MAX_CPUS},
	{"memory-per-node", LAB_YAML_BYTES, offsetof(struct uniform, memory_per_node_bytes),
	 .required = TRUE},
	{0},
};

static gboolean read_cpus(const LabYamlNode *node, LabCpuSet *cpus, GError **error)
{
	g_autoptr(GPtrArray) parts = g_ptr_array_new();
	g_autofree char *text = NULL;
	const char *part;

	if (node->kind == LAB_YAML_MAP ||
	    (node->kind == LAB_YAML_SCALAR && !*node->text && !node->quoted))
		return lab_yaml_fail(node, error, "a list of CPUs like 0-3,8 (\"\" for none)");
	if (node->kind == LAB_YAML_SCALAR) {
		g_ptr_array_add(parts, node->text);
	} else {
		for (guint i = 0; i < node->children->len; i++) {
			if (!lab_yaml_text(node->children->pdata[i], "a CPU", &part, error))
				return FALSE;
			g_ptr_array_add(parts, (char *)part);
		}
	}
	g_ptr_array_add(parts, NULL);
	text = g_strjoinv(",", (char **)parts->pdata);
	if (!lab_cpuset_parse(text, cpus, NULL))
		return lab_yaml_fail(node, error, "a list of CPUs like 0-3,8 (\"\" for none)");
	return TRUE;
}

static gboolean check_node_memory(const LabYamlNode *node, guint64 bytes, GError **error)
{
	if (bytes % MIB)
		return lab_yaml_fail(node, error, "a multiple of 1MiB");
	if (bytes && bytes < LAB_TOPOLOGY_MIN_NODE)
		return lab_yaml_fail(node, error,
				     "0B or at least 4MiB (Linux ignores a smaller node)");
	if (bytes > LAB_TOPOLOGY_MAX_MEMORY)
		return lab_yaml_fail(node, error, "at most 16TiB");
	return TRUE;
}

static gboolean read_node(const LabYamlNode *yaml, guint id, LabTopologyNode *node, GError **error)
{
	struct raw_node raw = {0};

	if (!lab_yaml_read(yaml, "a node", node_fields, &raw, error) ||
	    !read_cpus(raw.cpus, &node->cpus, error) ||
	    !check_node_memory(lab_yaml_get(yaml, "memory"), raw.memory_bytes, error))
		return FALSE;
	node->memory_bytes = raw.memory_bytes;
	if (!node->memory_bytes && !lab_cpuset_count(&node->cpus)) {
		lab_error_set_at(error, &yaml->origin,
				 "wanted CPUs or memory in node %u, found neither", id);
		return FALSE;
	}
	return TRUE;
}

static gboolean read_node_list(const LabYamlNode *yaml, LabTopology *t, GError **error)
{
	guint n = yaml->children->len;

	if (n < 1 || n > LAB_TOPOLOGY_MAX_NODES) {
		lab_error_set_at(error, &yaml->origin, "wanted 1 to %d nodes, found %u",
				 LAB_TOPOLOGY_MAX_NODES, n);
		return FALSE;
	}
	t->n_nodes = n;
	t->nodes = g_new0(LabTopologyNode, n);
	for (guint i = 0; i < n; i++)
		if (!read_node(yaml->children->pdata[i], i, &t->nodes[i], error))
			return FALSE;
	return TRUE;
}

static gboolean read_uniform_nodes(const LabYamlNode *yaml, LabTopology *t, GError **error)
{
	struct uniform u = {0};

	if (!lab_yaml_read(yaml, "equal nodes", uniform_fields, &u, error) ||
	    !check_node_memory(lab_yaml_get(yaml, "memory-per-node"), u.memory_per_node_bytes,
			       error))
		return FALSE;
	if (u.count * u.cpus_per_node > LAB_TOPOLOGY_MAX_CPUS) {
		lab_error_set_at(error, lab_yaml_origin(yaml, "cpus-per-node"),
				 "wanted at most %d CPUs, found %u (%u nodes of %u)",
				 LAB_TOPOLOGY_MAX_CPUS, (guint)(u.count * u.cpus_per_node),
				 (guint)u.count, (guint)u.cpus_per_node);
		return FALSE;
	}
	t->n_nodes = (guint)u.count;
	t->nodes = g_new0(LabTopologyNode, t->n_nodes);
	for (guint i = 0; i < t->n_nodes; i++) {
		t->nodes[i].memory_bytes = u.memory_per_node_bytes;
		for (guint cpu = 0; cpu < u.cpus_per_node; cpu++)
			lab_cpuset_add(&t->nodes[i].cpus, i * (guint)u.cpus_per_node + cpu);
	}
	return TRUE;
}

/* The place of node @id's CPUs in the file. */
static const LabOrigin *cpus_origin(const LabYamlNode *nodes, guint id)
{
	return nodes->kind == LAB_YAML_LIST ? lab_yaml_origin(nodes->children->pdata[id], "cpus")
					    : &nodes->origin;
}

static gboolean check_overlap(const LabYamlNode *nodes, const LabTopology *t, GError **error)
{
	for (guint b = 1; b < t->n_nodes; b++) {
		for (guint a = 0; a < b; a++) {
			guint cpu = lab_cpuset_overlap(&t->nodes[a].cpus, &t->nodes[b].cpus);

			if (cpu == LAB_CPUSET_MAX)
				continue;
			lab_error_set_at(
				error, cpus_origin(nodes, b),
				"wanted each CPU in one node, found CPU %u in node %u and node %u",
				cpu, a, b);
			return FALSE;
		}
	}
	return TRUE;
}

/* ---- CPUs ---- */

/* One socket for each node that has CPUs; needs equal, successive lists. */
static gboolean derive_cpu_model(const LabTopology *t, struct cpu_model *model)
{
	guint per_node = 0, sockets = 0, next = 0;

	for (guint i = 0; i < t->n_nodes; i++) {
		const LabCpuSet *cpus = &t->nodes[i].cpus;
		guint n = lab_cpuset_count(cpus);

		if (!n)
			continue;
		if (per_node && n != per_node)
			return FALSE;
		per_node = n;
		for (guint cpu = next; cpu < next + n; cpu++)
			if (!lab_cpuset_has(cpus, cpu))
				return FALSE;
		next += n;
		sockets++;
	}
	*model = (struct cpu_model){sockets, 1, per_node, 1};
	return TRUE;
}

gboolean lab_topology_read_cpu_model(const LabYamlNode *cpu, LabTopology *t, GError **error)
{
	struct cpu_model m = {1, 1, 1, 1};

	if (!lab_yaml_read(cpu, "a CPU topology", cpu_fields, &m, error))
		return FALSE;
	/* Four numbers below 2^9: the product cannot overflow. */
	if (m.sockets * m.dies * m.cores * m.threads > LAB_TOPOLOGY_MAX_CPUS) {
		lab_error_set_at(error, &cpu->origin,
				 "wanted at most %d CPUs, found %" G_GUINT64_FORMAT,
				 LAB_TOPOLOGY_MAX_CPUS, m.sockets * m.dies * m.cores * m.threads);
		return FALSE;
	}
	t->sockets = (guint)m.sockets;
	t->dies = (guint)m.dies;
	t->cores = (guint)m.cores;
	t->threads = (guint)m.threads;
	t->n_cpus = t->sockets * t->dies * t->cores * t->threads;
	return TRUE;
}

static guint node_of(const LabTopology *t, guint cpu)
{
	guint id = 0;

	while (id < t->n_nodes && !lab_cpuset_has(&t->nodes[id].cpus, cpu))
		id++;
	return id;
}

/* Each CPU of the model is in a node, none beyond it is, and a core is in one node. */
static gboolean check_cpus(const LabYamlNode *nodes, const LabTopology *t, GError **error)
{
	g_autofree char *product = g_strdup_printf("%u sockets x %u dies x %u cores x %u threads",
						   t->sockets, t->dies, t->cores, t->threads);

	for (guint id = 0; id < t->n_nodes; id++) {
		guint beyond = lab_cpuset_next(&t->nodes[id].cpus, t->n_cpus);

		if (beyond == LAB_CPUSET_MAX)
			continue;
		lab_error_set_at(error, cpus_origin(nodes, id),
				 "wanted CPUs 0-%u (%s), found CPU %u in node %u", t->n_cpus - 1,
				 product, beyond, id);
		return FALSE;
	}
	for (guint cpu = 0; cpu < t->n_cpus; cpu++) {
		guint id = node_of(t, cpu), core = node_of(t, cpu - cpu % t->threads);

		if (id == t->n_nodes) {
			lab_error_set_at(error, &nodes->origin,
					 "wanted CPUs 0-%u (%s) in the nodes, found CPU %u in none",
					 t->n_cpus - 1, product, cpu);
			return FALSE;
		}
		if (id != core) {
			lab_error_set_at(error, cpus_origin(nodes, id),
					 "wanted the threads of a core in one node, found CPU %u "
					 "in node %u and CPU %u in node %u",
					 cpu - cpu % t->threads, core, cpu, id);
			return FALSE;
		}
	}
	return TRUE;
}

/* Without the key 'cpu'. */
static gboolean derive_cpus(const LabYamlNode *nodes, LabTopology *t, GError **error)
{
	LabCpuSet all = {0};
	struct cpu_model m;
	guint n;

	for (guint i = 0; i < t->n_nodes; i++)
		lab_cpuset_union(&all, &t->nodes[i].cpus);
	n = lab_cpuset_count(&all);
	if (n < 1 || n > LAB_TOPOLOGY_MAX_CPUS) {
		lab_error_set_at(error, &nodes->origin,
				 "wanted 1 to %d CPUs in the nodes, found %u",
				 LAB_TOPOLOGY_MAX_CPUS, n);
		return FALSE;
	}
	for (guint cpu = 0; cpu < n; cpu++) {
		if (lab_cpuset_has(&all, cpu))
			continue;
		lab_error_set_at(error, &nodes->origin,
				 "wanted CPUs without a gap in the nodes, found CPU %u in none",
				 cpu);
		return FALSE;
	}
	if (!derive_cpu_model(t, &m)) {
		lab_error_set_at(error, &nodes->origin,
				 "wanted the key 'cpu' of a topology whose nodes have unequal or "
				 "split lists of CPUs, "
				 "found none");
		return FALSE;
	}
	t->sockets = (guint)m.sockets;
	t->dies = t->threads = 1;
	t->cores = (guint)m.cores;
	t->n_cpus = n;
	return TRUE;
}

/*
 * QEMU's SRAT has the CPUs in their order and then the memory; Linux numbers the nodes as they first appear in it,
 * whatever QEMU calls them. Another order than that would give the guest another machine.
 */
static gboolean check_order(const LabYamlNode *nodes, const LabTopology *t, GError **error)
{
	guint last = 0;

	for (guint id = 0; id < t->n_nodes; id++) {
		guint first = lab_cpuset_next(&t->nodes[id].cpus, 0);

		if (first < last) {
			lab_error_set_at(error, cpus_origin(nodes, id),
					 "wanted nodes in the order of their first CPUs, those "
					 "without CPUs last (Linux numbers them so), found CPU %u "
					 "in node %u",
					 first, id);
			return FALSE;
		}
		last = first;
	}
	return TRUE;
}

gboolean lab_topology_read_nodes(const LabYamlNode *nodes, const LabYamlNode *cpu, LabTopology *t,
				 GError **error)
{
	gboolean ok;

	if (nodes->kind == LAB_YAML_SCALAR)
		return lab_yaml_fail(nodes, error,
				     "a list of nodes, or {count, cpus-per-node, memory-per-node}");
	ok = nodes->kind == LAB_YAML_LIST ? read_node_list(nodes, t, error)
					  : read_uniform_nodes(nodes, t, error);
	if (!ok || !check_overlap(nodes, t, error))
		return FALSE;
	ok = cpu ? lab_topology_read_cpu_model(cpu, t, error) && check_cpus(nodes, t, error)
		 : derive_cpus(nodes, t, error);
	return ok && check_order(nodes, t, error);
}
