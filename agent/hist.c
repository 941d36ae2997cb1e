/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/files.h"
#include "agent/hist.h"
#include "agent/perf_event.h"

#define EVENTS "/sys/kernel/tracing/events"

/* "migrate:mm_migrate_pages" and "trigger" -> its path; no more than one name may become each part. */
static int path_of(const struct job_hist *hist, const char *file, char *path, size_t size)
{
	uint32_t type;
	uint64_t config;

	if (perf_event_find(hist->event, &type, &config) || type != PERF_TYPE_TRACEPOINT)
		return -1;
	snprintf(path, size, EVENTS "/%s/%s", hist->event, file);
	*strchr(path, ':') = '/';
	return 0;
}

static int set(const struct job_hist *hist, const char *prefix)
{
	char path[sizeof(EVENTS) + 2 * PERF_NAME_MAX], trigger[512];

	if (path_of(hist, "trigger", path, sizeof(path)))
		return -1;
	snprintf(trigger, sizeof(trigger), "%shist:%s", prefix, hist->trigger);
	return file_write(path, trigger);
}

void hist_enable(const struct job_step *step)
{
	for (size_t i = 0; i < step->collect.n_hists; i++)
		set(&step->collect.hists[i], "");
}

static int record(const struct job_step *step, const struct job_hist *hist,
		  struct records *records, uint64_t clock_ns, struct fault *fault)
{
	char path[sizeof(EVENTS) + 2 * PERF_NAME_MAX], name[128 + PERF_NAME_MAX];
	char *text = path_of(hist, "hist", path, sizeof(path)) ? NULL : file_read(path, NULL);
	const char *said = text && strstr(text, "Hits:") ? text : "not-supported\n";
	int status;

	snprintf(name, sizeof(name), "%s/hist/%s", step->name, hist->event);
	*strchr(name, ':') = '.';
	status = records_add(records, AGENT_REC_HIST, name, said, strlen(said), clock_ns, fault);
	free(text);
	set(hist, "!");
	return status;
}

int hist_end(const struct job_step *step, struct records *records, uint64_t clock_ns, struct fault *fault)
{
	for (size_t i = 0; i < step->collect.n_hists; i++)
		if (record(step, &step->collect.hists[i], records, clock_ns, fault))
			return -1;
	return 0;
}
