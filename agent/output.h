/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a step wrote to one of its outputs: the last AGENT_OUTPUT_MAX bytes, in bounded memory. */
#ifndef NUMALAB_AGENT_OUTPUT_H
#define NUMALAB_AGENT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/protocol.h"

struct output {
	uint64_t total_bytes; /* all that was written */
	int copy;	      /* a file that gets all of it, too; -1: none */
	bool copy_dirty;      /* some of it is not durable yet */
	uint64_t copy_synced_ns;
	char ring[AGENT_OUTPUT_MAX];
};

/** output_start() - forget all; @copy: see struct output; closed by output_end() */
void output_start(struct output *output, int copy);

/**
 * output_sync() - make the copy durable, but not more often than once in OUTPUT_SYNC_NS
 *
 * Return: milliseconds until it may be called again for what is not durable yet, or -1: there is nothing.
 */
int output_sync(struct output *output);

/** output_end() - make the copy durable and close it */
void output_end(struct output *output);

/* The last second of what a step said may be lost in a crash; syncing for each line would disturb what is measured. */
#define OUTPUT_SYNC_NS 1000000000ull

void output_add(struct output *output, const char *data, size_t bytes);

/** output_drain() - take what @fd (non-blocking) has. Return: 1: there may come more, 0: its end
 * was reached. */
int output_drain(struct output *output, int fd);

/** output_straighten() - put the kept bytes in order at the start of @ring. Return: how many they
 * are. */
size_t output_straighten(struct output *output);

/**
 * output_last_line() - the last line that is not blank, of a straightened output
 * @line: (out): cut to @size, without control characters; "" when there is none
 */
void output_last_line(const struct output *output, size_t bytes, char *line, size_t size);

#endif
