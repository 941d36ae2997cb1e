/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "agent/statement.h"

int job_parse_profile(const struct statement *s, struct job *job, struct fault *fault)
{
	struct job_step *step = statement_step(s, job, fault);
	struct job_collect *collect = step ? &step->collect : NULL;

	if (!step || statement_number(s, 3, &collect->frequency, fault) ||
	    statement_number(s, 4, &collect->ring_bytes, fault) ||
	    statement_number(s, 5, &collect->profile_bytes, fault))
		return -1;
	if (!collect->frequency || collect->frequency > 100000)
		return BAD(s, fault, "profile: wanted 1 to 100000 samples a second, found %s",
			   s->fields[3]);
	/* A power of two of pages, as the kernel wants it. */
	if (collect->ring_bytes < 8192 || collect->ring_bytes > 1u << 24 ||
	    collect->ring_bytes & (collect->ring_bytes - 1))
		return BAD(s, fault, "profile: wanted a power of 2 from 8192 to 16777216 for the ring, found %s",
			   s->fields[4]);
	if (collect->profile_event)
		return BAD(s, fault, "profile of step '%s' is given twice", step->name);
	collect->profile_event = s->fields[2];
	return 0;
}

int job_parse_stat(const struct statement *s, struct job *job, struct fault *fault)
{
	struct job_step *step = statement_step(s, job, fault);

	if (!step)
		return -1;
	if (step->collect.n_events)
		return BAD(s, fault, "stat of step '%s' is given twice", step->name);
	step->collect.n_events = s->n_fields - 2;
	step->collect.events = statement_copy(s->fields + 2, step->collect.n_events);
	return 0;
}

int job_parse_hist(const struct statement *s, struct job *job, struct fault *fault)
{
	struct job_step *step = statement_step(s, job, fault);
	struct job_collect *collect = step ? &step->collect : NULL;

	if (!step)
		return -1;
	if (!strchr(s->fields[2], ':'))
		return BAD(s, fault, "hist: wanted SYSTEM:EVENT, found '%s'", s->fields[2]);
	collect->hists = statement_grow(collect->hists, &collect->n_hists, sizeof(*collect->hists));
	collect->hists[collect->n_hists - 1] =
		(struct job_hist){.event = s->fields[2], .trigger = s->fields[3]};
	return 0;
}

int job_parse_series(const struct statement *s, struct job *job, struct fault *fault)
{
	struct job_step *step = statement_step(s, job, fault);

	if (!step || statement_number(s, 2, &step->collect.interval_ns, fault))
		return -1;
	if (step->collect.interval_ns < 1000000)
		return BAD(s, fault, "series: wanted an interval of 1 ms or more, found %s ns",
			   s->fields[2]);
	if (step->collect.n_counters)
		return BAD(s, fault, "series of step '%s' is given twice", step->name);
	step->collect.n_counters = s->n_fields - 3;
	step->collect.counters = statement_copy(s->fields + 3, step->collect.n_counters);
	return 0;
}
