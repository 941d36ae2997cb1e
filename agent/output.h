/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a step wrote to one of its outputs: the last AGENT_OUTPUT_MAX bytes, in bounded memory. */
#ifndef NUMALAB_AGENT_OUTPUT_H
#define NUMALAB_AGENT_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

#include "agent/protocol.h"

struct output {
	uint64_t total_bytes; /* all that was written */
	char ring[AGENT_OUTPUT_MAX];
};

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
