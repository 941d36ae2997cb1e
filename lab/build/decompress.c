/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/decompress.h"

#include <archive.h>
#include <archive_entry.h>
#include <string.h>

#include "lab/base/error.h"

/* First bytes, as scripts/extract-vmlinux of the kernel and file(1) know them. */
static const struct {
	const char *name;
	guint8 length;
	guint8 bytes[6];
} magics[] = {
	{"gzip", 2, {0x1f, 0x8b}},
	{"xz", 6, {0xfd, '7', 'z', 'X', 'Z', 0}},
	{"zstd", 4, {0x28, 0xb5, 0x2f, 0xfd}},
	{"bzip2", 3, {'B', 'Z', 'h'}},
	{"lz4", 4, {0x02, 0x21, 0x4c, 0x18}}, /* legacy, which the kernel uses */
	{"lz4", 4, {0x04, 0x22, 0x4d, 0x18}},
	{"lzma", 3, {0x5d, 0, 0}},
	{"lzo", 4, {0x89, 'L', 'Z', 'O'}},
};

const char *lab_compression_name(const void *data, gsize length)
{
	for (guint i = 0; i < G_N_ELEMENTS(magics); i++)
		if (length >= magics[i].length && !memcmp(data, magics[i].bytes, magics[i].length))
			return magics[i].name;
	return NULL;
}

/* Not archive_read_support_filter_all(): that starts programs for what libarchive cannot do itself.
 */
static struct archive *new_reader(void)
{
	struct archive *a = archive_read_new();

	archive_read_support_filter_gzip(a);
	archive_read_support_filter_bzip2(a);
	archive_read_support_filter_xz(a);
	archive_read_support_filter_lzma(a);
	archive_read_support_filter_lz4(a);
	archive_read_support_filter_zstd(a);
	archive_read_support_format_raw(a);
	return a;
}

/* NULL, or why not; borrowed from @a or static. */
static const char *read_all(struct archive *a, const void *data, gsize length, GByteArray *out,
			    gsize max_bytes)
{
	g_autofree char *buffer = g_malloc(1 << 18);
	struct archive_entry *entry;
	la_ssize_t n;

	if (archive_read_open_memory(a, data, length) != ARCHIVE_OK ||
	    archive_read_next_header(a, &entry) != ARCHIVE_OK)
		return archive_error_string(a);
	while ((n = archive_read_data(a, buffer, 1 << 18)) > 0) {
		if (out->len + (gsize)n > max_bytes)
			return "it is longer than it can be";
		g_byte_array_append(out, (guint8 *)buffer, (guint)n);
	}
	return n < 0 ? archive_error_string(a) : NULL;
}

GBytes *lab_decompress(const void *data, gsize length, const char *what, gsize max_bytes,
		       GError **error)
{
	const char *name = lab_compression_name(data, length);
	g_autoptr(GByteArray) out = NULL;
	struct archive *a;
	const char *why;

	if (!name)
		return g_bytes_new(data, length);
	out = g_byte_array_new();
	a = new_reader();
	why = strcmp(name, "lzo") ? read_all(a, data, length, out, max_bytes) : "no decoder for it";
	if (why)
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "%s: cannot be decompressed (%s): %s",
			    what, name, why);
	archive_read_free(a);
	return why ? NULL : g_byte_array_free_to_bytes(g_steal_pointer(&out));
}
