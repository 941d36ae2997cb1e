/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a kernel's parts lie before they are in the cache, and the way in. Internal to lab/build.
 */
#pragma once
#include <json-glib/json-glib.h>

#include "lab/build/kernel.h"

#define LAB_KERNEL_KIND "kernel"

/** Enters every key: a new number where the layout of an entry changes. */
#define LAB_KERNEL_LAYOUT "numalab-kernel 1\n"

/** struct LabKernelSource - the parts; all owned */
typedef struct {
	char *boot;	       /* bzImage or ELF vmlinux */
	char *config;	       /* (nullable) */
	GPtrArray *modules;    /* (nullable): of LabModuleFile, see modules.h */
	char *modules_release; /* (nullable): of the directory they were found in */
	gboolean movable;      /* files may be moved away: same file system, ours */
	char *version;	       /* of the package, or "" */
	JsonArray *packages;   /* (nullable): for kernel.json */
	char *boot_digest, *config_digest,
		*modules_digest; /* (nullable): SHA-256 when they were looked at: must still be so */
} LabKernelSource;

void lab_kernel_source_clear(LabKernelSource *source);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LabKernelSource, lab_kernel_source_clear)

/**
 * lab_kernel_install() - fill the cache entry @dir from @source: boot file, config, modules,
 * kernel.json
 * @text: the spec as written
 *
 * Errors: LAB_ERROR_USER without origin (the parts do not fit together, are damaged),
 * LAB_ERROR_INFRA.
 */
gboolean lab_kernel_install(const LabKernelSource *source, const char *text, const char *dir,
			    GError **error);

/**
 * lab_kernel_find_entry() - the first entry of directory ROOT/DIR whose name starts with @prefix,
 * in strverscmp() order
 *
 * Return: (nullable): its path; free with g_free().
 */
char *lab_kernel_find_entry(const char *root, const char *dir, const char *prefix);

/**
 * lab_kernel_load() - read the entry @dir; @text (nullable): instead of the one recorded. Errors:
 * LAB_ERROR_INFRA.
 */
LabKernel *lab_kernel_load(const char *dir, const char *text, GError **error);

/** lab_kernel_get_debian(), lab_kernel_get_dir() - lab_kernel_get() of one kind */
LabKernel *lab_kernel_get_debian(LabCache *cache, const LabKernelSpec *spec, gboolean offline,
				 LabProgress progress, gpointer data, gboolean *fetched,
				 GError **error);
LabKernel *lab_kernel_get_dir(LabCache *cache, const LabKernelSpec *spec, LabProgress progress,
			      gpointer data, GError **error);
