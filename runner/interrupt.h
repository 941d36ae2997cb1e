/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SIGINT and SIGTERM -> a GCancellable. The second one, or no end within INTERRUPT_GRACE_S after
 * the first, kills the program. */
#pragma once
#include <gio/gio.h>

#define INTERRUPT_GRACE_S 15

/**
 * interrupt_setup() - install the handlers; once, before any thread is started
 *
 * SIGPIPE gets a handler that does nothing: writes fail with EPIPE here, and children still start
 * with the default action. Return: cancelled at the first signal; borrowed, static.
 */
GCancellable *interrupt_setup(void);

/** interrupt_signal() - the first signal that came, or 0 */
int interrupt_signal(void);

/** interrupt_pipe_broke() - whether a SIGPIPE came */
gboolean interrupt_pipe_broke(void);

/** interrupt_restore_on_kill() - bytes to write to stderr when the program is killed by a second
 * signal (cursor); NULL: none */
void interrupt_restore_on_kill(const char *bytes);
