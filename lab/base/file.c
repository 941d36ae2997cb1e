/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glib/gstdio.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static gboolean fail(GError **error, const char *what, const char *path)
{
	int saved = errno;

	g_set_error(error, G_FILE_ERROR, g_file_error_from_errno(saved), "cannot %s %s: %s%s", what,
		    path, g_strerror(saved),
		    saved == ENOSPC || saved == EDQUOT
			    ? " (free some room there, or use another place: --store, --cache)"
			    : "");
	return FALSE;
}

static gboolean write_all(int fd, const char *data, gsize length)
{
	while (length) {
		gssize n = write(fd, data, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return FALSE;
		data += n;
		length -= (gsize)n;
	}
	return TRUE;
}

static gboolean sync_parent(const char *path)
{
	g_autofree char *dir = g_path_get_dirname(path);
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	gboolean ok = fd >= 0 && fsync(fd) == 0;

	if (fd >= 0)
		close(fd);
	return ok;
}

gboolean lab_file_write(const char *path, const void *data, gssize length, GError **error)
{
	g_autofree char *temporary = g_strdup_printf("%s.XXXXXX", path);
	int fd = g_mkstemp_full(temporary, O_WRONLY | O_CLOEXEC, 0644);
	gboolean ok;

	if (fd < 0)
		return fail(error, "write", path);
	ok = write_all(fd, data, length < 0 ? strlen(data) : (gsize)length) && fsync(fd) == 0;
	if (close(fd) < 0)
		ok = FALSE;
	if (ok && rename(temporary, path) == 0 && sync_parent(path))
		return TRUE;
	fail(error, "write", path);
	unlink(temporary);
	return FALSE;
}

char *lab_file_read(const char *path, gsize *length, GError **error)
{
	char *data;

	return g_file_get_contents(path, &data, length, error) ? data : NULL;
}

static gboolean copy_extents(int in, int out, off_t size)
{
	g_autofree char *buffer = g_malloc(1 << 20);
	off_t at = 0;

	while ((at = lseek(in, at, SEEK_DATA)) >= 0 && at < size) {
		off_t end = lseek(in, at, SEEK_HOLE);

		if (end < 0)
			return FALSE;
		while (at < end) {
			gssize n = pread(in, buffer, MIN(1 << 20, end - at), at);

			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0 || lseek(out, at, SEEK_SET) < 0 ||
			    !write_all(out, buffer, (gsize)n))
				return FALSE;
			at += n;
		}
	}
	return (at >= 0 || errno == ENXIO) && ftruncate(out, size) == 0;
}

gboolean lab_file_copy(const char *from, const char *to, GError **error)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out;
	struct stat st;
	gboolean ok;

	if (in < 0 || fstat(in, &st) < 0) {
		fail(error, "read", from);
		if (in >= 0)
			close(in);
		return FALSE;
	}
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (out < 0) {
		fail(error, "write", to);
		close(in);
		return FALSE;
	}
	ok = (ioctl(out, FICLONE, in) == 0 || copy_extents(in, out, st.st_size)) && fsync(out) == 0;
	if (!ok) {
		fail(error, "write", to);
		unlink(to);
	}
	close(in);
	close(out);
	return ok;
}

gboolean lab_file_create_sparse(const char *path, guint64 bytes, GError **error)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	gboolean ok;

	if (fd < 0)
		return fail(error, "create", path);
	ok = ftruncate(fd, (off_t)bytes) == 0;
	if (!ok) {
		fail(error, "create", path);
		unlink(path);
	}
	close(fd);
	return ok;
}

gboolean lab_dir_make(const char *path, GError **error)
{
	return g_mkdir_with_parents(path, 0755) == 0 || fail(error, "create directory", path);
}

#define TAG "CACHEDIR.TAG"
#define TAG_TEXT                                                                                   \
	"Signature: 8a477f597d28d172789f06886806bc55\n"                                            \
	"# A cache of numalab; may be removed. See https://bford.info/cachedir/\n"

/* A new or empty directory becomes a cache; one with other things in it does not. */
gboolean lab_dir_make_cache(const char *path, GError **error)
{
	g_autofree char *tag = g_build_filename(path, TAG, NULL);
	g_autoptr(GDir) dir = NULL;
	const char *name;

	if (!lab_dir_make(path, error))
		return FALSE;
	if (access(path, W_OK | X_OK) < 0) {
		int saved = errno;

		g_set_error_literal(error, G_FILE_ERROR, g_file_error_from_errno(saved),
				    g_strerror(saved));
		return FALSE;
	}
	if (g_file_test(tag, G_FILE_TEST_EXISTS))
		return TRUE;
	dir = g_dir_open(path, 0, error);
	if (!dir)
		return FALSE;
	while ((name = g_dir_read_name(dir)))
		/* Another process may be writing its tag, or have written it and gone on. */
		if (!g_str_has_prefix(name, TAG) && !g_file_test(tag, G_FILE_TEST_EXISTS)) {
			g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_EXIST,
				    "it holds other things ('%s') and no %s", name, TAG);
			return FALSE;
		}
	return lab_file_write(tag, TAG_TEXT, -1, error);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

gboolean lab_dir_remove(const char *path, GError **error)
{
	if (nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT)
		return TRUE;
	return fail(error, "remove", path);
}

static __thread guint64 bytes_seen;

static int add_bytes(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	bytes_seen += (guint64)st->st_blocks * 512;
	return 0;
}

guint64 lab_dir_bytes(const char *path)
{
	bytes_seen = 0;
	nftw(path, add_bytes, 32, FTW_PHYS);
	return bytes_seen;
}

int lab_file_lock(const char *path, gboolean wait, GError **error)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	int rc = -1;

	if (fd >= 0)
		while ((rc = flock(fd, LOCK_EX | (wait ? 0 : LOCK_NB))) < 0 && errno == EINTR)
			;
	if (rc == 0)
		return fd;
	fail(error, "lock", path);
	if (fd >= 0)
		close(fd);
	return -1;
}
