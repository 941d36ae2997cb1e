/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The local engine: one child process `numalab boot DIR` per boot, several at once. Knows nothing
 * of kernels or samples. */
#pragma once
#include "lab/run/run.h"

/** struct LabEngineBoot - a prepared directory to boot; @label is for people ("6.1.192 seed 2") */
typedef struct {
	const char *dir;
	const char *label;
} LabEngineBoot;

/**
 * LabEngineDone - a boot's process has ended; its directory may or may not be complete
 * @said: what it said on stderr; the reason when there is no result
 *
 * Return FALSE with @error to stop the run.
 */
typedef gboolean (*LabEngineDone)(guint index, const char *said, gpointer data, GError **error);

/**
 * lab_engine_run() - boot all, at most @at_once side by side, in order
 * @done: (nullable): called in this thread after each
 *
 * Blocks. Reports LAB_EVENT_BOOTS through @options. On cancellation or an error of @done the
 * running boots are ended (SIGTERM, they clean up) and waited for. A boot whose process dies leaves
 * no result.json: that is for the caller to see.
 */
gboolean lab_engine_run(const LabEngineBoot *boots, guint n_boots, guint at_once,
			const LabRunOptions *options, LabEngineDone done, gpointer data,
			GError **error);

/** lab_engine_at_once() - how many boots do not disturb each other on a host: exact: its CPUs, as memory allows; else 1 */
guint lab_engine_at_once(LabClock clock, guint64 guest_bytes, guint n_cpus, guint64 free_bytes);
