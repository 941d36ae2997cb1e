/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Disk images of QEMU's, by its qemu-img. */
#pragma once
#include <glib.h>

/** lab_qcow2_above() - a new qcow2 @path, copy-on-write above @backing of @format ("qcow2", "raw"). Errors: LAB_ERROR_INFRA. */
gboolean lab_qcow2_above(const char *backing, const char *format, const char *path, GError **error);

/** lab_qcow2_empty() - a new one of @bytes, of which none takes room. Errors: LAB_ERROR_INFRA. */
gboolean lab_qcow2_empty(guint64 bytes, const char *path, GError **error);
