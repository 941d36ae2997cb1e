/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts of events that the agent has left (AGENT_REC_STAT). They come from a guest that is not trusted. */
#pragma once
#include <gio/gio.h>

/**
 * struct LabStatCount - one event in one step, summed over CPUs
 * @event: "page-faults", "migrate:mm_migrate_pages"
 * @supported: FALSE: this kernel or CPU has no such event, and @count says nothing
 * @count: scaled up where a counter of the CPU was shared (running for less time than enabled), as perf does
 * @running_ppm: of the time for which it was to count, it did, in millionths
 */
typedef struct {
	char *event;
	gboolean supported;
	guint64 count;
	guint running_ppm;
} LabStatCount;

/**
 * lab_stat_parse() - array of LabStatCount, in the order of the scenario
 * @step: for errors
 *
 * Errors: LAB_ERROR_UNKNOWN, with the line: no such text; an event that comes twice.
 */
GPtrArray *lab_stat_parse(GBytes *text, const char *step, GError **error);
