/* SPDX-License-Identifier: GPL-2.0-or-later */
/* An unpacked root file system -> one that holds nothing of the host it was unpacked on. Internal to lab/build. */
#pragma once
#include <glib.h>

/** lab_image_host_state - patterns of what an image never holds: device nodes, names, logs, caches, password dates, mirrors; NULL-terminated */
extern const char *const lab_image_host_state[];

/**
 * lab_image_tree_clean() - make the tree below @root what the image will hold
 * @exclude: NULL-terminated patterns as dpkg's path-exclude ('*' also stands for a '/'), matched against paths that start with '/'; a
 *           directory that matches goes with all that is in it
 *
 * Removes what @exclude and lab_image_host_state name, sockets, pipes and device nodes; takes set-user-id and set-group-id bits away
 * (all files will be root's); makes the directories that the agent mounts on. Links are never followed.
 * Errors: LAB_ERROR_INFRA, names the path.
 */
gboolean lab_image_tree_clean(const char *root, const char *const *exclude, GError **error);
