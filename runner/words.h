/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a half-written command line could become. */
#pragma once
#include "runner/command.h"

/**
 * words_complete() - replies for the last word, sorted
 * @words: the line after "numalab", NULL-terminated, at least one; the last may be ""
 * @context: for store and cache, where the words name no others
 *
 * Return: NULL-terminated, possibly empty (then file names); whole words, as "--store=/x". Free
 * with g_strfreev().
 */
char **words_complete(const char *const *words, const CommandContext *context);

/** words_check_shell() - LAB_ERROR_USER unless @name is a shell that has a script */
gboolean words_check_shell(const char *name, GError **error);
