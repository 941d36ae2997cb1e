/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readers of the texts in which Linux tells about itself: pure functions, no files. */
#ifndef NUMALAB_AGENT_KERNEL_TEXT_H
#define NUMALAB_AGENT_KERNEL_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ID_SET_MAX 1024u
#define ID_LIST_MAX 4096u /* bytes that id_set_format() needs at most, in practice less */

/* A set of CPU or node numbers. */
struct id_set {
	uint64_t bits[ID_SET_MAX / 64];
};

void id_set_add(struct id_set *set, unsigned id);
bool id_set_has(const struct id_set *set, unsigned id);
bool id_set_equal(const struct id_set *a, const struct id_set *b);
bool id_set_empty(const struct id_set *set);
void id_set_union(struct id_set *into, const struct id_set *other);

/** id_set_parse() - kernel list form ("0-3,8", "" is empty). Return: 0, or -1 and @set untouched.
 */
int id_set_parse(const char *list, struct id_set *set);

/** id_set_format() - kernel list form; cut if @size is too small */
void id_set_format(const struct id_set *set, char *out, size_t size);

/**
 * zoneinfo_present() - pages that each node has, from /proc/zoneinfo ("present" of all its zones)
 * @pages: (out): indexed by node; 0 for a node that has none or is not in the text
 * @count: length of @pages
 */
void zoneinfo_present(const char *zoneinfo, uint64_t *pages, size_t count);

/** counter_find() - the value behind "@name " at the start of a line, as in /proc/vmstat */
bool counter_find(const char *text, const char *name, uint64_t *value);

/**
 * value_matches() - whether a settings file that reads as @found holds @wanted
 *
 * White space around is ignored and runs of it are one blank. A file that shows choices ("always
 * [madvise] never") matches by what is in brackets, and only by that.
 */
bool value_matches(const char *found, const char *wanted);

/**
 * notes_build_id() - the GNU build id in ELF notes (/sys/kernel/notes)
 * @hex: (out): lower-case hexadecimal, NUL-terminated
 *
 * Return: 0, or -1 when there is none (or it does not fit in @size).
 */
int notes_build_id(const void *notes, size_t bytes, char *hex, size_t size);

#endif
