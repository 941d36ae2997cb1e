// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/capabilities.h"

#include <glib/gstdio.h>
#include <libvirt/libvirt.h>
#include <string.h>

#include "lab/base/digest.h"
#include "lab/base/file.h"
#include "lab/base/paths.h"

static void add_program(GString *key, const char *name)
{
	g_autofree char *path = name ? g_find_program_in_path(name) : NULL;
	GStatBuf st;

	if (path && g_stat(path, &st) == 0)
		g_string_append_printf(key, "%s %lld %lld.%09ld\n", path, (long long)st.st_size,
				       (long long)st.st_ctim.tv_sec, st.st_ctim.tv_nsec);
}

char *lab_capabilities_dir(const char *emulator, const char *qemu)
{
	g_autofree char *cache = lab_path_cache(NULL), *digest = NULL;
	g_autoptr(GString) key = g_string_new(NULL);
	unsigned long version = 0;

	if (!lab_dir_make_cache(cache, NULL))
		return NULL;
	virGetVersion(&version, NULL, NULL);
	g_string_append_printf(key, "%lu\n", version);
	add_program(key, emulator);
	add_program(key, qemu);
	digest = lab_digest_data(key->str, (gssize)key->len);
	digest[LAB_DIGEST_SHORT] = 0;
	return g_build_filename(cache, "libvirt", digest, NULL);
}

void lab_capabilities_copy(const char *from, const char *to)
{
	g_autoptr(GDir) dir = from && to ? g_dir_open(from, 0, NULL) : NULL;
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *source = g_build_filename(from, name, NULL);
		g_autofree char *target = g_build_filename(to, name, NULL);
		g_autofree char *data = NULL, *old = NULL;
		gsize length, old_length;

		if (!g_str_has_suffix(name, ".xml") ||
		    !g_file_get_contents(source, &data, &length, NULL) ||
		    (g_file_get_contents(target, &old, &old_length, NULL) && old_length == length &&
		     !memcmp(old, data, length)) ||
		    !lab_dir_make(to, NULL))
			continue;
		/* Renamed into place; a torn one after a power failure is refused by libvirt. */
		g_file_set_contents_full(target, data, (gssize)length,
					 G_FILE_SET_CONTENTS_CONSISTENT, 0644, NULL);
	}
}

/* <version>10000002</version>: major * 1000000 + minor * 1000 + micro. */
char *lab_capabilities_qemu_version(const char *path)
{
	g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *file = g_build_filename(path, name, NULL);
		g_autofree char *text = NULL;
		const char *at;
		guint64 n;

		if (!g_str_has_suffix(name, ".xml") ||
		    !g_file_get_contents(file, &text, NULL, NULL) ||
		    !(at = strstr(text, "<version>")))
			continue;
		n = g_ascii_strtoull(at + strlen("<version>"), NULL, 10);
		return g_strdup_printf("%u.%u.%u", (guint)(n / 1000000), (guint)(n / 1000 % 1000),
				       (guint)(n % 1000));
	}
	return g_strdup("");
}
