/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/files.h"
#include "agent/kernel_text.h"
#include "agent/series.h"

/* Thousands of lines; a longer step shows its beginning. */
#define TEXT_BYTES (1u << 20)
#define LINE_BYTES_MAX 8192u
#define NUMASTAT "numastat."

void series_open(struct series *series, const struct job_step *step)
{
	*series = (struct series){.step = step, .timer = -1};
	if (!step->collect.n_counters)
		return;
	series->text = malloc(TEXT_BYTES);
	if (series->text)
		series->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
}

static void add(struct series *series, const char *text)
{
	size_t bytes = strlen(text);

	if (series->used + bytes > TEXT_BYTES)
		return;
	memcpy(series->text + series->used, text, bytes);
	series->used += bytes;
}

static bool on_node(const char *node, const char *name, uint64_t *value)
{
	char path[96], *text;
	bool found;

	snprintf(path, sizeof(path), "/sys/devices/system/node/%.16s/numastat", node);
	text = file_read(path, NULL);
	found = text && counter_find(text, name, value);
	free(text);
	return found;
}

/* "numa_hit", or "node3.numa_hit" */
static bool numastat(const char *name, uint64_t *value)
{
	const char *dot = strchr(name, '.');
	bool found = false;
	char node[16];

	*value = 0;
	if (dot && dot - name < (long)sizeof(node)) {
		snprintf(node, sizeof(node), "%.*s", (int)(dot - name), name);
		return on_node(node, dot + 1, value);
	}
	for (unsigned i = 0; i < JOB_NODES_MAX; i++) {
		uint64_t one;

		snprintf(node, sizeof(node), "node%u", i);
		if (!on_node(node, name, &one))
			continue;
		*value += one;
		found = true;
	}
	return found;
}

static void look(struct series *series)
{
	const struct job_collect *collect = &series->step->collect;
	char line[LINE_BYTES_MAX], *vmstat = file_read("/proc/vmstat", NULL);
	size_t used = (size_t)snprintf(line, sizeof(line), "%llu", (unsigned long long)clock_ns());

	for (size_t i = 0; i < collect->n_counters && used + 32 < sizeof(line); i++) {
		const char *name = collect->counters[i];
		uint64_t value;
		bool known = !strncmp(name, NUMASTAT, strlen(NUMASTAT))
				     ? numastat(name + strlen(NUMASTAT), &value)
				     : vmstat && counter_find(vmstat, name, &value);

		if (known)
			used += (size_t)snprintf(line + used, sizeof(line) - used, " %llu",
						 (unsigned long long)value);
		else
			used += (size_t)snprintf(line + used, sizeof(line) - used, " -");
	}
	free(vmstat);
	snprintf(line + used, sizeof(line) - used, "\n");
	add(series, line);
}

void series_enable(struct series *series)
{
	const struct job_collect *collect = &series->step->collect;
	struct itimerspec every = {.it_interval = clock_timespec(collect->interval_ns),
				   .it_value = clock_timespec(collect->interval_ns)};

	if (series->timer < 0)
		return;
	add(series, "clock_ns");
	for (size_t i = 0; i < collect->n_counters; i++) {
		add(series, " ");
		add(series, collect->counters[i]);
	}
	add(series, "\n");
	look(series);
	timerfd_settime(series->timer, 0, &every, NULL);
}

void series_look(struct series *series)
{
	uint64_t times;

	if (read(series->timer, &times, sizeof(times)) == sizeof(times))
		look(series);
}

void series_disable(struct series *series)
{
	if (series->timer < 0)
		return;
	close(series->timer);
	look(series);
}

int series_end(struct series *series, struct records *records, uint64_t clock_ns, struct fault *fault)
{
	int status;

	if (!series->text)
		return 0;
	status = records_add(records, AGENT_REC_SERIES, series->step->name, series->text,
			     series->used, clock_ns, fault);
	free(series->text);
	return status;
}
