/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packages -> a file system image, bit for bit the same on every host and day. Internal to lab/build. */
#pragma once
#include "lab/build/apt.h"
#include "lab/build/image.h"

/* Goes into the key of a cached image: changed when the same packages would give another image. */
#define LAB_IMAGE_LAYOUT "numalab image 1\n"

/* Name of the file system image in its directory. */
#define LAB_IMAGE_FILE "root.erofs"

/**
 * lab_image_make() - build DIR/root.erofs and DIR/packages.txt
 * @packages: of LabAptPackage: all that will be installed, sorted by name
 *
 * Fetches the packages, installs them with mmdebstrap (as root, or in a user namespace), leaves out what the recipe excludes and whatever is
 * of this host, and makes an EROFS image with fixed times, owner and UUID. Nothing else is left in @dir.
 * Errors: LAB_ERROR_INFRA.
 */
gboolean lab_image_make(LabApt *apt, const LabImageRecipe *recipe, const GPtrArray *packages,
			const char *dir, LabProgress progress, gpointer data, GError **error);

#define LAB_IMAGE_TAR "root.tar"

/**
 * lab_image_make_tar() - its first half: DIR/root.tar, with all that packages install, and DIR/packages.txt
 * @name: for progress
 * @options: (nullable): more arguments of mmdebstrap, NULL-terminated
 */
gboolean lab_image_make_tar(LabApt *apt, const char *name, const GPtrArray *packages, const char *const *options,
			    const char *dir, LabProgress progress, gpointer data, GError **error);

/** lab_image_check_packages() - does the suite have all of the recipe's? Errors: LAB_ERROR_USER at the first that is not there. */
gboolean lab_image_check_packages(LabApt *apt, const LabImageRecipe *recipe, GError **error);
