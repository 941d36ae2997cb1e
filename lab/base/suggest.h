/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list of words: the place of one, and "did you mean": the nearest. */
#pragma once
#include <glib.h>

/** lab_word_index() - place of @word in the NULL-terminated @words, from 0; -1: it is none of them */
int lab_word_index(const char *const *words, const char *word);

/**
 * lab_suggest() - the candidate nearest to @word by edit distance (a swap of neighbours counts one)
 * @candidates: NULL-terminated
 *
 * Return: (nullable): borrowed from @candidates; NULL when none is within a third of the word's length (at least 1).
 */
const char *lab_suggest(const char *word, const char *const *candidates);

/** lab_suggest_text() - " (did you mean 'X'?)", or "" when nothing is near. Free with g_free(). */
char *lab_suggest_text(const char *word, const char *const *candidates);
