/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "did you mean": the nearest of a list of words. */
#pragma once
#include <glib.h>

/**
 * lab_suggest() - the candidate nearest to @word by edit distance (a swap of neighbours counts one)
 * @candidates: NULL-terminated
 *
 * Return: (nullable): borrowed from @candidates; NULL when none is within a third of the word's length (at least 1).
 */
const char *lab_suggest(const char *word, const char *const *candidates);

/** lab_suggest_text() - " (did you mean 'X'?)", or "" when nothing is near. Free with g_free(). */
char *lab_suggest_text(const char *word, const char *const *candidates);
