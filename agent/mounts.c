/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/files.h"
#include "agent/mounts.h"
#include "agent/protocol.h"

#define LOWER "/numalab/lower"
#define OVER "/numalab/over"
#define ROOT "/numalab/root"

struct mount_entry {
	const char *source;
	const char *target;
	const char *type;
	unsigned long flags;
	const char *data;
	int optional; /* a kernel may lack it */
};

static int mount_all(const struct mount_entry *entries, size_t count, struct fault *fault)
{
	for (size_t i = 0; i < count; i++) {
		const struct mount_entry *e = &entries[i];

		/* Below /sys nothing can be made: the directory is there when the kernel has it. */
		if (dir_make(e->target) && e->optional)
			continue;
		/* EBUSY: the kernel has mounted it already (CONFIG_DEVTMPFS_MOUNT). */
		if (!mount(e->source, e->target, e->type, e->flags, e->data) || errno == EBUSY ||
		    e->optional)
			continue;
		return fault_set(fault, "setup", "mounting %s on %s: %s", e->type, e->target,
				 strerror(errno));
	}
	return 0;
}

/* Views of the kernel that an init may have mounted, or not. */
static const struct mount_entry views[] = {
	{"debugfs", "/sys/kernel/debug", "debugfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL, 1},
	{"tracefs", "/sys/kernel/tracing", "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL, 1},
};

int mounts_kernel(struct fault *fault)
{
	static const struct mount_entry entries[] = {
		{"proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL, 0},
		{"sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL, 0},
		{"devtmpfs", "/dev", "devtmpfs", MS_NOSUID, "mode=0755", 0},
	};

	return mount_all(entries, sizeof(entries) / sizeof(entries[0]), fault) ||
			       mount_all(views, sizeof(views) / sizeof(views[0]), fault)
		       ? -1
		       : 0;
}

static int move(const char *from, const char *to, struct fault *fault)
{
	if (dir_make(to) || mount(from, to, NULL, MS_MOVE, NULL))
		return fault_set(fault, "setup", "moving %s to %s: %s", from, to, strerror(errno));
	return 0;
}

int mounts_root(const char *device, const char *type, struct fault *fault)
{
	if (dir_make(LOWER) || dir_make(OVER) || dir_make(ROOT))
		return fault_set(fault, "setup", "making directories in the initrd: %s",
				 strerror(errno));
	if (mount(device, LOWER, type, MS_RDONLY, NULL))
		return fault_set(fault, "setup", "mounting the image (%s on %s): %s", type, device,
				 strerror(errno));
	if (mount("tmpfs", OVER, "tmpfs", 0, "mode=0755") || dir_make(OVER "/upper") ||
	    dir_make(OVER "/work"))
		return fault_set(fault, "setup", "tmpfs above the image: %s", strerror(errno));
	if (mount("overlay", ROOT, "overlay", 0,
		  "lowerdir=" LOWER ",upperdir=" OVER "/upper,workdir=" OVER "/work"))
		return fault_set(fault, "setup", "overlay above the image: %s", strerror(errno));
	if (move("/proc", ROOT "/proc", fault) || move("/sys", ROOT "/sys", fault) ||
	    move("/dev", ROOT "/dev", fault))
		return -1;
	if (chdir(ROOT) || mount(".", "/", NULL, MS_MOVE, NULL) || chroot(".") || chdir("/"))
		return fault_set(fault, "setup", "switching to the image: %s", strerror(errno));
	return 0;
}

int mounts_files(const char *device, struct fault *fault)
{
	if (dir_make("/files") ||
	    mount(device, "/files", "erofs", MS_RDONLY | MS_NOSUID | MS_NODEV, NULL))
		return fault_set(fault, "setup", "mounting %s on /files: %s", device,
				 strerror(errno));
	return 0;
}

int mounts_scratch(const char *device, const char *name, struct fault *fault)
{
	char directory[64], link[64];

	snprintf(directory, sizeof(directory), "/mnt/%s", name);
	snprintf(link, sizeof(link), "/dev/%s", name);
	if (dir_make(directory) || (device && symlink(device, link)))
		return fault_set(fault, "setup", "%s: %s", name, strerror(errno));
	return 0;
}

int mounts_service(struct fault *fault)
{
	if (mount_all(views, sizeof(views) / sizeof(views[0]), fault))
		return -1;
	if (dir_make(AGENT_KEEP_DIR))
		return fault_set(fault, "setup", AGENT_KEEP_DIR ": %s", strerror(errno));
	return 0;
}

int mounts_work(struct fault *fault)
{
	static const struct mount_entry entries[] = {
		{"tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777", 0},
		{"tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755", 0},
		{"tmpfs", "/mnt", "tmpfs", 0, "mode=0755", 0},
		{"tmpfs", "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777", 1},
		{"devpts", "/dev/pts", "devpts", MS_NOSUID | MS_NOEXEC,
		 "gid=5,mode=620,ptmxmode=666", 1},
	};

	if (mount_all(entries, sizeof(entries) / sizeof(entries[0]), fault))
		return -1;
	/* What udev would make; programs of the image may expect it. */
	(void)!symlink("/proc/self/fd", "/dev/fd");
	(void)!symlink("fd/0", "/dev/stdin");
	(void)!symlink("fd/1", "/dev/stdout");
	(void)!symlink("fd/2", "/dev/stderr");
	return 0;
}
