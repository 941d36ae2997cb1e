/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table: kernels side by side, as the lists are used to. A value first, then printed by the
 * forms below.
 */
#pragma once
#include "lab/stats/judge.h"
#include "lab/stats/summary.h"
#include "lab/store/store.h"

#define LAB_COMPARE_ALPHA 0.05

typedef struct _LabCompare LabCompare;

/** struct LabCompareBoot - where a sample comes from; outcome, message, digest as in LabBootSamples;
 * point: index into the comparison's points
 */
typedef struct {
	guint run;
	char *id;
	guint point;
	guint64 seed;
	char *outcome, *message, *digest;
} LabCompareBoot;

/**
 * struct LabCompareColumn - a kernel of a run
 * @label:   two header lines: version ("6.1.192"), name ("bookworm")
 * @n_boots: planned; @n_ok: with samples
 * @origin:  "run 7"
 * @boots:   of LabCompareBoot, all that were planned, by seed, and then by point
 * @design:  of its difference from the baseline. Clock exact: paired, by seed, where the two have a
 * seed in common; else unpaired
 * @partner: private: of int, for each boot of the baseline the place of its partner in @boots, or -1
 * @again:   private: of gboolean, boots to be left out of differences, as an earlier one (paired: of
 * the baseline's, an earlier pair) is identical to the last byte, and so the same sample
 */
typedef struct {
	char *label[2];
	char *kernel_digest, *kernel_text;
	guint run;
	guint n_boots, n_ok;
	char *origin;
	GPtrArray *boots;
	LabDesign design;
	GArray *partner, *again;
} LabCompareColumn;

/**
 * struct LabCompareRow - a metric, at one point, in every column
 * @metric, @unit, @better: as in LabSample
 * @point:   index into the comparison's points
 * @rate:    its mean is the harmonic one: work done in a time
 * @values:  per column: doubles, one per boot of the column; NAN: this boot does not have it, or is of another point
 * @summary: per column, over the boots that have it; n 0: missing
 * @mean:    per column: the harmonic mean of a rate, else the arithmetic; NAN: missing
 * @differs: per column: the 95 % interval of its difference from the baseline, taken by itself, does
 * not contain 0. Of a rate: the interval for its reciprocals, whose means decide harmonic means
 */
typedef struct {
	char *metric, *unit;
	int better;
	guint point;
	gboolean rate;
	guint n_columns;
	GArray **values;
	LabSummary *summary;
	double *mean;
	gboolean *differs;
} LabCompareRow;

/**
 * struct LabCompareWhole - a metric over all points of a sweep
 * @gmean: per column: geometric mean of the means at those points that all columns have; NAN: there are none, or
 * one is not above 0
 */
typedef struct {
	char *metric;
	const char *unit; /* borrowed from its rows */
	int better;
	guint n_columns;
	double *gmean;
} LabCompareWhole;

/** lab_compare_whole() - of a metric of times; NULL: there is none */
const LabCompareWhole *lab_compare_whole(const LabCompare *compare, const char *metric);

/** lab_compare_is_against() - is the difference at a point, of 0.01 % or more, of another sign than that of the whole? */
gboolean lab_compare_is_against(const LabCompare *compare, const LabCompareRow *row, guint column);

/**
 * struct LabCompareVerdict - of one judged metric, for one candidate against the baseline
 * @column:     of the candidate, from 1
 * @point:      as of a row
 * @better:     as the judge says, else as in LabSample; 0 also where no boot has the metric
 * @threshold:  as a fraction
 * @infra:      a side has no boot to judge by, and it is the lab that failed: INFRA in place of
 * @judgement's verdict
 * @missing:    (nullable): why there is nothing to judge, for people: "no boot of 6.12.95 has it"
 * @difference, @judgement: as of lab/stats
 * @noise_floor: of this metric for as many boots, as a fraction; NAN: not known
 * @below_floor: the estimate is smaller; says nothing about @judgement
 * @boots_more: of each kernel, that would settle an UNKNOWN; 0: none are needed, or it cannot be told
 */
typedef struct {
	guint column;
	char *metric;
	guint point;
	int better;
	double threshold;
	gboolean infra;
	char *missing;
	LabDifference difference;
	LabJudgement judgement;
	double noise_floor;
	gboolean below_floor;
	guint boots_more;
} LabCompareVerdict;

/** lab_compare_verdict_name() - lab_verdict_text(), or "INFRA" */
const char *lab_compare_verdict_name(const LabCompareVerdict *verdict);

/**
 * struct LabCompare
 * @title:    name of the baseline's scenario
 * @clock:    "exact", "tcg", "kvm"
 * @points:   (array, NULL-terminated): of a sweep, for people: "bhash=101073 ag_stride=default"; else one, ""
 * @by:       (nullable): the key of the sweep whose values are the columns, and which no point has then
 * @columns:  of LabCompareColumn; the first is the baseline
 * @times:    of LabCompareRow: real-, user-, syst- of each step in the order of execution, then
 * rates (files/s-, touches-, overhead-); each metric at every point before the next. So in @counters and @others
 * @wholes:   of LabCompareWhole, of every metric of @times; none without a sweep
 * @counters: of LabCompareRow, in the order asked for
 * @others:   of LabCompareRow: the rest of what was measured, by name
 * @alpha:    of all verdicts of a candidate together
 * @judged_by: which metrics were judged, for people: "by the scenario"
 * @verdicts: of LabCompareVerdict: for each candidate, in the order of the columns, every judged
 * metric, in the order of the scenario; none with one column
 * @noise_run: the A/A run of the noise floors, 0: there is none; @noise_kernel: (nullable): its
 * kernel, for people
 * @notes:    (array, NULL-terminated): what a reader must know: the clock and its limits, boots
 * that failed or are missing, what differs between runs
 */
struct _LabCompare {
	char *title, *clock;
	char **points;
	char *by;
	GPtrArray *columns;
	GPtrArray *wholes;
	GPtrArray *times;
	GPtrArray *counters;
	GPtrArray *others;
	double alpha;
	const char *judged_by;
	GPtrArray *verdicts;
	guint noise_run;
	char *noise_kernel;
	char **notes;
};

/**
 * struct LabCompareOptions - all zero: the defaults
 * @counters: (nullable): NULL: the default set (NUMA balancing, allocation, migration, faults,
 * shootdowns); "all": everything that was measured; else names and patterns with * and ?, separated
 * by commas
 * @mmtests_names: with the default set: MMTests' block of NUMA figures in place of those counters
 * that it has
 * @judge:    (nullable): of LabJudge (lab/spec/scenario.h), in place of those of the baseline's
 * scenario; empty: nothing is judged. A scenario that names none: real- of each step, by 2 %
 * @alpha:    0: LAB_COMPARE_ALPHA
 * @by:       (nullable): a key of the sweep, its last part or the whole: columns are its values, in place of kernels
 */
typedef struct {
	const char *counters;
	gboolean mmtests_names;
	const GPtrArray *judge;
	double alpha;
	const char *by;
} LabCompareOptions;

/**
 * lab_compare() - columns from runs, and what they mean
 * @selections: NULL-terminated "RUN" (all its kernels, in the scenario's order) or "RUN:KERNEL"
 * (version, name, the kernel as the scenario names it, or the start of its digest), either with
 * "@KEY=VALUE,..." for some of a sweep's points; the first column is the baseline
 * @options:    (nullable)
 *
 * Columns are comparable when they are one experiment: LAB_ERROR_USER when scenarios (the message
 * says what differs), settings of a point or clocks do, or no point is in all; other differences (image, prepared file system, QEMU) become
 * notes. Other errors: LAB_ERROR_USER for a run, kernel, counter or metric of @options that is not
 * there (with what there is); LAB_ERROR_UNKNOWN when no boot of any column has samples.
 */
LabCompare *lab_compare(LabStore *store, const char *const *selections,
			const LabCompareOptions *options, GError **error);
void lab_compare_free(LabCompare *compare);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabCompare, lab_compare_free)

/** lab_compare_exit_code() - 1: a REGRESSION; else 3: INFRA; else 4: UNKNOWN; else 0 */
int lab_compare_exit_code(const LabCompare *compare);

/**
 * struct LabTableOptions - all zero: the defaults
 * @mmtests:     the layout of MMTests: its widths, which do not grow with what they hold; no
 * stars; User, System, Elapsed of all steps together, and the counters, in tables of their own; counters without fractions
 * @rows:        (nullable): of "min", "mean", "stddev", "coeffvar", "max", separated by commas; NULL:
 * all
 * @percentiles: (nullable): of 0 to 100, separated by commas: rows named as MMTests does ("Max-90")
 */
typedef struct {
	gboolean mmtests;
	const char *rows;
	const char *percentiles;
} LabTableOptions;

/**
 * lab_compare_text() - MMTests' table in plain ASCII; free with g_free()
 * @options: (nullable)
 *
 * "Min      real-xfsrepair      497.64 (  0.00%)      456.87 (  8.19%)": rows Min, Amean (Hmean of
 * rates), Stddev, CoeffVar, Max over all of @times, then the means of the counters as whole numbers,
 * then the notes and the verdicts. Percentages: lab_change_pct() from unrounded data; "*  8.19%*"
 * where the row differs, and an end of "!" where the sweep as a whole has another sign. Of a sweep, a
 * line for each point, and one of Gmean; Min, Stddev and Max only where they are asked for. Rows of one unit have one number of decimals, so that the smallest of their
 * means shows four digits: 2 where all are 10 or more, 3 from 1, 4 below. Missing data, and what one
 * boot does not tell (Stddev), is "-".
 *
 * Return: NULL with LAB_ERROR_USER when @options name no row or percentile.
 */
char *lab_compare_text(const LabCompare *compare, const LabTableOptions *options, GError **error);

/** lab_compare_csv() - a line per metric and column (RFC 4180, with heading); missing data is
 * empty. Free with g_free(). */
char *lab_compare_csv(const LabCompare *compare);

/** lab_compare_json() - all of it, with every sample's run, boot and seed; missing data is null.
 * Free with g_free(). */
char *lab_compare_json(const LabCompare *compare);
