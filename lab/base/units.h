/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sizes and durations as people write them: a number and a unit, nothing implied. */
#pragma once
#include <glib.h>

/**
 * lab_parse_bytes() - "512MiB", "4GiB", "64KiB", "0B", "1TiB" -> bytes
 *
 * The unit is required (B, KiB, MiB, GiB, TiB, PiB; decimal KB, MB, GB, TB are refused with the binary unit
 * suggested), no sign, no fraction, optional single space before the unit.
 * Errors: LAB_ERROR_USER "wanted a size like 512MiB, found 'X'"; overflow of 64 bits.
 */
gboolean lab_parse_bytes(const char *text, guint64 *bytes, GError **error);

/**
 * lab_parse_duration_ns() - "30s", "50ms", "10us", "5m", "2h", "100ns", "0s" -> nanoseconds; same rules
 */
gboolean lab_parse_duration_ns(const char *text, guint64 *ns, GError **error);

/** lab_parse_uint() - decimal digits only, at most @max. Errors: LAB_ERROR_USER. */
gboolean lab_parse_uint(const char *text, guint64 max, guint64 *value, GError **error);

/** lab_format_bytes() - exact, largest binary unit that divides: 536870912 -> "512MiB". Free with g_free(). */
char *lab_format_bytes(guint64 bytes);

/** lab_format_duration_ns() - exact, largest unit that divides: 50000000 -> "50ms". Free with g_free(). */
char *lab_format_duration_ns(guint64 ns);

/** lab_format_elapsed() - for people: "8s", "1m12s", "2h03m". Free with g_free(). */
char *lab_format_elapsed(gint64 us);

/** lab_format_number() - the shortest decimal that reads back as the same double, in any locale. Free with g_free(). */
char *lab_format_number(double value);
