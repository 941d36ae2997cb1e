/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "lab/base/digest.h"
#include "lab/base/error.h"
#include "lab/base/file.h"

#define UNFINISHED ".new"
#define LOCK ".lock"
#define DIGEST_FILE "digest"

/* Less room than this after a failure: the failure is most likely a full disk, whatever a child
 * said. */
#define FULL_BYTES (1u << 20)

struct _LabCache {
	char *root;
};

LabCache *lab_cache_open(const char *root, GError **error)
{
	g_autoptr(GError) local = NULL;
	LabCache *cache;

	if (!lab_dir_make_cache(root, &local)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
			    "cache %s cannot be written: %s (another place: --cache DIR)", root,
			    local->message);
		return NULL;
	}
	cache = g_new0(LabCache, 1);
	cache->root = g_canonicalize_filename(root, NULL);
	return cache;
}

void lab_cache_free(LabCache *cache)
{
	if (!cache)
		return;
	g_free(cache->root);
	g_free(cache);
}

const char *lab_cache_root(const LabCache *cache)
{
	return cache->root;
}

char *lab_cache_path(LabCache *cache, const char *kind, const char *key)
{
	return g_build_filename(cache->root, kind, key, NULL);
}

char *lab_cache_lookup(LabCache *cache, const char *kind, const char *key)
{
	g_autofree char *path = lab_cache_path(cache, kind, key);

	return g_file_test(path, G_FILE_TEST_IS_DIR) ? g_steal_pointer(&path) : NULL;
}

/*
 * lab_cache_clean() unlinks lock files while it holds them: a lock counts only when its file is
 * still the one of that name.
 */
static gboolean still_named(int fd, const char *path)
{
	struct stat held, named;

	return fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_ino == named.st_ino &&
	       held.st_dev == named.st_dev;
}

static int lock_path(const char *path, gboolean wait, GError **error)
{
	for (;;) {
		int fd = lab_file_lock(path, wait, error);

		if (fd < 0 || still_named(fd, path))
			return fd;
		close(fd);
	}
}

int lab_cache_lock(LabCache *cache, const char *kind, const char *key, GError **error)
{
	g_autofree char *dir = g_build_filename(cache->root, kind, NULL);
	g_autofree char *path = g_strconcat(dir, "/", key, LOCK, NULL);

	return lab_dir_make(dir, error) ? lock_path(path, TRUE, error) : -1;
}

/* Everything below @dir, and what names it, to the disk; reports errors of writeback, which no
 * write() saw. */
static gboolean make_durable(const char *dir, GError **error)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	gboolean ok = fd >= 0 && syncfs(fd) == 0;

	if (!ok) {
		int saved = errno;

		g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(saved),
			    "cannot write %s: %s", dir, g_strerror(saved));
	}
	if (fd >= 0)
		close(fd);
	return ok;
}

static gboolean sync_directory(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	gboolean ok = fd >= 0 && fsync(fd) == 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

/* A child that met a full disk often says something else: add what is known. */
static void explain_full(const char *root, GError **error)
{
	struct statvfs st;

	if (!*error || (!strstr((*error)->message, g_strerror(ENOSPC)) &&
			(statvfs(root, &st) < 0 ||
			 ((guint64)st.f_bavail * st.f_frsize >= FULL_BYTES && st.f_favail != 0))))
		return;
	g_prefix_error(error, "the file system of the cache %s is full: ", root);
}

static gboolean make_entry(const char *root, const char *path, LabCacheMake make, gpointer data,
			   GError **error)
{
	g_autofree char *unfinished = g_strconcat(path, UNFINISHED, NULL);
	g_autofree char *parent = g_path_get_dirname(path);

	/* Left by a process that was killed: nobody holds the lock but us. */
	if (!lab_dir_remove(unfinished, error) || !lab_dir_make(unfinished, error))
		return FALSE;
	if (make(unfinished, data, error) && make_durable(unfinished, error)) {
		if (rename(unfinished, path) == 0 && sync_directory(parent))
			return TRUE;
		int saved = errno;

		g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(saved),
			    "cannot rename %s: %s", unfinished, g_strerror(saved));
	}
	explain_full(root, error); /* before what fills it is removed */
	lab_dir_remove(unfinished, NULL);
	return FALSE;
}

char *lab_cache_get(LabCache *cache, const char *kind, const char *key, LabCacheMake make,
		    gpointer data, gboolean *made, GError **error)
{
	g_autofree char *path = lab_cache_lookup(cache, kind, key);
	g_autoptr(GError) local = NULL;
	gboolean here = path != NULL, ours = FALSE;

	if (!here) {
		int lock = lab_cache_lock(cache, kind, key, &local);

		path = lab_cache_path(cache, kind, key);
		if (lock >= 0) {
			here = g_file_test(path, G_FILE_TEST_IS_DIR);
			ours = !here && make_entry(cache->root, path, make, data, &local);
			close(lock);
		}
	}
	if (!here && !ours) {
		g_propagate_error(error, g_steal_pointer(&local));
		return NULL;
	}
	if (made)
		*made = ours;
	return g_steal_pointer(&path);
}

static int by_name(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names in @dir, sorted; none when it cannot be read. */
static GPtrArray *names_in(const char *dir)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	GDir *open = g_dir_open(dir, 0, NULL);
	const char *name;

	while (open && (name = g_dir_read_name(open)))
		g_ptr_array_add(names, g_strdup(name));
	g_clear_pointer(&open, g_dir_close);
	g_ptr_array_sort(names, by_name);
	return names;
}

char **lab_cache_list(LabCache *cache, const char *kind)
{
	g_autofree char *dir = g_build_filename(cache->root, kind, NULL);
	g_autoptr(GPtrArray) names = names_in(dir);
	g_autoptr(GStrvBuilder) keys = g_strv_builder_new();

	for (guint i = 0; i < names->len; i++) {
		g_autofree char *path = g_build_filename(dir, names->pdata[i], NULL);

		if (!g_str_has_suffix(path, UNFINISHED) && g_file_test(path, G_FILE_TEST_IS_DIR))
			g_strv_builder_add(keys, names->pdata[i]);
	}
	return g_strv_builder_end(keys);
}

/* Removes @path, an entry or a file, and counts what it took. */
static gboolean remove_counted(const char *path, gboolean dry_run, guint64 *freed, GError **error)
{
	guint64 bytes = lab_dir_bytes(path);

	if (!dry_run && !lab_dir_remove(path, error))
		return FALSE;
	*freed += bytes;
	return TRUE;
}

static gboolean clean_key(const char *dir, const char *key, gboolean all, gboolean dry_run,
			  guint64 *freed, GError **error)
{
	g_autofree char *path = g_build_filename(dir, key, NULL);
	g_autofree char *unfinished = g_strconcat(path, UNFINISHED, NULL);
	g_autofree char *lock_file = g_strconcat(path, LOCK, NULL);
	g_autoptr(GError) local = NULL;
	int lock = lock_path(lock_file, FALSE, &local);
	gboolean ok;

	if (lock < 0) {
		if (g_error_matches(local, G_FILE_ERROR, G_FILE_ERROR_AGAIN))
			return TRUE; /* in work */
		g_propagate_error(error, g_steal_pointer(&local));
		return FALSE;
	}
	ok = remove_counted(unfinished, dry_run, freed, error) &&
	     (!all || remove_counted(path, dry_run, freed, error));
	unlink(lock_file);
	close(lock);
	return ok;
}

/* What an entry's files are named after: the key, without our endings. */
static char *key_of(const char *name)
{
	static const char *const endings[] = {UNFINISHED, LOCK};

	for (guint i = 0; i < G_N_ELEMENTS(endings); i++)
		if (g_str_has_suffix(name, endings[i]))
			return g_strndup(name, strlen(name) - strlen(endings[i]));
	return g_strdup(name);
}

guint64 lab_cache_clean(LabCache *cache, gboolean all, gboolean dry_run, GError **error)
{
	g_autoptr(GPtrArray) kinds = names_in(cache->root);
	guint64 freed = 0;

	for (guint i = 0; i < kinds->len; i++) {
		g_autofree char *dir = g_build_filename(cache->root, kinds->pdata[i], NULL);
		g_autoptr(GPtrArray) names = names_in(dir); /* none in the tag */
		g_autofree char *last = NULL;

		for (guint j = 0; j < names->len; j++) {
			g_autofree char *key = key_of(names->pdata[j]);

			if (g_strcmp0(key, last) == 0)
				continue;
			if (!clean_key(dir, key, all, dry_run, &freed, error))
				return freed;
			g_free(last);
			last = g_steal_pointer(&key);
		}
	}
	return freed;
}

typedef struct {
	const char *name;
	LabCacheMake make;
	gpointer data;
} FileMake;

static gboolean make_file(const char *dir, gpointer data, GError **error)
{
	const FileMake *m = data;
	g_autofree char *path = g_build_filename(dir, m->name, NULL);
	g_autofree char *digest_path = g_build_filename(dir, DIGEST_FILE, NULL);
	g_autofree char *digest = NULL;

	return m->make(dir, m->data, error) && (digest = lab_digest_file(path, error)) &&
	       lab_file_write(digest_path, digest, -1, error);
}

gboolean lab_cache_get_file(LabCache *cache, const char *kind, const char *key, const char *name,
			    LabCacheMake make, gpointer data, gboolean *made, char **path,
			    char **digest, GError **error)
{
	FileMake m = {name, make, data};
	g_autofree char *dir = lab_cache_get(cache, kind, key, make_file, &m, made, error);
	g_autofree char *digest_path = dir ? g_build_filename(dir, DIGEST_FILE, NULL) : NULL;
	char *text;

	if (!dir || !(text = lab_file_read(digest_path, NULL, error)))
		return FALSE;
	*digest = text;
	*path = g_build_filename(dir, name, NULL);
	return TRUE;
}
