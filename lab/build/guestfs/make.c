/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A root file system -> a disk that boots; a disk of anyone -> one that starts the agent. */
#include "lab/build/disk_program.h"

#include <stdio.h>
#include <string.h>

#include "lab/base/error.h"

#define UNIT "/etc/systemd/system/numalab.service"

/*
 * The job and the agent come on a disk of each boot, as a tar archive: the image stays as it is when they change. Steps
 * that run out of memory are told by the agent: systemd is not to stop it for that.
 */
static const char unit[] =
	"[Unit]\n"
	"Description=numalab's agent\n"
	"ConditionPathExists=/dev/disk/by-id/virtio-numalab-job\n"
	"\n"
	"[Service]\n"
	"Type=idle\n"
	"ExecStartPre=/bin/mkdir -p /var/lib/numalab\n"
	"ExecStartPre=/bin/tar -xf /dev/disk/by-id/virtio-numalab-job -C /var/lib/numalab\n"
	"ExecStart=/var/lib/numalab/agent service /var/lib/numalab/job\n"
	"OOMPolicy=continue\n"
	"OOMScoreAdjust=-1000\n"
	"TasksMax=infinity\n"
	"LimitNOFILE=1048576\n"
	"\n"
	"[Install]\n"
	"WantedBy=multi-user.target\n";

/* What would run beside a measurement, or write to the console. */
static const char *const masked[] = {
	"serial-getty@ttyS0.service",
	"apt-daily.timer",
	"apt-daily-upgrade.timer",
	"dpkg-db-backup.timer",
	"e2scrub_all.timer",
	"fstrim.timer",
	"man-db.timer",
	"systemd-tmpfiles-clean.timer",
};

/* What a guest that died had logged up to ten seconds before can be read out of its disk. */
static const char journal[] = "[Journal]\nStorage=persistent\nSyncIntervalSec=10s\n";

/*
 * The kernel's arguments are a boot's own, the disk is shared: GRUB takes them from the machine's firmware tables, where they
 * are the only OEM string (SMBIOS type 11; the byte at offset 4 is the number of strings, 1, and so the string's number).
 */
static const char grub_script[] =
	"#!/bin/sh\n"
	"echo 'insmod smbios'\n"
	"echo 'smbios --type 11 --get-string 4 --set numalab_arguments'\n";

static const char grub_defaults[] = "GRUB_TIMEOUT=0\n"
				    "GRUB_RECORDFAIL_TIMEOUT=0\n"
				    "GRUB_DISABLE_OS_PROBER=true\n"
				    "GRUB_DISABLE_SUBMENU=y\n"
				    "GRUB_TERMINAL=serial\n"
				    "GRUB_SERIAL_COMMAND='serial --unit=0 --speed=115200'\n"
				    "GRUB_CMDLINE_LINUX_DEFAULT=\n"
				    "GRUB_CMDLINE_LINUX='$numalab_arguments'\n";

static gboolean write_file(Disk *disk, const char *path, const char *text, GError **error)
{
	g_autofree char *dir = g_path_get_dirname(path);

	return disk_ok(disk, guestfs_mkdir_p(disk->g, dir), dir, error) &&
	       disk_ok(disk, guestfs_write(disk->g, path, text, strlen(text)), path, error);
}

static gboolean exists(Disk *disk, const char *path)
{
	return guestfs_exists(disk->g, path) > 0;
}

static gboolean adopt_systemd(Disk *disk, GError **error)
{
	if (!exists(disk, "/usr/lib/systemd/systemd") && !exists(disk, "/lib/systemd/systemd")) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "wanted a system with systemd in the disk image, found none");
		return FALSE;
	}
	if (!write_file(disk, UNIT, unit, error) ||
	    !write_file(disk, "/etc/systemd/journald.conf.d/numalab.conf", journal, error) ||
	    !disk_ok(disk, guestfs_mkdir_p(disk->g, "/var/log/journal"), "/var/log/journal",
		     error) ||
	    !disk_ok(disk, guestfs_mkdir_p(disk->g, "/etc/systemd/system/multi-user.target.wants"),
		     UNIT, error) ||
	    !disk_ok(disk,
		     guestfs_ln_sf(disk->g, UNIT,
				   "/etc/systemd/system/multi-user.target.wants/numalab.service"),
		     UNIT, error))
		return FALSE;
	for (gsize i = 0; i < G_N_ELEMENTS(masked); i++) {
		g_autofree char *path = g_strconcat("/etc/systemd/system/", masked[i], NULL);

		if (!disk_ok(disk, guestfs_ln_sf(disk->g, "/dev/null", path), path, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean adopt_grub(Disk *disk, GError **error)
{
	if (!exists(disk, "/etc/grub.d"))
		return TRUE;
	return write_file(disk, "/etc/grub.d/01_numalab", grub_script, error) &&
	       disk_ok(disk, guestfs_chmod(disk->g, 0755, "/etc/grub.d/01_numalab"), "/etc/grub.d",
		       error) &&
	       write_file(disk, "/etc/default/grub.d/numalab.cfg", grub_defaults, error);
}

gboolean disk_adopt(Disk *disk, const char *root, GError **error)
{
	char *uuid = guestfs_vfs_uuid(disk->g, root);
	gboolean ok = disk_ok(disk, uuid ? 0 : -1, root, error) && adopt_systemd(disk, error) &&
		      adopt_grub(disk, error);

	if (ok)
		printf("root UUID=%s\n", uuid);
	free(uuid);
	return ok;
}

/* What debootstrap's kind takes from the host, and what an installer would have asked for. */
static gboolean write_host_files(Disk *disk, const char *type, GError **error)
{
	g_autofree char *fstab = g_strdup_printf("LABEL=numalab / %s defaults 0 0\n", type);
	/* Where the drivers of the guest's disk are known, the initrd needs no others. */
	g_autofree char *modules = g_strdup_printf("virtio_pci\nvirtio_blk\n%s\n", type);

	return write_file(disk, "/etc/fstab", fstab, error) &&
	       write_file(disk, "/etc/hostname", "numalab\n", error) &&
	       write_file(disk, "/etc/hosts", "127.0.0.1 localhost numalab\n::1 localhost\n",
			  error) &&
	       write_file(disk, "/etc/machine-id", "6e756d616c6162000000000000000001\n", error) &&
	       disk_ok(disk, guestfs_rm_f(disk->g, "/etc/resolv.conf"), "/etc/resolv.conf",
		       error) &&
	       write_file(disk, "/etc/initramfs-tools/modules", modules, error) &&
	       write_file(disk, "/etc/initramfs-tools/conf.d/numalab",
			  "MODULES=list\nCOMPRESS=zstd\nCOMPRESSLEVEL=1\n", error);
}

static gboolean make_file_system(Disk *disk, const char *type, GError **error)
{
	return disk_ok(disk, guestfs_part_init(disk->g, "/dev/sda", "mbr"), "partition table",
		       error) &&
	       /* The first MiB is GRUB's. */
	       disk_ok(disk, guestfs_part_add(disk->g, "/dev/sda", "p", 2048, -1), "partition",
		       error) &&
	       disk_ok(disk, guestfs_part_set_bootable(disk->g, "/dev/sda", 1, 1), "partition",
		       error) &&
	       disk_ok(disk,
		       guestfs_mkfs_opts(disk->g, type, "/dev/sda1", GUESTFS_MKFS_OPTS_LABEL,
					 "numalab", -1),
		       type, error) &&
	       disk_ok(disk, guestfs_mount_options(disk->g, "discard", "/dev/sda1", "/"), "mount",
		       error);
}

gboolean disk_make(Disk *disk, GError **error)
{
	const char *type = disk_member(disk, "root");
	gint64 bytes = json_object_get_int_member_with_default(disk->request, "bytes", 0);

	if (!disk_ok(disk, guestfs_disk_create(disk->g, disk->disk, "qcow2", bytes, -1), disk->disk,
		     error) ||
	    !disk_launch(disk, FALSE, error) || !make_file_system(disk, type, error))
		return FALSE;
	disk_stage(disk, "copying the system to the disk");
	if (!disk_ok(disk, guestfs_tar_in(disk->g, disk_member(disk, "tar"), "/"), "the system",
		     error))
		return FALSE;
	disk_part(disk, "copy");
	if (!write_host_files(disk, type, error) || !disk_adopt(disk, "/dev/sda1", error))
		return FALSE;
	disk_stage(disk, "installing the boot loader");
	/* The kernel of libguestfs's guest may call another disk sda than libguestfs does. */
	if (!disk_sh(disk, "grub-install",
		     "grub-install --target=i386-pc \"$(grub-probe --target=disk /)\"", error) ||
	    !disk_sh(disk, "update-grub", "update-grub", error))
		return FALSE;
	disk_part(disk, "bootloader");
	return TRUE;
}
