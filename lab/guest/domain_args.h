/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to lab/guest: the arguments that go to QEMU past libvirt. */
#pragma once
#include "lab/guest/boot.h"

/** lab_domain_nodes_by_args() - TRUE when libvirt cannot express the nodes: the arguments have them
 */
gboolean lab_domain_nodes_by_args(const LabTopology *topology);

/** lab_domain_extra_args() - what <qemu:commandline> gets; array of char*. @files: paths of the boot's files, up to their names */
GPtrArray *lab_domain_extra_args(const LabBootJob *job, const char *files);
