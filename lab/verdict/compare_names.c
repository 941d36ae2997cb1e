/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * MMTests' block of NUMA figures: names, order and formulas of its
 * bin/lib/MMTests/MonitorMmtestsvmstat.pm (github.com/gormanm/mmtests), as it was when the tables of
 * 2015 were made; later versions call "NUMA hint local faults" "NUMA hint local faults %".
 */
#include <math.h>

#include "lab/verdict/compare_internal.h"

#define PAGES_PER_HUGE_PAGE 512 /* 2 MiB of 4 KiB */

/*
 * The AutoNUMA cost model, in units of a million accesses to memory: Ca = 56 / 8, the size of struct
 * page in words; 5000 for a hinting fault; Ca + 12 for isolating a page that is migrated. The cost of
 * copying the page is in the source, too, but behind a semicolon: it was never added.
 */
#define COST_PTE 7
#define COST_HINT_FAULT 5000
#define COST_MIGRATED 19
#define COST_UNIT 1e6

/* Of one boot: NAN: it does not have it */
typedef struct {
	double pte, huge, faults, local, migrated;
} Figures;

static double page_range(const Figures *f)
{
	return f->pte + (isnan(f->huge) ? 0 : PAGES_PER_HUGE_PAGE * f->huge);
}

static double local_percent(const Figures *f)
{
	return f->faults == 0 ? 100 : 100 * f->local / f->faults;
}

static double cost(const Figures *f)
{
	return (COST_PTE * f->pte + COST_HINT_FAULT * f->faults + COST_MIGRATED * f->migrated) /
	       COST_UNIT;
}

static const struct {
	const char *name;
	const char *counter; /* of /proc/vmstat, or NULL: */
	double (*formula)(const Figures *f);
	const char *unit; /* NULL: a count */
} block[] = {
	{"NUMA alloc hit", "numa_hit", NULL},
	{"NUMA alloc miss", "numa_miss", NULL},
	{"NUMA interleave hit", "numa_interleave", NULL},
	{"NUMA alloc local", "numa_local", NULL},
	{"NUMA base PTE updates", "numa_pte_updates", NULL},
	{"NUMA huge PMD updates", "numa_huge_pte_updates", NULL},
	{"NUMA page range updates", NULL, page_range},
	{"NUMA hint faults", "numa_hint_faults", NULL},
	{"NUMA hint local faults", "numa_hint_faults_local", NULL},
	{"NUMA hint local percent", NULL, local_percent, "percent"},
	{"NUMA pages migrated", "numa_pages_migrated", NULL},
	{"AutoNUMA cost", NULL, cost, "1e6 accesses"},
};

static double figure(GHashTable *rows, const char *counter, guint c, guint b)
{
	const LabCompareRow *row = g_hash_table_lookup(rows, counter);

	return row ? g_array_index(row->values[c], double, b) : NAN;
}

static double value(GHashTable *rows, guint line, guint c, guint b)
{
	Figures f;

	if (block[line].counter)
		return figure(rows, block[line].counter, c, b);
	f = (Figures){
		.pte = figure(rows, "numa_pte_updates", c, b),
		.huge = figure(rows, "numa_huge_pte_updates", c, b),
		.faults = figure(rows, "numa_hint_faults", c, b),
		.local = figure(rows, "numa_hint_faults_local", c, b),
		.migrated = figure(rows, "numa_pages_migrated", c, b),
	};
	return block[line].formula(&f);
}

static LabCompareRow *make_row(const LabCompare *compare, GHashTable *rows, guint line)
{
	const char *unit = block[line].unit ? block[line].unit : "count";
	LabCompareRow *row = lab_compare_row_new(compare, block[line].name, unit, 0);

	for (guint c = 0; c < row->n_columns; c++)
		for (guint b = 0; b < row->values[c]->len; b++)
			g_array_index(row->values[c], double, b) = value(rows, line, c, b);
	lab_compare_row_finish(compare, row);
	return row;
}

static gboolean is_anywhere(const LabCompareRow *row)
{
	for (guint c = 0; c < row->n_columns; c++)
		if (row->summary[c].n)
			return TRUE;
	return FALSE;
}

void lab_compare_mmtests_rows(const LabCompare *compare, GHashTable *rows, GPtrArray *into,
			      GHashTable *taken)
{
	for (guint line = 0; line < G_N_ELEMENTS(block); line++) {
		LabCompareRow *row = make_row(compare, rows, line);

		if (block[line].counter)
			g_hash_table_add(taken, (gpointer)block[line].counter);
		if (is_anywhere(row))
			g_ptr_array_add(into, row);
		else
			lab_compare_row_free(row);
	}
}
