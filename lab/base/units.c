/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/base/units.h"

#include <string.h>

#include "lab/base/error.h"

struct unit {
	const char *name;
	guint64 factor;
};

static const struct unit size_units[] = {
	{"PiB", G_GUINT64_CONSTANT(1) << 50}, {"TiB", G_GUINT64_CONSTANT(1) << 40},
	{"GiB", 1 << 30},		      {"MiB", 1 << 20},
	{"KiB", 1 << 10},		      {"B", 1},
};

static const struct unit time_units[] = {
	{"h", 3600 * G_GUINT64_CONSTANT(1000000000)},
	{"m", 60 * G_GUINT64_CONSTANT(1000000000)},
	{"s", 1000000000},
	{"ms", 1000000},
	{"us", 1000},
	{"ns", 1},
};

static gboolean parse_number(const char *text, const char **rest, guint64 *value)
{
	guint64 n = 0;
	const char *p = text;

	for (; g_ascii_isdigit(*p); p++)
		if (!g_uint64_checked_mul(&n, n, 10) ||
		    !g_uint64_checked_add(&n, n, (guint64)(*p - '0')))
			return FALSE;
	*rest = p;
	*value = n;
	return p != text;
}

static gboolean parse(const char *text, const struct unit *units, gsize n_units, const char *what,
		      guint64 *out, GError **error)
{
	const char *rest;
	guint64 n, value;

	if (!parse_number(text, &rest, &n)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "wanted %s, found '%s'", what, text);
		return FALSE;
	}
	if (*rest == ' ')
		rest++;
	for (gsize i = 0; i < n_units; i++) {
		if (strcmp(rest, units[i].name))
			continue;
		if (!g_uint64_checked_mul(&value, n, units[i].factor)) {
			g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "'%s' is too large", text);
			return FALSE;
		}
		*out = value;
		return TRUE;
	}
	if (units == size_units && strlen(rest) <= 2 && *rest && strchr("kKMGTP", *rest) &&
	    (!rest[1] || rest[1] == 'B'))
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "wanted %s, found '%s' (did you mean '%" G_GUINT64_FORMAT "%ciB'?)",
			    what, text, n, g_ascii_toupper(*rest));
	else
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "wanted %s, found '%s'%s", what,
			    text, *rest ? "" : " (the unit is missing)");
	return FALSE;
}

gboolean lab_parse_bytes(const char *text, guint64 *bytes, GError **error)
{
	return parse(text, size_units, G_N_ELEMENTS(size_units), "a size like 512MiB", bytes,
		     error);
}

gboolean lab_parse_duration_ns(const char *text, guint64 *ns, GError **error)
{
	return parse(text, time_units, G_N_ELEMENTS(time_units), "a duration like 30s or 50ms", ns,
		     error);
}

gboolean lab_parse_uint(const char *text, guint64 max, guint64 *value, GError **error)
{
	const char *rest;
	guint64 n;

	if (!parse_number(text, &rest, &n) || *rest || n > max) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "wanted a whole number up to %" G_GUINT64_FORMAT ", found '%s'", max,
			    text);
		return FALSE;
	}
	*value = n;
	return TRUE;
}

static char *format(guint64 value, const struct unit *units, gsize n_units, const char *zero)
{
	if (!value)
		return g_strdup(zero);
	for (gsize i = 0; i < n_units; i++)
		if (value % units[i].factor == 0)
			return g_strdup_printf("%" G_GUINT64_FORMAT "%s", value / units[i].factor,
					       units[i].name);
	g_assert_not_reached();
}

char *lab_format_bytes(guint64 bytes)
{
	return format(bytes, size_units, G_N_ELEMENTS(size_units), "0B");
}

char *lab_format_duration_ns(guint64 ns)
{
	return format(ns, time_units, G_N_ELEMENTS(time_units), "0s");
}

char *lab_format_elapsed(gint64 us)
{
	gint64 s = (us + 500000) / 1000000;

	if (s < 60)
		return g_strdup_printf("%ds", (int)s);
	if (s < 3600)
		return g_strdup_printf("%dm%02ds", (int)(s / 60), (int)(s % 60));
	return g_strdup_printf("%dh%02dm", (int)(s / 3600), (int)(s / 60 % 60));
}

char *lab_format_number(double value)
{
	char buffer[G_ASCII_DTOSTR_BUF_SIZE];

	for (int digits = 15; digits <= 17; digits++) {
		char format[] = "%.15g";

		format[3] = (char)('0' + digits - 10);
		g_ascii_formatd(buffer, sizeof(buffer), format, value);
		if (g_ascii_strtod(buffer, NULL) == value)
			break;
	}
	return g_strdup(buffer);
}
