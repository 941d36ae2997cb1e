/* SPDX-License-Identifier: GPL-2.0-or-later */
/* perf_event_open(2), by the names that perf(1) has for events. */
#ifndef NUMALAB_AGENT_PERF_EVENT_H
#define NUMALAB_AGENT_PERF_EVENT_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#define PERF_CPUS_MAX 256u
#define PERF_NAME_MAX 128u

/**
 * perf_event_find() - type and config of an event
 * @name: "cycles", "page-faults", "LLC-load-misses", "migrate:mm_migrate_pages"
 * Return: 0, or -1: neither perf nor this kernel has an event of that name.
 */
int perf_event_find(const char *name, uint32_t *type, uint64_t *config);

/**
 * perf_event_expand() - call @each for every tracepoint that matches "SYSTEM:PATTERN" (*, ?), sorted; for any other name once, with it
 * Return: how many there were.
 */
size_t perf_event_expand(const char *name, void (*each)(const char *name, void *data), void *data);

/** perf_event_open_on() - on one CPU, of all processes. Return: a descriptor, or -1 with errno set. */
int perf_event_open_on(struct perf_event_attr *attr, unsigned cpu);

/** perf_cpus() - the online ones. Return: how many. */
size_t perf_cpus(unsigned cpus[PERF_CPUS_MAX]);

#endif
