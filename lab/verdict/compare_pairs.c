/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which boots are compared with which, and the difference of a metric between two columns. */
#include <math.h>
#include <string.h>

#include "lab/verdict/compare_internal.h"

#define MAX_NAMED 8 /* seeds that a note names */

static const LabCompareColumn *column_at(const LabCompare *compare, guint c)
{
	return compare->columns->pdata[c];
}

static const LabCompareBoot *boot_at(const LabCompareColumn *column, guint b)
{
	return column->boots->pdata[b];
}

static gboolean is_ok(const LabCompareColumn *column, int b)
{
	return b >= 0 && strcmp(boot_at(column, (guint)b)->outcome, "ok") == 0;
}

/* Of the same seed, at the same point */
static int find_partner(const LabCompareColumn *column, const LabCompareBoot *of)
{
	for (guint b = 0; b < column->boots->len; b++)
		if (boot_at(column, b)->seed == of->seed && boot_at(column, b)->point == of->point)
			return (int)b;
	return -1;
}

static gboolean same_sample(const LabCompareBoot *a, const LabCompareBoot *b)
{
	return a->point == b->point && *a->digest && strcmp(a->digest, b->digest) == 0;
}

static int partner_of(const LabCompareColumn *column, guint b)
{
	return g_array_index(column->partner, int, b);
}

static gboolean is_again(const LabCompareColumn *column, guint b)
{
	return g_array_index(column->again, gboolean, b);
}

/* A pair that has come before, on both sides, adds nothing; nor does such a boot by itself. */
static gboolean came_before(const LabCompareColumn *base, const LabCompareColumn *column, guint b)
{
	gboolean paired = column->design == LAB_DESIGN_PAIRED;
	const LabCompareColumn *of = paired ? base : column;
	int partner = paired ? partner_of(column, b) : -1;

	for (guint i = 0; i < b; i++) {
		int other = paired ? partner_of(column, i) : -1;

		if (same_sample(boot_at(of, i), boot_at(of, b)) &&
		    (!paired ||
		     (partner >= 0 && other >= 0 &&
		      same_sample(boot_at(column, (guint)other), boot_at(column, (guint)partner)))))
			return TRUE;
	}
	return FALSE;
}

/* "paired by seed: seeds 2, 5 are left out of 6.12.95 bookworm-backports, run 1: ..." */
static void note_alone(const LabCompare *compare, const LabCompareColumn *base, const LabCompareColumn *column,
		       GPtrArray *notes)
{
	g_autoptr(GPtrArray) alone = g_ptr_array_new();
	g_autoptr(GString) names = g_string_new(NULL);

	for (guint b = 0; b < base->boots->len; b++)
		if (is_ok(base, (int)b) != is_ok(column, partner_of(column, b)))
			g_ptr_array_add(alone, (gpointer)boot_at(base, b));
	for (guint b = 0; b < column->boots->len; b++)
		if (is_ok(column, (int)b) && find_partner(base, boot_at(column, b)) < 0)
			g_ptr_array_add(alone, (gpointer)boot_at(column, b));
	if (!compare->points[1])
		g_string_append(names, alone->len > 1 ? "seeds " : "seed ");
	for (guint i = 0; i < MIN(alone->len, MAX_NAMED); i++) {
		const LabCompareBoot *boot = alone->pdata[i];
		g_autofree char *name = compare->points[1] ? lab_compare_boot_name(compare, boot)
							   : g_strdup_printf("%" G_GUINT64_FORMAT, boot->seed);

		g_string_append_printf(names, "%s%s", i ? ", " : "", name);
	}
	if (alone->len > MAX_NAMED)
		g_string_append_printf(names, " and %u more", alone->len - MAX_NAMED);
	if (alone->len)
		g_ptr_array_add(notes, g_strdup_printf("%s %s, %s: %s left out of verdicts and stars: one boot of "
						       "the pair is not there, or failed",
						       column->label[0], column->label[1], column->origin,
						       names->str));
}

void lab_compare_pair(const LabCompare *compare, GPtrArray *notes)
{
	const LabCompareColumn *base = column_at(compare, 0);
	gboolean exact = strcmp(compare->clock, "exact") == 0;

	for (guint c = 0; c < compare->columns->len; c++) {
		LabCompareColumn *column = compare->columns->pdata[c];

		column->design = LAB_DESIGN_UNPAIRED;
		for (guint b = 0; b < base->boots->len; b++) {
			int partner = find_partner(column, boot_at(base, b));

			g_array_append_val(column->partner, partner);
			if (exact && partner >= 0)
				column->design = LAB_DESIGN_PAIRED;
		}
		/* Of the baseline itself it is asked boot by boot. */
		if (!c)
			column->design = LAB_DESIGN_UNPAIRED;
		for (guint b = 0;
		     b < (column->design == LAB_DESIGN_PAIRED ? base : column)->boots->len; b++) {
			gboolean again = came_before(base, column, b);

			g_array_append_val(column->again, again);
		}
		if (column->design == LAB_DESIGN_PAIRED)
			note_alone(compare, base, column, notes);
	}
}

static double value_of(const LabCompareRow *row, guint c, int b, gboolean reciprocal)
{
	double value = b < 0 ? NAN : g_array_index(row->values[c], double, (guint)b);

	return reciprocal ? 1 / value : value;
}

LabDifference lab_compare_difference(const LabCompare *compare, const LabCompareRow *row, guint c,
				     gboolean reciprocal)
{
	const LabCompareColumn *base = column_at(compare, 0), *column = column_at(compare, c);
	gboolean paired = column->design == LAB_DESIGN_PAIRED;
	guint n_base = base->boots->len, n = paired ? n_base : column->boots->len;
	g_autofree double *a = g_new(double, n_base + 1), *b = g_new(double, n + 1);

	for (guint i = 0; i < n_base; i++) {
		gboolean left_out = is_again(paired ? column : base, i);

		a[i] = left_out ? NAN : value_of(row, 0, (int)i, reciprocal);
	}
	for (guint i = 0; i < n; i++) {
		int at = paired ? partner_of(column, i) : (int)i;

		b[i] = is_again(column, i) ? NAN : value_of(row, c, at, reciprocal);
	}
	return lab_difference(column->design, a, n_base, b, n);
}
