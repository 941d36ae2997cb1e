/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An image recipe: what the guest's user space is made of. An immutable value read from YAML.
 *
 *     about: text                      # optional
 *     suite: bookworm                  # a Debian suite; with bookworm-backports and the like, whose packages
 *                                      # win, comes bookworm
 *     packages: [xfsprogs, fsmark]     # and what they depend on
 *     exclude:                         # optional: files to leave out, as patterns of dpkg's
 *       - /usr/share/doc/?*            # path-exclude (a '*' also stands for a '/')
 */
#pragma once
#include <glib.h>

#include "lab/base/error.h"

/**
 * struct LabImageRecipe
 * @name:            its name: key, else the file's name
 * @suite:           "bookworm"
 * @packages:        NULL-terminated, sorted, unique
 * @package_origins: one for each of @packages, so that a missing one can be named where it is
 *                   written; their paths are interned: valid for ever
 * @exclude:         NULL-terminated, sorted, unique; each starts with '/'
 * @origin_path:     file it was read from
 * @disk:            (nullable): no recipe, but a disk image that is there: its absolute path; suite is "" then, and
 *                   there are no packages. As with files, what it holds decides, not where it is
 * @canonical:       JSON, keys sorted: suite, packages, exclude
 * @digest:          of the recipe (SHA-256 of @canonical), not of the image
 */
typedef struct {
	char *name;
	char *about; /* (nullable) */
	char *suite;
	char **packages;
	LabOrigin *package_origins;
	char **exclude;
	char *origin_path;
	char *disk;
	LabOrigin suite_origin; /* with @disk: where it is written */
	char *canonical;
	char *digest;
} LabImageRecipe;

/** lab_image_recipe_load() - errors as lab_topology_load() */
LabImageRecipe *lab_image_recipe_load(const char *path, GError **error);
/** lab_image_recipe_find() - "NAME" -> the shipped images/NAME.yaml, or a path */
LabImageRecipe *lab_image_recipe_find(const char *name, const char *relative_to, GError **error);
void lab_image_recipe_free(LabImageRecipe *recipe);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabImageRecipe, lab_image_recipe_free)
