/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guard of a boot: nothing of a guest outlives it, however it or its worker ends.
 *
 *     numalab run ──► numalab boot (the guard, a subreaper) ──► worker (libvirt)
 *                                              └──────────────► QEMU (reparented to the guard)
 *
 * The worker ends in any way: the guard kills and reaps every child it has left, QEMU among them.
 * The guard ends in any way, even by SIGKILL: the kernel kills worker and QEMU, which carry a death
 * signal (emulator/main.c).
 */
#pragma once
#include <gio/gio.h>
#include <sys/types.h>

/**
 * struct LabGuard - what the worker must know of its guard
 * @pid:      of the guard
 * @root:     libvirt's private directory: short, empty but for its lock, removed by the guard
 * @start_us: g_get_monotonic_time() when the guard began
 */
typedef struct {
	pid_t pid;
	const char *root;
	gint64 start_us;
} LabGuard;

/**
 * LabGuardWork - the worker
 * @cancellable: is cancelled when the guard's is, or by SIGTERM or SIGINT
 *
 * Return: exit status, 0 to 255
 */
typedef int (*LabGuardWork)(const LabGuard *guard, GCancellable *cancellable, gpointer data);

/**
 * lab_guard_run() - run @work in a child process under guard; blocks until nothing of it is left
 * @cancellable: (nullable): ends the worker: SIGTERM, and SIGKILL if that does not help within 10 s
 * @status: (out): what @work returned, or 128 + N when signal N ended it
 *
 * To be called from the main thread of a process without other children; other threads may only be
 * such as hold no lock of a library that @work uses. Handles SIGCHLD meanwhile. Errors:
 * LAB_ERROR_INFRA: no directory for libvirt can be made, no process can be started.
 */
gboolean lab_guard_run(LabGuardWork work, gpointer data, GCancellable *cancellable, int *status,
		       GError **error);
