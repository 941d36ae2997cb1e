/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Everything a run's boots read, resolved to content-addressed files before the first boot. Private
 * to lab/run. */
#pragma once
#include "lab/build/disk.h"
#include "lab/build/files.h"
#include "lab/build/image.h"
#include "lab/build/kernel.h"
#include "lab/guest/boot.h"
#include "lab/guest/connect.h"
#include "lab/run/run.h"

/** struct LabPrepared - a prepared file system in the cache, and the boot that made it */
typedef struct {
	char *dir; /* cache entry: scratch.img and the making boot's files */
	char *scratch_path;
	char *digest; /* SHA-256 of scratch.img */
} LabPrepared;

typedef struct {
	const LabScenario *scenario;  /* borrowed */
	GPtrArray *points;	      /* of LabInputs, of each point of the scenario's sweep; NULL: it has none */
	gboolean is_point;	      /* all but scenario, prepared and results_bytes is borrowed */
	const LabRunOptions *options; /* borrowed */
	LabCache *cache;
	GPtrArray *kernels; /* of LabKernel, in the scenario's order */
	LabImage *image;    /* (nullable): of boot direct */
	/* Of boot disk: */
	LabDiskTool *disk_tool;
	LabDiskImage *disk;
	GPtrArray *disk_kernels; /* of LabDiskImage, in the order of @kernels */
	LabFiles *files;	 /* (nullable): the scenario has none */
	char *agent_path, *agent_digest;
	LabConnectHost *host;	/* (nullable): libvirt's driver inside the process of a boot */
	gboolean remote;	/* @host is another than this one */
	gboolean invariant_tsc; /* the host's CPUs' */
	char *emulator, *emulator_version; /* the host's */
	guint64 results_bytes;
	LabPrepared *prepared; /* (nullable): the scenario has none, or makes it in each boot */
} LabInputs;

void lab_inputs_free(LabInputs *inputs);
void lab_prepared_free(LabPrepared *prepared);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabPrepared, lab_prepared_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabInputs, lab_inputs_free)

/**
 * lab_inputs_resolve() - kernels, image, files, emulator; checks all that can be checked before a
 * boot
 * @kernels: (nullable): LabKernelSpec to take in place of the scenario's (verify pins versions)
 * @then: (nullable): plan whose kernels and image are wanted again: taken from the cache by their digests where they are there
 *
 * Does not make the prepared file system: lab_prepared_get() does, since that is a boot.
 */
LabInputs *lab_inputs_resolve(const LabScenario *scenario, const GPtrArray *kernels,
			      const LabPlan *then, const LabRunOptions *options, GError **error);

/**
 * lab_inputs_find_host() - the host of the boots, its QEMU, and whether it can do what the scenario asks of it
 * @kvm_works: (out): of this host, also for libguestfs, which is to use KVM only then
 */
gboolean lab_inputs_find_host(LabInputs *inputs, gboolean *kvm_works, GError **error);

/** lab_inputs_at() - those of a point; themselves without a sweep */
const LabInputs *lab_inputs_at(const LabInputs *inputs, guint point);

/** lab_inputs_check_host() - can the host, which was found, do what this point of a sweep asks of it? */
gboolean lab_inputs_check_host(const LabInputs *point, GError **error);

/** lab_inputs_at_once() - boots that do not disturb each other */
guint lab_inputs_at_once(const LabInputs *inputs);

/** lab_inputs_image_digest() - of the image, or of the disk; borrowed */
const char *lab_inputs_image_digest(const LabInputs *inputs);

/** lab_inputs_get_disks() - of boot disk: the system, and a layer with each kernel */
gboolean lab_inputs_get_disks(LabInputs *inputs, const GPtrArray *specs, gboolean tcg,
			      GError **error);

/** lab_inputs_set_disk() - what boot disk adds to a job. @text: the agent's job */
gboolean lab_inputs_set_disk(const LabInputs *inputs, const LabKernel *kernel, const char *text,
			     LabBootJob *job, GError **error);

/** lab_inputs_kernel() - the kernel with this digest, or NULL; borrowed */
const LabKernel *lab_inputs_kernel(const LabInputs *inputs, const char *digest);

/**
 * lab_inputs_check_kernel() - has the kernel all that the scenario needs of it, and the modules it names?
 *
 * Errors: LAB_ERROR_USER at @origin (of the kernel), or at the module's.
 */
gboolean lab_inputs_check_kernel(const LabInputs *inputs, const LabKernel *kernel,
				 const LabOrigin *origin, GError **error);

/** lab_inputs_job() - the job of one boot of the scenario's steps. @prepare: of the boot that makes
 * the prepared file system */
LabBootJob *lab_inputs_job(const LabInputs *inputs, const LabKernel *kernel, guint64 seed,
			   gboolean prepare, GError **error);

/** lab_prepared_get() - sets inputs->prepared when the scenario has a reusable prepare; boots a
 * guest when it is not in the cache */
gboolean lab_prepared_get(LabInputs *inputs, GError **error);

/** lab_run_note() - hand a LAB_EVENT_NOTE to the caller */
void lab_run_note(const LabRunOptions *options, const char *format, ...) G_GNUC_PRINTF(2, 3);
/** lab_run_stage() - LabProgress whose data is a LabRunOptions: LAB_EVENT_STAGE */
void lab_run_stage(const char *what, double fraction, gpointer options);
