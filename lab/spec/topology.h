/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A topology: nodes, CPUs, memory, distances, and how they are made. An immutable value read from
 * YAML.
 *
 *     kind: vnuma                    # QEMU's -numa: own SRAT and SLIT
 *     name: my-machine               # optional; default: the file's name
 *     about: text                    # optional
 *     cpu: {sockets: 4, dies: 1, cores: 4, threads: 1}
 *                                    # cores per die, threads per core. Left out: one socket for
 *                                    # each node with CPUs, where these are equal and in order
 *     cpus: 16                       # optional totals: checked against the sums
 *     memory: 16GiB
 *     nodes:                         # node 0 first
 *       - {cpus: 0-3, memory: 4GiB}  # cpus: 0-3,8 or [0, 2] or "" (no CPUs)
 *       - {cpus: 4-7, memory: 0B}    # no memory
 *     distances:                     # optional: row = from, column = to; default 10 and 20
 *       - [10, 20]
 *       - [20, 10]
 *
 * Equal nodes of successive CPUs in short:
 *
 *     nodes: {count: 4, cpus-per-node: 4, memory-per-node: 4GiB}
 *
 * The guest's numa=fake=N:
 *
 *     kind: fake
 *     nodes: 4
 *     cpus: 16
 *     memory: 16GiB                  # of all nodes; equal shares, each a multiple of 32 MiB
 */
#pragma once
#include <glib.h>

#include "lab/base/cpuset.h"

#define LAB_TOPOLOGY_MAX_NODES 64
#define LAB_TOPOLOGY_MAX_CPUS 288
/* Of all nodes: less does not start Linux. */
#define LAB_TOPOLOGY_MIN_MEMORY (64ull << 20)
#define LAB_TOPOLOGY_MAX_MEMORY (16ull << 40)
/* Linux ignores a node with less memory (NODE_MIN_SIZE). */
#define LAB_TOPOLOGY_MIN_NODE (4ull << 20)
/* Linux's FAKE_NODE_MIN_SIZE */
#define LAB_TOPOLOGY_FAKE_SHARE (32ull << 20)
#define LAB_DISTANCE_LOCAL 10
#define LAB_DISTANCE_REMOTE 20 /* where the file gives none */
#define LAB_DISTANCE_MAX 254   /* 255 is "unreachable" in the SLIT */

/**
 * enum LabTopologyKind - how the nodes are made
 * @LAB_TOPOLOGY_VNUMA: QEMU's -numa: own SRAT and SLIT
 * @LAB_TOPOLOGY_FAKE:  the guest's numa=fake=N: every node lists every CPU, all distances are 10
 */
typedef enum {
	LAB_TOPOLOGY_VNUMA,
	LAB_TOPOLOGY_FAKE,
} LabTopologyKind;

typedef struct {
	LabCpuSet cpus;	      /* may be empty; of FAKE: all CPUs */
	guint64 memory_bytes; /* may be 0 (VNUMA); multiple of 1 MiB */
} LabTopologyNode;

/**
 * struct LabTopology
 * @n_cpus:       sockets * dies * cores * threads; of VNUMA, CPUs 0 to n_cpus-1 are each in one node
 * @cores:        per die
 * @threads:      per core
 * @memory_bytes: sum over the nodes
 * @n_nodes:      1 to LAB_TOPOLOGY_MAX_NODES; ids are 0 to n_nodes-1 (QEMU allows no gaps)
 * @distances:    n_nodes x n_nodes, row major, from row to column; may be asymmetric
 * @canonical:    JSON, keys sorted, no name and about: what the guest is. Itself a topology file
 * @digest:       SHA-256 of @canonical
 */
typedef struct {
	char *name;
	char *about; /* (nullable) */
	LabTopologyKind kind;
	guint n_cpus;
	guint sockets, dies, cores, threads;
	guint64 memory_bytes;
	guint n_nodes;
	LabTopologyNode *nodes;
	guint8 *distances;
	char *canonical;
	char *digest;
} LabTopology;

/**
 * lab_topology_load() - read and check a topology file
 * @path: a file
 *
 * The whole file is checked: unknown keys (with a suggestion), units, a CPU in two nodes or in
 * none, counts that do not match sockets x dies x cores x threads, threads of one core in two
 * nodes, totals that contradict the sum of the nodes, a node with neither CPUs nor memory, nodes in
 * another order than Linux numbers them (by their first CPUs, those without CPUs last),
 * distances other than 10 on the diagonal, below 11 elsewhere (Linux drops a SLIT that has 10
 * between two nodes) or not n x n, fake with distances or unequal shares.
 *
 * Errors: LAB_ERROR_USER "path:line:column: wanted ..., found ...". Free with lab_topology_free().
 */
LabTopology *lab_topology_load(const char *path, GError **error);

/** lab_topology_from_canonical() - the value again, checked as a file is; name: the short digest */
LabTopology *lab_topology_from_canonical(const char *canonical, GError **error);

/**
 * lab_topology_find() - by name, then load
 * @name: the shipped topologies/NAME.yaml; with a '/' or ending in ".yaml": a path
 * @relative_to: (nullable): directory that a relative path starts from; else the current one
 */
LabTopology *lab_topology_find(const char *name, const char *relative_to, GError **error);

guint lab_topology_distance(const LabTopology *topology, guint from, guint to);

/**
 * lab_topology_hardware_text() - the machine as `numactl -H` prints it, but for the free memory
 *
 * Sizes are those asked for: the guest's own are a little less. Free with g_free().
 */
char *lab_topology_hardware_text(const LabTopology *topology);

/**
 * lab_topology_json() - for programs; indented, ends in a newline. Free with g_free().
 *
 * {"name", "kind": "vnuma"|"fake", "digest", "cpus": count, "cpu": {"sockets", "dies", "cores",
 * "threads"}, "memory_bytes", "nodes": [{"id", "cpus": "0-3", "memory_bytes"}],
 * "distances": [[...]]}
 */
char *lab_topology_json(const LabTopology *topology);

void lab_topology_free(LabTopology *topology);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabTopology, lab_topology_free)
