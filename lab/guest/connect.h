/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A libvirt daemon of this host, in place of libvirt's driver inside the process of a boot. */
#pragma once
#include <glib.h>

/**
 * lab_connect_check() - can guests be started by the daemon of @uri?
 *
 * Errors: LAB_ERROR_USER: not QEMU's driver, or another host's (a guest's files are on this one); LAB_ERROR_INFRA: it does not
 * answer.
 */
gboolean lab_connect_check(const char *uri, GError **error);
