// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/remote_log.h"

#include "lab/guest/remote_volume.h"

#define INTERVAL_US (G_USEC_PER_SEC / 2)

struct LabRemoteLog {
	virConnectPtr connection; /* borrowed */
	virStorageVolPtr volume;
	char *path;
	GThread *thread;
	GMutex lock; /* of @closed */
	GCond changed;
	gboolean closed;
};

static void look(LabRemoteLog *log, guint64 *seen)
{
	virStorageVolInfo info;

	if (virStorageVolGetInfo(log->volume, &info) < 0)
		return;
	/* virtlogd has begun a new file. */
	if (info.capacity < *seen)
		*seen = 0;
	if (info.capacity > *seen)
		*seen += lab_remote_volume_append(log->connection, log->volume, *seen, log->path);
}

static gpointer follow(gpointer data)
{
	LabRemoteLog *log = data;
	guint64 seen = 0;

	g_mutex_lock(&log->lock);
	while (!log->closed) {
		g_mutex_unlock(&log->lock);
		look(log, &seen);
		g_mutex_lock(&log->lock);
		for (gint64 end = g_get_monotonic_time() + INTERVAL_US;
		     !log->closed && g_cond_wait_until(&log->changed, &log->lock, end);)
			;
	}
	g_mutex_unlock(&log->lock);
	return NULL;
}

LabRemoteLog *lab_remote_log_follow(virConnectPtr connection, virStorageVolPtr volume,
				    const char *path)
{
	LabRemoteLog *log = g_new0(LabRemoteLog, 1);

	log->connection = connection;
	virStorageVolRef(volume);
	log->volume = volume;
	log->path = g_strdup(path);
	g_mutex_init(&log->lock);
	g_cond_init(&log->changed);
	log->thread = g_thread_new("log", follow, log);
	return log;
}

void lab_remote_log_close(LabRemoteLog *log)
{
	g_mutex_lock(&log->lock);
	log->closed = TRUE;
	g_cond_signal(&log->changed);
	g_mutex_unlock(&log->lock);
	g_thread_join(log->thread);
	g_mutex_clear(&log->lock);
	g_cond_clear(&log->changed);
	virStorageVolFree(log->volume);
	g_free(log->path);
	g_free(log);
}
