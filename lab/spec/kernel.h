/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which kernel: the words a person writes for one. An immutable value. */
#pragma once
#include <glib.h>

#include "lab/base/error.h"

/**
 * enum LabKernelKind
 * @LAB_KERNEL_DEBIAN: "debian:SUITE" (what linux-image-amd64 depends on there),
 *                     "debian:SUITE/PACKAGE", "debian:SUITE/PACKAGE=VERSION"
 * @LAB_KERNEL_DIR:    "dir:PATH": a build tree, or a folder with vmlinuz (or bzImage, vmlinux),
 *                     config, modules
 */
typedef enum {
	LAB_KERNEL_DEBIAN,
	LAB_KERNEL_DIR,
} LabKernelKind;

typedef struct {
	LabKernelKind kind;
	char *text;	  /* as written; also its name in tables */
	char *suite;	  /* DEBIAN */
	char *package;	  /* DEBIAN; (nullable): the suite's default */
	char *version;	  /* DEBIAN; (nullable): the newest */
	char *path;	  /* DIR; absolute */
	LabOrigin origin; /* its path is interned: valid for ever */
} LabKernelSpec;

/**
 * lab_kernel_spec_parse()
 * @text:   as written
 * @origin: (nullable): where; copied
 * @relative_to: (nullable): directory that a relative dir: path starts from; else the current one
 *
 * Suites, packages and versions must have Debian's form, as they become arguments and file names;
 * whether they exist is not asked here. Errors: LAB_ERROR_USER "wanted debian:SUITE, ..., found 'X'".
 */
LabKernelSpec *lab_kernel_spec_parse(const char *text, const LabOrigin *origin,
				     const char *relative_to, GError **error);
LabKernelSpec *lab_kernel_spec_copy(const LabKernelSpec *spec);
void lab_kernel_spec_free(LabKernelSpec *spec);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabKernelSpec, lab_kernel_spec_free)
