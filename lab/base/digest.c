/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/base/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#define CHUNK (1 << 20)

char *lab_digest_data(const void *data, gssize length)
{
	return g_compute_checksum_for_data(G_CHECKSUM_SHA256, data,
					   length < 0 ? strlen(data) : (gsize)length);
}

char *lab_digest_file(const char *path, GError **error)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	g_autofree guchar *buffer = g_malloc(CHUNK);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	gssize n = -1;

	while (fd >= 0 && ((n = read(fd, buffer, CHUNK)) > 0 || (n < 0 && errno == EINTR)))
		if (n > 0)
			g_checksum_update(sum, buffer, n);
	if (n < 0) {
		int saved = errno;

		g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(saved),
			    "cannot read %s: %s", path, g_strerror(saved));
	}
	if (fd >= 0)
		close(fd);
	return n < 0 ? NULL : g_strdup(g_checksum_get_string(sum));
}
