/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/kernel_text.h"

void id_set_add(struct id_set *set, unsigned id)
{
	if (id < ID_SET_MAX)
		set->bits[id / 64] |= 1ull << (id % 64);
}

bool id_set_has(const struct id_set *set, unsigned id)
{
	return id < ID_SET_MAX && (set->bits[id / 64] >> (id % 64) & 1);
}

bool id_set_equal(const struct id_set *a, const struct id_set *b)
{
	return !memcmp(a, b, sizeof(*a));
}

bool id_set_empty(const struct id_set *set)
{
	static const struct id_set empty;

	return id_set_equal(set, &empty);
}

void id_set_union(struct id_set *into, const struct id_set *other)
{
	for (size_t i = 0; i < ID_SET_MAX / 64; i++)
		into->bits[i] |= other->bits[i];
}

static int list_number(const char **at, unsigned *number)
{
	unsigned n = 0;

	if (!isdigit((unsigned char)**at))
		return -1;
	for (; isdigit((unsigned char)**at); ++*at) {
		n = n * 10 + (unsigned)(**at - '0');
		if (n >= ID_SET_MAX)
			return -1;
	}
	*number = n;
	return 0;
}

int id_set_parse(const char *list, struct id_set *set)
{
	struct id_set result = {0};
	const char *at = list;

	while (*at && *at != '\n') {
		unsigned first, last;

		if (list_number(&at, &first))
			return -1;
		last = first;
		if (*at == '-') {
			at++;
			if (list_number(&at, &last) || last < first)
				return -1;
		}
		for (unsigned id = first; id <= last; id++)
			id_set_add(&result, id);
		if (*at == ',' && at[1])
			at++;
		else if (*at && *at != '\n')
			return -1;
	}
	if (*at == '\n' && at[1])
		return -1;
	*set = result;
	return 0;
}

void id_set_format(const struct id_set *set, char *out, size_t size)
{
	size_t used = 0;

	if (size)
		out[0] = '\0';
	for (unsigned id = 0; id < ID_SET_MAX && used < size; id++) {
		unsigned last = id;

		if (!id_set_has(set, id))
			continue;
		while (id_set_has(set, last + 1))
			last++;
		used += (size_t)snprintf(out + used, size - used, "%s%u", used ? "," : "", id);
		if (last > id && used < size)
			used += (size_t)snprintf(out + used, size - used, "-%u", last);
		id = last;
	}
}

/* The line after the one at @line, or NULL. */
static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end && end[1] ? end + 1 : NULL;
}

void zoneinfo_present(const char *zoneinfo, uint64_t *pages, size_t count)
{
	unsigned node = ID_SET_MAX;

	memset(pages, 0, count * sizeof(*pages));
	for (const char *line = zoneinfo; line; line = next_line(line)) {
		unsigned long long present;

		if (sscanf(line, "Node %u, zone", &node) == 1)
			continue;
		line += strspn(line, " ");
		if (node < count && sscanf(line, "present %llu", &present) == 1)
			pages[node] += present;
	}
}

bool counter_find(const char *text, const char *name, uint64_t *value)
{
	size_t bytes = strlen(name);

	for (const char *line = text; line; line = next_line(line)) {
		if (strncmp(line, name, bytes) || line[bytes] != ' ')
			continue;
		*value = strtoull(line + bytes + 1, NULL, 10);
		return true;
	}
	return false;
}

/* Move @at to the next word before @end. Return: its length, 0 when there is none. */
static size_t next_word(const char **at, const char *end)
{
	size_t bytes = 0;

	while (*at < end && isspace((unsigned char)**at))
		++*at;
	while (*at + bytes < end && !isspace((unsigned char)(*at)[bytes]))
		bytes++;
	return bytes;
}

static bool same_words(const char *a, const char *a_end, const char *b, const char *b_end)
{
	for (;;) {
		size_t bytes = next_word(&a, a_end);

		if (next_word(&b, b_end) != bytes || memcmp(a, b, bytes))
			return false;
		if (!bytes)
			return true;
		a += bytes;
		b += bytes;
	}
}

bool value_matches(const char *found, const char *wanted)
{
	const char *open = strchr(found, '[');
	const char *close = open ? strchr(open, ']') : NULL;

	if (close)
		return same_words(open + 1, close, wanted, wanted + strlen(wanted));
	return same_words(found, found + strlen(found), wanted, wanted + strlen(wanted));
}

int notes_build_id(const void *notes, size_t bytes, char *hex, size_t size)
{
	const unsigned char *at = notes;
	const unsigned char *end = at + bytes;

	while ((size_t)(end - at) >= 12) {
		uint32_t head[3]; /* size of the name, size of the description, type */

		memcpy(head, at, sizeof(head));
		at += sizeof(head);
		uint64_t name_bytes = ((uint64_t)head[0] + 3) & ~3ull;
		uint64_t desc_bytes = ((uint64_t)head[1] + 3) & ~3ull;

		if (name_bytes + desc_bytes > (uint64_t)(end - at))
			return -1;
		if (head[2] == 3 && head[0] == 4 && !memcmp(at, "GNU", 4)) {
			if ((size_t)head[1] * 2 + 1 > size)
				return -1;
			for (uint32_t i = 0; i < head[1]; i++)
				snprintf(hex + (size_t)i * 2, 3, "%02x", at[name_bytes + i]);
			return 0;
		}
		at += name_bytes + desc_bytes;
	}
	return -1;
}
