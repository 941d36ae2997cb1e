/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What differs between the profiles of two kernels. */
#include <math.h>
#include <string.h>

#include "lab/verdict/profiles.h"

#define ALPHA 0.05

typedef struct {
	const LabProfileRow *any;
	double *shares[2]; /* by boot of each side */
} Function;

static void function_free(gpointer data)
{
	Function *function = data;

	g_free(function->shares[0]);
	g_free(function->shares[1]);
	g_free(function);
}

/* Whatever command it ran for. */
static void add_rows(GHashTable *functions, const LabProfiles *const sides[2], guint side)
{
	const LabProfiles *p = sides[side];

	for (guint i = 0; i < p->rows->len; i++) {
		const LabProfileRow *row = p->rows->pdata[i];
		char *key = g_strconcat(row->object, "\n", row->symbol, NULL);
		Function *function = g_hash_table_lookup(functions, key);

		if (!function) {
			function = g_new0(Function, 1);
			function->any = row;
			for (guint j = 0; j < 2; j++)
				function->shares[j] = g_new0(double, sides[j]->boots->len + 1);
			g_hash_table_insert(functions, key, function);
		} else {
			g_free(key);
		}
		for (guint j = 0; j < p->boots->len; j++)
			function->shares[side][j] += row->shares[j];
	}
}

/* Indices of the boots that have a partner with their seed. */
static guint pair(const LabProfiles *a, const LabProfiles *b, guint *in_a, guint *in_b)
{
	guint n = 0;

	for (guint i = 0; i < a->seeds->len; i++)
		for (guint j = 0; j < b->seeds->len; j++)
			if (g_array_index(a->seeds, guint64, i) ==
			    g_array_index(b->seeds, guint64, j)) {
				in_a[n] = i;
				in_b[n++] = j;
				break;
			}
	return n;
}

gboolean lab_profiles_paired(const LabProfiles *before, const LabProfiles *after)
{
	return before->is_exact && after->is_exact;
}

static LabDifference difference(const LabProfiles *const sides[2], const Function *function)
{
	guint n = sides[0]->boots->len;
	g_autofree guint *in_a = g_new(guint, n + 1), *in_b = g_new(guint, n + 1);
	g_autofree double *a = g_new(double, n + 1), *b = g_new(double, n + 1);

	if (!lab_profiles_paired(sides[0], sides[1]))
		return lab_difference(LAB_DESIGN_UNPAIRED, function->shares[0], n,
				      function->shares[1], sides[1]->boots->len);
	n = pair(sides[0], sides[1], in_a, in_b);
	for (guint i = 0; i < n; i++) {
		a[i] = function->shares[0][in_a[i]];
		b[i] = function->shares[1][in_b[i]];
	}
	return lab_difference(LAB_DESIGN_PAIRED, a, n, b, n);
}

static double change(const LabProfileShift *shift)
{
	return fabs(shift->share[1] - shift->share[0]);
}

static int by_change(gconstpointer left, gconstpointer right)
{
	const LabProfileShift *a = *(LabProfileShift *const *)left,
			      *b = *(LabProfileShift *const *)right;

	if (change(a) != change(b))
		return change(a) > change(b) ? -1 : 1;
	return strcmp(a->symbol, b->symbol);
}

GPtrArray *lab_profiles_diff(const LabProfiles *before, const LabProfiles *after)
{
	const LabProfiles *const sides[] = {before, after};
	g_autoptr(GHashTable) functions =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, function_free);
	GPtrArray *shifts = g_ptr_array_new_with_free_func(g_free);
	GHashTableIter iter;
	gpointer value;

	add_rows(functions, sides, 0);
	add_rows(functions, sides, 1);
	g_hash_table_iter_init(&iter, functions);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		const Function *function = value;
		LabDifference d = difference(sides, function);
		LabProfileShift *shift = g_new0(LabProfileShift, 1);

		shift->object = function->any->object;
		shift->symbol = function->any->symbol;
		shift->is_kernel = function->any->is_kernel;
		for (guint i = 0; i < 2; i++)
			shift->share[i] =
				lab_summary(function->shares[i], sides[i]->boots->len).amean;
		shift->interval = lab_shift_interval(&d, ALPHA);
		shift->p = d.p;
		g_ptr_array_add(shifts, shift);
	}
	g_ptr_array_sort(shifts, by_change);
	return shifts;
}
