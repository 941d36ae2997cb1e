/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to lab/guest: asynchronous page faults as the host sees them. With them, a guest that touches memory which the
 * host has to bring back (from swap) is told so, and runs something else meanwhile.
 */
#pragma once
#include <libvirt/libvirt.h>

#include "lab/guest/boot.h"

/**
 * lab_async_pf_read_back() - what QEMU's first CPU has
 * @text: (out): "kvm-asyncpf=on kvm-asyncpf-int=on"; free with g_free()
 *
 * Errors: LAB_ERROR_INFRA: QEMU does not say, or says other than @asked.
 */
gboolean lab_async_pf_read_back(virDomainPtr domain, LabAsyncPf asked, char **text, GError **error);

typedef struct LabAsyncPfCounter LabAsyncPfCounter;

/**
 * lab_async_pf_count() - begin to count in all threads of @qemu, now and to come
 *
 * Return: NULL when the host cannot (no tracefs, no such tracepoint, not allowed); @why (out) says it; free with g_free().
 */
LabAsyncPfCounter *lab_async_pf_count(pid_t qemu, char **why);

/** lab_async_pf_counted() - so far, also after QEMU is gone */
void lab_async_pf_counted(const LabAsyncPfCounter *counter, gint64 counts[LAB_ASYNC_PF_N_COUNTS]);
void lab_async_pf_counter_free(LabAsyncPfCounter *counter);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabAsyncPfCounter, lab_async_pf_counter_free)
