/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/spec/kernel.h"

#include <string.h>

#include "lab/spec/internal.h"

static const char *const suites[] = {
	"bullseye", "bullseye-backports", "bookworm", "bookworm-backports",
	"trixie",   "trixie-backports",	  "forky",    "sid",
	NULL};

void lab_kernel_spec_free(LabKernelSpec *spec)
{
	if (!spec)
		return;
	g_free(spec->text);
	g_free(spec->suite);
	g_free(spec->package);
	g_free(spec->version);
	g_free(spec->path);
	g_free(spec);
}

LabKernelSpec *lab_kernel_spec_copy(const LabKernelSpec *spec)
{
	LabKernelSpec *copy = g_new0(LabKernelSpec, 1);

	*copy = *spec;
	copy->text = g_strdup(spec->text);
	copy->suite = g_strdup(spec->suite);
	copy->package = g_strdup(spec->package);
	copy->version = g_strdup(spec->version);
	copy->path = g_strdup(spec->path);
	return copy;
}

static gboolean only(const char *text, const char *more, gboolean upper)
{
	for (; *text; text++)
		if (!g_ascii_islower(*text) && !g_ascii_isdigit(*text) && !strchr(more, *text) &&
		    !(upper && g_ascii_isupper(*text)))
			return FALSE;
	return TRUE;
}

gboolean lab_spec_is_suite(const char *text)
{
	return g_ascii_islower(*text) && only(text, "-", FALSE);
}

/* Debian Policy 5.6.1: package names */
gboolean lab_spec_is_package(const char *text)
{
	return g_ascii_isalnum(*text) && text[1] && only(text, "+-.", FALSE);
}

/* Debian Policy 5.6.12: versions */
static gboolean is_version(const char *text)
{
	return g_ascii_isdigit(*text) && only(text, ".+~:-", TRUE);
}

static gboolean parse_debian(const char *text, LabKernelSpec *spec)
{
	g_auto(GStrv) parts = g_strsplit(text, "/", 2);
	char *equals = parts[0] && parts[1] ? strchr(parts[1], '=') : NULL;

	if (!parts[0] || !lab_spec_is_suite(parts[0]))
		return FALSE;
	spec->suite = g_strdup(parts[0]);
	if (!parts[1])
		return TRUE;
	if (equals) {
		*equals = 0;
		if (!is_version(equals + 1))
			return FALSE;
		spec->version = g_strdup(equals + 1);
	}
	spec->package = g_strdup(parts[1]);
	return lab_spec_is_package(spec->package);
}

static gboolean parse_dir(const char *text, const char *relative_to, LabKernelSpec *spec)
{
	g_autofree char *base = relative_to ? g_canonicalize_filename(relative_to, NULL) : NULL;

	/* It goes into JSON. */
	if (!*text || !g_utf8_validate(text, -1, NULL))
		return FALSE;
	spec->path = g_canonicalize_filename(text, base);
	return TRUE;
}

/* A bare suite or path is what people write first. */
static char *suggestion(const char *text)
{
	if (!lab_yaml_is_plain(text))
		return g_strdup("");
	if (g_strv_contains(suites, text))
		return g_strdup_printf(" (did you mean 'debian:%s'?)", text);
	if (strchr(text, '/') && !strchr(text, ':'))
		return g_strdup_printf(" (did you mean 'dir:%s'?)", text);
	return g_strdup("");
}

LabKernelSpec *lab_kernel_spec_parse(const char *text, const LabOrigin *origin,
				     const char *relative_to, GError **error)
{
	g_autoptr(LabKernelSpec) spec = g_new0(LabKernelSpec, 1);
	g_autofree char *quoted = NULL, *suggested = NULL;
	gboolean ok = FALSE;

	if (g_str_has_prefix(text, "debian:")) {
		spec->kind = LAB_KERNEL_DEBIAN;
		ok = parse_debian(text + strlen("debian:"), spec);
	} else if (g_str_has_prefix(text, "dir:")) {
		spec->kind = LAB_KERNEL_DIR;
		ok = parse_dir(text + strlen("dir:"), relative_to, spec);
	}
	if (!ok) {
		quoted = lab_yaml_quote(text);
		suggested = suggestion(text);
		lab_error_set_at(error, origin,
				 "wanted debian:SUITE, debian:SUITE/PACKAGE, "
				 "debian:SUITE/PACKAGE=VERSION or dir:PATH, "
				 "found %s%s",
				 quoted, suggested);
		return NULL;
	}
	spec->text = g_strdup(text);
	if (origin)
		spec->origin =
			(LabOrigin){g_intern_string(origin->path), origin->line, origin->column};
	return g_steal_pointer(&spec);
}
