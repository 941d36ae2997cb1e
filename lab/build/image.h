/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An image: a read-only file system with the guest's user space, in the cache, found by its digest. */
#pragma once
#include "lab/build/cache.h"
#include "lab/build/kernel.h"
#include "lab/spec/image.h"

typedef struct {
	char *name;	     /* of the recipe */
	char *recipe_digest;
	char *digest;	     /* SHA-256 of the file system image */
	char *path;	     /* the file system image; a multiple of 2 MiB long */
	char *type;	     /* "erofs" */
	guint64 bytes;	     /* of the file */
	char *packages_path; /* list of "package version arch" lines */
} LabImage;

/**
 * lab_image_get() - the image of a recipe, built when it is not in the cache
 *
 * Built by mmdebstrap from the host's mirrors and keys; bit for bit the same when the same package versions are installed
 * (SOURCE_DATE_EPOCH, no host state). Works as root and, where the kernel allows user namespaces, without.
 *
 * Errors: LAB_ERROR_USER at the package's origin when a package does not exist; LAB_ERROR_INFRA else.
 */
LabImage *lab_image_get(LabCache *cache, const LabImageRecipe *recipe, LabProgress progress, gpointer data,
			gboolean *made, GError **error);
/** lab_image_open() - a cached one, by the start of its digest or by its recipe's name */
LabImage *lab_image_open(LabCache *cache, const char *name, GError **error);
GPtrArray *lab_image_list(LabCache *cache, GError **error);
void lab_image_free(LabImage *image);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabImage, lab_image_free)
