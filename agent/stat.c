/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "agent/fields.h"
#include "agent/stat.h"

/* A wildcard may stand for hundreds of tracepoints, each on every CPU. */
#define EVENTS_MAX 512u

struct adding {
	struct stat_set *set;
	unsigned cpus[PERF_CPUS_MAX];
};

static int *open_all(const char *name, const unsigned *cpus, size_t n_cpus)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.disabled = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	uint32_t type;
	uint64_t config;
	int *fds = malloc(n_cpus * sizeof(*fds));

	if (!fds || perf_event_find(name, &type, &config)) {
		free(fds);
		return NULL;
	}
	attr.type = type;
	attr.config = config;
	for (size_t i = 0; i < n_cpus; i++) {
		fds[i] = perf_event_open_on(&attr, cpus[i]);
		if (fds[i] >= 0)
			continue;
		while (i--)
			close(fds[i]);
		free(fds);
		return NULL;
	}
	return fds;
}

static void add(const char *name, void *data)
{
	struct adding *adding = data;
	struct stat_set *set = adding->set;
	struct stat_event *event;

	if (set->n_events == EVENTS_MAX || strlen(name) >= sizeof(event->name))
		return;
	event = &set->events[set->n_events++];
	snprintf(event->name, sizeof(event->name), "%s", name);
	event->fds = open_all(name, adding->cpus, set->n_cpus);
}

void stat_open(struct stat_set *set, const struct job_step *step)
{
	const struct job_collect *collect = &step->collect;
	struct adding adding = {.set = set};

	memset(set, 0, sizeof(*set));
	if (!collect->n_events)
		return;
	set->events = calloc(EVENTS_MAX, sizeof(*set->events));
	if (!set->events)
		return;
	set->n_cpus = perf_cpus(adding.cpus);
	for (size_t i = 0; i < collect->n_events; i++)
		if (!perf_event_expand(collect->events[i], add, &adding))
			add(collect->events[i], &adding);
}

static void control(struct stat_set *set, unsigned long request)
{
	for (size_t i = 0; i < set->n_events; i++)
		for (size_t cpu = 0; set->events[i].fds && cpu < set->n_cpus; cpu++)
			ioctl(set->events[i].fds[cpu], request, 0);
}

void stat_enable(struct stat_set *set)
{
	control(set, PERF_EVENT_IOC_ENABLE);
}

void stat_disable(struct stat_set *set)
{
	control(set, PERF_EVENT_IOC_DISABLE);
}

static void read_counts(const struct stat_set *set, const struct stat_event *event, char *out,
			size_t size)
{
	uint64_t sum[3] = {0}, one[3];

	for (size_t cpu = 0; cpu < set->n_cpus; cpu++) {
		if (read(event->fds[cpu], one, sizeof(one)) == sizeof(one))
			for (size_t i = 0; i < 3; i++)
				sum[i] += one[i];
		close(event->fds[cpu]);
	}
	snprintf(out, size, "%llu %llu %llu", (unsigned long long)sum[0],
		 (unsigned long long)sum[1], (unsigned long long)sum[2]);
}

int stat_end(struct stat_set *set, const struct job_step *step, struct records *records,
	     uint64_t clock_ns, struct fault *fault)
{
	static char data[EVENTS_MAX * 160];
	struct text text = {.data = data, .size = sizeof(data)};

	if (!set->events)
		return 0;
	for (size_t i = 0; i < set->n_events; i++) {
		struct stat_event *event = &set->events[i];
		char value[80] = "not-supported";

		if (event->fds)
			read_counts(set, event, value, sizeof(value));
		text_add(&text, event->name, value);
		free(event->fds);
	}
	free(set->events);
	return records_add(records, AGENT_REC_STAT, step->name, text.data, text.used, clock_ns,
			   fault);
}
