/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runner/noise.h"

#include <math.h>
#include <stdio.h>

#include "runner/print.h"

static char *percent(double value)
{
	return isfinite(value) ? g_strdup_printf("%.2f %%", value) : g_strdup("-");
}

void noise_print(const LabNoise *noise, gboolean json)
{
	g_autoptr(PrintTable) table = NULL;
	g_autofree char *text = json ? lab_noise_json(noise) : NULL;

	if (json) {
		fputs(text, stdout);
		return;
	}
	table = print_table_new("METRIC", ">MEAN", "UNIT", ">COEFFVAR", ">FLOOR", NULL);
	printf("noise floor of %s, run %u: %u and %u boots of the same kernel\n\n", noise->kernel,
	       noise->run, noise->n, noise->n);
	for (guint i = 0; i < noise->rows->len; i++) {
		const LabNoiseRow *row = noise->rows->pdata[i];
		g_autofree char *mean = isnan(row->summary.amean)
						? g_strdup("-")
						: g_strdup_printf("%.6g", row->summary.amean);
		g_autofree char *coeffvar = percent(row->summary.coeffvar);
		g_autofree char *floor = percent(row->floor_pct);

		print_table_add(table, row->metric, mean, row->unit, coeffvar, floor, NULL);
	}
	print_table(table);
	printf("\nfloor: in %u of 100 comparisons of a kernel with itself, of %u boots each, the "
	       "means differ by less\n",
	       (guint)lrint(100 * (1 - noise->alpha)), noise->boots);
	for (char **note = noise->notes; *note; note++)
		printf("%s\n", *note);
}
