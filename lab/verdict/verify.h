/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Two boots of one job -> identical, or where the first difference is. Pure comparison of
 * directories; lab/run boots again.
 */
#pragma once
#include <gio/gio.h>

/**
 * struct LabVerify
 * @identical: outcome, every byte of results.img (the time stamps of records too), of console.log
 * @digest:    of result.json of each; "" for a boot that is not ok
 * @where:     "" when identical, else the first difference in the order in which the guest wrote
 *             (records count from 0); one line of plain ASCII, at most a few hundred bytes:
 *             "record 12, xfsrepair/after/vmstat, line 34: 'numa_hit 1' / 'numa_hit 2'"
 *             "console.log, line 7: 'a' / 'b'"
 */
typedef struct {
	gboolean identical;
	char *digest[2];
	char *where;
} LabVerify;

/**
 * lab_verify_dirs() - compare two complete boot directories
 *
 * Errors: those of lab_boot_result_read() (a directory that is not complete), of files that cannot
 * be read.
 */
LabVerify *lab_verify_dirs(const char *dir, const char *again, GError **error);
void lab_verify_free(LabVerify *verify);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabVerify, lab_verify_free)
