/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/image_tree.h"

#include <errno.h>
#include <fnmatch.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>

#include "lab/base/error.h"
#include "lab/base/file.h"

const char *const lab_image_host_state[] = {
	"/dev/*",
	"/proc/*",
	"/sys/*",
	"/run/*",
	"/tmp/*",
	"/var/tmp/*",
	/* copied from the host by mmdebstrap */
	"/etc/hostname",
	"/etc/resolv.conf",
	"/etc/hosts",
	/* the host's mirrors */
	"/etc/apt/sources.list",
	"/etc/apt/sources.list.d/*",
	"/etc/machine-id",
	"/var/lib/dbus/machine-id",
	/* days since the last change of a password, and copies from before the last change */
	"/etc/shadow*",
	"/etc/gshadow*",
	"/etc/passwd-",
	"/etc/group-",
	"/etc/subuid-",
	"/etc/subgid-",
	"/etc/.pwd.lock",
	"/var/backups/*",
	"/var/lib/dpkg/*-old",
	/* times, and in ld.so's aux-cache inode numbers */
	"/var/log/*",
	"/var/cache/*",
	"/var/lib/apt/*",
	/* the mtime of the source */
	"*/__pycache__",
	NULL,
};

static gboolean fail(const char *what, const char *path, GError **error)
{
	int saved = errno;

	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "cannot %s %s: %s", what, path,
		    g_strerror(saved));
	return FALSE;
}

static gboolean matches(const char *path, const char *const *patterns)
{
	for (; *patterns; patterns++)
		if (fnmatch(*patterns, path, 0) == 0)
			return TRUE;
	return FALSE;
}

/* As an unprivileged user mkfs reads the files as their owner does. */
static gboolean set_mode(const FTSENT *entry, GError **error)
{
	mode_t mode = entry->fts_statp->st_mode & 07777;
	mode_t wanted = (mode & ~(mode_t)(S_ISUID | S_ISGID)) | S_IRUSR;

	if (entry->fts_info == FTS_D)
		wanted |= S_IWUSR | S_IXUSR;
	return wanted == mode || chmod(entry->fts_accpath, wanted) == 0 ||
	       fail("set the mode of", entry->fts_path, error);
}

static gboolean clean_entry(FTS *fts, FTSENT *entry, gsize root_length, const char *const *exclude,
			    GError **error)
{
	const char *path = entry->fts_path + root_length;

	switch (entry->fts_info) {
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		errno = entry->fts_errno;
		return fail("read", entry->fts_path, error);
	case FTS_DP:
		return TRUE;
	default:
		break;
	}
	if (!*path)
		return TRUE;
	if (entry->fts_info == FTS_DEFAULT || matches(path, lab_image_host_state) ||
	    matches(path, exclude)) {
		fts_set(fts, entry, FTS_SKIP);
		return lab_dir_remove(entry->fts_path, error);
	}
	return entry->fts_info == FTS_SL || entry->fts_info == FTS_SLNONE || set_mode(entry, error);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static gboolean make_directories(const char *root, GError **error)
{
	static const struct {
		const char *path;
		mode_t mode;
	} dirs[] = {
		{"dev", 0755}, {"proc", 0755}, {"sys", 0755},  {"run", 0755},
		{"mnt", 0755}, {"root", 0700}, {"tmp", 01777},
	};

	for (guint i = 0; i < G_N_ELEMENTS(dirs); i++) {
		g_autofree char *path = g_build_filename(root, dirs[i].path, NULL);

		if (!lab_dir_make(path, error))
			return FALSE;
		if (chmod(path, dirs[i].mode) < 0)
			return fail("set the mode of", path, error);
	}
	return chmod(root, 0755) == 0 || fail("set the mode of", root, error);
}

gboolean lab_image_tree_clean(const char *root, const char *const *exclude, GError **error)
{
	char *const roots[] = {(char *)root, NULL};
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	gboolean ok = TRUE;
	FTSENT *entry;

	if (!fts)
		return fail("read", root, error);
	while (ok && (entry = fts_read(fts)))
		ok = clean_entry(fts, entry, strlen(root), exclude, error);
	fts_close(fts);
	return ok && make_directories(root, error);
}
