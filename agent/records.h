/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The records that the agent leaves on the results device, as protocol.h says. */
#ifndef NUMALAB_AGENT_RECORDS_H
#define NUMALAB_AGENT_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/fault.h"
#include "agent/protocol.h"

/* Kept free for AGENT_REC_FAIL, so that "the device is full" can still be said. */
#define RECORDS_RESERVE_BYTES (32u * 1024u)

struct records {
	int fd; /* -1: not open */
	uint64_t size_bytes;
	uint64_t offset_bytes; /* where the next record starts */
	uint32_t sequence;
};

#define RECORDS_CLOSED ((struct records){.fd = -1})

/**
 * records_open() - start a results device of @size_bytes at @path: its header is durable when this
 * returns
 * @fault: stage "setup"
 * Return: 0 or -1.
 */
int records_open(struct records *records, const char *path, uint64_t size_bytes,
		 struct fault *fault);

/**
 * records_add() - append one record; it is durable when this returns
 * @name: "" for none
 * @clock_ns: CLOCK_MONOTONIC of what the record tells
 * @fault: stage "results": the device is full (nothing was written) or could not be written
 *
 * Allocates nothing and calls only async-signal-safe functions, unless it fails. AGENT_REC_FAIL may
 * use the reserve. Return: 0 or -1.
 */
int records_add(struct records *records, enum agent_record_type type, const char *name,
		const void *payload, size_t bytes, uint64_t clock_ns, struct fault *fault);

/** records_room() - the largest payload that a record named @name can still have */
size_t records_room(const struct records *records, const char *name);

#endif
