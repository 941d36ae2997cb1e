/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two boots of one job -> identical, or where the first difference is. Pure comparison of directories; lab/run boots again. */
#pragma once
#include <gio/gio.h>

typedef struct {
	gboolean identical;
	char *digest[2];
	char *where; /* first difference: "record 12 xfsrepair/after/vmstat line 34: numa_hit 5012 / numa_hit 5013", "console.log line 7: ..." */
} LabVerify;

/** lab_verify_dirs() - compare two complete boot directories */
LabVerify *lab_verify_dirs(const char *dir, const char *again, GError **error);
void lab_verify_free(LabVerify *verify);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabVerify, lab_verify_free)
