/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One boot = one process = one directory.
 *
 * DIR/job.json is all that a boot reads, apart from the content-addressed files that it names. A
 * boot leaves DIR complete, result.json written last and atomically, or it is run again. Files of a
 * complete boot:
 *
 *   job.json       the description (struct LabBootJob)
 *   domain.xml     what libvirt got            qemu.args      the argv of QEMU, one argument a line
 *   console.log    the guest's first serial port, whole
 *   progress.log   the second serial port
 *   scratch.img    only of a boot that prepares a file system; scratch.qcow2 where the guest boots from a disk
 *   root.qcow2     of a guest that boots from a disk: what it wrote to that, until somebody has looked
 *   results.img    the records of the agent, cut after the last one (agent/protocol.h)
 *   host.json      only of clock kvm: the host just before (lab/guest/host_state.h)
 *   result.json    struct LabBootResult
 */
#pragma once
#include <gio/gio.h>

#include "lab/guest/guard.h"
#include "lab/spec/scenario.h"

#define LAB_BOOT_ROOT_DISK "root.qcow2"
#define LAB_BOOT_SCRATCH_DISK "scratch.qcow2"

/** struct LabBootJob - everything that decides a boot; job.json is its JSON */
typedef struct {
	char *id;	       /* "6.1.192-s1", unique in the run; part of the domain's name */
	LabTopology *topology; /* job.json: canonical */
	char *connect; /* (nullable): libvirt's URI, of a daemon; decides nothing of the guest's bytes */
	char *pool; /* (nullable): of another host: where its daemon keeps files */
	LabClock clock;
	LabBootKind boot;
	/* LAB_BOOT_DISK: */
	char *disk_path, *disk_digest; /* (nullable): the system with the kernel, a qcow2 */
	char *disk_bootloader, *disk_cache, *disk_io; /* (nullable): as struct LabDisk */
	char *disk_root;			      /* (nullable): "UUID=..." */
	char *more_scratch; /* (nullable): bytes of each, with blanks between; empty qcow2, of this boot alone */
	char *agent_job_path, *agent_job_digest; /* (nullable): the disk with agent and job */
	char *cpu_model;			 /* (nullable): of clock kvm */
	gboolean pmu, invtsc;			 /* of clock kvm */
	LabAsyncPf async_pf;
	LabPlacement pin;			     /* of clock kvm; without origins */
	guint64 memory_high_bytes, memory_max_bytes; /* of QEMU's control group; 0: none */
	guint64 seed;
	char *kernel_path; /* what QEMU gets; "" and no initrd: a boot loader finds them on the disk */
	char *kernel_digest, *kernel_release, *kernel_label, *kernel_text, *kernel_build_id;
	char *initrd_path; /* relative to DIR, or absolute */
	char *initrd_digest;
	char *cmdline_extra; /* added to the fixed arguments */
	gboolean console_quiet;
	char *image_path, *image_digest, *image_type; /* image_path NULL: root is the initrd */
	guint64 image_bytes;
	/* Of LAB_BOOT_DISK all scratch.img are qcow2, and called scratch.qcow2. */
	char *scratch_path; /* (nullable): NULL and scratch_bytes > 0: an empty device, made in DIR
			       and removed after */
	char *scratch_digest; /* (nullable): of the prepared file system */
	guint64 scratch_bytes;
	gboolean scratch_keep; /* shared mapping on DIR/scratch.img, kept: this boot prepares a file
				  system */
	char *files_path, *files_digest; /* (nullable): no files of the host */
	guint64 files_bytes;
	guint64 results_bytes;
	LabDeadlines deadlines;
	guint n_steps;		/* for progress */
	char *emulator;		/* path of qemu-system-x86_64 */
	char *emulator_version; /* "10.0.2" */
} LabBootJob;

void lab_boot_job_free(LabBootJob *job);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabBootJob, lab_boot_job_free)
gboolean lab_boot_job_write(const LabBootJob *job, const char *dir, GError **error);
LabBootJob *lab_boot_job_read(const char *dir, GError **error);
/** lab_boot_job_digest() - of everything in it that decides the guest's bytes (digests, not paths;
 * no deadlines). Free with g_free(). */
char *lab_boot_job_digest(const LabBootJob *job);

typedef enum {
	LAB_OUTCOME_OK,
	LAB_OUTCOME_INFRA,  /* the lab failed, or the guest is not the one asked for */
	LAB_OUTCOME_KERNEL, /* did not boot, or crashed */
	LAB_OUTCOME_STEP,   /* a step failed, timed out, ran out of memory */
} LabOutcome;
const char *lab_outcome_name(LabOutcome outcome); /* "ok", "infra", "kernel", "step" */
gboolean lab_outcome_parse(const char *text, LabOutcome *outcome);

/**
 * enum LabAsyncPfCount - of clock kvm: how often the host's tracepoints were hit by this guest's CPUs, over the whole boot
 * @LAB_ASYNC_PF_NOT_PRESENT: kvm:kvm_async_pf_not_present: the CPU was not kept waiting in the fault. A guest without
 *	the feature is halted instead
 * @LAB_ASYNC_PF_READY:       kvm:kvm_async_pf_ready
 * @LAB_ASYNC_PF_INTERRUPTS:  kvm:kvm_apic_accept_irq of Linux's vector for "ready": the guest was told
 */
typedef enum {
	LAB_ASYNC_PF_NOT_PRESENT,
	LAB_ASYNC_PF_READY,
	LAB_ASYNC_PF_INTERRUPTS,
	LAB_ASYNC_PF_N_COUNTS,
} LabAsyncPfCount;
/** lab_async_pf_count_name() - "async_pf_not_present", "async_pf_ready", "async_pf_interrupts" */
const char *lab_async_pf_count_name(LabAsyncPfCount count);

typedef struct {
	LabOutcome outcome;
	char *stage;	/* reached: "start", "first-output", "agent", "verified", step's name,
			   "power-off", "done" */
	char *message;	/* one line; "" when ok */
	char *evidence; /* lines quoted from the console or of the step's output; "" */
	char *digest; /* of `cat results.img console.log`, SHA-256: what verify compares; only when
			 ok, else "" */
	char *job_digest;
	gint64 host_us;	    /* wall time of the whole boot on the host, microseconds */
	gint64 stage_us[5]; /* since the guard began: QEMU started, first output, agent start, steps
			       end, QEMU gone; 0: not reached */
	char *host_qemu_version;
	char *placement;    /* (nullable): where QEMU's threads may run: "cpus=2,3 emulator=0-1" */
	char *cpu_features; /* (nullable): of clock kvm, as QEMU says: "pmu=on invtsc=off" */
	char *kvm_features; /* (nullable): of clock kvm, QEMU's names: "kvm-asyncpf kvmclock" */
	char *async_pf;	    /* (nullable): as QEMU says: "kvm-asyncpf=on kvm-asyncpf-int=on" */
	gint64 async_pf_counts[LAB_ASYNC_PF_N_COUNTS]; /* -1: not counted */
} LabBootResult;

void lab_boot_result_free(LabBootResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabBootResult, lab_boot_result_free)
gboolean lab_boot_result_write(const LabBootResult *result, const char *dir, GError **error);
/** lab_boot_result_read() - NULL with G_FILE_ERROR_NOENT when the boot is not complete */
LabBootResult *lab_boot_result_read(const char *dir, GError **error);

/** LabBootProgress - stage as in LabBootResult; step counts from 1, 0: none */
typedef void (*LabBootProgress)(const char *stage, guint step, guint n_steps, gpointer data);

/**
 * lab_boot_run() - execute DIR/job.json; blocks until the guest has ended, in any way
 * @guard: of lab_guard_run(), whose worker calls this
 * @cancellable: (nullable): ends the guest; error LAB_ERROR_INTERRUPTED, and no result.json
 *
 * What an earlier try left in DIR is removed first. Once in a process: libvirt's private directory
 * cannot change.
 *
 * Return: the result (also written as DIR/result.json); its outcome may be a failure of any kind.
 * NULL with @error only when no result could be had or written: job unreadable (LAB_ERROR_USER); a
 * file of it absent or of another size, another QEMU than the job's, DIR used by another process,
 * disk full (LAB_ERROR_INFRA); interrupted. Nothing of the guest is left when this returns or the
 * process dies (lab/guest/guard.h).
 */
LabBootResult *lab_boot_run(const LabGuard *guard, const char *dir, LabBootProgress progress,
			    gpointer data, GCancellable *cancellable, GError **error);
