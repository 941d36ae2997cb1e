/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to lab/guest: a place on the host, as libvirt's XML. */
#pragma once
#include <libxml/tree.h>

#include "lab/spec/placement.h"

/** lab_domain_add_pin() - memoryBacking, cputune and numatune; what was not asked for is not there */
void lab_domain_add_pin(xmlNode *domain, const LabPlacement *placement);
