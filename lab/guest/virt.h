/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to lab/guest: libvirt's handles end with their scope. */
#pragma once
#include <glib.h>
#include <libvirt/libvirt.h>

G_DEFINE_AUTOPTR_CLEANUP_FUNC(virConnect, virConnectClose)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(virStoragePool, virStoragePoolFree)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(virStorageVol, virStorageVolFree)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(virStream, virStreamFree)
