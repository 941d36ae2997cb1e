// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/pressure.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <linux/magic.h>
#include <signal.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "lab/base/error.h"

#define PREFIX "numalab-"

/* Where control groups of version 2 are mounted (not the hybrid one, which has no controllers). Free with g_free(). */
static char *mount_point(void)
{
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;

	if (!g_file_get_contents("/proc/self/mounts", &text, NULL, NULL))
		return NULL;
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++) {
		g_auto(GStrv) f = g_strsplit(*line, " ", 4);
		g_autofree char *controllers = NULL;
		g_autofree char *list = NULL;

		if (g_strv_length(f) < 3 || strcmp(f[2], "cgroup2"))
			continue;
		controllers = g_build_filename(f[1], "cgroup.controllers", NULL);
		if (g_file_get_contents(controllers, &list, NULL, NULL) && strstr(list, "memory"))
			return g_strdup(f[1]);
	}
	return NULL;
}

static char *group_of(const char *mount, pid_t guard)
{
	return g_strdup_printf("%s/" PREFIX "%d", mount, (int)guard);
}

/* Not g_file_set_contents(): these are no files that could be renamed. */
static gboolean put(const char *dir, const char *name, const char *value, GError **error)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	gboolean ok = fd >= 0 && write(fd, value, strlen(value)) == (gssize)strlen(value);

	if (!ok)
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
			    "host-pressure: cannot write '%s' to %s: %s", value, path,
			    g_strerror(errno));
	if (fd >= 0)
		close(fd);
	return ok;
}

static gboolean put_bytes(const char *dir, const char *name, guint64 bytes, GError **error)
{
	g_autofree char *value = g_strdup_printf("%" G_GUINT64_FORMAT, bytes);

	return put(dir, name, value, error);
}

static gboolean set_limits(const LabBootJob *job, const char *group, GError **error)
{
	guint64 high = job->memory_high_bytes, max = job->memory_max_bytes;

	if (high && !put_bytes(group, "memory.high", high, error))
		return FALSE;
	/* memory-max is for memory and swap together. */
	return !max || (put_bytes(group, "memory.max", max, error) &&
			put_bytes(group, "memory.swap.max", high ? max - high : 0, error));
}

static gboolean is_wanted(const LabBootJob *job)
{
	return job->memory_high_bytes || job->memory_max_bytes;
}

static gboolean has_swap(void)
{
	g_autofree char *text = NULL;

	/* A line of headings, then one for each area. */
	return g_file_get_contents("/proc/swaps", &text, NULL, NULL) && strchr(text, '\n') &&
	       strchr(text, '\n')[1];
}

static gboolean is_tmpfs(const char *dir)
{
	struct statfs fs;

	return statfs(dir, &fs) == 0 && fs.f_type == TMPFS_MAGIC;
}

static gboolean make_group(const char *mount, const char *group, GError **error)
{
	if (!put(mount, "cgroup.subtree_control", "+memory", error))
		return FALSE;
	if (g_mkdir(group, 0755) == 0 || errno == EEXIST)
		return TRUE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "host-pressure: cannot make %s: %s", group,
		    g_strerror(errno));
	return FALSE;
}

gboolean lab_pressure_apply(const LabBootJob *job, const char *dir, pid_t qemu, pid_t guard,
			    GError **error)
{
	g_autofree char *mount = is_wanted(job) ? mount_point() : NULL;
	g_autofree char *group = mount ? group_of(mount, guard) : NULL;
	g_autofree char *pid = g_strdup_printf("%d", (int)qemu);

	if (!is_wanted(job))
		return TRUE;
	if (!group) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
			    "host-pressure needs control groups version 2 with the memory "
			    "controller on the host, and none are mounted");
		return FALSE;
	}
	if (!has_swap()) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
			    "host-pressure needs swap on the host, and there is none ('swapon' "
			    "adds some)");
		return FALSE;
	}
	if (!is_tmpfs(dir)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
			    "host-pressure needs the store on a tmpfs (--store "
			    "/dev/shm/numalab): the limit would hold back the writes of results "
			    "to a disk");
		return FALSE;
	}
	return make_group(mount, group, error) && set_limits(job, group, error) &&
	       put(group, "cgroup.procs", pid, error);
}

guint64 lab_pressure_oom_kills(const LabBootJob *job, pid_t guard)
{
	g_autofree char *mount = is_wanted(job) ? mount_point() : NULL;
	g_autofree char *group = mount ? group_of(mount, guard) : NULL;
	g_autofree char *path = group ? g_build_filename(group, "memory.events", NULL) : NULL;
	g_autofree char *text = NULL;
	const char *at;

	if (!path || !g_file_get_contents(path, &text, NULL, NULL))
		return 0;
	at = strstr(text, "\noom_kill ");
	return at ? g_ascii_strtoull(at + strlen("\noom_kill "), NULL, 10) : 0;
}

void lab_pressure_remove(pid_t guard)
{
	g_autofree char *mount = mount_point();
	g_autoptr(GDir) dir = mount ? g_dir_open(mount, 0, NULL) : NULL;
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *group = g_build_filename(mount, name, NULL);
		pid_t owner;

		if (!g_str_has_prefix(name, PREFIX))
			continue;
		owner = (pid_t)g_ascii_strtoll(name + strlen(PREFIX), NULL, 10);
		if (owner > 0 && (owner == guard || (kill(owner, 0) < 0 && errno == ESRCH)))
			g_rmdir(group);
	}
}
