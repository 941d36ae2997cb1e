// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/remote_pool.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lab/base/error.h"
#include "lab/guest/domain_xml.h"
#include "lab/guest/embed.h"
#include "lab/guest/remote_volume.h"

#define PREFIX "numalab-"
#define COMPLETE ".complete"
#define DIGEST_DIGITS 32
#define BOOT_AGE_S 3600
#define UPLOAD_AGE_S (24 * 3600)

/* Of the daemon's security driver "dac": "+64055:+64055". */
static char *find_owner(virConnectPtr connection)
{
	char *xml = virConnectGetCapabilities(connection);
	g_autofree char *label =
		xml ? lab_xml_find(xml, "//secmodel[model='dac']/baselabel") : NULL;
	g_autoptr(GString) owner = g_string_new(label);

	free(xml);
	g_string_replace(owner, "+", "", 0);
	return label ? g_string_free(g_steal_pointer(&owner), FALSE) : NULL;
}

gboolean lab_remote_pool_open(virConnectPtr connection, const char *name, LabRemotePool *pool,
			      GError **error)
{
	g_autoptr(virStoragePool) found = virStoragePoolLookupByName(connection, name);
	char *xml = found ? virStoragePoolGetXMLDesc(found, 0) : NULL;
	g_autofree char *type = NULL, *dir = NULL;

	if (!xml) {
		lab_embed_set_error(error, name);
		return FALSE;
	}
	type = lab_xml_find(xml, "/pool/@type");
	dir = lab_xml_find(xml, "/pool/target/path");
	free(xml);
	if (!dir || (strcmp(type, "dir") && strcmp(type, "fs") && strcmp(type, "netfs"))) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
			    "storage pool '%s' is of the kind '%s'; wanted one of files (dir, fs, netfs)",
			    name, type);
		return FALSE;
	}
	/* Other clients' volumes are not known before. */
	virStoragePoolRefresh(found, 0);
	*pool = (LabRemotePool){.connection = connection,
				.pool = g_steal_pointer(&found),
				.dir = g_steal_pointer(&dir),
				.owner = find_owner(connection)};
	return TRUE;
}

void lab_remote_pool_clear(LabRemotePool *pool)
{
	if (pool->pool)
		virStoragePoolFree(pool->pool);
	g_free(pool->dir);
	g_free(pool->owner);
}

typedef void (*VolumeFunc)(virStorageVolPtr volume, const char *name, gpointer data);

static void each(const LabRemotePool *pool, const char *prefix, VolumeFunc function, gpointer data)
{
	virStorageVolPtr *volumes = NULL;
	int n = virStoragePoolListAllVolumes(pool->pool, &volumes, 0);

	for (int i = 0; i < n; i++) {
		const char *name = virStorageVolGetName(volumes[i]);

		if (g_str_has_prefix(name, prefix))
			function(volumes[i], name, data);
		virStorageVolFree(volumes[i]);
	}
	if (n >= 0)
		free(volumes);
}

static void keep_name(virStorageVolPtr volume, const char *name, gpointer names)
{
	g_hash_table_add(names, g_strdup(name));
}

static GHashTable *list(const LabRemotePool *pool, const char *prefix)
{
	GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	each(pool, prefix, keep_name, names);
	return names;
}

static char *find_complete(const LabRemotePool *pool, const char *prefix)
{
	g_autoptr(GHashTable) names = list(pool, prefix);
	GHashTableIter iter;
	gpointer name;

	g_hash_table_iter_init(&iter, names);
	while (g_hash_table_iter_next(&iter, &name, NULL)) {
		g_autofree char *complete = g_strconcat(name, COMPLETE, NULL);

		if (g_hash_table_contains(names, complete))
			return g_strdup(name);
	}
	return NULL;
}

static gboolean upload(const LabRemotePool *pool, const char *name, const char *path,
		       GCancellable *cancellable, GError **error)
{
	g_autofree char *complete = g_strconcat(name, COMPLETE, NULL);
	g_autoptr(virStorageVol) volume = NULL, mark = NULL;
	struct stat st;

	if (stat(path, &st) < 0) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "cannot read %s", path);
		return FALSE;
	}
	volume = lab_remote_volume_create(pool->pool, name, (guint64)st.st_size, pool->owner,
					  error);
	if (!volume)
		return FALSE;
	if (lab_remote_volume_upload(pool->connection, volume, path, cancellable, error))
		mark = lab_remote_volume_create(pool->pool, complete, 0, pool->owner, error);
	if (!mark)
		virStorageVolDelete(volume, 0);
	return mark != NULL;
}

char *lab_remote_pool_put(const LabRemotePool *pool, const char *kind, const char *digest,
			  const char *path, GCancellable *cancellable, GError **error)
{
	g_autofree char *prefix =
		g_strdup_printf(PREFIX "%s-%.*s-", kind, DIGEST_DIGITS, digest);
	g_autofree char *name = find_complete(pool, prefix);
	g_autofree char *id = NULL;

	if (!name) {
		id = g_uuid_string_random();
		name = g_strdup_printf("%s%.8s", prefix, id);
		if (!upload(pool, name, path, cancellable, error))
			return NULL;
	}
	return g_build_filename(pool->dir, name, NULL);
}

static void delete(virStorageVolPtr volume, const char *name, gpointer data)
{
	virStorageVolDelete(volume, 0);
}

void lab_remote_pool_remove(const LabRemotePool *pool, const char *prefix)
{
	/* What QEMU and virtlogd made. */
	virStoragePoolRefresh(pool->pool, 0);
	each(pool, prefix, delete, NULL);
}

gint64 lab_remote_pool_time(virStorageVolPtr volume)
{
	char *xml = virStorageVolGetXMLDesc(volume, 0);
	g_autofree char *time = xml ? lab_xml_find(xml, "/volume/target/timestamps/mtime") : NULL;

	free(xml);
	return time ? g_ascii_strtoll(time, NULL, 10) : -1;
}

typedef struct {
	const LabRemotePool *pool;
	GHashTable *names;
	gint64 now;
} Sweep;

/* "numalab-boot-ID-NAME": the domain is called by it, too. */
static gboolean has_domain(const LabRemotePool *pool, const char *name)
{
	virDomainPtr *domains = NULL;
	int n = virConnectListAllDomains(pool->connection, &domains, 0);
	gboolean found = n < 0;
	gsize id_length = strcspn(name + strlen(LAB_REMOTE_BOOT_PREFIX), "-");
	g_autofree char *id = g_strndup(name + strlen(LAB_REMOTE_BOOT_PREFIX), id_length);

	for (int i = 0; i < n; i++) {
		found |= strstr(virDomainGetName(domains[i]), id) != NULL;
		virDomainFree(domains[i]);
	}
	if (n >= 0)
		free(domains);
	return found;
}

static void sweep_one(virStorageVolPtr volume, const char *name, gpointer data)
{
	const Sweep *sweep = data;
	gboolean boot = g_str_has_prefix(name, LAB_REMOTE_BOOT_PREFIX);
	g_autofree char *complete = g_strconcat(name, COMPLETE, NULL);
	gint64 time;

	if (g_str_has_suffix(name, COMPLETE) || g_hash_table_contains(sweep->names, complete))
		return;
	time = lab_remote_pool_time(volume);
	if (time < 0 || sweep->now - time < (boot ? BOOT_AGE_S : UPLOAD_AGE_S) ||
	    (boot && has_domain(sweep->pool, name)))
		return;
	virStorageVolDelete(volume, 0);
}

void lab_remote_pool_sweep(const LabRemotePool *pool, gint64 now)
{
	g_autoptr(GHashTable) names = list(pool, PREFIX);
	Sweep sweep = {.pool = pool, .names = names, .now = now};

	each(pool, PREFIX, sweep_one, &sweep);
}
