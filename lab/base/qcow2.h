/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Disk images of QEMU's, by its qemu-img. */
#pragma once
#include <glib.h>

/** lab_qcow2_above() - a new qcow2 @path, copy-on-write above @backing of @format ("qcow2", "raw"). Errors: LAB_ERROR_INFRA. */
gboolean lab_qcow2_above(const char *backing, const char *format, const char *path, GError **error);

/** lab_qcow2_empty() - a new one of @bytes, of which none takes room. Errors: LAB_ERROR_INFRA. */
gboolean lab_qcow2_empty(guint64 bytes, const char *path, GError **error);

/** struct LabQcow2Layer - @format: "qcow2", "raw" */
typedef struct {
	char *path, *format;
} LabQcow2Layer;

/** lab_qcow2_chain() - @path and what it is above, as the images themselves say; array of LabQcow2Layer. Errors: LAB_ERROR_INFRA. */
GPtrArray *lab_qcow2_chain(const char *path, GError **error);
