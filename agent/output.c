/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/output.h"

void output_start(struct output *output, int copy)
{
	memset(output, 0, sizeof(*output));
	output->copy = copy;
}

int output_sync(struct output *output)
{
	uint64_t now = clock_ns();

	if (!output->copy_dirty)
		return -1;
	if (now - output->copy_synced_ns < OUTPUT_SYNC_NS)
		return (int)((OUTPUT_SYNC_NS - (now - output->copy_synced_ns)) / 1000000) + 1;
	fdatasync(output->copy);
	output->copy_dirty = false;
	output->copy_synced_ns = clock_ns();
	return -1;
}

void output_end(struct output *output)
{
	if (output->copy < 0)
		return;
	if (output->copy_dirty)
		fdatasync(output->copy);
	close(output->copy);
	output->copy = -1;
}

/* Best effort: the results have it all, when the guest lives to write them. */
static void copy(struct output *output, const char *data, size_t bytes)
{
	while (output->copy >= 0 && bytes) {
		ssize_t n = write(output->copy, data, bytes);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		output->copy_dirty = true;
		data += n;
		bytes -= (size_t)n;
	}
}

void output_add(struct output *output, const char *data, size_t bytes)
{
	copy(output, data, bytes);
	while (bytes) {
		size_t at = output->total_bytes % AGENT_OUTPUT_MAX;
		size_t part = AGENT_OUTPUT_MAX - at;

		if (part > bytes)
			part = bytes;
		memcpy(output->ring + at, data, part);
		output->total_bytes += part;
		data += part;
		bytes -= part;
	}
}

int output_drain(struct output *output, int fd)
{
	static char buffer[65536];

	for (;;) {
		ssize_t n = read(fd, buffer, sizeof(buffer));

		if (n > 0)
			output_add(output, buffer, (size_t)n);
		else if (!n)
			return 0;
		else if (errno != EINTR)
			return errno == EAGAIN;
	}
}

size_t output_straighten(struct output *output)
{
	size_t start = output->total_bytes % AGENT_OUTPUT_MAX;
	char *copy;

	if (output->total_bytes <= AGENT_OUTPUT_MAX)
		return (size_t)output->total_bytes;
	copy = malloc(AGENT_OUTPUT_MAX);
	if (!copy)
		abort();
	memcpy(copy, output->ring + start, AGENT_OUTPUT_MAX - start);
	memcpy(copy + AGENT_OUTPUT_MAX - start, output->ring, start);
	memcpy(output->ring, copy, AGENT_OUTPUT_MAX);
	free(copy);
	return AGENT_OUTPUT_MAX;
}

void output_last_line(const struct output *output, size_t bytes, char *line, size_t size)
{
	const char *end = output->ring + bytes;
	const char *start;
	size_t used = 0;

	while (end > output->ring && isspace((unsigned char)end[-1]))
		end--;
	/* A carriage return is how progress is shown in place. */
	for (start = end; start > output->ring && start[-1] != '\n' && start[-1] != '\r'; start--)
		;
	for (; start < end && used + 1 < size; start++)
		line[used++] = isprint((unsigned char)*start) ? *start : '?';
	line[used] = '\0';
}
