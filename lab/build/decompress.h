/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compressed bytes in memory, by libarchive: gzip, bzip2, xz, lzma, lz4 (frames and legacy), zstd;
 * never by a child.
 */
#pragma once
#include <glib.h>

/**
 * lab_compression_name() - what @data starts with: "gzip", "bzip2", "xz", "lzma", "lz4", "zstd",
 * "lzo"; NULL: none of these
 */
const char *lab_compression_name(const void *data, gsize length);

/**
 * lab_decompress() - @data decompressed; @data itself, copied, where it is not compressed
 * @what: for the error: a path
 * @max_bytes: a result longer than this is an error
 *
 * Free with g_bytes_unref(). Errors: LAB_ERROR_USER "WHAT: cannot be decompressed (xz): REASON";
 * truncated data is one; so is lzo, for which libarchive has no decoder.
 */
GBytes *lab_decompress(const void *data, gsize length, const char *what, gsize max_bytes,
		       GError **error);
