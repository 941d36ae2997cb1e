/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/erofs.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/base/process.h"

/* One for all: an image is known by its digest. */
#define UUID "6e756d61-6c61-4062-8000-000000000001"

static gboolean pad(const char *path, guint64 extra_bytes, GError **error)
{
	struct stat st;

	if (stat(path, &st) == 0 &&
	    truncate(path, (st.st_size + LAB_EROFS_ALIGN - 1) / LAB_EROFS_ALIGN * LAB_EROFS_ALIGN +
				   (off_t)extra_bytes) == 0)
		return TRUE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "cannot lengthen %s: %s", path,
		    g_strerror(errno));
	return FALSE;
}

gboolean lab_erofs_make(const char *tree, const char *path, const char *time, guint64 extra_bytes,
			GError **error)
{
	g_autofree char *fixed_time = g_strconcat("-T", time, NULL);
	const char *const argv[] = {"mkfs.erofs", "--quiet", "-x-1", fixed_time, "-U" UUID,
				    "--all-root", path,	     tree,   NULL};

	return lab_process_check(argv, NULL, NULL, error) && pad(path, extra_bytes, error);
}
