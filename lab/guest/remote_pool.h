/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to lab/guest: numalab's volumes in a storage pool of another host (lab/guest/remote.h has their names). */
#pragma once
#include <gio/gio.h>

#include "lab/guest/virt.h"

#define LAB_REMOTE_BOOT_PREFIX "numalab-boot-"

/**
 * struct LabRemotePool
 * @dir:   of its volumes, on that host
 * @owner: (nullable): whom QEMU runs as there: "64055:64055"; NULL: the daemon's own user
 */
typedef struct {
	virConnectPtr connection; /* borrowed */
	virStoragePoolPtr pool;
	char *dir, *owner;
} LabRemotePool;

/** lab_remote_pool_open() - Errors: LAB_ERROR_INFRA: no such pool, or not one of files */
gboolean lab_remote_pool_open(virConnectPtr connection, const char *name, LabRemotePool *pool,
			      GError **error);
void lab_remote_pool_clear(LabRemotePool *pool);

/**
 * lab_remote_pool_put() - have a file there, under its content's name; uploads it unless it is there
 * @kind, @digest: its name
 *
 * Return: its path on that host; free with g_free(). Errors: LAB_ERROR_INFRA, LAB_ERROR_INTERRUPTED.
 */
char *lab_remote_pool_put(const LabRemotePool *pool, const char *kind, const char *digest,
			  const char *path, GCancellable *cancellable, GError **error);

/** lab_remote_pool_remove() - volumes whose names start with @prefix. Best effort. */
void lab_remote_pool_remove(const LabRemotePool *pool, const char *prefix);

/** lab_remote_pool_sweep() - volumes of clients that died. Best effort. @now: that host's clock, seconds */
void lab_remote_pool_sweep(const LabRemotePool *pool, gint64 now);

/** lab_remote_pool_time() - when a volume was last written, seconds by that host's clock; -1: not known */
gint64 lab_remote_pool_time(virStorageVolPtr volume);
