/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "agent/builtin.h"
#include "agent/files.h"
#include "agent/touch.h"

static const struct {
	const char *name;
	unsigned long set, clear;
} mount_flags[] = {
	{"defaults", 0, 0},	      {"ro", MS_RDONLY, 0},
	{"rw", 0, MS_RDONLY},	      {"nosuid", MS_NOSUID, 0},
	{"nodev", MS_NODEV, 0},	      {"noexec", MS_NOEXEC, 0},
	{"sync", MS_SYNCHRONOUS, 0},  {"dirsync", MS_DIRSYNC, 0},
	{"noatime", MS_NOATIME, 0},   {"nodiratime", MS_NODIRATIME, 0},
	{"relatime", MS_RELATIME, 0}, {"strictatime", MS_STRICTATIME, 0},
	{"lazytime", MS_LAZYTIME, 0},
};

unsigned long mount_options(const char *options, char *data, size_t size)
{
	unsigned long flags = 0;
	size_t used = 0;

	data[0] = '\0';
	for (const char *at = options; *at;) {
		size_t bytes = strcspn(at, ",");
		bool known = !bytes;

		for (size_t i = 0; i < sizeof(mount_flags) / sizeof(mount_flags[0]); i++) {
			if (strlen(mount_flags[i].name) != bytes ||
			    memcmp(at, mount_flags[i].name, bytes))
				continue;
			flags = (flags | mount_flags[i].set) & ~mount_flags[i].clear;
			known = true;
		}
		if (!known && used < size)
			used += (size_t)snprintf(data + used, size - used, "%s%.*s",
						 used ? "," : "", (int)bytes, at);
		at += bytes + (at[bytes] == ',');
	}
	return flags;
}

static int do_mount(char *const *args)
{
	char data[4096];
	unsigned long flags = mount_options(args[3], data, sizeof(data));

	if (!mount(args[0], args[1], args[2], flags, data))
		return 0;
	fprintf(stderr, "mount %s on %s (%s, options '%s'): %m\n", args[0], args[1], args[2],
		args[3]);
	return 1;
}

static int do_mkdir(char *const *args)
{
	for (; *args; args++) {
		if (dir_make(*args)) {
			fprintf(stderr, "mkdir %s: %m\n", *args);
			return 1;
		}
	}
	return 0;
}

static int do_umount(const char *directory)
{
	if (!umount(directory))
		return 0;
	fprintf(stderr, "umount %s: %m\n", directory);
	return 1;
}

static int do_drop_caches(void)
{
	sync();
	if (!file_write("/proc/sys/vm/drop_caches", "3"))
		return 0;
	fprintf(stderr, "/proc/sys/vm/drop_caches: %m\n");
	return 1;
}

int builtin_run(const struct job_step *step, struct keeper_result *result)
{
	switch (step->kind) {
	case JOB_STEP_MKDIR:
		return do_mkdir(step->args);
	case JOB_STEP_MOUNT:
		return do_mount(step->args);
	case JOB_STEP_UMOUNT:
		return do_umount(step->args[0]);
	case JOB_STEP_DROP_CACHES:
		return do_drop_caches();
	case JOB_STEP_NUMA_TOUCH:
		if (touch_run(&step->touch, &result->touches))
			return 1;
		result->touched = true;
		return 0;
	case JOB_STEP_EXEC:
		break;
	}
	return 126;
}
