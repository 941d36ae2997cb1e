/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/disk_program.h"

#include <stdio.h>
#include <string.h>

#include "lab/base/error.h"
#include "lab/base/json.h"

/* For dpkg and an initrd with zstd. */
#define MEMORY_MIB 1024

const char *disk_member(const Disk *disk, const char *name)
{
	return json_object_get_string_member_with_default(disk->request, name, "");
}

void disk_stage(Disk *disk, const char *text)
{
	printf("stage %s\n", text);
	fflush(stdout);
}

void disk_part(Disk *disk, const char *name)
{
	gint64 now = g_get_monotonic_time();

	printf("part %s %" G_GINT64_FORMAT "\n", name, (now - disk->part_us) / 1000);
	fflush(stdout);
	disk->part_us = now;
}

gboolean disk_ok(Disk *disk, int result, const char *what, GError **error)
{
	const char *said = guestfs_last_error(disk->g);

	if (result >= 0)
		return TRUE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "%s: %s", what, said ? said : "failed");
	return FALSE;
}

gboolean disk_sh(Disk *disk, const char *what, const char *command, GError **error)
{
	/* Of a command that fails libguestfs tells what it said on stderr. */
	g_autofree char *all = g_strconcat(
		"exec >&2; export DEBIAN_FRONTEND=noninteractive LC_ALL=C; ", command, NULL);
	char *said = guestfs_sh(disk->g, all);

	free(said);
	return disk_ok(disk, said ? 0 : -1, what, error);
}

/*
 * As root libguestfs has its sockets in /tmp, whatever it is told, and leaves them there when this program is killed. So who
 * started it is told where: it is in the arguments of libguestfs's QEMU.
 */
static void tell_sockets(Disk *disk)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/cmdline", guestfs_get_pid(disk->g));
	g_autoptr(GRegex) regex = g_regex_new("path=(/tmp/libguestfs[A-Za-z0-9]{6})/", 0, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;
	g_autofree char *arguments = NULL;
	gsize length;

	if (!g_file_get_contents(path, &arguments, &length, NULL))
		return;
	for (gsize i = 0; i < length; i++)
		if (!arguments[i])
			arguments[i] = '\n';
	if (g_regex_match(regex, arguments, 0, &match)) {
		g_autofree char *dir = g_match_info_fetch(match, 1);

		printf("sockets %s\n", dir);
		fflush(stdout);
	}
}

gboolean disk_launch(Disk *disk, gboolean readonly, GError **error)
{
	disk_stage(disk, "starting libguestfs's guest");
	if (!disk_ok(disk,
		     guestfs_add_drive_opts(disk->g, disk->disk, GUESTFS_ADD_DRIVE_OPTS_READONLY,
					    readonly, GUESTFS_ADD_DRIVE_OPTS_FORMAT, "qcow2",
					    GUESTFS_ADD_DRIVE_OPTS_CACHEMODE, "unsafe",
					    GUESTFS_ADD_DRIVE_OPTS_DISCARD,
					    readonly ? "disable" : "besteffort", -1),
		     disk->disk, error) ||
	    !disk_ok(disk, guestfs_launch(disk->g), "libguestfs's guest", error))
		return FALSE;
	tell_sockets(disk);
	disk_part(disk, "libguestfs");
	return TRUE;
}

static gint by_length(gconstpointer a, gconstpointer b)
{
	const char *x = *(char *const *)a, *y = *(char *const *)b;
	gsize n = strlen(x), m = strlen(y);

	return n != m ? (n > m) - (n < m) : strcmp(x, y);
}

/* Parents before what is mounted below them. @points: libguestfs's "mount point, device, ..." */
static gboolean mount_all(Disk *disk, char **points, gboolean readonly, GError **error)
{
	g_autoptr(GPtrArray) order = g_ptr_array_new();

	for (char **p = points; *p && p[1]; p += 2)
		g_ptr_array_add(order, *p);
	g_ptr_array_sort(order, by_length);
	for (guint i = 0; i < order->len; i++) {
		const char *at = order->pdata[i], *device = NULL;

		for (char **p = points; *p && p[1]; p += 2)
			if (*p == at)
				device = p[1];
		if (!disk_ok(disk,
			     readonly ? guestfs_mount_ro(disk->g, device, at)
				      : guestfs_mount_options(disk->g, "discard", device, at),
			     at, error))
			return FALSE;
	}
	return TRUE;
}

static void free_strings(char **strings)
{
	for (char **s = strings; s && *s; s++)
		free(*s);
	free(strings);
}

gboolean disk_mount(Disk *disk, gboolean readonly, char **root, GError **error)
{
	char **roots = guestfs_inspect_os(disk->g);
	guint n = roots ? g_strv_length(roots) : 0;
	char **points = n == 1 ? guestfs_inspect_get_mountpoints(disk->g, roots[0]) : NULL;
	gboolean ok = points && mount_all(disk, points, readonly, error);

	if (!roots || (n == 1 && !points))
		disk_ok(disk, -1, "looking for a system in the image", error);
	else if (n != 1)
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "wanted one operating system in the disk image, found %u", n);
	else if (ok && root)
		*root = g_strdup(roots[0]);
	free_strings(points);
	free_strings(roots);
	return ok;
}

static gboolean run(Disk *disk, GError **error)
{
	static const struct {
		const char *verb;
		gboolean (*run)(Disk *disk, GError **error);
	} verbs[] = {
		{"make", disk_make},
		{"packages", disk_install_packages},
		{"tree", disk_install_tree},
		{"read", disk_read},
	};
	const char *verb = disk_member(disk, "verb");
	g_autofree char *root = NULL;

	if (!strcmp(verb, "adopt"))
		return disk_launch(disk, FALSE, error) && disk_mount(disk, FALSE, &root, error) &&
		       disk_adopt(disk, root, error);
	for (gsize i = 0; i < G_N_ELEMENTS(verbs); i++)
		if (!strcmp(verb, verbs[i].verb))
			return verbs[i].run(disk, error);
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "there is no verb '%s'", verb);
	return FALSE;
}

/* All that was written is in the image only after this. */
static gboolean end(Disk *disk, GError **error)
{
	if (!disk_ok(disk, guestfs_umount_all(disk->g), "unmounting", error) ||
	    !disk_ok(disk, guestfs_shutdown(disk->g), "ending libguestfs's guest", error))
		return FALSE;
	disk_part(disk, "end");
	return TRUE;
}

static gboolean open_handle(Disk *disk, GError **error)
{
	guestfs_h *g = guestfs_create_flags(GUESTFS_CREATE_NO_ENVIRONMENT);

	disk->g = g;
	if (!g) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "libguestfs cannot be used");
		return FALSE;
	}
	guestfs_set_error_handler(g, NULL, NULL);
	return disk_ok(disk, guestfs_set_backend(g, "direct"), "backend", error) &&
	       (!json_object_get_boolean_member_with_default(disk->request, "tcg", TRUE) ||
		disk_ok(disk, guestfs_set_backend_setting(g, "force_tcg", "1"), "backend",
			error)) &&
	       disk_ok(disk, guestfs_set_cachedir(g, disk_member(disk, "cache")), "cache", error) &&
	       disk_ok(disk, guestfs_set_tmpdir(g, disk_member(disk, "temporary")), "temporary",
		       error) &&
	       disk_ok(disk, guestfs_set_memsize(g, MEMORY_MIB), "memory", error);
}

static int say_version(int status)
{
	guestfs_h *g = guestfs_create_flags(GUESTFS_CREATE_NO_ENVIRONMENT);
	struct guestfs_version *v = g ? guestfs_version(g) : NULL;

	if (v)
		fprintf(status ? stderr : stdout,
			"libguestfs %" G_GINT64_FORMAT ".%" G_GINT64_FORMAT ".%" G_GINT64_FORMAT
			", for numalab " NUMALAB_VERSION ", which starts this program\n",
			v->major, v->minor, v->release);
	guestfs_free_version(v);
	if (g)
		guestfs_close(g);
	return status;
}

int main(int argc, char **argv)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(JsonObject) request = NULL;
	Disk disk = {.part_us = g_get_monotonic_time()};
	gboolean ok = FALSE;

	if (argc != 2 || !strcmp(argv[1], "--version"))
		return say_version(argc == 2 ? 0 : 2);
	disk.request = request = lab_json_read(argv[1], LAB_ERROR_INFRA, &error);
	if (request) {
		disk.disk = disk_member(&disk, "disk");
		ok = open_handle(&disk, &error) && run(&disk, &error) && end(&disk, &error);
	}
	if (disk.g)
		guestfs_close(disk.g);
	if (ok)
		return 0;
	fprintf(stderr, "%s\n", error->message);
	return g_error_matches(error, LAB_ERROR, LAB_ERROR_USER) ? 2 : 1;
}
