/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/devices.h"
#include "agent/files.h"

int devices_listen(void)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = 1};
	int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
			NETLINK_KOBJECT_UEVENT);

	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address))) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Look for a pmem device of @bytes. @seen gets a text of what is there. Return: how many have that
 * size. */
static int look(uint64_t bytes, struct device *device, char *seen, size_t seen_size)
{
	DIR *dir = opendir("/sys/block");
	struct dirent *entry;
	size_t used = 0;
	int count = 0;

	seen[0] = '\0';
	while (dir && (entry = readdir(dir))) {
		char path[300];
		char *text;
		uint64_t size;

		if (strncmp(entry->d_name, "pmem", 4))
			continue;
		snprintf(path, sizeof(path), "/sys/block/%s/size", entry->d_name);
		text = file_read(path, NULL);
		size = text ? strtoull(text, NULL, 10) * 512 : 0;
		free(text);
		if (used < seen_size)
			used += (size_t)snprintf(seen + used, seen_size - used, "%s%s of %llu",
						 used ? ", " : "", entry->d_name,
						 (unsigned long long)size);
		if (size != bytes)
			continue;
		count++;
		snprintf(device->path, sizeof(device->path), "/dev/%.50s", entry->d_name);
	}
	if (dir)
		closedir(dir);
	return count;
}

/* Block until something happened to a device. Return: 0, or -1 at the deadline. */
static int wait_event(int listener, uint64_t deadline_ns)
{
	struct pollfd poll_fd = {.fd = listener, .events = POLLIN};
	uint64_t now = clock_ns();
	struct timespec left;
	char event[8192];

	if (listener < 0 || now >= deadline_ns)
		return -1;
	left = clock_timespec(deadline_ns - now);
	if (ppoll(&poll_fd, 1, &left, NULL) <= 0)
		return -1;
	/* What happened does not matter: sysfs is looked at anew. ENOBUFS (events lost) is an
	 * event, too. */
	while (recv(listener, event, sizeof(event), 0) >= 0 || errno == ENOBUFS || errno == EINTR)
		;
	return 0;
}

int devices_wait(int listener, uint64_t bytes, const char *role, uint64_t deadline_ns,
		 struct device *device, struct fault *fault)
{
	struct device found;
	char seen[1024];
	int count;

	while (!(count = look(bytes, &found, seen, sizeof(seen)))) {
		if (wait_event(listener, deadline_ns))
			return fault_set(fault, "setup",
					 "%s device: wanted a pmem device of %llu bytes, found %s",
					 role, (unsigned long long)bytes,
					 seen[0] ? seen : "none at all");
	}
	if (count > 1)
		return fault_set(fault, "setup", "%s device: %d devices have %llu bytes: %s", role,
				 count, (unsigned long long)bytes, seen);
	*device = found;
	return 0;
}
