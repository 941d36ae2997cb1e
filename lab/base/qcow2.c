/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/base/qcow2.h"

#include "lab/base/process.h"

gboolean lab_qcow2_above(const char *backing, const char *format, const char *path, GError **error)
{
	const char *const argv[] = {"qemu-img", "create", "-q",	  "-f", "qcow2", "-b",
				    backing,	"-F",	  format, path, NULL};

	return lab_process_check(argv, NULL, NULL, error);
}

gboolean lab_qcow2_empty(guint64 bytes, const char *path, GError **error)
{
	g_autofree char *size = g_strdup_printf("%" G_GUINT64_FORMAT, bytes);
	const char *const argv[] = {"qemu-img", "create", "-q", "-f", "qcow2", path, size, NULL};

	return lab_process_check(argv, NULL, NULL, error);
}
