/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of the host that a guest sees read-only: a directory as a file system image, in the cache, found by its content. */
#pragma once
#include "lab/base/error.h"
#include "lab/build/cache.h"

typedef struct {
	char *path;    /* the EROFS image; a multiple of 2 MiB long */
	char *digest;  /* SHA-256 of it */
	guint64 bytes; /* of it */
} LabFiles;

/**
 * lab_files_digest() - of what a directory holds
 * @dir: absolute
 * @origin: (nullable): where a person named it
 *
 * Decided by paths, modes, the bytes of files and the targets of symlinks, which are not followed; not by times, owners, hard links
 * and extended attributes. Reads everything.
 *
 * Return: free with g_free(). Errors: LAB_ERROR_USER at @origin: it is no directory, or empty, or something in it cannot be read or is
 * a socket, pipe or device.
 */
char *lab_files_digest(const char *dir, const LabOrigin *origin, GError **error);

/**
 * lab_files_get() - the image of a directory, packed when its content is not in the cache
 * @taken: sizes that the image must not have: it is made longer than it need be until it has another
 * @made: (out) (optional): whether it was packed
 *
 * All files are root's and of 1970. Errors: as lab_files_digest(); LAB_ERROR_INFRA: the disk is full, or the directory changed meanwhile.
 */
LabFiles *lab_files_get(LabCache *cache, const char *dir, const LabOrigin *origin,
			const guint64 *taken, guint n_taken, gboolean *made, GError **error);
void lab_files_free(LabFiles *files);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabFiles, lab_files_free)
