/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A boot as a libvirt domain and as a QEMU command line. Pure functions of the job: covered by golden files. */
#pragma once
#include "lab/guest/boot.h"

/**
 * lab_domain_xml() - domain XML of a boot, built with libxml2
 * @dir: absolute; console.log, progress.log, results.img, scratch.img are there
 * @emulator: (nullable): wrapper in place of job->emulator
 *
 * Return: XML text with newline; free with g_free(). Errors: LAB_ERROR_USER when the topology cannot be expressed.
 */
char *lab_domain_xml(const LabBootJob *job, const char *dir, const char *emulator, GError **error);

/** lab_domain_kernel_args() - the whole kernel command line. Free with g_free(). */
char *lab_domain_kernel_args(const LabBootJob *job);

/** lab_domain_qemu_args() - QEMU arguments for that XML as libvirt makes them (virConnectDomainXMLToNative), one a line. */
char *lab_domain_qemu_args(const char *xml, GError **error);
