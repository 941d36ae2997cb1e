/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Private to lab/guest: what the serial ports of a guest on another host say, soon after they say it.
 *
 * The files that they are written to there are looked at twice a second, by a thread, and what is new is appended to a file here.
 * Not by virDomainOpenConsole(): a daemon whose domain ends while such a stream is closed can stop for ever, with all its connections.
 */
#pragma once
#include "lab/guest/virt.h"

typedef struct LabRemoteLog LabRemoteLog;

/**
 * lab_remote_log_follow() - until lab_remote_log_close()
 * @volume: a reference is taken
 * @path: of a file that exists. What cannot be read there or written here is left out, and costs a deadline at most.
 */
LabRemoteLog *lab_remote_log_follow(virConnectPtr connection, virStorageVolPtr volume,
				    const char *path);

/** lab_remote_log_close() - when it returns, the file is not written any more */
void lab_remote_log_close(LabRemoteLog *log);
