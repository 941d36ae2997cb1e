/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A scenario: what to run. An immutable value read from YAML (docs/man/numalab-scenario.5 describes
 * the file).
 *
 *     name: xfsrepair-numa         # optional; default: the file's name
 *     about: text                  # optional
 *     topology: vnuma-4x1p-512M    # or a path (from the scenario's directory), or a mapping
 *     image: xfs                   # or a path; or disk:FILE, a disk image of one's own (with boot disk; never written)
 *     kernels: [debian:bookworm, debian:bookworm-backports]    # the first is the baseline
 *     clock: exact                 # default; or tcg, kvm
 *     boots: 3                     # default: seeds 1, 2, 3; or: seeds: [1, 5, 9]
 *     scale: 1/2000                # default 1; see below
 *     boot: direct                 # default; or disk: a disk image with an init of its own, see disk
 *     disk: {root: ext4, bootloader: grub, size: 8GiB, cache: writeback, io: threads}
 *                                  # of boot disk, and these are the defaults: root ext4 or xfs; bootloader grub, or
 *                                  # none (QEMU loads the kernel and the initrd that the image made for it); cache and io as
 *                                  # QEMU has them (none, writeback, writethrough, directsync, unsafe; threads, native, io_uring)
 *     #   more-scratch: [1GiB]     # in disk: further scratch disks, /dev/scratch2 and so on
 *     cpu-model: host              # of clock kvm: host (default), or one of QEMU's (EPYC-Rome)
 *     async-pf: on                 # of clock kvm: asynchronous page faults: on, off, int-only (by
 *                                  # interrupt, Linux 5.8's way, without the older bit); default: what the CPU model has
 *     pmu: on                    # of clock kvm: performance counters in the guest; default: on for cpu-model host
 *     pin: {cpus: [2, 3, 4, 5], emulator: 0-1, nodes: [0, 0, 1, 1], hugepages: 2MiB}
 *                                # of clock kvm: host CPU of each CPU of the guest in order (or a CPU list), host CPUs of
 *                                # QEMU's other threads, host node of each node's memory, size of pages. Any of them
 *     host-pressure: {memory-high: 1GiB, memory-max: 2GiB}
 *                                  # of clock kvm: what the guest may have of the host's memory before its pages go
 *                                  # to swap, and of both together before QEMU is killed. Either or both
 *     settings:
 *       numa_balancing: on         # on, off, or a mapping: enabled, scan_delay, scan_period_min,
 *                                  # scan_period_max (durations), scan_size (bytes);
 *                                  # default: on where there are several nodes
 *       transparent_hugepage: madvise    # always, madvise, never; default: the kernel's own
 *       sysctl: {vm.swappiness: 10}      # any sysctl
 *     settle: 0s                   # idle guest time before the first step
 *     scratch: 512MiB              # size of the scratch device, where no mkfs.xfs gives it
 *     prepare:                     # done once, the result is kept and reused copy-on-write
 *       steps: [...]               # or directly a list of steps; must end unmounted
 *       kernel: debian:bookworm    # which makes it; default: the first of kernels
 *       fresh: false               # true: made anew in each boot, in front of steps
 *     steps:
 *       - xfs_repair: {name: xfsrepair, options: {bhash: 101073}}
 *     collect: {counters: [vmstat, numastat, interrupts]}
 *     judge: [{metric: real-xfsrepair, threshold: 2%}]
 *     sweep:                       # each combination is a point, and run with every kernel and seed
 *       steps.xfsrepair.options.bhash: [null, 101073]    # keys as --set takes them; null: without it
 *       steps.fsmark.dirs: 1..16   # the whole numbers from 1 to 16
 *     deadlines: {first-output: 60s, agent: 5m, step: 30m, power-off: 60s}
 *                                  # of the host's time, but for step: of the guest's
 *     console: quiet               # or verbose
 *     kernel-args: [...]           # added to the kernel command line
 *     modules: [kvm_amd]           # kernel modules to load, with their dependencies, in this order
 *     files: DIR                   # of the host (from the scenario's directory), read-only at /files
 *
 * Steps. Every one may have name ([a-z0-9._-]+; the default is in brackets, then NAME-2, ...),
 * measure (true or false), timeout (guest time) and oom-kills (fail or allowed: whether the step fails
 * when the guest kills a process for want of memory). What a step needs must have been done by the
 * steps before it: nothing is mounted by itself.
 *
 *     - mkfs.xfs: {size: 512MiB, options: [-m, crc=1]}        [mkfs] size: of the scratch device
 *     - mount: {options: [noatime]}                           [mount] at /mnt/scratch
 *     - umount                                                [umount]
 *     - drop_caches                                           [dropcaches]
 *     - mkdir: [/mnt/scratch/a]                               [mkdir]
 *     - fs_mark: {dirs: 4, subdirs: 100, files: 6000, size: 0, loops: 2, sync: none}    [fsmark]
 *     - xfs_repair: {options: {bhash: 101073}, flags: [-v]}   [xfsrepair]
 *     - numa_touch: {threads: 4, size: 200MiB, duration: 4s}  [numatouch] or touches: N
 *     - run: [numactl, -H]                                    [numactl] or {argv: [...], name: ...}
 *
 * fs_mark: -d /mnt/scratch/0 and so on, a thread each; -D subdirs, -n files (of each thread and
 * loop), -s size, -L loops, -S sync (none, fsync, or 0 to 6), then options as they are. What is
 * left out is fs_mark's own default. It deletes its files after a single loop, so -k is added then.
 *
 * Scale: a fraction N/M not above 1 that makes a full-size scenario small. It multiplies
 *   - files of fs_mark, and size and touches of numa_touch (rounded up; size to 4 KiB a thread);
 *   - the scratch device (rounded up to 2 MiB), but not below 2 GiB, or its full size if less;
 *   - scan_delay, scan_period_min and scan_period_max, but not below 50 ms, 10 ms and 1 s, or
 *     their full values if less: NUMA balancing must act within the shorter run, too.
 * Topology, threads, loops and options handed through (bhash) stay: they are the machine and the
 * code path.
 */
#pragma once
#include <glib.h>

#include "lab/spec/collect.h"
#include "lab/spec/image.h"
#include "lab/spec/kernel.h"
#include "lab/spec/placement.h"
#include "lab/spec/topology.h"

typedef enum { LAB_CLOCK_EXACT, LAB_CLOCK_TCG, LAB_CLOCK_KVM } LabClock;

/** enum LabBootKind - the agent as PID 1 above a read-only image; or a system on a disk, the agent one of its services */
typedef enum { LAB_BOOT_DIRECT, LAB_BOOT_DISK } LabBootKind;

#define LAB_MORE_SCRATCH_MAX 7

/**
 * struct LabDisk - of LAB_BOOT_DISK; the words are static, as they are written
 * @root: "ext4", "xfs"; file system of an image that is made here
 * @bootloader: "grub", "none"
 * @more_scratch_bytes: of /dev/scratch2, /dev/scratch3, ...
 */
typedef struct {
	const char *root, *bootloader, *cache, *io;
	guint64 bytes;
	guint n_more_scratch;
	guint64 more_scratch_bytes[LAB_MORE_SCRATCH_MAX];
} LabDisk;

/** enum LabAsyncPf - QEMU's properties kvm-asyncpf and kvm-asyncpf-int: as the CPU model has them, both on, both off,
 * the second alone */
typedef enum {
	LAB_ASYNC_PF_DEFAULT,
	LAB_ASYNC_PF_ON,
	LAB_ASYNC_PF_OFF,
	LAB_ASYNC_PF_INT_ONLY,
} LabAsyncPf;

/** enum LabStepKind - the agent's step kinds (agent/protocol.h); argv is in its final form */
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
 * @name:       unique in prepare and steps together, [a-z0-9._-], at most 63: "fsmark", "mkfs-2"
 * @verb:       the YAML key: "fs_mark", "run"
 * @measure:    default: TRUE for mkfs.xfs, fs_mark, xfs_repair, numa_touch and run, else FALSE
 * @timeout_ns: guest time; 0: the scenario's step deadline
 * @oom_kills_allowed: an OOM kill in it is no failure of the step
 * @argv:       NULL-terminated: the agent's ARGs. An element may be "" (mount without options)
 * @origin:     its path is interned: valid for ever
 *
 * Devices and directories are the agent's well-known ones: /dev/scratch, /mnt/scratch.
 */
typedef struct {
	char *name;
	char *verb;
	LabStepKind kind;
	gboolean measure;
	guint64 timeout_ns;
	gboolean oom_kills_allowed;
	char **argv;
	LabOrigin origin;
} LabStep;

/**
 * struct LabSetting - one "setting" statement of the job
 * @name:  "numa_balancing.scan_delay_ms"
 * @value: "50"
 * @paths: NULL-terminated, absolute, in order of preference (kernels moved some)
 */
typedef struct {
	char *name;
	char *value;
	char **paths;
} LabSetting;

/**
 * struct LabJudge - a metric that decides
 * @threshold_ppm: 2 % = 20000
 * @better:        +1: higher; -1: lower; 0: as what measured it says, which may be that it is not
 * known
 */
typedef struct {
	char *metric;
	gint64 threshold_ppm;
	int better;
} LabJudge;
void lab_judge_free(LabJudge *judge);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabJudge, lab_judge_free)

/** lab_judge_parse() - "METRIC=PERCENT[:higher|:lower]": "real-fsmark=2%", "real-fsmark=0.5",
 * "numa_pages_migrated=25:lower". Errors: LAB_ERROR_USER. */
LabJudge *lab_judge_parse(const char *text, GError **error);

/**
 * lab_scenario_judge() - which metrics decide, of a scenario that may no longer be read as a whole:
 * what else it names is not looked at
 * @text:      the scenario as written; @path: what errors start with
 * @overrides: (nullable): the --set arguments it was read with; those of other keys are not applied
 *
 * Return: array of LabJudge, empty where it says nothing. Errors as of lab_scenario_load().
 */
GPtrArray *lab_scenario_judge(const char *text, const char *path, const char *const *overrides,
			      GError **error);

typedef struct {
	guint64 first_output_ns, agent_ns, step_ns, power_off_ns;
} LabDeadlines;

typedef struct _LabScenario LabScenario;

/**
 * struct LabPoint - one combination of the values of a sweep
 * @values:   NULL-terminated, one of each key: as written; "default": the key is not there
 * @scenario: with these values, and without a sweep
 */
typedef struct {
	char **values;
	LabScenario *scenario;
} LabPoint;

/** lab_sweep_is_key() - is @name the last parts of @path, or all of it? "bhash" of "steps.xfsrepair.options.bhash" */
gboolean lab_sweep_is_key(const char *path, const char *name);

/**
 * struct LabScenario
 * @path:           file it was read from
 * @sweep:          NULL-terminated: keys of the sweep, each as short as it is unique: "bhash"; empty without one
 * @points:         of LabPoint, the last key's values changing fastest; len 0 without a sweep. All that is below is
 *                  of the first point then, but canonical, which has every point's as well. Points have one
 *                  image, boot, clock, and the same kernels, seeds and files
 * @seeds:          unique, at least one
 * @cpu_model:      (nullable): NULL but with clock kvm: "host" or a name for QEMU
 * @pmu:            of clock kvm
 * @pin:            of clock kvm; all NULL and 0: the host's choice
 * @memory_high_bytes, @memory_max_bytes: memory before it is swapped, memory and swap; 0: no limit
 * @scale_numerator, @scale_denominator: already applied to all that follows
 * @numa_balancing: 0 or 1: what the guest must say
 * @settings:       of LabSetting, in the order to be written; numa_balancing is always one
 * @scratch_bytes:  0: no scratch device; a multiple of 2 MiB, above 300 MiB for mkfs.xfs
 * @prepare:        of LabStep; len 0: none
 * @prepare_kernel: (nullable): the first of @kernels
 * @counters:       NULL-terminated: what is shown of vmstat, numastat, interrupts; default: all
 * @collect:        what more is collected while steps run
 * @kernel_args:    NULL-terminated, extra
 * @modules:        NULL-terminated, unique, '-' written as '_'
 * @module_origins: one for each of @modules, so that one that a kernel lacks can be named where it
 *                  is written; their paths are interned: valid for ever
 * @files:          (nullable): directory, absolute; whether it is one is not asked here
 * @files_origin:   where it is written; its path is interned: valid for ever
 * @text:           the file as written
 * @overrides:      NULL-terminated: the --set arguments it was read with (run/ records them)
 * @canonical:      all that decides what is run, JSON, keys sorted: without name, about, kernels,
 *                  seeds, files (as of kernels, what they hold decides), counters, judge and
 *                  deadlines of the host's time
 * @prepare_canonical: (nullable): what decides a prepared file system, apart from image and kernel:
 *                  what prepare's steps do, scratch size, topology, clock, settings, settle,
 *                  console, kernel_args, modules; NULL without prepare
 */
struct _LabScenario {
	char *path;
	char **sweep;
	GPtrArray *points;
	char *name;
	char *about; /* (nullable) */
	LabTopology *topology;
	LabImageRecipe *image;
	GPtrArray *kernels; /* of LabKernelSpec */
	LabClock clock;
	LabBootKind boot;
	LabDisk disk;
	char *cpu_model;
	gboolean pmu;
	LabAsyncPf async_pf;
	LabPlacement pin;
	guint64 memory_high_bytes, memory_max_bytes;
	guint n_seeds;
	guint64 *seeds;
	guint64 scale_numerator, scale_denominator;
	int numa_balancing;
	GPtrArray *settings;
	guint64 settle_ns;
	guint64 scratch_bytes;
	GPtrArray *prepare;
	gboolean prepare_fresh;
	LabKernelSpec *prepare_kernel;
	GPtrArray *steps; /* of LabStep */
	char **counters;
	LabCollect collect;
	GPtrArray *judge; /* of LabJudge */
	LabDeadlines deadlines;
	gboolean console_quiet;
	char **kernel_args;
	char **modules;
	LabOrigin *module_origins;
	char *files;
	LabOrigin files_origin;
	char *text;
	char **overrides;
	char *canonical;
	char *digest;
	char *prepare_canonical;
};

/**
 * lab_scenario_load() - read and check a scenario and all that it names
 * @path: file
 * @overrides: (nullable): NULL-terminated "KEY.PATH=VALUE" of --set, applied in order before
 *             checking; VALUE is YAML: "boots=5", "kernels=[dir:/x]",
 *             "settings.transparent_hugepage=never", "settings.sysctl.vm.swappiness=10",
 *             "steps.xfsrepair.options.bhash=4096" (a step by its name, or its number from 0).
 *             VALUE null takes a key away, or an item of a list. Keys that are not there are added; steps are not. A key
 *             that is swept is swept no longer; "sweep.KEY.PATH=[4096, 8192]" sweeps one. Relative paths in a VALUE start
 *             from the current directory.
 *
 * Errors: LAB_ERROR_USER, "path:line:column: wanted ..., found ..." for the first problem; of an
 * override "--set KEY=VALUE: wanted ..., found ...".
 */
LabScenario *lab_scenario_load(const char *path, const char *const *overrides, GError **error);

/** lab_scenario_find() - "NAME" -> the shipped scenarios/NAME.yaml, or a path; then load */
LabScenario *lab_scenario_find(const char *name, const char *const *overrides, GError **error);
void lab_scenario_free(LabScenario *scenario);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabScenario, lab_scenario_free)

const char *lab_clock_name(LabClock clock);
gboolean lab_clock_parse(const char *text, LabClock *clock);
const char *lab_boot_kind_name(LabBootKind boot); /* "direct", "disk" */
gboolean lab_boot_kind_parse(const char *text, LabBootKind *boot);
const char *lab_async_pf_name(LabAsyncPf async_pf); /* "default", "on", "off", "int-only" */
gboolean lab_async_pf_parse(const char *text, LabAsyncPf *async_pf);
