/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which modules, in which order: libkmod on a kernel in the cache. Internal to lab/build. */
#pragma once
#include "lab/build/kernel.h"

/**
 * lab_module_order() - files of the modules to load for @wanted, in load order; see
 * lab_initrd_modules()
 *
 * Return: (array, NULL-terminated) absolute paths, compressed as they are in the cache; free with
 * g_strfreev().
 */
char **lab_module_order(const LabKernel *kernel, const char *const *wanted, GError **error);
