/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/guest/connect.h"

#include <stdlib.h>
#include <string.h>

#include "lab/base/error.h"
#include "lab/guest/domain_xml.h"
#include "lab/guest/embed.h"
#include "lab/guest/virt.h"

void lab_connect_host_free(LabConnectHost *host)
{
	if (!host)
		return;
	g_free(host->uri);
	g_free(host->emulator);
	g_free(host->version);
	g_free(host);
}

/* libvirt: "driver[+transport]://[user@][host][:port]/path[?parameters]"; ssh without a host is this one's, over ssh. */
gboolean lab_connect_is_remote(const char *uri)
{
	g_autoptr(GUri) parsed = uri ? g_uri_parse(uri, G_URI_FLAGS_NONE, NULL) : NULL;
	const char *host = parsed ? g_uri_get_host(parsed) : NULL;

	return parsed && ((host && *host) || strstr(g_uri_get_scheme(parsed), "+ssh"));
}

static gboolean is_qemu(const char *uri)
{
	g_autoptr(GUri) parsed = g_uri_parse(uri, G_URI_FLAGS_NONE, NULL);
	const char *scheme = parsed ? g_uri_get_scheme(parsed) : "";
	const char *path = parsed ? g_uri_get_path(parsed) : "";

	return (g_str_equal(scheme, "qemu") || g_str_has_prefix(scheme, "qemu+")) &&
	       (g_str_equal(path, "/system") || g_str_equal(path, "/session"));
}

/* Boots have no terminal: ssh is to fail instead of waiting for a password that nobody can type. */
static char *without_questions(const char *uri)
{
	if (!strstr(uri, "+ssh") || strstr(uri, "no_tty="))
		return g_strdup(uri);
	return g_strconcat(uri, strchr(uri, '?') ? "&" : "?", "no_tty=1", NULL);
}

static virConnectPtr open_uri(const char *uri, const char *shown, GError **error)
{
	virConnectPtr connection;

	lab_embed_quiet();
	connection = virConnectOpen(uri);
	if (connection)
		return connection;
	lab_embed_set_error(error, shown);
	if (strstr(uri, "+ssh"))
		g_prefix_error(error, "(ssh must get there without asking for anything: a key, "
				      "and a known host) ");
	return NULL;
}

static gboolean find_emulator(virConnectPtr connection, LabClock clock, const char *shown,
			      LabConnectHost *host, GError **error)
{
	const char *type = clock == LAB_CLOCK_KVM ? "kvm" : "qemu";
	char *xml = virConnectGetDomainCapabilities(connection, NULL, "x86_64", "q35", type, 0);

	/* Not after a failure, whose error it would wipe out. */
	if (xml)
		host->version = lab_daemon_qemu_version(connection);
	if (!xml || !*host->version) {
		lab_embed_set_error(error, shown);
		free(xml);
		return FALSE;
	}
	host->emulator = lab_xml_find(xml, "/domainCapabilities/path");
	free(xml);
	if (host->emulator)
		return TRUE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "%s: it has no QEMU for x86_64", shown);
	return FALSE;
}

static gboolean look_at_cpus(virConnectPtr connection, const char *shown, LabConnectHost *host,
			     GError **error)
{
	char *xml = virConnectGetCapabilities(connection);
	int n = virNodeGetCPUMap(connection, NULL, NULL, 0);
	g_autofree char *invtsc = NULL;

	if (!xml || n < 1) {
		lab_embed_set_error(error, shown);
		free(xml);
		return FALSE;
	}
	host->n_cpus = (guint)n;
	host->free_bytes = virNodeGetFreeMemory(connection);
	invtsc = lab_xml_find(xml, "/capabilities/host/cpu/feature[@name='invtsc']/@name");
	host->invariant_tsc = invtsc != NULL;
	free(xml);
	return TRUE;
}

static gboolean check_pool(virConnectPtr connection, const char *name, const char *shown,
			   GError **error)
{
	g_autoptr(virStoragePool) pool = virStoragePoolLookupByName(connection, name);

	if (pool && virStoragePoolIsActive(pool) == 1)
		return TRUE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
		    "%s: it has no active storage pool '%s' to keep the guests' files in; name "
		    "another with --pool, or make it there: virsh pool-define-as %s dir --target "
		    "/var/lib/libvirt/images && virsh pool-start %s",
		    shown, name, name, name);
	return FALSE;
}

LabConnectHost *lab_connect_look(const char *uri, const char *pool, LabClock clock, GError **error)
{
	g_autoptr(LabConnectHost) host = g_new0(LabConnectHost, 1);
	g_autoptr(virConnect) connection = NULL;

	if (!is_qemu(uri)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "--connect: wanted qemu:///system, qemu:///session or a host of yours "
			    "(qemu+ssh://HOST/system), found '%s'",
			    uri);
		return NULL;
	}
	host->uri = without_questions(uri);
	connection = open_uri(host->uri, uri, error);
	if (!connection)
		return NULL;
	/* What this host has is known already, and to have a daemon look at another QEMU takes it seconds. */
	if (lab_connect_is_remote(uri) && (!find_emulator(connection, clock, uri, host, error) ||
					   !look_at_cpus(connection, uri, host, error) ||
					   !check_pool(connection, pool, uri, error)))
		return NULL;
	return g_steal_pointer(&host);
}
