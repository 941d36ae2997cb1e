/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/files.h"

char *file_read(const char *path, size_t *bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t used = 0, size = 16384;
	char *data;
	ssize_t n;

	if (fd < 0)
		return NULL;
	data = malloc(size);
	while (data && (n = read(fd, data + used, size - used - 1)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int error = errno;

			free(data);
			close(fd);
			errno = error;
			return NULL;
		}
		used += (size_t)n;
		if (used + 1 == size) {
			size *= 2;
			data = realloc(data, size);
		}
	}
	close(fd);
	if (!data)
		abort();
	data[used] = '\0';
	if (bytes)
		*bytes = used;
	return data;
}

int file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t bytes = strlen(text);
	ssize_t n;
	int error;

	if (fd < 0)
		return -1;
	n = write(fd, text, bytes);
	error = n < 0 ? errno : EIO;
	close(fd);
	if (n == (ssize_t)bytes)
		return 0;
	errno = error;
	return -1;
}

int dir_make(const char *path)
{
	char part[PATH_MAX];
	struct stat info;

	if (strlen(path) >= sizeof(part)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	snprintf(part, sizeof(part), "%s", path);
	for (char *at = part + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		if (mkdir(part, 0755) && errno != EEXIST)
			return -1;
		*at = '/';
	}
	if (!mkdir(part, 0755))
		return 0;
	if (errno != EEXIST || stat(part, &info))
		return -1;
	if (S_ISDIR(info.st_mode))
		return 0;
	errno = ENOTDIR;
	return -1;
}
