/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a guest that died has left on its disk. */
#include "lab/build/disk_program.h"

#include <string.h>

/* In a guest's hands a directory may hold anything: as one archive it can do nothing to the host's. */
static gboolean take(Disk *disk, const char *from, const char *name, GError **error)
{
	g_autofree char *to = g_build_filename(disk_member(disk, "to"), name, NULL);

	if (guestfs_is_dir(disk->g, from) <= 0)
		return TRUE;
	return disk_ok(
		disk,
		guestfs_tar_out_opts(disk->g, from, to, GUESTFS_TAR_OUT_OPTS_COMPRESS, "gzip", -1),
		from, error);
}

gboolean disk_read(Disk *disk, GError **error)
{
	if (!disk_launch(disk, TRUE, error) || !disk_mount(disk, TRUE, NULL, error))
		return FALSE;
	disk_stage(disk, "reading what the guest left");
	return take(disk, "/var/lib/numalab/steps", "steps.tar.gz", error) &&
	       take(disk, "/var/log", "log.tar.gz", error);
}
