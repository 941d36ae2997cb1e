/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where apt finds a Debian suite: the mirrors and keys of the host's own apt configuration, with
 * the suite replaced.
 */
#pragma once
#include <glib.h>

/** struct LabAptMirror - an archive that the host's apt uses */
typedef struct {
	char *uri;	 /* without a slash at the end */
	char *signed_by; /* as in deb822: paths, or a key itself; "": apt's trusted keys */
} LabAptMirror;

void lab_apt_mirror_clear(LabAptMirror *mirror);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LabAptMirror, lab_apt_mirror_clear)

/**
 * lab_apt_find_mirror() - choose from the host's index targets
 * @targets:  lines of `apt-get indextargets --format LAB_APT_TARGET_FORMAT`
 * @security: the archive of security updates, else the main one
 *
 * Reads the files that @targets name, for Signed-By (both formats of sources(5)).
 * Return: FALSE when the host has no such archive; @mirror is untouched then.
 */
gboolean lab_apt_find_mirror(const char *targets, gboolean security, LabAptMirror *mirror);
#define LAB_APT_TARGET_FORMAT                                                                      \
	"$(ORIGIN)|$(LABEL)|$(RELEASE)|$(COMPONENT)|$(REPO_URI)|$(SOURCESENTRY)"

/** lab_apt_sources_text() - what lab_apt_sources() makes of these archives; free with g_free() */
char *lab_apt_sources_text(const char *suite, const char *base, const char *const *without,
			   const LabAptMirror *archive, const LabAptMirror *security);

/**
 * lab_apt_sources() - a .sources file (deb822) for @suite, main component, amd64 binaries
 * @suite: "bookworm": with bookworm-updates and bookworm-security, which is what a user of bookworm
 *   gets; "bookworm-backports", "sid" and the like: alone
 * @base: (nullable): suite that @suite adds to; it comes too, as if it were asked for
 * @without: (nullable): NULL-terminated suites to leave out, because the mirror has none
 *
 * Free with g_free(). Errors: LAB_ERROR_INFRA: no apt, or no Debian archive among the host's.
 */
char *lab_apt_sources(const char *suite, const char *base, const char *const *without,
		      GError **error);
