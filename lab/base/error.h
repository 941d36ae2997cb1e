/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors. Every function that can fail takes GError **error last; outputs are written only on success. */
#pragma once
#include <glib.h>

/**
 * enum LabErrorCode - what an error says about whom; decides the exit code
 * @LAB_ERROR_USER:        usage, or an error in a person's file (exit 2)
 * @LAB_ERROR_INFRA:       the lab failed; says nothing about the kernel (exit 3)
 * @LAB_ERROR_UNKNOWN:     no measurement: a step failed, timed out, or was killed (exit 4)
 * @LAB_ERROR_KERNEL:      the kernel does not build, boot, or survive (exit 5)
 * @LAB_ERROR_INTERRUPTED: by the user (exit 130)
 */
typedef enum {
	LAB_ERROR_USER = 2,
	LAB_ERROR_INFRA = 3,
	LAB_ERROR_UNKNOWN = 4,
	LAB_ERROR_KERNEL = 5,
	LAB_ERROR_INTERRUPTED = 130,
} LabErrorCode;

#define LAB_ERROR (lab_error_quark())
GQuark lab_error_quark(void);

/**
 * struct LabOrigin - where a person wrote a value; line and column from 1, 0: whole file
 * @path: borrowed, may be NULL (a command-line argument)
 */
typedef struct {
	const char *path;
	guint line;
	guint column;
} LabOrigin;

/**
 * lab_error_set_at() - set a LAB_ERROR_USER error that starts with "path:line:column: "
 * @origin: (nullable): NULL or without path: no prefix
 */
void lab_error_set_at(GError **error, const LabOrigin *origin, const char *format, ...)
	G_GNUC_PRINTF(3, 4);

/**
 * lab_error_exit_code() - the exit code of design: of LAB_ERROR its code; of any other domain 3 (INFRA)
 */
int lab_error_exit_code(const GError *error);
