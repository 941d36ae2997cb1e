/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is collected while steps run: the key collect of a scenario. */
#pragma once
#include <glib.h>

/**
 * struct LabHist - a histogram that ftrace makes of a tracepoint
 * @event: "migrate:mm_migrate_pages"
 * @keys:  of the kernel's hist trigger, behind "hist:": "keys=reason:vals=hitcount"
 */
typedef struct {
	char *event, *keys;
	char **steps;
} LabHist;

/**
 * struct LabCollect - all strings and arrays NULL where nothing is asked for; arrays end with NULL
 * @perf_steps: steps that are sampled on all CPUs
 * @perf_event: "auto" (cycles, else cpu-clock), another of the CPU's, or a clock, as perf names it
 * @perf_hz:    samples a second on each CPU
 * @perf_ring_bytes: of each CPU, a power of 2; @perf_bytes: of a step's profile, which is cut there
 * @stat_events: as perf stat names them, also "exceptions:*"; @stat_steps: where they are counted
 * @series_counters: of /proc/vmstat, and "numastat.NAME", "numastat.nodeN.NAME"
 * @series_ns:  between two looks
 * @hists:      (nullable): of LabHist
 */
typedef struct {
	char **perf_steps, *perf_event;
	guint64 perf_hz, perf_ring_bytes, perf_bytes;
	char **stat_steps, **stat_events;
	char **series_steps, **series_counters;
	guint64 series_ns;
	GPtrArray *hists;
} LabCollect;

void lab_collect_clear(LabCollect *collect);

/** lab_collect_bytes() - room that it may take on the results device, in all steps of one boot of @n_cpus CPUs */
guint64 lab_collect_bytes(const LabCollect *collect, guint n_cpus);
