/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The content-addressed cache: ROOT/KIND/KEY/ directories, complete or absent. KEY is a SHA-256 of
 * what decides the content. Many processes may use one cache: an entry being made is locked (flock
 * on ROOT/KIND/KEY.lock), the others wait for it.
 */
#pragma once
#include <gio/gio.h>

typedef struct _LabCache LabCache;

/**
 * lab_cache_open() - @root is created, and marked by a CACHEDIR.TAG
 *
 * Errors: LAB_ERROR_INFRA "cache ROOT cannot be written: ...": permissions, a full disk, or a
 * directory that holds other things (so that cleaning can never remove what is not ours).
 */
LabCache *lab_cache_open(const char *root, GError **error);
void lab_cache_free(LabCache *cache);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabCache, lab_cache_free)
const char *lab_cache_root(const LabCache *cache);

/** LabCacheMake - fill the empty directory @dir; on failure it is removed */
typedef gboolean (*LabCacheMake)(const char *dir, gpointer data, GError **error);

/** lab_cache_lookup() - path of the entry, or NULL when it is not there. Free with g_free(). */
char *lab_cache_lookup(LabCache *cache, const char *kind, const char *key);

/**
 * lab_cache_get() - path of the entry, made by @make when it is not there
 * @made: (out) (optional): whether @make ran
 *
 * Blocks while another process makes the same entry. The entry appears by rename() after everything
 * in it is durable.
 * @make may use other entries, but not this one. Errors: those of @make, LAB_ERROR_INFRA; where the
 *   disk is full, the message says so.
 */
char *lab_cache_get(LabCache *cache, const char *kind, const char *key, LabCacheMake make,
		    gpointer data, gboolean *made, GError **error);

/**
 * lab_cache_get_file() - lab_cache_get() of an entry that is one file, @name, made by @make in its directory
 * @path, @digest: (out): its path, and the SHA-256 of its content, which is taken once; free with g_free()
 */
gboolean lab_cache_get_file(LabCache *cache, const char *kind, const char *key, const char *name,
			    LabCacheMake make, gpointer data, gboolean *made, char **path, char **digest,
			    GError **error);

/** lab_cache_path() - where the entry is or would be; may be absent. Free with g_free(). */
char *lab_cache_path(LabCache *cache, const char *kind, const char *key);

/**
 * lab_cache_lock() - wait for, and take, the lock of an entry; for state that changes in place (an
 * apt state), which lab_cache_get() is not for
 *
 * Return: a descriptor that holds the lock until closed, or -1. Errors: G_FILE_ERROR.
 */
int lab_cache_lock(LabCache *cache, const char *kind, const char *key, GError **error);

/** lab_cache_list() - keys of a kind, sorted; free with g_strfreev() */
char **lab_cache_list(LabCache *cache, const char *kind);

/**
 * lab_cache_clean() - remove unfinished entries, and (where @all) every entry, that no process is
 * making; returns bytes freed
 * @dry_run: remove nothing, and return what would be freed
 */
guint64 lab_cache_clean(LabCache *cache, gboolean all, gboolean dry_run, GError **error);
