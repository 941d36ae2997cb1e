/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the kernel has counted at one moment. */
#ifndef NUMALAB_AGENT_SNAPSHOT_H
#define NUMALAB_AGENT_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "agent/fault.h"
#include "agent/job.h"
#include "agent/records.h"

#define SNAPSHOT_FILES_MAX (4u + 2u * JOB_NODES_MAX)

struct snapshot_file {
	char name[32]; /* as in the record's name */
	char *data;    /* NULL: this kernel has no such file */
	size_t bytes;
};

struct snapshot {
	uint64_t clock_ns;
	struct snapshot_file files[SNAPSHOT_FILES_MAX];
	size_t n_files;
};

/** snapshot_take() - read everything into memory. Free with snapshot_free(). */
void snapshot_take(struct snapshot *snapshot);

/** snapshot_record() - write it as "STEP/WHEN/FILE" records. Return: 0 or -1. */
int snapshot_record(const struct snapshot *snapshot, struct records *records, const char *step,
		    const char *when, struct fault *fault);

void snapshot_free(struct snapshot *snapshot);

#endif
