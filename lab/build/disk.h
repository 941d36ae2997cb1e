/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Disk images with a system of their own: made from a recipe, or somebody's; kernels installed into a layer above, the way the
 * system does it. All by libguestfs, in a program of its own (lab/build/disk_program.h); all in the cache, complete or absent.
 *
 *     disk/KEY/disk.qcow2          the system          packages.txt, disk.json
 *     disk-kernel/KEY/disk.qcow2   and a kernel: a copy-on-write layer above the system's
 *                  initrd          that the system made for it
 *
 * What an image holds is not bit for bit the same when it is made again (times, UUIDs, order of allocation): its digest is of
 * what it was made of.
 */
#pragma once
#include "lab/build/cache.h"
#include "lab/build/kernel.h"
#include "lab/spec/scenario.h"

typedef struct _LabDiskTool LabDiskTool;

/**
 * lab_disk_tool_new() - how images are worked on
 * @cache: borrowed; must outlive the object
 * @tcg: KVM does not run guests here, libguestfs must not try it
 * @offline: never ask a mirror
 */
LabDiskTool *lab_disk_tool_new(LabCache *cache, gboolean tcg, gboolean offline,
			       LabProgress progress, gpointer data);
void lab_disk_tool_free(LabDiskTool *tool);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabDiskTool, lab_disk_tool_free)

/**
 * struct LabDiskImage - a system on a disk; or, of lab_disk_kernel_get(), with a kernel, too
 * @digest: of what it was made of
 * @root: "UUID=...": of the root file system, for the kernel
 * @path: a qcow2, never to be written
 * @initrd_path: (nullable): NULL without a kernel
 * @parts: what making it took, one "NAME MILLISECONDS" each, NULL-terminated
 */
typedef struct {
	char *name, *digest, *root, *path, *initrd_path;
	char *initrd_digest; /* (nullable): for the caller to find, and freed with the rest */
	char **parts;
} LabDiskImage;

void lab_disk_image_free(LabDiskImage *image);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabDiskImage, lab_disk_image_free)

/**
 * lab_disk_image_get() - the disk of a recipe, or a layer above somebody's disk image, made when it is not in the cache
 * @options: root, bytes
 * @made: (out): whether it was
 *
 * A recipe's packages are joined by what a system needs to boot and to install kernels; what the recipe excludes is there, but for
 * documentation: dpkg must work. Mirrors are asked as for lab_image_get(). An image of somebody's is never written; as its digest is
 * that of all of its bytes, a large one takes a while when it is first seen or was changed.
 * Errors: as lab_image_get(); LAB_ERROR_USER at the origin of somebody's image: no such file, no system with systemd in it.
 */
LabDiskImage *lab_disk_image_get(LabDiskTool *tool, const LabImageRecipe *recipe,
				 const LabDisk *options, gboolean *made, GError **error);

/**
 * lab_disk_kernel_get() - @image with @kernel installed, made when it is not in the cache
 * @spec: where the kernel came from: Debian's packages are fetched again and installed by dpkg; of anything else, the kernel goes
 *	to /boot and the modules to /lib/modules, as the kernel's own "make install" does
 * @bootloader: "grub": a kernel that the boot loader cannot start is an error
 *
 * Initrd and boot loader are updated by the system in the image. Errors: LAB_ERROR_USER at the spec's origin; LAB_ERROR_INFRA.
 */
LabDiskImage *lab_disk_kernel_get(LabDiskTool *tool, const LabDiskImage *image,
				  const LabKernel *kernel, const LabKernelSpec *spec,
				  const char *bootloader, gboolean *made, GError **error);

/**
 * lab_disk_read() - what a guest that died left: its logs and what its steps had said
 * @disk: a qcow2; not written
 * @dir: gets steps.tar.gz and log.tar.gz (archives, as what a guest leaves may be anything)
 */
gboolean lab_disk_read(LabDiskTool *tool, const char *disk, const char *dir, GError **error);

/** lab_disk_job_write() - the disk by which a guest gets agent and job: a tar archive @path */
gboolean lab_disk_job_write(const char *agent_path, const char *job, const char *path,
			    GError **error);
