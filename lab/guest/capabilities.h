/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What libvirt found out about an emulator, kept from one private directory to the next. libvirt
 * checks by itself that it is of this libvirt, this emulator and this host; it does not see the
 * QEMU behind a wrapper, so that one decides the directory. Everything here may fail: then libvirt
 * looks anew.
 */
#pragma once
#include <glib.h>

/** lab_capabilities_dir() - where they are kept for these two programs (both nullable); NULL when
 * there can be no cache. Free with g_free(). */
char *lab_capabilities_dir(const char *emulator, const char *qemu);

/** lab_capabilities_copy() - copy files that @to has not, or with other content; each is there
 * whole or not at all. @from, @to (nullable): nothing is done */
void lab_capabilities_copy(const char *from, const char *to);

/** lab_capabilities_qemu_version() - "10.0.2" from the file in @dir, else "". Free with g_free().
 */
char *lab_capabilities_qemu_version(const char *dir);
