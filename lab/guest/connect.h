/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A libvirt daemon in place of libvirt's driver inside the process of a boot: of this host (qemu:///system, qemu:///session), or
 * of another (qemu+ssh://HOST/system, qemu+tls://HOST/system, ...).
 */
#pragma once
#include "lab/spec/scenario.h"

/**
 * struct LabConnectHost - what a daemon says of its host
 * @uri:      to be opened with: ssh is told not to ask for anything
 *
 * Of another host alone, else NULL and 0:
 * @emulator: path of its QEMU; @version: "10.0.2"
 * @n_cpus:   online; @free_bytes: memory
 * @invariant_tsc: its CPUs'
 */
typedef struct {
	char *uri, *emulator, *version;
	guint n_cpus;
	guint64 free_bytes;
	gboolean invariant_tsc;
} LabConnectHost;

void lab_connect_host_free(LabConnectHost *host);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabConnectHost, lab_connect_host_free)

/** lab_connect_is_remote() - is the host of @uri reached over a network? (nullable): no */
gboolean lab_connect_is_remote(const char *uri);

/**
 * lab_connect_look() - can guests of @clock be started by the daemon of @uri?
 * @pool: of a remote host: where it is to keep the guests' files; a pool of the kind "dir", "fs" or "netfs"
 *
 * Blocks on the network. Errors: LAB_ERROR_USER: not QEMU's driver, no such pool; LAB_ERROR_INFRA: it does not answer, or has no
 * QEMU that can do it.
 */
LabConnectHost *lab_connect_look(const char *uri, const char *pool, LabClock clock, GError **error);
