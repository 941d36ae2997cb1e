/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMALAB_AGENT_MOUNTS_H
#define NUMALAB_AGENT_MOUNTS_H

#include "agent/fault.h"

/**
 * mounts_kernel() - proc, sys, dev and, where this kernel has them, debugfs and tracefs
 * @fault: stage "setup"
 */
int mounts_kernel(struct fault *fault);

/**
 * mounts_root() - make the image on @device the root: read-only, below an overlay on tmpfs
 * @type: file system type of the image
 * @fault: stage "setup"
 *
 * What mounts_kernel() mounted moves along.
 */
int mounts_root(const char *device, const char *type, struct fault *fault);

/**
 * mounts_files() - the files on @device at /files, read-only
 * @fault: stage "setup"
 */
int mounts_files(const char *device, struct fault *fault);

/** mounts_work() - /tmp, /run, /mnt, /dev/shm, /dev/pts and the links in /dev. @fault: stage "setup" */
int mounts_work(struct fault *fault);

/** mounts_service() - where an init has mounted the rest: debugfs, tracefs, AGENT_KEEP_DIR. @fault: stage "setup" */
int mounts_service(struct fault *fault);

/**
 * mounts_scratch() - the directory /mnt/NAME, and the link /dev/NAME
 * @device: where the link leads to; NULL: no link
 * @name: "scratch", "scratch2"
 * @fault: stage "setup"
 */
int mounts_scratch(const char *device, const char *name, struct fault *fault);

#endif
