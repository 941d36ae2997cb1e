/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files that are whole or absent. Errors are G_FILE_ERROR and name the path; "no space" says which file system. */
#pragma once
#include <gio/gio.h>

/**
 * lab_file_write() - replace @path by @data, atomically and durably (temporary file, fsync, rename)
 * @length: -1: NUL-terminated
 */
gboolean lab_file_write(const char *path, const void *data, gssize length, GError **error);

/** lab_file_read() - whole content, NUL-terminated. Free with g_free(). @length (out) (optional). */
char *lab_file_read(const char *path, gsize *length, GError **error);

/** lab_file_copy() - content of @from to a new file @to (reflink or sparse copy where possible), fsynced */
gboolean lab_file_copy(const char *from, const char *to, GError **error);

/** lab_file_create_sparse() - new file of @bytes zeros, mode 0600. Fails if it exists. */
gboolean lab_file_create_sparse(const char *path, guint64 bytes, GError **error);

/** lab_dir_make() - mkdir -p, mode 0755 */
gboolean lab_dir_make(const char *path, GError **error);

/**
 * lab_dir_make_cache() - make @path, or take it when it is empty, as a cache: a CACHEDIR.TAG marks it
 *
 * Whoever keeps something in the cache calls it first. Cleaning touches nothing without the tag, and backups leave out what has it.
 * Errors: G_FILE_ERROR_EXIST for a directory that holds other things. The message does not name @path.
 */
gboolean lab_dir_make_cache(const char *path, GError **error);

/** lab_dir_remove() - rm -rf, never follows links; an absent @path is success */
gboolean lab_dir_remove(const char *path, GError **error);

/** lab_dir_bytes() - bytes allocated on disk below @path (st_blocks), 0 when absent */
guint64 lab_dir_bytes(const char *path);

/**
 * lab_file_lock() - take an exclusive flock() on @path, creating it; closed on exec
 * @wait: block until free; else fail with G_FILE_ERROR_AGAIN
 *
 * Return: a descriptor, which holds the lock until closed, or -1.
 */
int lab_file_lock(const char *path, gboolean wait, GError **error);
