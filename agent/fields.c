/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "agent/fields.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int field_decode(char *field)
{
	char *to = field;

	if (!strcmp(field, "%")) {
		*field = '\0';
		return 0;
	}
	if (!*field)
		return -1;
	for (const char *from = field; *from; from++) {
		if (*from < 0x21 || *from > 0x7e)
			return -1;
		if (*from != '%') {
			*to++ = *from;
			continue;
		}
		int high = hex_digit(from[1]);
		int low = high < 0 ? -1 : hex_digit(from[2]);

		/* A NUL would end the string early. */
		if (low < 0 || (!high && !low))
			return -1;
		*to++ = (char)(high << 4 | low);
		from += 2;
	}
	*to = '\0';
	return 0;
}

int field_number(const char *field, uint64_t *value)
{
	uint64_t n = 0;

	if (!*field)
		return -1;
	for (; *field; field++) {
		if (*field < '0' || *field > '9')
			return -1;
		if (__builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*field - '0'), &n))
			return -1;
	}
	*value = n;
	return 0;
}

size_t field_encode(const char *value, char *out, size_t size)
{
	static const char hex[] = "0123456789ABCDEF";
	size_t used = 0;

	if (!size)
		return 0;
	if (!*value)
		value = NULL;
	if (!value && size >= 2)
		out[used++] = '%';
	for (; value && *value; value++) {
		unsigned char c = (unsigned char)*value;
		int plain = c >= 0x21 && c <= 0x7e && c != '%';

		if (used + (plain ? 1 : 3) >= size) {
			out[0] = '\0';
			return 0;
		}
		if (plain) {
			out[used++] = (char)c;
			continue;
		}
		out[used++] = '%';
		out[used++] = hex[c >> 4];
		out[used++] = hex[c & 15];
	}
	out[used] = '\0';
	return used;
}

void text_add(struct text *text, const char *key, const char *value)
{
	size_t key_bytes = strlen(key);
	size_t room = text->size - text->used;
	size_t value_bytes;
	char *line = text->data + text->used;

	if (key_bytes + 3 > room)
		return;
	value_bytes = field_encode(value, line + key_bytes + 1, room - key_bytes - 1);
	if (!value_bytes)
		return;
	memcpy(line, key, key_bytes);
	line[key_bytes] = ' ';
	line[key_bytes + 1 + value_bytes] = '\n';
	text->used += key_bytes + value_bytes + 2;
}

void text_add_number(struct text *text, const char *key, uint64_t value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
	text_add(text, key, digits);
}
