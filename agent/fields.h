/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Fields of the job and of text records: percent-encoded, as protocol.h says. */
#ifndef NUMALAB_AGENT_FIELDS_H
#define NUMALAB_AGENT_FIELDS_H

#include <stddef.h>
#include <stdint.h>

/** field_decode() - decode @field in place. Return: 0, or -1 if it is not a valid encoding. */
int field_decode(char *field);

/** field_number() - a decimal number, digits only. Return: 0, or -1 and @value untouched. */
int field_number(const char *field, uint64_t *value);

/* A text record under construction, in memory of the caller's. What does not fit is left out whole.
 */
struct text {
	char *data;
	size_t used;
	size_t size;
};

void text_add(struct text *text, const char *key, const char *value);
void text_add_number(struct text *text, const char *key, uint64_t value);

/** field_encode() - encode @value to @out, at most @size bytes with its NUL. Return: its length, or
 * 0 when it does not fit (@out is then ""). */
size_t field_encode(const char *value, char *out, size_t size);

#endif
