/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private directories with short paths, and what is left of those whose owners died. */
#pragma once
#include <glib.h>

/**
 * lab_private_dir_new() - make a private directory, and remove those that dead processes left
 * @lock: (out): holds the directory's lock until closed; a directory without a holder may be
 * removed by anyone
 *
 * In $XDG_RUNTIME_DIR, else /tmp: the sockets in it have 108 bytes for their paths. Free with
 * g_free(). Errors: LAB_ERROR_INFRA.
 */
char *lab_private_dir_new(int *lock, GError **error);

/** lab_private_dir_remove() - the directory and then its lock */
void lab_private_dir_remove(const char *root, int lock);
