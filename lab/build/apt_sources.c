/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/apt_sources.h"

#include <stdlib.h>
#include <string.h>

#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/base/process.h"

void lab_apt_mirror_clear(LabAptMirror *mirror)
{
	g_clear_pointer(&mirror->uri, g_free);
	g_clear_pointer(&mirror->signed_by, g_free);
}

/* Fields of LAB_APT_TARGET_FORMAT. What apt does not know yet (no index was ever fetched) stays as
 * "$(NAME)". */
enum { ORIGIN, LABEL, RELEASE, COMPONENT, REPO_URI, ENTRY, N_FIELDS };

static gboolean is_known(const char *field)
{
	return *field && !g_str_has_prefix(field, "$(");
}

static char *without_slashes(const char *uri)
{
	gsize length = strlen(uri);

	while (length && uri[length - 1] == '/')
		length--;
	return g_strndup(uri, length);
}

static gboolean is_security(char **target)
{
	return is_known(target[LABEL]) ? !strcmp(target[LABEL], "Debian-Security")
				       : g_str_has_suffix(target[RELEASE], "-security") ||
						 g_str_has_suffix(target[RELEASE], "/updates");
}

static gboolean is_debian(char **target)
{
	g_autofree char *uri = without_slashes(target[REPO_URI]);

	if (strcmp(target[COMPONENT], "main") != 0 || g_str_has_prefix(uri, "cdrom:"))
		return FALSE;
	if (is_known(target[ORIGIN]))
		return !strcmp(target[ORIGIN], "Debian") ||
		       !strcmp(target[ORIGIN], "Debian Backports");
	return g_str_has_suffix(uri, "/debian") || g_str_has_suffix(uri, "/debian-security");
}

/* Is @word one of the white-space separated words of @text? Slashes at the end do not count. */
static gboolean has_word(const char *text, const char *word)
{
	g_auto(GStrv) words = g_strsplit_set(text, " \t\n", -1);
	g_autofree char *wanted = without_slashes(word);

	for (char **w = words; *w; w++) {
		g_autofree char *bare = without_slashes(*w);

		if (*bare && !strcmp(bare, wanted))
			return TRUE;
	}
	return FALSE;
}

/* The value of a field of a deb822 stanza, continuation lines and all, without comments; NULL when
 * it has none. */
static char *deb822_field(const char *stanza, const char *name)
{
	g_auto(GStrv) lines = g_strsplit(stanza, "\n", -1);
	g_autoptr(GString) value = NULL;

	for (char **line = lines; *line; line++) {
		const char *colon = strchr(*line, ':');

		if (**line == '#')
			continue;
		if (value && (**line == ' ' || **line == '\t'))
			g_string_append_printf(value, "\n%s", *line);
		else if (value)
			break;
		else if (colon && (gsize)(colon - *line) == strlen(name) &&
			 !g_ascii_strncasecmp(*line, name, strlen(name)))
			value = g_string_new(g_strchug(*line + strlen(name) + 1));
	}
	return value ? g_string_free(g_steal_pointer(&value), FALSE) : NULL;
}

static char *signed_by_deb822(const char *text, const char *uri, const char *release)
{
	g_autoptr(GRegex) blank = g_regex_new("\\n[ \\t]*\\n", 0, 0, NULL);
	g_auto(GStrv) stanzas = g_regex_split(blank, text, 0);

	for (char **s = stanzas; *s; s++) {
		g_autofree char *uris = deb822_field(*s, "URIs");
		g_autofree char *suites = deb822_field(*s, "Suites");

		if (uris && suites && has_word(uris, uri) && has_word(suites, release))
			return deb822_field(*s, "Signed-By");
	}
	return NULL;
}

/* deb [arch=amd64 signed-by=/usr/share/keyrings/x.gpg] URI SUITE COMPONENT... */
static char *signed_by_one_line(const char *text, guint line_number)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	g_autoptr(GRegex) option = NULL;
	g_autoptr(GMatchInfo) match = NULL;

	if (line_number == 0 || line_number > g_strv_length(lines))
		return NULL;
	option = g_regex_new("\\[[^]]*\\bsigned-by=([^]\\s]+)", G_REGEX_CASELESS, 0, NULL);
	if (!g_regex_match(option, lines[line_number - 1], 0, &match))
		return NULL;
	g_auto(GStrv) keys = NULL;
	g_autofree char *value = g_match_info_fetch(match, 1);

	keys = g_strsplit(value, ",", -1);
	return g_strjoinv(" ", keys);
}

/* @entry: "/etc/apt/sources.list.d/debian.sources:2"; the number is a line, or (deb822) a stanza */
static char *signed_by(const char *entry, const char *uri, const char *release)
{
	const char *colon = strrchr(entry, ':');
	g_autofree char *path = colon ? g_strndup(entry, (gsize)(colon - entry)) : NULL;
	g_autofree char *text = path ? lab_file_read(path, NULL, NULL) : NULL;
	char *value = NULL;

	if (text && g_str_has_suffix(path, ".sources"))
		value = signed_by_deb822(text, uri, release);
	else if (text)
		value = signed_by_one_line(text, (guint)strtoul(colon + 1, NULL, 10));
	return value ? value : g_strdup("");
}

gboolean lab_apt_find_mirror(const char *targets, gboolean security, LabAptMirror *mirror)
{
	g_auto(GStrv) lines = g_strsplit(targets, "\n", -1);

	for (char **line = lines; *line; line++) {
		g_auto(GStrv) target = g_strsplit(*line, "|", -1);

		if (g_strv_length(target) != N_FIELDS || !is_debian(target) ||
		    is_security(target) != security)
			continue;
		mirror->uri = without_slashes(target[REPO_URI]);
		mirror->signed_by = signed_by(target[ENTRY], mirror->uri, target[RELEASE]);
		return TRUE;
	}
	return FALSE;
}

/* The index targets of the host; without Release information where no index was ever fetched. */
static char *host_targets(GError **error)
{
	static const char *const argv[] = {"apt-get",
					   "indextargets",
					   "--format",
					   LAB_APT_TARGET_FORMAT,
					   "Created-By: Packages",
					   NULL};
	static const char *const bare[] = {
		"apt-get",  "indextargets",	   "--no-release-info",
		"--format", LAB_APT_TARGET_FORMAT, "Created-By: Packages",
		NULL};
	g_autofree char *targets = NULL;

	if (!lab_process_check(argv, NULL, &targets, error))
		return NULL;
	if (*g_strstrip(targets))
		return g_steal_pointer(&targets);
	g_clear_pointer(&targets, g_free);
	return lab_process_check(bare, NULL, &targets, error) ? g_steal_pointer(&targets) : NULL;
}

static void add_stanza(GString *text, const LabAptMirror *mirror, const char *const *suites,
		       const char *const *without)
{
	g_autoptr(GString) kept = g_string_new(NULL);

	for (; *suites; suites++)
		if (!without || !g_strv_contains(without, *suites))
			g_string_append_printf(kept, " %s", *suites);
	if (!kept->len)
		return;
	g_string_append_printf(text,
			       "%sTypes: deb\nURIs: %s\nSuites:%s\nComponents: main\n"
			       "Architectures: amd64\nTargets: Packages\nLanguages: none\n",
			       text->len ? "\n" : "", mirror->uri, kept->str);
	if (*mirror->signed_by)
		g_string_append_printf(text, "Signed-By:%s%s\n",
				       *mirror->signed_by == '\n' ? "" : " ", mirror->signed_by);
}

/* Suites that are complete in themselves, or add to one that is not wanted: no updates, no
 * security. */
static gboolean stands_alone(const char *suite)
{
	static const char *const rolling[] = {"sid", "unstable", "experimental", "rc-buggy", NULL};

	return g_strv_contains(rolling, suite) || strchr(suite, '-') != NULL;
}

char *lab_apt_sources_text(const char *suite, const char *base, const char *const *without,
			   const LabAptMirror *archive, const LabAptMirror *security)
{
	const char *whole = base ? base : suite;
	g_autofree char *updates = g_strconcat(whole, "-updates", NULL);
	g_autofree char *fixes = g_strconcat(whole, "-security", NULL);
	gboolean is_fixes = g_str_has_suffix(suite, "-security");
	gboolean alone = stands_alone(whole);
	const char *const addition[] = {suite, NULL};
	const char *const main_suites[] = {whole, alone ? NULL : updates, NULL};
	const char *const security_suites[] = {is_fixes ? suite : fixes, NULL};
	g_autoptr(GString) text = g_string_new(NULL);

	if (base && !is_fixes)
		add_stanza(text, archive, addition, without);
	if (base || !is_fixes)
		add_stanza(text, archive, main_suites, without);
	if (is_fixes || !alone)
		add_stanza(text, security, security_suites, without);
	return g_string_free(g_steal_pointer(&text), FALSE);
}

char *lab_apt_sources(const char *suite, const char *base, const char *const *without,
		      GError **error)
{
	g_autofree char *targets = host_targets(error);
	g_auto(LabAptMirror) archive = {0}, security = {0};

	if (!targets)
		return NULL;
	if (!lab_apt_find_mirror(targets, FALSE, &archive)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
			    "the host's apt configuration has no Debian archive to take %s from "
			    "(wanted an "
			    "entry like 'deb http://deb.debian.org/debian stable main')",
			    suite);
		return NULL;
	}
	if (!lab_apt_find_mirror(targets, TRUE, &security)) {
		/* A host of sid has none; mirrors keep it beside the main one. */
		security.uri = g_strconcat(archive.uri, "-security", NULL);
		security.signed_by = g_strdup(archive.signed_by);
	}
	return lab_apt_sources_text(suite, base, without, &archive, &security);
}
