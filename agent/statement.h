/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to the readers of a job: one statement of it. */
#ifndef NUMALAB_AGENT_STATEMENT_H
#define NUMALAB_AGENT_STATEMENT_H

#include "agent/job.h"

/* Fields of one statement, decoded. @fields[0] is the keyword. */
struct statement {
	char **fields;
	size_t n_fields;
	unsigned line;
};

#define BAD(statement, fault, format, ...)                                                         \
	(fault_set(fault, "setup", "job line %u: " format, (statement)->line, ##__VA_ARGS__), -1)

/** statement_grow() - @array with one more zeroed element of @size bytes; out of memory, PID 1 has no way on, and aborts */
void *statement_grow(void *array, size_t *count, size_t size);

/** statement_copy() - @count fields and a NULL; as statement_grow() */
char **statement_copy(char **fields, size_t count);

int statement_number(const struct statement *s, size_t field, uint64_t *value, struct fault *fault);

/** statement_step() - the step that field 1 names, given before. Return: NULL with @fault. */
struct job_step *statement_step(const struct statement *s, struct job *job, struct fault *fault);

/* What is to be collected of a step (agent/job_collect.c). */
int job_parse_profile(const struct statement *s, struct job *job, struct fault *fault);
int job_parse_stat(const struct statement *s, struct job *job, struct fault *fault);
int job_parse_hist(const struct statement *s, struct job *job, struct fault *fault);
int job_parse_series(const struct statement *s, struct job *job, struct fault *fault);

#endif
