/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/apt.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lab/base/file.h"
#include "lab/base/process.h"
#include "lab/base/suggest.h"
#include "lab/build/apt_sources.h"

#define KIND "apt"

struct _LabApt {
	char *suite;
	char *base; /* (nullable): suite that it adds to, and that comes with it */
	char *dir;
	char *config;  /* apt.conf */
	char *sources; /* numalab.sources */
	char *stamp;   /* its time: when the index was fetched */
	const LabOrigin *origin;
	int lock;
};

/*
 * Read after the host's own configuration. #clear: command lines and -o cannot empty a list, and
 * hooks of the host (packagekit, docker's cleaning) would run on our updates. Every place that a
 * host may have set is set: one that was left would be the host's own.
 */
static const char config_text[] = "#clear APT::Update::Pre-Invoke;\n"
				  "#clear APT::Update::Post-Invoke;\n"
				  "#clear APT::Update::Post-Invoke-Success;\n"
				  "#clear APT::Architectures;\n"
				  "APT::Architecture \"amd64\";\n"
				  "APT::Architectures { \"amd64\"; };\n"
				  "APT::Default-Release \"%2$s\";\n"
				  "APT::Update::Error-Mode \"any\";\n"
				  "Dir::State \"%1$s/state\";\n"
				  "Dir::State::status \"%1$s/status\";\n"
				  "Dir::State::lists \"%1$s/state/lists\";\n"
				  "Dir::State::extended_states \"%1$s/state/extended_states\";\n"
				  "Dir::State::cdroms \"%1$s/state/cdroms.list\";\n"
				  "Dir::Cache \"%1$s/cache\";\n"
				  "Dir::Cache::archives \"%1$s/cache/archives\";\n"
				  "Dir::Cache::pkgcache \"%1$s/cache/pkgcache.bin\";\n"
				  "Dir::Cache::srcpkgcache \"\";\n"
				  "Dir::Log \"%1$s/log\";\n"
				  "Dir::Etc::sourcelist \"%1$s/numalab.sources\";\n"
				  "Dir::Etc::sourceparts \"%1$s/empty\";\n"
				  "Dir::Etc::preferences \"/dev/null\";\n"
				  "Dir::Etc::preferencesparts \"%1$s/empty\";\n";

static gboolean is_suite_name(const char *suite)
{
	return *suite && strspn(suite, "abcdefghijklmnopqrstuvwxyz0123456789-.") == strlen(suite) &&
	       *suite != '.' && *suite != '-';
}

static gboolean make_layout(LabApt *apt, GError **error)
{
	static const char *const dirs[] = {"state/lists/partial", "cache/archives/partial",
					   "empty"};
	g_autofree char *status = g_build_filename(apt->dir, "status", NULL);
	g_autofree char *config = g_strdup_printf(config_text, apt->dir, apt->base ? apt->suite : "");

	for (guint i = 0; i < G_N_ELEMENTS(dirs); i++) {
		g_autofree char *path = g_build_filename(apt->dir, dirs[i], NULL);

		if (!lab_dir_make(path, error))
			return FALSE;
	}
	return lab_file_write(status, "", 0, error) &&
	       lab_file_write(apt->config, config, -1, error);
}

LabApt *lab_apt_open(LabCache *cache, const char *suite, gboolean whole, const LabOrigin *origin,
		     GError **error)
{
	g_autoptr(LabApt) apt = g_new0(LabApt, 1);
	g_autofree char *key = NULL;

	apt->lock = -1;
	if (!is_suite_name(suite)) {
		lab_error_set_at(error, origin, "wanted a Debian suite like bookworm, found '%s'",
				 suite);
		return NULL;
	}
	apt->suite = g_strdup(suite);
	apt->origin = origin;
	if (whole && strchr(suite, '-'))
		apt->base = g_strndup(suite, strcspn(suite, "-"));
	key = apt->base ? g_strconcat(suite, "+", apt->base, NULL) : g_strdup(suite);
	apt->dir = lab_cache_path(cache, KIND, key);
	apt->config = g_build_filename(apt->dir, "apt.conf", NULL);
	apt->sources = g_build_filename(apt->dir, "numalab.sources", NULL);
	apt->stamp = g_build_filename(apt->dir, "fetched", NULL);
	apt->lock = lab_cache_lock(cache, KIND, key, error);
	return apt->lock >= 0 && make_layout(apt, error) ? g_steal_pointer(&apt) : NULL;
}

void lab_apt_free(LabApt *apt)
{
	if (!apt)
		return;
	if (apt->lock >= 0)
		close(apt->lock);
	g_free(apt->suite);
	g_free(apt->base);
	g_free(apt->dir);
	g_free(apt->config);
	g_free(apt->sources);
	g_free(apt->stamp);
	g_free(apt);
}

const char *lab_apt_dir(const LabApt *apt)
{
	return apt->dir;
}

const char *lab_apt_config(const LabApt *apt)
{
	return apt->config;
}

/*
 * The lines of apt's stderr that begin with "E: ", each once, in one; all of it where there is
 * none.
 */
static char *apt_errors(const char *err)
{
	g_auto(GStrv) lines = g_strsplit(err, "\n", -1);
	g_autoptr(GString) text = g_string_new(NULL);

	for (char **line = lines; *line; line++)
		if (g_str_has_prefix(*line, "E: ") && !strstr(text->str, *line + 3))
			g_string_append_printf(text, "%s%s", text->len ? "; " : "", *line + 3);
	return text->len ? g_string_free(g_steal_pointer(&text), FALSE) : g_strstrip(g_strdup(err));
}

/* Is the index there, of these sources, and young enough? */
static gboolean is_fresh(LabApt *apt, const char *sources, guint max_age_s)
{
	g_autofree char *stamp = lab_file_read(apt->stamp, NULL, NULL);
	struct stat st;

	return stamp && !strcmp(stamp, sources) && stat(apt->stamp, &st) == 0 &&
	       st.st_mtime <= time(NULL) && time(NULL) - st.st_mtime < (time_t)max_age_s;
}

static gboolean run_update(LabApt *apt, gboolean expired, LabProcessResult *result, GError **error)
{
	const char *const argv[] = {
		"apt-get",
		"-c",
		apt->config,
		"-q",
		"-o",
		expired ? "Acquire::Check-Valid-Until=false" : "Acquire::Languages=none",
		"update",
		NULL};

	return lab_process_run(argv, NULL, result, error);
}

/* "E: The repository 'http://deb.debian.org/debian bookworm-updates Release' does not have a
 * Release file." */
static char **suites_missing(const char *err)
{
	g_autoptr(GRegex) regex =
		g_regex_new("The repository '\\S+ (\\S+) Release' (does not have|no longer has) "
			    "a Release file",
			    0, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;
	g_autoptr(GStrvBuilder) suites = g_strv_builder_new();

	for (g_regex_match(regex, err, 0, &match); g_match_info_matches(match);
	     g_match_info_next(match, NULL)) {
		g_autofree char *suite = g_match_info_fetch(match, 1);

		g_strv_builder_add(suites, suite);
	}
	return g_strv_builder_end(suites);
}

static const char *const known_suites[] = {"bullseye", "bookworm",	   "bookworm-backports",
					   "trixie",   "trixie-backports", "forky",
					   "sid",      "experimental",	   NULL};

/*
 * Up to three tries: with everything; without the updates or security suites that the mirror turns
 * out not to have; without asking for an index that is still valid.
 */
static gboolean update(LabApt *apt, const char *wanted, GError **error)
{
	g_autofree char *sources = g_strdup(wanted);
	gboolean expired = FALSE;

	for (;;) {
		g_auto(LabProcessResult) result = {0};
		g_auto(GStrv) missing = NULL;

		if (!lab_file_write(apt->sources, sources, -1, error) ||
		    !run_update(apt, expired, &result, error))
			return FALSE;
		if (result.exit_status == 0)
			return lab_file_write(apt->stamp, wanted, -1, error);
		missing = suites_missing(result.err);
		if (g_strv_contains((const char *const *)missing, apt->suite)) {
			g_autofree char *hint = lab_suggest_text(apt->suite, known_suites);

			lab_error_set_at(error, apt->origin,
					 "there is no Debian suite '%s' on the mirror%s",
					 apt->suite, hint);
			return FALSE;
		}
		if (*missing && !strcmp(sources, wanted)) {
			g_free(sources);
			sources = lab_apt_sources(apt->suite, apt->base,
						  (const char *const *)missing, error);
			if (!sources)
				return FALSE;
		} else if (strstr(result.err, " is expired ") && !expired) {
			expired = TRUE;
		} else {
			g_autofree char *why = apt_errors(result.err);

			g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
				    "cannot fetch the package index of %s: %s", apt->suite, why);
			return FALSE;
		}
	}
}

gboolean lab_apt_refresh(LabApt *apt, guint max_age_s, gboolean *refreshed, GError **error)
{
	g_autofree char *sources = lab_apt_sources(apt->suite, apt->base, NULL, error);
	gboolean fresh;

	if (!sources)
		return FALSE;
	fresh = is_fresh(apt, sources, max_age_s);
	if (!fresh && !update(apt, sources, error))
		return FALSE;
	if (refreshed)
		*refreshed = !fresh;
	return TRUE;
}

void lab_apt_package_free(LabAptPackage *package)
{
	if (!package)
		return;
	g_free(package->name);
	g_free(package->version);
	g_free(package->arch);
	g_free(package->depends);
	g_free(package->sha256);
	g_free(package);
}

/* A field of a control stanza; these are on one line each. Free with g_free(). */
static char *control_field(const char *stanza, const char *name)
{
	g_auto(GStrv) lines = g_strsplit(stanza, "\n", -1);

	for (char **line = lines; *line; line++) {
		gsize length = strlen(name);

		if (g_str_has_prefix(*line, name) && (*line)[length] == ':')
			return g_strdup(g_strstrip(*line + length + 1));
	}
	return g_strdup("");
}

/* Runs apt-cache; TRUE with @out whatever its exit status is: it fails for a package that is not
 * there. */
static gboolean apt_cache(LabApt *apt, const char *verb, const char *argument, char **out,
			  GError **error)
{
	const char *const argv[] = {
		"apt-cache", "-c",     apt->config, "-o", "APT::Cache::AllVersions=false",
		verb,	     argument, NULL};
	g_auto(LabProcessResult) result = {0};

	if (!lab_process_run(argv, NULL, &result, error))
		return FALSE;
	*out = g_steal_pointer(&result.out);
	return TRUE;
}

/* "linux-image-amd64 |  6.1.192-3 | http://... bookworm-security/main amd64 Packages" */
static char *versions_of(LabApt *apt, const char *name)
{
	g_autofree char *out = NULL;
	g_auto(GStrv) lines = NULL;
	g_autoptr(GString) versions = g_string_new(NULL);

	if (!apt_cache(apt, "madison", name, &out, NULL))
		return g_strdup("");
	lines = g_strsplit(out, "\n", -1);
	for (char **line = lines; *line; line++) {
		g_auto(GStrv) fields = g_strsplit(*line, "|", 3);

		if (g_strv_length(fields) == 3)
			g_string_append_printf(versions, "%s%s", versions->len ? ", " : "",
					       g_strstrip(fields[1]));
	}
	return g_string_free(g_steal_pointer(&versions), FALSE);
}

static void set_not_found(LabApt *apt, const char *name, const char *version, GError **error)
{
	g_autofree char *versions = versions_of(apt, name);
	g_autofree char *names = NULL, *hint = NULL;
	g_auto(GStrv) candidates = NULL;

	if (*versions) {
		lab_error_set_at(error, apt->origin, "%s has no %s=%s; it has: %s", apt->suite,
				 name, version ? version : "", versions);
		return;
	}
	if (apt_cache(apt, "pkgnames", "linux-image-", &names, NULL))
		candidates = g_strsplit(names, "\n", -1);
	hint = candidates ? lab_suggest_text(name, (const char *const *)candidates) : g_strdup("");
	lab_error_set_at(error, apt->origin, "%s has no package '%s'%s", apt->suite, name, hint);
}

LabAptPackage *lab_apt_show(LabApt *apt, const char *name, const char *version, GError **error)
{
	g_autofree char *argument =
		version ? g_strdup_printf("%s=%s", name, version) : g_strdup(name);
	g_autofree char *out = NULL, *bytes = NULL;
	g_autoptr(LabAptPackage) package = g_new0(LabAptPackage, 1);

	if (!apt_cache(apt, "show", argument, &out, error))
		return NULL;
	package->name = control_field(out, "Package");
	package->version = control_field(out, "Version");
	package->arch = control_field(out, "Architecture");
	package->depends = control_field(out, "Depends");
	package->sha256 = control_field(out, "SHA256");
	bytes = control_field(out, "Size");
	package->bytes = g_ascii_strtoull(bytes, NULL, 10);
	if (!strcmp(package->name, name) && *package->sha256)
		return g_steal_pointer(&package);
	set_not_found(apt, name, version, error);
	return NULL;
}

gboolean lab_apt_download(LabApt *apt, const GPtrArray *packages, const char *dir, GError **error)
{
	const char *const start[] = {"apt-get", "-c", apt->config, "-q", "download", NULL};
	LabProcessOptions options = {.cwd = dir};
	g_auto(LabProcessResult) result = {0};
	g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
	g_auto(GStrv) argv = NULL;
	g_autofree char *why = NULL;

	g_strv_builder_addv(builder, (const char **)start);
	for (guint i = 0; i < packages->len; i++) {
		const LabAptPackage *package = packages->pdata[i];
		g_autofree char *argument =
			g_strdup_printf("%s=%s", package->name, package->version);

		g_strv_builder_add(builder, argument);
	}
	argv = g_strv_builder_end(builder);
	if (!lab_process_run((const char *const *)argv, &options, &result, error))
		return FALSE;
	if (result.exit_status == 0)
		return TRUE;
	why = apt_errors(result.err);
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "cannot download from %s: %s", apt->suite,
		    why);
	return FALSE;
}

char **lab_apt_names(LabApt *apt, GError **error)
{
	g_autofree char *out = NULL;

	return apt_cache(apt, "pkgnames", "", &out, error) ? g_strsplit(g_strchomp(out), "\n", -1)
							   : NULL;
}

/*
 * "'http://.../x_1%3a2-3_amd64.deb' x_1%3a2-3_amd64.deb 1234 SHA256:..." of --print-uris. NULL:
 * another kind of line.
 */
static LabAptPackage *parse_uri(const char *line)
{
	g_auto(GStrv) words = g_strsplit(line, " ", -1);
	g_autoptr(LabAptPackage) package = g_new0(LabAptPackage, 1);
	g_auto(GStrv) parts = NULL;

	if (g_strv_length(words) != 4 || !g_str_has_suffix(words[1], ".deb") ||
	    !g_str_has_prefix(words[3], "SHA256:"))
		return NULL;
	words[1][strlen(words[1]) - strlen(".deb")] = 0;
	parts = g_strsplit(words[1], "_", -1);
	if (g_strv_length(parts) != 3)
		return NULL;
	package->name = g_strdup(parts[0]);
	package->version = g_uri_unescape_string(parts[1], NULL);
	package->arch = g_strdup(parts[2]);
	package->depends = g_strdup("");
	package->sha256 = g_strdup(words[3] + strlen("SHA256:"));
	package->bytes = g_ascii_strtoull(words[2], NULL, 10);
	return package->version ? g_steal_pointer(&package) : NULL;
}

static int by_name(gconstpointer a, gconstpointer b)
{
	return strcmp((*(LabAptPackage *const *)a)->name, (*(LabAptPackage *const *)b)->name);
}

static GPtrArray *parse_uris(const char *text, GError **error)
{
	g_autoptr(GPtrArray) packages =
		g_ptr_array_new_with_free_func((GDestroyNotify)lab_apt_package_free);
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (char **line = lines; *line; line++) {
		LabAptPackage *package = **line == '\'' ? parse_uri(*line) : NULL;

		if (package) {
			g_ptr_array_add(packages, package);
		} else if (**line == '\'') {
			g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
				    "apt-get --print-uris: wanted URI, file, size and SHA256, "
				    "found: %s",
				    *line);
			return NULL;
		}
	}
	g_ptr_array_sort(packages, by_name);
	return g_steal_pointer(&packages);
}

GPtrArray *lab_apt_solve(LabApt *apt, const char *const *names, GError **error)
{
	const char *const start[] = {"apt-get", "-c",		apt->config,
				     "-qq",	"--print-uris", "--no-install-recommends",
				     "-y",	"-o",		"Acquire::ForceHash=SHA256",
				     "install", "?essential",	NULL};
	g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
	g_auto(LabProcessResult) result = {0};
	g_auto(GStrv) known = lab_apt_names(apt, error);
	g_auto(GStrv) argv = NULL;
	g_autofree char *why = NULL;

	if (!known)
		return NULL;
	g_strv_builder_addv(builder, (const char **)start);
	g_strv_builder_addv(builder, (const char **)names);
	if (g_strv_contains((const char *const *)known, "usr-is-merged"))
		g_strv_builder_add(builder, "usr-is-merged");
	argv = g_strv_builder_end(builder);
	if (!lab_process_run((const char *const *)argv, NULL, &result, error))
		return NULL;
	if (result.exit_status == 0)
		return parse_uris(result.out, error);
	why = apt_errors(result.err);
	lab_error_set_at(error, apt->origin, "%s cannot install these packages together: %s",
			 apt->suite, why);
	return NULL;
}
