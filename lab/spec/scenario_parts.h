/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts that a scenario is read by. Private to lab/spec/scenario*.c. */
#pragma once
#include "lab/spec/internal.h"
#include "lab/spec/scenario.h"

#define LAB_SCRATCH_UNIT (2ull << 20)	    /* NVDIMM alignment */
#define LAB_SCRATCH_MIN_XFS (302ull << 20)  /* mkfs.xfs 6.1 refuses 300 MiB and less */
#define LAB_SCRATCH_MIN_SCALED (2ull << 30) /* 16 allocation groups that hold a log of 64 MiB */
#define LAB_SCRATCH_MAX (1ull << 40)	    /* an NVDIMM is a mapping */
#define LAB_SCRATCH_MAX_DISK (1ull << 50)

/** lab_scenario_scale() - @value times the scenario's scale, rounded up */
guint64 lab_scenario_scale(const LabScenario *scenario, guint64 value);

/** lab_scenario_set() - apply one "KEY.PATH=VALUE" to the tree */
gboolean lab_scenario_set(LabYamlNode *root, const char *assignment, GError **error);

/** lab_scenario_put() - put @value (taken; NULL: take away) at "KEY.PATH"; @origin: where errors are */
gboolean lab_scenario_put(LabYamlNode *root, const char *path, LabYamlNode *value,
			  const LabOrigin *origin, GError **error);

/** struct LabSweepKey - a key of a sweep as written; values: of LabYamlNode, borrowed but for those of a range */
typedef struct {
	char *path, *name;
	GPtrArray *values;
	LabOrigin origin;
} LabSweepKey;

/** lab_sweep_read() - array of LabSweepKey; @node: (nullable): none */
GPtrArray *lab_sweep_read(const LabYamlNode *node, GError **error);

/** lab_sweep_count() - points; 1 without keys */
guint lab_sweep_count(const GPtrArray *keys);

/** lab_sweep_put() - the values of point @index into the tree. Return: as LabPoint.values, or NULL with @error */
char **lab_sweep_put(const GPtrArray *keys, guint index, LabYamlNode *root, GError **error);

/** lab_sweep_check() - is each point another, and is the same in all what must be? @s: with its points */
gboolean lab_sweep_check(const GPtrArray *keys, const LabScenario *s, GError **error);

/** lab_scenario_step_lists() - the lists of prepare and steps, each NULL when it is not there or no list */
void lab_scenario_step_lists(const LabYamlNode *root, LabYamlNode *lists[2]);

/**
 * lab_scenario_step_names() - names of all steps that are written as steps, by their node
 *
 * Names given are as written, and not checked; the others are made unique. Table of LabYamlNode* -> char*; free with
 * g_hash_table_unref().
 */
GHashTable *lab_scenario_step_names(const LabYamlNode *root);

/** lab_scenario_read_steps() - prepare and steps of @root into the scenario, whose topology, scale and scratch_bytes are set */
gboolean lab_scenario_read_steps(const LabYamlNode *root, LabScenario *scenario, GError **error);

/** lab_scenario_read_settings() - numa_balancing and settings; @node: (nullable) */
gboolean lab_scenario_read_settings(const LabYamlNode *node, LabScenario *scenario, GError **error);

/** lab_scenario_read_kvm() - the keys of @root that are of clock kvm alone; clock and topology are set */
gboolean lab_scenario_read_kvm(const LabYamlNode *root, LabScenario *scenario, GError **error);

/** lab_scenario_read_pin() - @node: (nullable); the topology is set */
gboolean lab_scenario_read_pin(const LabYamlNode *node, LabScenario *scenario, GError **error);

/** lab_scenario_read_disk() - boot and disk, each (nullable); clock and image are set; @image: where it is written */
gboolean lab_scenario_read_disk(const LabYamlNode *boot, const LabYamlNode *disk,
				const LabYamlNode *image, LabScenario *scenario, GError **error);

/** lab_scenario_disk_json() - for the canonical form */
JsonObject *lab_scenario_disk_json(const LabScenario *scenario);

/** lab_scenario_read_scratch() - a size of the scratch device as written -> scratch_bytes (scaled) */
gboolean lab_scenario_read_scratch(const LabYamlNode *node, LabScenario *scenario, GError **error);

/** lab_scenario_read_collect() - @node: (nullable); the steps are read */
gboolean lab_scenario_read_collect(const LabYamlNode *node, LabScenario *scenario, GError **error);

/** lab_scenario_collect_json() - for the canonical form: all but the counters, which are only shown */
JsonObject *lab_scenario_collect_json(const LabScenario *scenario);

/** lab_scenario_read_judge() - @list: (nullable); the steps are read */
gboolean lab_scenario_read_judge(const LabYamlNode *list, LabScenario *scenario, GError **error);

/** lab_scenario_from_node() - all but text and overrides; relative paths start from @path's directory */
LabScenario *lab_scenario_from_node(const LabYamlNode *root, const char *path, GError **error);

/** lab_scenario_finish() - canonical, digest and prepare_canonical */
void lab_scenario_finish(LabScenario *scenario);

/** lab_scenario_finish_sweep() - canonical and digest again, with every point's */
void lab_scenario_finish_sweep(LabScenario *scenario);

void lab_step_free(LabStep *step);
void lab_setting_free(LabSetting *setting);

/** lab_scenario_parse() - as lab_scenario_load(), from text that is called @path */
LabScenario *lab_scenario_parse(const char *text, gssize length, const char *path,
				const char *const *overrides, GError **error);
