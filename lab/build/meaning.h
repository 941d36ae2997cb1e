/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a text meant that changes its meaning from day to day (a suite's newest kernel, a recipe's packages): the key of a
 * cache entry, remembered in ROOT/KIND/SHA256(text), so that a mirror is not asked each time. Internal to lab/build.
 */
#pragma once
#include "lab/build/cache.h"

/* The index of a suite is asked for anew after this long, so that "newest" is decided once for a whole run. */
#define LAB_MEANING_MAX_AGE_S 3600

/**
 * lab_meaning_last() - the entry of @entry_kind that @text meant when that was last set
 * @max_age_s: at most so long ago; 0: ever
 *
 * Return: its path, or NULL; free with g_free().
 */
char *lab_meaning_last(LabCache *cache, const char *kind, const char *text, const char *entry_kind,
		       guint max_age_s);

/** lab_meaning_set() - from now on @text means @key. Errors: G_FILE_ERROR. */
gboolean lab_meaning_set(LabCache *cache, const char *kind, const char *text, const char *key,
			 GError **error);
