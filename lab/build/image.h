/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An image: a read-only file system with the guest's user space, in the cache, found by its digest. */
#pragma once
#include "lab/build/cache.h"
#include "lab/build/kernel.h"
#include "lab/spec/image.h"

typedef struct {
	char *name;	     /* of the recipe */
	char *suite;	     /* "bookworm" */
	char *recipe_digest;
	char *digest;	     /* SHA-256 of the file system image */
	char *path;	     /* the file system image; a multiple of 2 MiB long */
	char *type;	     /* "erofs" */
	guint64 bytes;	     /* of the file */
	char *packages_path; /* list of "package version arch" lines, sorted */
	gint64 made_s;	     /* when it was built, seconds since 1970 */
} LabImage;

/**
 * lab_image_get() - the image of a recipe, built when it is not in the cache
 * @offline: never ask a mirror: use the image that the recipe meant last
 * @made: (out) (optional): whether it was built
 *
 * An image is what comes of a recipe and the exact packages (name, version, SHA-256) that the suite's index has for it; that is its key
 * in the cache. So on a day with newer packages a recipe means another image. Without @offline the index is asked at most once an hour.
 * Built by mmdebstrap from the host's mirrors and keys; bit for bit the same from the same packages and tools, whatever the host, user, day, TMPDIR,
 * time zone, umask or locale: fixed times (2026-01-01), owner and UUID, no host state (lab/build/image_tree.h), EROFS without
 * compression. No set-user-id bits, no device nodes. Works as root and, where the kernel allows user namespaces, without.
 *
 * Errors: LAB_ERROR_USER at the package's origin when a package does not exist, or at the suite's when there is no such suite;
 * LAB_ERROR_INFRA else.
 */
LabImage *lab_image_get(LabCache *cache, const LabImageRecipe *recipe, gboolean offline, LabProgress progress, gpointer data,
			gboolean *made, GError **error);
/** lab_image_open() - a cached one: the newest of a recipe's name, or an unambiguous start of a digest (>= 6 digits). Errors: LAB_ERROR_USER. */
LabImage *lab_image_open(LabCache *cache, const char *name, GError **error);
/** lab_image_list() - all in the cache, by name, the newest of a name first; array of LabImage */
GPtrArray *lab_image_list(LabCache *cache, GError **error);
void lab_image_free(LabImage *image);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabImage, lab_image_free)
