/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starting numalab-disk. Internal to lab/build. */
#pragma once
#include <json-glib/json-glib.h>

#include "lab/build/disk.h"

struct _LabDiskTool {
	LabCache *cache;
	gboolean tcg, offline;
	LabProgress progress;
	gpointer data;
	char *guest_dir;    /* libguestfs's own guest; NULL: not looked for yet */
	char **environment; /* of numalab-disk */
};

/** struct LabDiskSaid - what the program told; the same as in LabDiskImage */
typedef struct {
	char *root;
	GPtrArray *parts;
} LabDiskSaid;

void lab_disk_said_clear(LabDiskSaid *said);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LabDiskSaid, lab_disk_said_clear)

/**
 * lab_disk_tool_run() - one request; @request is taken, "disk" etc. must be set
 * @what: for progress: "image xfs"
 * @said: (out): gets more parts, and root
 *
 * Errors: LAB_ERROR_USER without origin when the image is at fault, else LAB_ERROR_INFRA.
 */
gboolean lab_disk_tool_run(LabDiskTool *tool, JsonObject *request, const char *what,
			   LabDiskSaid *said, GError **error);

void lab_disk_tool_say(LabDiskTool *tool, const char *format, ...) G_GNUC_PRINTF(2, 3);

/** lab_disk_said_part() - add a part that began at @since_us (monotonic) */
void lab_disk_said_part(LabDiskSaid *said, const char *name, gint64 since_us);
