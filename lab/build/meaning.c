/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/meaning.h"

#include <sys/stat.h>
#include <time.h>

#include "lab/base/digest.h"
#include "lab/base/file.h"

static char *path_of(LabCache *cache, const char *kind, const char *text)
{
	g_autofree char *key = lab_digest_data(text, -1);

	return lab_cache_path(cache, kind, key);
}

char *lab_meaning_last(LabCache *cache, const char *kind, const char *text, const char *entry_kind,
		       guint max_age_s)
{
	g_autofree char *path = path_of(cache, kind, text);
	g_autofree char *key = lab_file_read(path, NULL, NULL);
	time_t now = time(NULL);
	struct stat st;

	if (!key || stat(path, &st) < 0)
		return NULL;
	if (max_age_s && (st.st_mtime > now || now - st.st_mtime >= (time_t)max_age_s))
		return NULL;
	return lab_cache_lookup(cache, entry_kind, key);
}

gboolean lab_meaning_set(LabCache *cache, const char *kind, const char *text, const char *key,
			 GError **error)
{
	g_autofree char *path = path_of(cache, kind, text);
	g_autofree char *dir = g_path_get_dirname(path);

	return lab_dir_make(dir, error) && lab_file_write(path, key, -1, error);
}
