/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Debian packages by apt's own tools, through a private state below the cache (ROOT/apt/SUITE:
 * sources, indices). The host's apt state, dpkg database, preferences and hooks play no part; its
 * mirrors, keys and proxies do. apt verifies signatures and digests.
 */
#pragma once
#include "lab/base/error.h"
#include "lab/build/cache.h"

typedef struct _LabApt LabApt;

/**
 * lab_apt_open() - the private state of a suite; locked against other processes until freed
 * @whole: a suite that adds to another one ("bookworm-backports" to "bookworm") comes with that one; its own
 *   packages win
 * @origin: (nullable): where the suite was written; borrowed, must outlive the object
 *
 * Blocks while another process has it open.
 */
LabApt *lab_apt_open(LabCache *cache, const char *suite, gboolean whole, const LabOrigin *origin,
		     GError **error);
void lab_apt_free(LabApt *apt);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabApt, lab_apt_free)

/**
 * lab_apt_refresh() - fetch the suite's index, unless that was done within @max_age_s seconds from
 * the same sources
 * @refreshed: (out) (optional): whether a mirror was asked
 *
 * An index past its Valid-Until (an archived suite, a mirror that stands still) is used all the
 * same: its signature is still checked.
 * Errors: LAB_ERROR_USER at the origin: the mirror has no such suite; LAB_ERROR_INFRA: no network,
 * disk full.
 */
gboolean lab_apt_refresh(LabApt *apt, guint max_age_s, gboolean *refreshed, GError **error);

/** struct LabAptPackage - what the index says of one version of a package */
typedef struct {
	char *name, *version, *arch;
	char *depends; /* "" for none */
	char *sha256;  /* of the .deb */
	guint64 bytes; /* of the .deb */
} LabAptPackage;

void lab_apt_package_free(LabAptPackage *package);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabAptPackage, lab_apt_package_free)

/**
 * lab_apt_show() - one version of a package
 * @version: (nullable): the one that apt would install
 *
 * Errors: LAB_ERROR_USER at the origin: no such package (with the nearest name), no such version
 * (with those there are).
 */
LabAptPackage *lab_apt_show(LabApt *apt, const char *name, const char *version, GError **error);

/**
 * lab_apt_download() - the .deb files of @packages (of LabAptPackage) into @dir, digests verified.
 * Errors: LAB_ERROR_INFRA.
 */
gboolean lab_apt_download(LabApt *apt, const GPtrArray *packages, const char *dir, GError **error);

/**
 * lab_apt_dir() - of the private state: numalab.sources (deb822) and state/lists/ of the last
 * refresh; borrowed
 */
const char *lab_apt_dir(const LabApt *apt);
/** lab_apt_config() - its apt.conf, for -c; borrowed */
const char *lab_apt_config(const LabApt *apt);

/** lab_apt_names() - names of all packages of the index; free with g_strfreev() */
char **lab_apt_names(LabApt *apt, GError **error);

/**
 * lab_apt_solve() - what `apt-get install` of @names and of all essential packages would install
 * where nothing is installed
 * @names: NULL-terminated; each exists
 *
 * Recommended packages are left out. With suites that know usr-is-merged it is taken in place of
 * usrmerge: /bin, /sbin and /lib must be links into /usr from the start.
 * Return: array of LabAptPackage (without depends), sorted by name. Errors: LAB_ERROR_USER at the
 * origin with apt's words: what is asked for cannot be installed together.
 */
GPtrArray *lab_apt_solve(LabApt *apt, const char *const *names, GError **error);
