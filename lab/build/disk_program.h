/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * numalab-disk: the one program that looks into disk images, by libguestfs, in a small guest of its own: nothing of an image
 * is ever mounted on the host. A process apart, so that what it links with is needed by nothing else.
 *
 *     numalab-disk REQUEST       a JSON object:
 *
 *     verb        "make", "adopt", "packages", "tree" or "read"
 *     disk        the qcow2; made by "make", changed by all others but "read"
 *     cache       directory for libguestfs's own guest
 *     temporary   directory, with a short path
 *     tcg         true: KVM does not work here
 *     make:       tar, bytes, root ("ext4", "xfs")
 *     packages:   packages (array of .deb files), release, boot (directory that gets the initrd)
 *     tree:       kernel (bzImage), config (or ""), modules (directory, with depmod's indices), release, boot
 *     read:       to (directory)
 *
 * On stdout, as it goes: "stage TEXT", "part NAME MILLISECONDS" (that took), "root UUID=..." (of make and adopt), "sockets DIR" (to
 * be removed when this program is killed).
 * Exit status 0; 1 with the reason on stderr; 2: the reason is the user's image.
 */
#pragma once
#include <guestfs.h>
#include <json-glib/json-glib.h>

typedef struct {
	guestfs_h *g;
	JsonObject *request;
	const char *disk;
	gint64 part_us; /* when the present part began */
} Disk;

/** disk_member() - a string of the request */
const char *disk_member(const Disk *disk, const char *name);

/** disk_stage() - tell what is done now */
void disk_stage(Disk *disk, const char *text);
/** disk_part() - tell what the time since the last call went to */
void disk_part(Disk *disk, const char *name);

/** disk_ok() - of what a call of libguestfs returned: whether it was no failure; else @error says @what and libguestfs's words */
gboolean disk_ok(Disk *disk, int result, const char *what, GError **error);

/** disk_sh() - a shell command inside the image, its output thrown away unless it fails */
gboolean disk_sh(Disk *disk, const char *what, const char *command, GError **error);

/** disk_launch() - start libguestfs's guest with the disk */
gboolean disk_launch(Disk *disk, gboolean readonly, GError **error);

/** disk_mount() - find the system in the disk and mount its file systems; @root (out): its root device; free with g_free() */
gboolean disk_mount(Disk *disk, gboolean readonly, char **root, GError **error);

/** disk_adopt() - the agent as a service, GRUB's configuration; the root is mounted */
gboolean disk_adopt(Disk *disk, const char *root, GError **error);

gboolean disk_make(Disk *disk, GError **error);
gboolean disk_install_packages(Disk *disk, GError **error);
gboolean disk_install_tree(Disk *disk, GError **error);
gboolean disk_read(Disk *disk, GError **error);
