/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An image recipe: what the guest's user space is made of. An immutable value read from YAML.
 *
 *     about: text                          # optional
 *     suite: bookworm                      # a Debian suite
 *     packages: [xfsprogs, fsmark]         # and what they depend on
 *     exclude:                             # optional: files to leave out, as patterns of dpkg's
 * path-exclude
 *       - /usr/share/doc/?*                # (a '*' also stands for a '/')
 */
#pragma once
#include <glib.h>

#include "lab/base/error.h"

typedef struct {
	char *name;		    /* of the file, or its name: key */
	char *about;		    /* (nullable) */
	char *suite;		    /* Debian suite, "bookworm" */
	char **packages;	    /* NULL-terminated, sorted, unique */
	LabOrigin *package_origins; /* one per package (of @packages' order), so that a missing one
				       can be named where written; their paths are interned: valid
				       for ever */
	char **exclude;	   /* NULL-terminated, sorted, unique; patterns of files to leave out, each
			      from '/' on */
	char *origin_path; /* file it was read from */
	LabOrigin suite_origin;
	char *canonical; /* JSON, keys sorted: suite, packages, exclude */
	char *digest;	 /* of the recipe, not of the image */
} LabImageRecipe;

/** lab_image_recipe_load() - errors as lab_topology_load() */
LabImageRecipe *lab_image_recipe_load(const char *path, GError **error);
/** lab_image_recipe_find() - "NAME" -> images/NAME.yaml of the data directory, or a path */
LabImageRecipe *lab_image_recipe_find(const char *name, const char *relative_to, GError **error);
void lab_image_recipe_free(LabImageRecipe *recipe);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabImageRecipe, lab_image_recipe_free)
