/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to lab/guest: files of this host and volumes of a storage pool of another. Holes stay holes. Errors: LAB_ERROR_INFRA, and
 * LAB_ERROR_INTERRUPTED. */
#pragma once
#include <gio/gio.h>

#include "lab/guest/virt.h"

/**
 * lab_remote_volume_create() - an empty raw volume, to be read and written by QEMU's user there
 * @owner: (nullable): "64055:64055"; NULL: the daemon's own user
 */
virStorageVolPtr lab_remote_volume_create(virStoragePoolPtr pool, const char *name, guint64 bytes,
					  const char *owner, GError **error);

/** lab_remote_volume_upload() - the content of a file; blocks. @cancellable: (nullable) */
gboolean lab_remote_volume_upload(virConnectPtr connection, virStorageVolPtr volume,
				  const char *path, GCancellable *cancellable, GError **error);

/** lab_remote_volume_download() - the content to a file, which is overwritten; blocks. @cancellable: (nullable) */
gboolean lab_remote_volume_download(virConnectPtr connection, virStorageVolPtr volume,
				    const char *path, GCancellable *cancellable, GError **error);

/** lab_remote_volume_append() - what it has from @offset on, to the end of a file. Return: bytes, as far as that went; no errors. */
guint64 lab_remote_volume_append(virConnectPtr connection, virStorageVolPtr volume, guint64 offset,
				 const char *path);
