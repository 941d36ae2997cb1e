/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A scenario: what to run. An immutable value read from YAML (docs/man/numalab-scenario.5 describes the file).
 *
 *     name: xfsrepair-numa
 *     about: text                          # optional
 *     topology: vnuma-4x1p-512M            # or a path, or a mapping written in place
 *     image: xfs
 *     kernels: [debian:bookworm, debian:bookworm-backports]
 *     clock: exact                         # or tcg
 *     boots: 3                             # seeds 1, 2, 3; or: seeds: [1, 5, 9]
 *     scale: 1/1000                        # optional: multiplies fs_mark files and numa_touch sizes (see docs)
 *     settings:
 *       numa_balancing: on                 # on, off, or a mapping: enabled, scan_delay, scan_period_min,
 *                                          # scan_period_max (durations), scan_size (bytes)
 *       transparent_hugepage: madvise      # always, madvise, never
 *       sysctl: {vm.swappiness: 10}        # any sysctl
 *     settle: 0s                           # idle guest time before the first step
 *     scratch: 512MiB                      # size of the scratch device; needed unless prepare's mkfs.xfs has size
 *     prepare:                             # once, result kept and reused copy-on-write (made anew in each boot: `fresh: true`)
 *       steps: [...]                       # or directly a list of steps
 *       kernel: debian:bookworm            # which makes it; default: the first of kernels
 *       fresh: false
 *     steps:
 *       - xfs_repair: {name: xfsrepair, options: {bhash: 101073}}
 *     collect: {counters: [vmstat, numastat, interrupts]}
 *     judge: [{metric: real-xfsrepair, threshold: 2%}]
 *     deadlines: {first-output: 60s, agent: 5m, step: 30m, power-off: 60s}   # host time, except step: guest time
 *     console: quiet                       # or verbose
 *     kernel-args: [...]                   # added to the kernel command line
 */
#pragma once
#include <glib.h>

#include "lab/spec/image.h"
#include "lab/spec/kernel.h"
#include "lab/spec/topology.h"

typedef enum { LAB_CLOCK_EXACT, LAB_CLOCK_TCG } LabClock;

/** enum LabStepKind - the agent's step kinds (agent/protocol.h); argv is already in its final form */
typedef enum {
	LAB_STEP_EXEC,
	LAB_STEP_MKDIR,
	LAB_STEP_MOUNT,
	LAB_STEP_UMOUNT,
	LAB_STEP_DROP_CACHES,
	LAB_STEP_NUMA_TOUCH,
} LabStepKind;

/**
 * struct LabStep - one step as the agent executes it
 *
 * A YAML step may become several (fs_mark: mkdir of its -d directories, then exec). Devices and directories are the agent's
 * well-known ones: /dev/scratch, /mnt/scratch.
 */
typedef struct {
	char *name;	    /* unique in the scenario, [a-z0-9._-]+; "fsmark", "xfsrepair", "mkfs", ... */
	char *verb;	    /* the YAML key: "fs_mark", "xfs_repair", "run", ... */
	LabStepKind kind;
	gboolean measure;   /* default: TRUE for fs_mark, xfs_repair, numa_touch, run, mkfs.xfs; FALSE for mount, umount, drop_caches, mkdir */
	guint64 timeout_ns; /* guest time; 0: the scenario's step deadline */
	char **argv;	    /* NULL-terminated: the agent's ARGs */
	LabOrigin origin;   /* path owned by the scenario */
} LabStep;

/** struct LabSetting - one "setting" statement of the job */
typedef struct {
	char *name;   /* "numa_balancing.scan_delay_ms" */
	char *value;  /* "50" */
	char **paths; /* NULL-terminated, absolute, in order of preference */
} LabSetting;

typedef struct {
	char *metric;
	gint64 threshold_ppm; /* 2 % = 20000 */
} LabJudge;

typedef struct {
	guint64 first_output_ns, agent_ns, step_ns, power_off_ns;
} LabDeadlines;

typedef struct {
	char *path; /* file it was read from */
	char *name;
	char *about; /* (nullable) */
	LabTopology *topology;
	LabImageRecipe *image;
	GPtrArray *kernels; /* of LabKernelSpec */
	LabClock clock;
	guint n_seeds;
	guint64 *seeds;
	int numa_balancing;    /* 0, 1: what the guest must say */
	GPtrArray *settings;   /* of LabSetting */
	guint64 settle_ns;
	guint64 scratch_bytes; /* 0: no scratch device; multiple of 2 MiB, at least 300 MiB where mkfs.xfs is used */
	GPtrArray *prepare;    /* of LabStep; len 0: none */
	gboolean prepare_fresh;
	LabKernelSpec *prepare_kernel; /* (nullable): first of kernels */
	GPtrArray *steps;      /* of LabStep */
	char **counters;       /* NULL-terminated: vmstat, numastat, interrupts */
	GPtrArray *judge;      /* of LabJudge */
	LabDeadlines deadlines;
	gboolean console_quiet;
	char **kernel_args; /* NULL-terminated, extra */
	char *text;	 /* the file as written */
	char **overrides; /* NULL-terminated: the --set arguments it was read with (run/ records them) */
	char *canonical; /* everything that decides what is run (no name, about, kernels, seeds, judge), JSON, keys sorted */
	char *digest;
	char *prepare_canonical; /* what decides a prepared file system, apart from image and kernel: prepare steps, scratch size,
				    topology, clock, settings (nullable: no prepare) */
} LabScenario;

/**
 * lab_scenario_load() - read and check a scenario and all that it names
 * @path: file
 * @overrides: (nullable): NULL-terminated "key.path=value" of --set, applied before checking ("steps.xfsrepair.options.bhash=4096",
 *             "boots=5", "settings.transparent_hugepage=never"); errors name the override ("--set KEY=VALUE: ...")
 *
 * Errors: LAB_ERROR_USER, "path:line:column: wanted ..., found ..." for the first problem.
 */
LabScenario *lab_scenario_load(const char *path, const char *const *overrides, GError **error);
/** lab_scenario_find() - "NAME" -> scenarios/NAME.yaml of the data directory, or a path; then load */
LabScenario *lab_scenario_find(const char *name, const char *const *overrides, GError **error);
void lab_scenario_free(LabScenario *scenario);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabScenario, lab_scenario_free)

const char *lab_clock_name(LabClock clock);
gboolean lab_clock_parse(const char *text, LabClock *clock);
