// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/base/private_dir.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/base/file.h"

#define PREFIX "numalab-boot-"
#define LOCK "lock"
/* Of a directory that was never locked, because its maker died at once. */
#define UNLOCKED_MAX_S 60

/* The longest that libvirt puts below: lib/qemu/domain-1-<20 bytes>/monitor.sock, of the 108 bytes
 * of sun_path. */
#define ROOT_MAX 50

static const char *base(void)
{
	const char *runtime = g_getenv("XDG_RUNTIME_DIR");

	return runtime && strlen(runtime) + sizeof PREFIX + 6 <= ROOT_MAX &&
			       g_access(runtime, W_OK | X_OK) == 0
		       ? runtime
		       : "/tmp";
}

/* The lock last: without it, what a remover that was killed left would not be known as such. */
static void remove_all(const char *path)
{
	g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *child = g_build_filename(path, name, NULL);

		if (strcmp(name, LOCK))
			lab_dir_remove(child, NULL);
	}
	lab_dir_remove(path, NULL);
}

static void remove_if_stale(const char *path)
{
	g_autofree char *lock = g_build_filename(path, LOCK, NULL);
	GStatBuf st;
	int fd;

	if (g_lstat(path, &st) < 0 || !S_ISDIR(st.st_mode) || st.st_uid != geteuid())
		return;
	if (!g_file_test(lock, G_FILE_TEST_EXISTS)) {
		if (st.st_mtime < g_get_real_time() / G_USEC_PER_SEC - UNLOCKED_MAX_S)
			remove_all(path);
		return;
	}
	/* The lock appears under its name already held (below), so one that is free has no owner.
	 */
	fd = lab_file_lock(lock, FALSE, NULL);
	if (fd < 0)
		return;
	remove_all(path);
	close(fd);
}

static void remove_stale(const char *in)
{
	g_autoptr(GDir) dir = g_dir_open(in, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(in, name, NULL);

		if (g_str_has_prefix(name, PREFIX) && strlen(name) == sizeof PREFIX - 1 + 6)
			remove_if_stale(path);
	}
}

char *lab_private_dir_new(int *lock, GError **error)
{
	g_autofree char *root = g_build_filename(base(), PREFIX "XXXXXX", NULL);
	g_autofree char *unnamed = NULL, *named = NULL;
	int fd;

	remove_stale(base());
	if (!g_mkdtemp_full(root, 0700)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "cannot make a directory in %s: %s",
			    base(), g_strerror(errno));
		return NULL;
	}
	unnamed = g_build_filename(root, LOCK ".new", NULL);
	named = g_build_filename(root, LOCK, NULL);
	fd = lab_file_lock(unnamed, TRUE, error);
	if (fd < 0 || g_rename(unnamed, named) < 0) {
		if (fd >= 0) {
			g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "cannot make %s: %s", named,
				    g_strerror(errno));
			close(fd);
		}
		lab_dir_remove(root, NULL);
		return NULL;
	}
	*lock = fd;
	return g_steal_pointer(&root);
}

void lab_private_dir_remove(const char *root, int lock)
{
	remove_all(root);
	close(lock);
}
