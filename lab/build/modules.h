/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A kernel's modules in the cache: a directory like lib/modules/RELEASE, each module compressed, with depmod's indices. Internal to lab/build. */
#pragma once
#include <glib.h>

/**
 * lab_modules_install() - bring the modules of @from to MODULES/RELEASE
 * @from:    (nullable): a directory like lib/modules/RELEASE; NULL: a kernel without modules
 * @move:    take the files away from @from
 * @modules: directory, made
 * @digest:  (out): SHA-256 of names and contents as they were in @from; free with g_free()
 *
 * Only modules and modules.* files come along: no links (build, source), nothing else. Modules that were not compressed are now, by zstd:
 * Debian's 6.1 takes 105 MiB instead of 391. They are bit for bit the same once decompressed, signatures and all.
 *
 * Errors: G_FILE_ERROR, LAB_ERROR_INFRA (no depmod, or it failed).
 */
gboolean lab_modules_install(const char *from, gboolean move, const char *modules, const char *release, char **digest,
			     GError **error);
