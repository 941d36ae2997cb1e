/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Differences of several metrics, each with its threshold -> a verdict for each. No I/O.
 *
 * The threshold cuts the line of differences into three parts: worse by more than it, within it,
 * better by more than it. A metric has a verdict when its whole interval lies in one part. The
 * intervals are as wide as the number of metrics asks for, by Holm's step-down rule (S. Holm,
 * Scand. J. Stat. 6, 1979), so that in 1 - alpha of all runs no verdict of any metric is wrong.
 */
#pragma once
#include "lab/stats/difference.h"

typedef enum {
	LAB_VERDICT_REGRESSION,
	LAB_VERDICT_IMPROVEMENT,
	LAB_VERDICT_SAME,
	LAB_VERDICT_UNKNOWN
} LabVerdict;

/** lab_verdict_text() - "REGRESSION", "IMPROVEMENT", "SAME", "UNKNOWN" */
const char *lab_verdict_text(LabVerdict verdict);

/**
 * struct LabJudgeCase - a metric to be judged
 * @difference:
 * @threshold:  as a fraction, 0 or more: 0.02 is 2 %
 * @better:     +1: higher; -1: lower; 0: not known
 */
typedef struct {
	LabDifference difference;
	double threshold;
	int better;
} LabJudgeCase;

/**
 * struct LabJudgement - of a metric
 * @verdict:  SAME: the difference is not larger than the threshold. UNKNOWN: the interval lies in
 * no part; or better is 0 and the figure has changed by more than the threshold: then @settled and
 * @differs are TRUE, and it is for the reader to say whether that is bad
 * @settled:  the interval lies in one part: more boots are not needed
 * @differs:  the interval does not contain 0. A metric can differ and be SAME
 * @change:   the estimate, and @interval: as fractions, with the signs of lab_change_pct(): plus is
 * better, and for better 0 as for -1
 * @alpha:    @interval's: its confidence is 1 - @alpha
 * @p:        the smallest alpha at which the metric, judged alone, has a verdict
 */
typedef struct {
	LabVerdict verdict;
	gboolean settled, differs;
	double change;
	LabInterval interval;
	double alpha, p;
} LabJudgement;

/**
 * lab_judge() - all metrics that decide, at once
 * @cases:      of @n metrics; those without boots count, too: which are judged is said beforehand
 * @n:
 * @alpha:      probability that any verdict is wrong: 0.05
 * @judgements: (out): @n, in the order of @cases
 *
 * The metric with the smallest @p is judged at alpha / n, the next at alpha / (n - 1), and so on.
 * The first that has no verdict ends it: all after it are UNKNOWN, at that one's alpha. For one
 * metric it is its interval at 1 - alpha.
 */
void lab_judge(const LabJudgeCase *cases, guint n, double alpha, LabJudgement *judgements);
