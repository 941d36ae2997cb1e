/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SHA-256 as 64 lower-case hex digits. */
#pragma once
#include <gio/gio.h>

#define LAB_DIGEST_SHORT 12 /* digits shown to people */

/** lab_digest_data() - of bytes in memory; @length -1: NUL-terminated. Free with g_free(). */
char *lab_digest_data(const void *data, gssize length);

/** lab_digest_file() - of a file's content; reads it all. Free with g_free(). Errors: G_FILE_ERROR. */
char *lab_digest_file(const char *path, GError **error);
