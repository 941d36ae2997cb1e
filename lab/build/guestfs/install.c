/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A kernel into a disk, the way its distribution does it. */
#include "lab/build/disk_program.h"

#include <string.h>

#include "lab/base/error.h"

#define DEBS "/var/lib/numalab/packages"

/* Of several kernels GRUB starts the one that was installed last. */
static gboolean choose(Disk *disk, const char *root, GError **error)
{
	static const char path[] = "/etc/default/grub.d/numalab-kernel.cfg";
	char *uuid = guestfs_vfs_uuid(disk->g, root);
	g_autofree char *text = uuid ? g_strdup_printf("GRUB_DEFAULT=gnulinux-%s-advanced-%s\n",
						       disk_member(disk, "release"), uuid)
				     : NULL;

	free(uuid);
	return disk_ok(disk, text ? 0 : -1, root, error) &&
	       (guestfs_exists(disk->g, "/etc/default/grub.d") <= 0 ||
		disk_ok(disk, guestfs_write(disk->g, path, text, strlen(text)), path, error));
}

/* The initrd that the system made, for a boot without its boot loader. */
static gboolean take_initrd(Disk *disk, GError **error)
{
	g_autofree char *from =
		g_strdup_printf("/boot/initrd.img-%s", disk_member(disk, "release"));
	g_autofree char *to = g_build_filename(disk_member(disk, "boot"), "initrd", NULL);

	if (guestfs_exists(disk->g, from) <= 0) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "the system in the image made no %s for the kernel", from);
		return FALSE;
	}
	if (!disk_ok(disk, guestfs_download(disk->g, from, to), from, error))
		return FALSE;
	disk_part(disk, "initrd");
	return TRUE;
}

static gboolean copy_packages(Disk *disk, GError **error)
{
	JsonArray *packages = json_object_get_array_member(disk->request, "packages");

	if (!disk_ok(disk, guestfs_mkdir_p(disk->g, DEBS), DEBS, error))
		return FALSE;
	for (guint i = 0; i < json_array_get_length(packages); i++) {
		const char *from = json_array_get_string_element(packages, i);
		g_autofree char *name = g_path_get_basename(from);
		g_autofree char *to = g_build_filename(DEBS, name, NULL);

		if (!disk_ok(disk, guestfs_upload(disk->g, from, to), from, error))
			return FALSE;
	}
	return TRUE;
}

gboolean disk_install_packages(Disk *disk, GError **error)
{
	g_autofree char *root = NULL;

	if (!disk_launch(disk, FALSE, error) || !disk_mount(disk, FALSE, &root, error) ||
	    !choose(disk, root, error))
		return FALSE;
	if (guestfs_exists(disk->g, "/usr/bin/dpkg") <= 0) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "wanted a Debian system in the disk image, for the kernel is a Debian "
			    "package; found no dpkg");
		return FALSE;
	}
	disk_stage(disk, "unpacking the kernel's packages");
	/* Nothing is lost when this guest is: the disk is thrown away then. */
	if (!copy_packages(disk, error) ||
	    !disk_sh(disk, "dpkg --unpack", "dpkg --force-unsafe-io --unpack " DEBS "/*.deb",
		     error))
		return FALSE;
	disk_part(disk, "unpack");
	disk_stage(disk, "configuring the kernel: initrd and boot loader");
	if (!disk_sh(disk, "dpkg --configure", "dpkg --force-unsafe-io --configure --pending",
		     error) ||
	    !disk_ok(disk, guestfs_rm_rf(disk->g, DEBS), DEBS, error))
		return FALSE;
	disk_part(disk, "configure");
	return take_initrd(disk, error);
}

static gboolean upload(Disk *disk, const char *member, const char *name, GError **error)
{
	const char *from = disk_member(disk, member);
	g_autofree char *to = g_strdup_printf("/boot/%s-%s", name, disk_member(disk, "release"));

	return !*from || disk_ok(disk, guestfs_upload(disk->g, from, to), from, error);
}

/* As `make modules_install install` would leave it. */
gboolean disk_install_tree(Disk *disk, GError **error)
{
	const char *release = disk_member(disk, "release");
	g_autofree char *quoted = g_shell_quote(release);
	g_autofree char *command = g_strdup_printf("set -e; update-initramfs -c -k %s; if [ -e "
						   "/boot/grub/grub.cfg ]; then update-grub; fi",
						   quoted);
	g_autofree char *root = NULL;

	if (!disk_launch(disk, FALSE, error) || !disk_mount(disk, FALSE, &root, error) ||
	    !choose(disk, root, error))
		return FALSE;
	disk_stage(disk, "copying the kernel and its modules");
	if (!disk_ok(disk, guestfs_mkdir_p(disk->g, "/lib/modules"), "/lib/modules", error) ||
	    !disk_ok(disk, guestfs_copy_in(disk->g, disk_member(disk, "modules"), "/lib/modules"),
		     "the modules", error) ||
	    !upload(disk, "kernel", "vmlinuz", error) || !upload(disk, "config", "config", error))
		return FALSE;
	disk_part(disk, "copy");
	disk_stage(disk, "making the initrd, updating the boot loader");
	if (!disk_sh(disk, "update-initramfs", command, error))
		return FALSE;
	disk_part(disk, "configure");
	return take_initrd(disk, error);
}
