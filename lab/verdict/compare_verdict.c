/* SPDX-License-Identifier: GPL-2.0-or-later */
/* "SAME real-xfsrepair: 1.30 % better (-0.40 % .. +3.10 %, threshold 2 %)" */
#include <math.h>
#include <stdio.h>

#include "lab/base/units.h"
#include "lab/verdict/compare_internal.h"

static double percent(double fraction)
{
	return 100 * fraction;
}

/* In any locale, and nothing with a sign that is 0. */
static char *signed_percent(double fraction)
{
	char buffer[G_ASCII_DTOSTR_BUF_SIZE];
	double rounded = round(percent(fraction) * 100) / 100;

	if (fabs(rounded) < 1e15)
		g_ascii_formatd(buffer, sizeof(buffer), "%+.2f", rounded == 0 ? 0 : rounded);
	else
		g_ascii_formatd(buffer, sizeof(buffer), "%+.2e", rounded);
	return g_strdup_printf("%s %%", buffer);
}

static char *plain_percent(double fraction)
{
	g_autofree char *text = lab_format_number(round(percent(fraction) * 1e6) / 1e6);

	return g_strdup_printf("%s %%", text);
}

/* With the signs of the judgement, or for better 0 with a plus for more: as it is read. */
static LabInterval shown_interval(const LabCompareVerdict *v)
{
	LabInterval i = v->judgement.interval;

	return v->better ? i : (LabInterval){-i.high, -i.low};
}

static char *interval_text(const LabCompareVerdict *v)
{
	LabInterval i = shown_interval(v);
	g_autofree char *low = isfinite(i.low) ? signed_percent(i.low) : NULL;
	g_autofree char *high = isfinite(i.high) ? signed_percent(i.high) : NULL;

	if (low && high)
		return g_strdup_printf("%s .. %s", low, high);
	if (low)
		return g_strdup_printf("at least %s", low);
	if (high)
		return g_strdup_printf("at most %s", high);
	return g_strdup("any difference is possible");
}

static char *change_text(const LabCompareVerdict *v)
{
	double change = v->better ? v->judgement.change : v->difference.relative;
	const char *word =
		v->better ? (change > 0 ? "better" : "worse") : (change > 0 ? "more" : "less");
	char buffer[G_ASCII_DTOSTR_BUF_SIZE];

	if (round(1e4 * fabs(change)) == 0)
		return g_strdup(change == 0 ? "equal" : "equal to 0.01 %");
	if (!isfinite(change))
		return g_strdup_printf("%s, from 0", word);
	g_ascii_formatd(buffer, sizeof(buffer), fabs(change) < 1e13 ? "%.2f" : "%.2e",
			fabs(percent(change)));
	return g_strdup_printf("%s %% %s", buffer, word);
}

/* Why it is UNKNOWN, and what would help; "" else */
static char *unknown_text(const LabCompareVerdict *v)
{
	guint n = MIN(v->difference.n[0], v->difference.n[1]);

	if (v->judgement.verdict != LAB_VERDICT_UNKNOWN)
		return g_strdup("");
	if (v->judgement.settled)
		return g_strdup("; whether that is bad is not known");
	if (v->boots_more)
		return g_strdup_printf("; %u more boot%s of each kernel", v->boots_more,
				       v->boots_more == 1 ? "" : "s");
	return g_strdup(n < 2 ? "; one boot has no spread: 2 or more of each kernel"
			      : "; how many more boots cannot be told");
}

/* ", below the noise floor of run 9, 1.39 %"; "" where it is not */
static char *floor_text(const LabCompare *compare, const LabCompareVerdict *v)
{
	char buffer[G_ASCII_DTOSTR_BUF_SIZE];
	double floor = percent(v->noise_floor);

	if (!v->below_floor)
		return g_strdup("");
	g_ascii_formatd(buffer, sizeof(buffer), floor < 0.01 || floor >= 1e13 ? "%.2g" : "%.2f",
			floor);
	return g_strdup_printf(", below the noise floor of run %u, %s %%", compare->noise_run,
			       buffer);
}

/* ", against the whole sweep"; "" where it is not */
static char *against_text(const LabCompare *compare, const LabCompareVerdict *v)
{
	const LabCompareRow *row = lab_compare_find_row(compare, v->metric, v->point);

	return g_strdup(row && lab_compare_is_against(compare, row, v->column) ? ", against the whole sweep" : "");
}

void lab_compare_verdict_line(const LabCompare *compare, const LabCompareVerdict *v, GString *text)
{
	const LabCompareColumn *column = compare->columns->pdata[v->column];
	g_autofree char *change = NULL, *interval = NULL, *unknown = NULL, *below = NULL, *against = NULL;
	g_autofree char *threshold = plain_percent(v->threshold);
	g_autofree char *metric = lab_compare_metric_name(compare, v->metric, v->point);

	if (compare->columns->len > 2)
		g_string_append_printf(text, "%s %s: ", column->label[0], column->label[1]);
	g_string_append_printf(text, "%s %s", lab_compare_verdict_name(v), metric);
	if (v->missing) {
		g_string_append_printf(text, " (%s)\n", v->missing);
		return;
	}
	change = change_text(v);
	interval = interval_text(v);
	unknown = unknown_text(v);
	below = floor_text(compare, v);
	g_string_append_printf(text, ": %s (%s, threshold %s, ", change, interval, threshold);
	if (v->difference.design == LAB_DESIGN_PAIRED)
		g_string_append_printf(text, "%u pair%s", v->difference.n[0],
				       v->difference.n[0] == 1 ? "" : "s");
	else
		g_string_append_printf(text, "%u and %u boots", v->difference.n[0],
				       v->difference.n[1]);
	against = against_text(compare, v);
	g_string_append_printf(text, "%s%s%s)\n", below, against, unknown);
}

static const char *design_text(const LabCompare *compare)
{
	gboolean paired = FALSE, unpaired = FALSE;

	for (guint c = 1; c < compare->columns->len; c++) {
		const LabCompareColumn *column = compare->columns->pdata[c];

		*(column->design == LAB_DESIGN_PAIRED ? &paired : &unpaired) = TRUE;
	}
	return paired && unpaired ? "boots paired by seed where both kernels have it"
	       : paired		  ? "boots paired by seed"
				  : "boots not paired";
}

void lab_compare_verdict_lines(const LabCompare *compare, GString *text)
{
	g_autofree char *level = plain_percent(1 - compare->alpha);
	guint n = compare->columns->len > 1 ? compare->verdicts->len / (compare->columns->len - 1)
					    : 0;
	guint n_points = g_strv_length(compare->points);
	g_autofree char *points =
		n_points > 1 ? g_strdup_printf(" at %u points", n_points) : g_strdup("");

	if (!n)
		return;
	for (guint i = 0; i < compare->verdicts->len; i++)
		lab_compare_verdict_line(compare, compare->verdicts->pdata[i], text);
	g_string_append_printf(
		text,
		"judged %s; intervals: a plus is better (where that is not known: more); %s; %s",
		compare->judged_by, design_text(compare), level);
	if (n > 1)
		g_string_append_printf(text, " for the %u metric%s%s%s together (Holm)", n / n_points,
				       n / n_points > 1 ? "s" : "", points,
				       compare->columns->len > 2 ? compare->by ? " of each column" : " of each kernel" : "");
	g_string_append_c(text, '\n');
}
