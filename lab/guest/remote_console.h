/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to lab/guest: what a serial port of a guest on another host says, as it says it. */
#pragma once
#include "lab/guest/virt.h"

typedef struct LabRemoteConsole LabRemoteConsole;

/**
 * lab_remote_console_open() - write all that comes to the end of a file
 * @device: libvirt's alias: "serial0"
 *
 * By the thread of libvirt's events. Errors: LAB_ERROR_INFRA.
 */
LabRemoteConsole *lab_remote_console_open(virConnectPtr connection, virDomainPtr domain,
					  const char *device, const char *path, GError **error);

/** lab_remote_console_close() - when it returns, the file is not written any more */
void lab_remote_console_close(LabRemoteConsole *console);
