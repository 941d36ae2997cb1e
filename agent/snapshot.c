/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/clock.h"
#include "agent/files.h"
#include "agent/snapshot.h"

static void add(struct snapshot *snapshot, const char *path, const char *name)
{
	struct snapshot_file *file = &snapshot->files[snapshot->n_files];

	file->data = file_read(path, &file->bytes);
	if (!file->data)
		return;
	snprintf(file->name, sizeof(file->name), "%s", name);
	snapshot->n_files++;
}

void snapshot_take(struct snapshot *snapshot)
{
	memset(snapshot, 0, sizeof(*snapshot));
	snapshot->clock_ns = clock_ns();
	add(snapshot, "/proc/vmstat", "vmstat");
	add(snapshot, "/proc/interrupts", "interrupts");
	add(snapshot, "/proc/stat", "stat");
	add(snapshot, "/proc/schedstat", "schedstat");
	for (unsigned node = 0; node < JOB_NODES_MAX; node++) {
		char path[80], name[32];

		snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/numastat", node);
		snprintf(name, sizeof(name), "node%u-numastat", node);
		add(snapshot, path, name);
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/meminfo", node);
		snprintf(name, sizeof(name), "node%u-meminfo", node);
		add(snapshot, path, name);
	}
}

int snapshot_record(const struct snapshot *snapshot, struct records *records, const char *step,
		    const char *when, struct fault *fault)
{
	for (size_t i = 0; i < snapshot->n_files; i++) {
		const struct snapshot_file *file = &snapshot->files[i];
		char name[128];

		snprintf(name, sizeof(name), "%s/%s/%s", step, when, file->name);
		if (records_add(records, AGENT_REC_SNAPSHOT, name, file->data, file->bytes,
				snapshot->clock_ns, fault))
			return -1;
	}
	return 0;
}

void snapshot_free(struct snapshot *snapshot)
{
	for (size_t i = 0; i < snapshot->n_files; i++)
		free(snapshot->files[i].data);
	snapshot->n_files = 0;
}
