/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runner/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t first_signal;
static const char *volatile restore;
static int wake[2] = {-1, -1};
static GCancellable *cancellable;
static volatile sig_atomic_t pipe_broke;

static void die_of(int number)
{
	const char *bytes = restore;

	if (bytes && write(STDERR_FILENO, bytes, strlen(bytes)) < 0)
		_exit(128 + number);
	signal(number, SIG_DFL);
	kill(getpid(), number);
}

static void on_signal(int number)
{
	int saved = errno;

	if (first_signal) {
		die_of(number);
	} else {
		first_signal = number;
		if (write(wake[1], "", 1) < 0)
			die_of(number);
	}
	errno = saved;
}

static void on_pipe(int number)
{
	pipe_broke = 1;
}

/* g_cancellable_cancel() takes locks and runs callbacks: not for a signal handler. */
static gpointer watch(gpointer unused)
{
	struct pollfd never = {.fd = -1};
	char byte;

	while (read(wake[0], &byte, 1) < 0 && errno == EINTR)
		;
	g_cancellable_cancel(cancellable);
	poll(&never, 1, INTERRUPT_GRACE_S * 1000);
	die_of(first_signal);
	return NULL;
}

GCancellable *interrupt_setup(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	cancellable = g_cancellable_new();
	if (pipe2(wake, O_CLOEXEC) < 0)
		return cancellable;
	g_thread_unref(g_thread_new("signals", watch, NULL));
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	action.sa_handler = on_pipe;
	sigaction(SIGPIPE, &action, NULL);
	return cancellable;
}

int interrupt_signal(void)
{
	return first_signal;
}

gboolean interrupt_pipe_broke(void)
{
	return pipe_broke;
}

void interrupt_restore_on_kill(const char *bytes)
{
	restore = bytes;
}
