/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMALAB_AGENT_FILES_H
#define NUMALAB_AGENT_FILES_H

#include <stddef.h>

/**
 * file_read() - the whole of @path, which may be a file of /proc or /sys
 * @bytes: (out) (optional): its length
 *
 * Return: the bytes with a NUL behind, to be given to free(), or NULL with errno set.
 */
char *file_read(const char *path, size_t *bytes);

/** file_write() - write @text to the existing file @path, in one write(). Return: 0, or -1 with
 * errno set. */
int file_write(const char *path, const char *text);

/** dir_make() - mkdir -p, mode 0755. Return: 0, or -1 with errno set. */
int dir_make(const char *path);

#endif
