/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A boot as a libvirt domain and as a QEMU command line. Pure functions of the job: covered by
 * golden files.
 *
 * What libvirt 11.3 has no element for goes through <qemu:commandline>: -icount, -seed; nodes
 * without memory (it makes a backend of 0 bytes, which QEMU refuses) and then all nodes (lab/guest/ram_backend.h has the rest of it); NVDIMMs
 * (its own are preallocated, which would copy a whole private image into memory before the guest
 * starts, and it never opens one read-only).
 */
#pragma once
#include <sys/types.h>

#include "lab/guest/boot.h"

/**
 * struct LabDomainHost - what of a domain is the host's and the guest does not see
 * @emulator:  (nullable): wrapper in place of job->emulator
 * @guard_pid: what the wrapper must die with, 0: nothing
 * @daemon:    libvirt is a daemon's, which other guests may have, too: name and UUID are this process's own there, and QEMU
 *             runs as this user, unconfined and without a change of any file's owner
 * @models:    (nullable): the daemon's security models, NULL-terminated ("dac", "apparmor")
 *
 * Of another host, else NULL (lab/guest/remote.h); the job then has that host's paths:
 * @files:   the paths of the boot's own files there, up to "console.log"
 * @id:      of the boot there, in the domain's name
 * @owner:   (nullable): whom QEMU runs as: "64055:64055"
 * @preload: (nullable): library for QEMU
 * @root_chain: and @scratch_chain: (nullable): of LabQcow2Layer: what the boot's disks are above
 */
typedef struct {
	const char *emulator;
	pid_t guard_pid;
	gboolean daemon;
	const char *const *models;
	const char *files, *id, *owner, *preload;
	const GPtrArray *root_chain, *scratch_chain;
} LabDomainHost;

/**
 * lab_domain_xml() - domain XML of a boot, built with libxml2
 * @dir: absolute; console.log, progress.log, results.img, scratch.img are there
 *
 * Return: XML text with newline; free with g_free(). Errors: LAB_ERROR_USER when the topology
 * cannot be expressed.
 */
char *lab_domain_xml(const LabBootJob *job, const char *dir, const LabDomainHost *host,
		     GError **error);

/** lab_domain_kernel_args() - the whole kernel command line. Free with g_free(). */
char *lab_domain_kernel_args(const LabBootJob *job);

/**
 * lab_domain_qemu_args() - QEMU's arguments for that XML as libvirt makes them
 * (virConnectDomainXMLToNative), one a line, the program first
 *
 * Opens libvirt in this process (lab/guest/embed.h). libvirt's own directory is written as
 * /run/numalab.
 */
char *lab_domain_qemu_args(const char *xml, GError **error);

/** lab_domain_native_argv() - of a shell command as libvirt writes them, without its environment; free with g_strfreev(). Errors: G_SHELL_ERROR */
char **lab_domain_native_argv(const char *command, GError **error);

/** lab_domain_rtc_base() - the guest's wall clock at its start, seconds since 1970 */
gint64 lab_domain_rtc_base(guint64 seed);

/** lab_domain_name() - libvirt's name for the boot. Free with g_free(). */
char *lab_domain_name(const LabBootJob *job, const LabDomainHost *host);
