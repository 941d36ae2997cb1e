/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/guest/connect.h"

#include <libvirt/libvirt.h>

#include "lab/base/error.h"
#include "lab/guest/embed.h"

static gboolean is_local(const char *text)
{
	g_autoptr(GUri) uri = g_uri_parse(text, G_URI_FLAGS_NONE, NULL);
	const char *scheme = uri ? g_uri_get_scheme(uri) : "";
	const char *host = uri ? g_uri_get_host(uri) : NULL;
	const char *path = uri ? g_uri_get_path(uri) : "";

	return (g_str_equal(scheme, "qemu") || g_str_equal(scheme, "qemu+unix")) &&
	       (!host || !*host) && (g_str_equal(path, "/system") || g_str_equal(path, "/session"));
}

gboolean lab_connect_check(const char *uri, GError **error)
{
	virConnectPtr connection;

	if (!is_local(uri)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "--connect: wanted qemu:///system or qemu:///session (a guest's files "
			    "are on this "
			    "host), found '%s'",
			    uri);
		return FALSE;
	}
	lab_embed_quiet();
	connection = virConnectOpen(uri);
	if (!connection) {
		lab_embed_set_error(error, uri);
		return FALSE;
	}
	virConnectClose(connection);
	return TRUE;
}
