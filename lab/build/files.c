/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/files.h"

#include <errno.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>

#include "lab/base/digest.h"
#include "lab/base/file.h"
#include "lab/build/erofs.h"

#define KIND "files"
/** Enters every key: a new number where the same content would give another image. */
#define LAYOUT "numalab files 1\n"
#define IMAGE_FILE "files.erofs"
/* No file is from the guest's future. */
#define EPOCH "0"

void lab_files_free(LabFiles *files)
{
	if (!files)
		return;
	g_free(files->path);
	g_free(files->digest);
	g_free(files);
}

/* ---- the digest of a directory ------------------------------------------------------------------ */

typedef struct {
	const LabOrigin *origin;
	gsize root_length;
	GChecksum *sum;
	guint n;
} Walk;

/* A path may be any bytes; a message is one line. */
G_GNUC_PRINTF(3, 4)
static gboolean fail(const LabOrigin *origin, GError **error, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list ap;

	va_start(ap, format);
	text = g_strdup_vprintf(format, ap);
	va_end(ap);
	for (char *c = text; *c; c++)
		if (g_ascii_iscntrl(*c))
			*c = '?';
	lab_error_set_at(error, origin, "%s", text);
	return FALSE;
}

/* What an entry is beside its mode and name. */
static char *content_of(const FTSENT *entry, GError **error)
{
	if (entry->fts_info == FTS_F)
		return lab_digest_file(entry->fts_accpath, error);
	if (entry->fts_info == FTS_D)
		return g_strdup("");
	return g_file_read_link(entry->fts_accpath, error);
}

static gboolean add(Walk *walk, const FTSENT *entry, GError **error)
{
	g_autofree char *mode = g_strdup_printf("%o", (unsigned)entry->fts_statp->st_mode);
	g_autoptr(GError) local = NULL;
	g_autofree char *content = content_of(entry, &local);
	const char *texts[] = {mode, content, entry->fts_path + walk->root_length};

	if (!content)
		return fail(walk->origin, error, "%s", local->message);
	/* With their NULs, which no path and no link's target has. */
	for (guint i = 0; i < G_N_ELEMENTS(texts); i++)
		g_checksum_update(walk->sum, (const guchar *)texts[i],
				  (gssize)strlen(texts[i]) + 1);
	walk->n++;
	return TRUE;
}

static gboolean add_entry(Walk *walk, const FTSENT *entry, GError **error)
{
	mode_t mode = entry->fts_statp->st_mode;

	switch (entry->fts_info) {
	case FTS_DP:
		return TRUE;
	case FTS_D:
	case FTS_F:
	case FTS_SL:
	case FTS_SLNONE:
		return add(walk, entry, error);
	case FTS_DEFAULT:
		return fail(walk->origin, error,
			    "wanted files, directories and links, found a %s: %s",
			    S_ISSOCK(mode)   ? "socket"
			    : S_ISFIFO(mode) ? "pipe"
					     : "device",
			    entry->fts_path);
	default:
		return fail(walk->origin, error, "cannot read %s: %s", entry->fts_path,
			    g_strerror(entry->fts_errno));
	}
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static gboolean is_directory(const char *dir, const LabOrigin *origin, GError **error)
{
	struct stat st;

	if (stat(dir, &st) < 0)
		return fail(origin, error, "wanted a directory, found none (%s): %s",
			    g_strerror(errno), dir);
	return S_ISDIR(st.st_mode) ||
	       fail(origin, error, "wanted a directory, found something else: %s", dir);
}

char *lab_files_digest(const char *dir, const LabOrigin *origin, GError **error)
{
	char *const roots[] = {(char *)dir, NULL};
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	Walk walk = {origin, strlen(dir), sum, 0};
	gboolean ok = TRUE;
	FTSENT *entry;
	FTS *fts;

	if (!is_directory(dir, origin, error))
		return NULL;
	/* Of the links only the one that is named itself is followed. */
	fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_COMFOLLOW, by_name);
	if (!fts) {
		fail(origin, error, "cannot read %s: %s", dir, g_strerror(errno));
		return NULL;
	}
	while (ok && (entry = fts_read(fts)))
		ok = add_entry(&walk, entry, error);
	fts_close(fts);
	if (!ok)
		return NULL;
	if (walk.n == 1) { /* itself */
		fail(origin, error, "wanted a directory with files, found an empty one: %s", dir);
		return NULL;
	}
	return g_strdup(g_checksum_get_string(sum));
}

/* ---- the image ----------------------------------------------------------------------------------- */

typedef struct {
	const char *dir;
	const LabOrigin *origin;
	const char *content; /* digest */
	guint64 extra_bytes;
} Pack;

static gboolean pack(const char *to, gpointer data, GError **error)
{
	const Pack *p = data;
	g_autofree char *path = g_build_filename(to, IMAGE_FILE, NULL);
	g_autofree char *content = NULL;

	if (!lab_erofs_make(p->dir, path, EPOCH, p->extra_bytes, error))
		return FALSE;
	content = lab_files_digest(p->dir, p->origin, error);
	if (!content)
		return FALSE;
	/* Else the cache would for ever hold one thing under the other's name. */
	if (strcmp(content, p->content)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "%s changed while it was packed",
			    p->dir);
		return FALSE;
	}
	return TRUE;
}

static LabFiles *get(LabCache *cache, Pack *p, gboolean *made, GError **error)
{
	g_autofree char *what =
		g_strdup_printf(LAYOUT "%s\n%" G_GUINT64_FORMAT "\n", p->content, p->extra_bytes);
	g_autofree char *key = lab_digest_data(what, -1);
	g_autoptr(LabFiles) files = g_new0(LabFiles, 1);
	struct stat st;

	if (!lab_cache_get_file(cache, KIND, key, IMAGE_FILE, pack, p, made, &files->path,
				&files->digest, error))
		return NULL;
	if (stat(files->path, &st) < 0) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "cannot read %s: %s", files->path,
			    g_strerror(errno));
		return NULL;
	}
	files->bytes = (guint64)st.st_size;
	return g_steal_pointer(&files);
}

static gboolean is_taken(guint64 bytes, const guint64 *taken, guint n_taken)
{
	for (guint i = 0; i < n_taken; i++)
		if (taken[i] == bytes)
			return TRUE;
	return FALSE;
}

LabFiles *lab_files_get(LabCache *cache, const char *dir, const LabOrigin *origin,
			const guint64 *taken, guint n_taken, gboolean *made, GError **error)
{
	g_autofree char *content = lab_files_digest(dir, origin, error);
	Pack p = {dir, origin, content, 0};
	LabFiles *files = content ? get(cache, &p, made, error) : NULL;

	while (files && is_taken(files->bytes, taken, n_taken)) {
		lab_files_free(files);
		p.extra_bytes += LAB_EROFS_ALIGN;
		files = get(cache, &p, made, error);
	}
	return files;
}
