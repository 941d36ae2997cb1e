// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/remote_console.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/guest/embed.h"

#define CHUNK 4096

struct LabRemoteConsole {
	gint references; /* ours, and the callback's */
	GMutex lock;	 /* of @fd */
	int fd;		 /* -1: closed */
	virStreamPtr stream;
};

static void release(void *data)
{
	LabRemoteConsole *console = data;

	if (!g_atomic_int_dec_and_test(&console->references))
		return;
	g_mutex_clear(&console->lock);
	virStreamFree(console->stream);
	g_free(console);
}

static void append(LabRemoteConsole *console, const char *data, gsize length)
{
	g_mutex_lock(&console->lock);
	/* A lost line costs a deadline: the whole text comes in the end. */
	if (console->fd >= 0 && write(console->fd, data, length) < 0) {
		close(console->fd);
		console->fd = -1;
	}
	g_mutex_unlock(&console->lock);
}

static void on_stream(virStreamPtr stream, int events, void *data)
{
	char buffer[CHUNK];
	int n = 0;

	while (events & VIR_STREAM_EVENT_READABLE && (n = virStreamRecv(stream, buffer, sizeof buffer)) > 0)
		append(data, buffer, (gsize)n);
	/* -2: nothing for now */
	if (n == 0 || n == -1 || events & (VIR_STREAM_EVENT_ERROR | VIR_STREAM_EVENT_HANGUP))
		virStreamEventRemoveCallback(stream);
}

LabRemoteConsole *lab_remote_console_open(virConnectPtr connection, virDomainPtr domain,
					  const char *device, const char *path, GError **error)
{
	LabRemoteConsole *console;
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd < 0) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "%s: %s", path, g_strerror(errno));
		return NULL;
	}
	console = g_new0(LabRemoteConsole, 1);
	console->fd = fd;
	console->references = 2;
	g_mutex_init(&console->lock);
	console->stream = virStreamNew(connection, VIR_STREAM_NONBLOCK);
	if (console->stream && virDomainOpenConsole(domain, device, console->stream, 0) == 0 &&
	    virStreamEventAddCallback(console->stream,
				      VIR_STREAM_EVENT_READABLE | VIR_STREAM_EVENT_ERROR |
					      VIR_STREAM_EVENT_HANGUP,
				      on_stream, console, release) == 0)
		return console;
	lab_embed_set_error(error, device);
	release(console);
	lab_remote_console_close(console);
	return NULL;
}

void lab_remote_console_close(LabRemoteConsole *console)
{
	g_mutex_lock(&console->lock);
	if (console->fd >= 0)
		close(console->fd);
	console->fd = -1;
	g_mutex_unlock(&console->lock);
	if (console->stream) {
		virStreamEventRemoveCallback(console->stream);
		virStreamAbort(console->stream);
	}
	release(console);
}
