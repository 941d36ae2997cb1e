/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of lab/spec share. Private to lab/spec. */
#pragma once
#include <json-glib/json-glib.h>

#include "lab/spec/image.h"
#include "lab/spec/topology.h"
#include "lab/spec/yaml.h"

/**
 * lab_spec_find() - the file that a name stands for
 * @folder: of the data directory: "topologies"
 * @what: "a topology"
 * @name: a word: FOLDER/NAME.yaml; with a '/' or ending in ".yaml": a path
 * @relative_to: (nullable): directory that a relative path starts from; else the current one
 * @origin: (nullable): where the name is written
 *
 * Errors: a word that is no shipped file: LAB_ERROR_USER, with a suggestion. A path is not checked.
 * Return: path; free with g_free().
 */
char *lab_spec_find(const char *folder, const char *what, const char *name, const char *relative_to,
		    const LabOrigin *origin, GError **error);

/** lab_spec_name() - the name of a file without ".yaml" and directory. Free with g_free(). */
char *lab_spec_name(const char *path);

/** lab_spec_check_name() - of a name that becomes a column head or a file: [A-Za-z0-9._+-]+, not
 * starting with '.' or '-' */
gboolean lab_spec_check_name(const LabYamlNode *node, GError **error);

/** lab_spec_canonical() - takes @object; JSON without white space, keys of all objects sorted. Free
 * with g_free(). */
char *lab_spec_canonical(JsonObject *object);

/** lab_spec_json_strv() - @strv: (nullable), NULL-terminated */
JsonArray *lab_spec_json_strv(char *const *strv);

/** Debian's forms of a suite's and a package's name */
gboolean lab_spec_is_suite(const char *text);
gboolean lab_spec_is_package(const char *text);

/** lab_topology_from_node() - as lab_topology_load(), of a mapping; @name where it gives none */
LabTopology *lab_topology_from_node(const LabYamlNode *node, const char *name, GError **error);

/** lab_image_recipe_from_node() - as lab_image_recipe_load(), of a mapping that a file called @path holds */
LabImageRecipe *lab_image_recipe_from_node(const LabYamlNode *root, const char *path,
					   GError **error);

#define LAB_IMAGE_DISK_PREFIX "disk:"

/** lab_image_recipe_of_disk() - of "disk:FILE"; a relative FILE starts from @relative_to (nullable: the current directory).
 * Whether there is such a file is not asked here. */
LabImageRecipe *lab_image_recipe_of_disk(const LabYamlNode *node, const char *relative_to,
					 GError **error);

/** lab_topology_canonical() - the canonical form, from all members but canonical and digest. Free
 * with g_free(). */
char *lab_topology_canonical(const LabTopology *topology);

/** lab_topology_read_nodes() - the nodes of a vnuma topology and its CPUs; @cpu: (nullable) */
gboolean lab_topology_read_nodes(const LabYamlNode *nodes, const LabYamlNode *cpu,
				 LabTopology *topology, GError **error);

/** lab_topology_read_cpu_model() - sockets, dies, cores, threads and n_cpus */
gboolean lab_topology_read_cpu_model(const LabYamlNode *cpu, LabTopology *topology, GError **error);
