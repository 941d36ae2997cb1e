/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/stats/judge.h"

#include <math.h>

const char *lab_verdict_text(LabVerdict verdict)
{
	static const char *const texts[] = {"REGRESSION", "IMPROVEMENT", "SAME", "UNKNOWN"};

	return texts[verdict];
}

/* What the interval supports best */
typedef struct {
	guint index;
	double p;
	LabVerdict verdict;
} Support;

static Support support(const LabJudgeCase *c, guint index)
{
	double above = lab_difference_p_above(&c->difference, c->threshold);
	double below = lab_difference_p_below(&c->difference, c->threshold);
	double within = lab_difference_p_within(&c->difference, c->threshold);
	Support s = {index, within, LAB_VERDICT_SAME};

	if (MIN(above, below) < within) {
		s.p = MIN(above, below);
		s.verdict = (above < below) == (c->better > 0) ? LAB_VERDICT_IMPROVEMENT
							       : LAB_VERDICT_REGRESSION;
		if (!c->better)
			s.verdict = LAB_VERDICT_UNKNOWN;
	}
	return s;
}

static int by_p(const void *a, const void *b)
{
	const Support *x = a, *y = b;

	return x->p != y->p ? (x->p > y->p) - (x->p < y->p)
			    : (x->index > y->index) - (x->index < y->index);
}

static LabJudgement judgement(const LabJudgeCase *c, const Support *s, gboolean settled,
			      double alpha)
{
	LabInterval interval = lab_difference_interval(&c->difference, alpha);
	LabJudgement j = {
		.verdict = settled ? s->verdict : LAB_VERDICT_UNKNOWN,
		.settled = settled,
		.differs = interval.low > 0 || interval.high < 0,
		.change = c->difference.relative,
		.interval = interval,
		.alpha = alpha,
		.p = s->p,
	};

	if (c->better <= 0) {
		j.change = 0 - j.change;
		j.interval = (LabInterval){0 - interval.high, 0 - interval.low};
	}
	return j;
}

void lab_judge(const LabJudgeCase *cases, guint n, double alpha, LabJudgement *judgements)
{
	g_autofree Support *order = g_new(Support, n);
	gboolean settled = TRUE;
	double level = alpha;

	for (guint i = 0; i < n; i++)
		order[i] = support(&cases[i], i);
	if (n)
		qsort(order, n, sizeof(*order), by_p);
	for (guint i = 0; i < n; i++) {
		const Support *s = &order[i];

		if (settled) {
			level = alpha / (n - i);
			settled = s->p < level;
		}
		judgements[s->index] = judgement(&cases[s->index], s, settled, level);
	}
}
