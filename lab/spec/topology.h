/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A topology: nodes, CPUs, memory, distances, and how they are made. An immutable value read from YAML. */
#pragma once
#include <glib.h>

#include "lab/base/cpuset.h"

#define LAB_TOPOLOGY_MAX_NODES 64
#define LAB_TOPOLOGY_MAX_CPUS 288
#define LAB_DISTANCE_LOCAL 10
#define LAB_DISTANCE_REMOTE 20 /* where the file gives none */
#define LAB_DISTANCE_MAX 254   /* 255 is "unreachable" in the SLIT */

typedef enum {
	LAB_TOPOLOGY_VNUMA, /* QEMU's -numa: own SRAT and SLIT */
	LAB_TOPOLOGY_FAKE,  /* the guest's numa=fake=N: every node lists every CPU, all distances 10 */
} LabTopologyKind;

typedef struct {
	LabCpuSet cpus;	      /* may be empty; for FAKE: all CPUs */
	guint64 memory_bytes; /* may be 0 (vnuma); multiple of 1 MiB */
} LabTopologyNode;

typedef struct {
	char *name; /* file's name: key */
	char *about; /* (nullable) */
	LabTopologyKind kind;
	guint n_cpus;	      /* = sockets * dies * cores * threads; CPUs 0..n_cpus-1 are each in exactly one node */
	guint sockets, dies, cores, threads; /* cores per die, threads per core */
	guint64 memory_bytes; /* sum over the nodes */
	guint n_nodes;	      /* 1..LAB_TOPOLOGY_MAX_NODES; ids are 0..n_nodes-1 (QEMU allows no gaps) */
	LabTopologyNode *nodes;
	guint8 *distances; /* n_nodes x n_nodes, row major, from row to column; may be asymmetric */
	char *canonical;   /* canonical form (JSON, keys sorted, no name and about): what the guest is */
	char *digest;	   /* SHA-256 of canonical */
} LabTopology;

/**
 * lab_topology_load() - read and check a topology file
 * @path: a file
 *
 * The whole file is checked: unknown keys (with a suggestion), units, a CPU in two nodes or in none, counts that do
 * not match sockets x dies x cores x threads, `memory`/`cpus` totals (optional keys) that contradict the sum of the nodes,
 * distances below 10 or other than 10 on the diagonal or not n x n, fake with distances or unequal nodes.
 *
 * Errors: LAB_ERROR_USER "path:line:column: what was wanted, what was found". Free with lab_topology_free().
 */
LabTopology *lab_topology_load(const char *path, GError **error);

/** lab_topology_from_canonical() - the value again from its canonical form; name is the short digest */
LabTopology *lab_topology_from_canonical(const char *canonical, GError **error);

/** lab_topology_find() - "NAME" -> the shipped topologies/NAME.yaml or a path (has '/' or ends in .yaml); then load */
LabTopology *lab_topology_find(const char *name, const char *relative_to, GError **error);

guint lab_topology_distance(const LabTopology *topology, guint from, guint to);

/** lab_topology_hardware_text() - the machine as `numactl -H` prints it; memory sizes are the asked ones. Free with g_free(). */
char *lab_topology_hardware_text(const LabTopology *topology);

/** lab_topology_json() - for programs: kind, cpus, nodes, distances, digest. Free with g_free(). */
char *lab_topology_json(const LabTopology *topology);

void lab_topology_free(LabTopology *topology);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabTopology, lab_topology_free)
