/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A kernel's modules: found where they are, brought into the cache. Internal to lab/build. */
#pragma once
#include <glib.h>

/** struct LabModuleFile - one file of what will be lib/modules/RELEASE */
typedef struct {
	char *relative; /* "kernel/fs/xfs/xfs.ko", "modules.builtin" */
	char *source;	/* where it is; NULL: see @text */
	char *text;	/* (nullable): its content, where it is in no file */
} LabModuleFile;

/**
 * lab_modules_find() - of a directory like lib/modules/RELEASE
 *
 * Modules and the lists that the kernel's build made; nothing else, and no links (build, source)
 * are followed.
 * Return: array of LabModuleFile, sorted by @relative. Errors: G_FILE_ERROR.
 */
GPtrArray *lab_modules_find(const char *dir, GError **error);

/**
 * lab_modules_find_built() - of a build tree, by its modules.order
 *
 * Return: as lab_modules_find(); empty where nothing was built as a module.
 * Errors: LAB_ERROR_USER: modules.order names a module that is not there.
 */
GPtrArray *lab_modules_find_built(const char *tree, GError **error);

/**
 * lab_modules_digest() - SHA-256 of names and contents. Free with g_free(). Errors: G_FILE_ERROR.
 */
char *lab_modules_digest(const GPtrArray *files, GError **error);

/**
 * lab_modules_install() - bring modules to MODULES/RELEASE, with depmod's indices
 * @files:   (nullable): of LabModuleFile; NULL: a kernel without modules
 * @move:    files may be taken away from where they are (same file system)
 * @modules: directory, made
 * @digest:  (out): as lab_modules_digest(), of what was read; free with g_free()
 *
 * Modules that were not compressed are now, by zstd: Debian's 6.1 takes 105 MiB instead of 391.
 * Debug information of modules without a signature is removed, as `make modules_install
 * INSTALL_MOD_STRIP=1` does. Else they are bit for bit the same once decompressed.
 *
 * Errors: G_FILE_ERROR, LAB_ERROR_INFRA (no depmod or strip, or it failed).
 */
gboolean lab_modules_install(const GPtrArray *files, gboolean move, const char *modules,
			     const char *release, char **digest, GError **error);
