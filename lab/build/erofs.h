/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A tree -> a read-only file system that a guest gets as an NVDIMM. Internal to lab/build. */
#pragma once
#include <glib.h>

/* The whole length is a multiple: what QEMU and libvirt want of an NVDIMM (a huge page of the host). */
#define LAB_EROFS_ALIGN (2u << 20)

/**
 * lab_erofs_make() - write the EROFS image @path of what is below @tree
 * @time: of all files, seconds since 1970, as a text
 * @extra_bytes: zeros behind it, a multiple of LAB_EROFS_ALIGN
 *
 * Bit for bit the same from the same tree and mkfs.erofs: fixed times, owner (root) and UUID, sorted, no extended attributes, no
 * compression. Errors: LAB_ERROR_INFRA.
 */
gboolean lab_erofs_make(const char *tree, const char *path, const char *time, guint64 extra_bytes,
			GError **error);
