/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <dirent.h>
#include <errno.h>
#include <linux/netlink.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/devices.h"
#include "agent/files.h"
#include "agent/protocol.h"

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

static bool use_disks;

void devices_use_disks(void)
{
	use_disks = true;
}

/* What tells a device from the others: a serial number, or its bytes. */
static void read_mark(const char *name, char *mark, size_t size)
{
	char path[300];
	char *text;

	snprintf(path, sizeof(path), "/sys/block/%s/%s", name, use_disks ? "serial" : "size");
	text = file_read(path, NULL);
	if (use_disks)
		snprintf(mark, size, "%.*s", text ? (int)strcspn(text, "\n") : 0, text ? text : "");
	else
		snprintf(mark, size, "%llu", text ? strtoull(text, NULL, 10) * 512 : 0);
	free(text);
}

static void wanted_mark(const struct device_wanted *wanted, char *mark, size_t size)
{
	if (use_disks)
		snprintf(mark, size, AGENT_SERIAL_PREFIX "%s", wanted->role);
	else
		snprintf(mark, size, "%llu", (unsigned long long)wanted->bytes);
}

/* Look for the device. @seen gets a text of what is there. Return: how many fit. */
static int look(const struct device_wanted *wanted, struct device *device, char *seen,
		size_t seen_size)
{
	const char *prefix = use_disks ? "vd" : "pmem";
	DIR *dir = opendir("/sys/block");
	struct dirent *entry;
	char mark[64], found[64];
	size_t used = 0;
	int count = 0;

	seen[0] = '\0';
	wanted_mark(wanted, mark, sizeof(mark));
	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, prefix, strlen(prefix)))
			continue;
		read_mark(entry->d_name, found, sizeof(found));
		if (used < seen_size)
			used += (size_t)snprintf(seen + used, seen_size - used, "%s%s of %s",
						 used ? ", " : "", entry->d_name, found);
		if (strcmp(found, mark))
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

int devices_wait(int listener, const struct device_wanted *wanted, uint64_t deadline_ns,
		 struct device *device, struct fault *fault)
{
	const char *what = use_disks ? "virtio disk with serial number" : "pmem device of bytes";
	struct device found;
	char seen[1024], mark[64];
	int count;

	wanted_mark(wanted, mark, sizeof(mark));
	while (!(count = look(wanted, &found, seen, sizeof(seen)))) {
		if (wait_event(listener, deadline_ns))
			return fault_set(fault, "setup", "%s device: wanted a %s %s, found %s",
					 wanted->role, what, mark, seen[0] ? seen : "none at all");
	}
	if (count > 1)
		return fault_set(fault, "setup", "%s device: %d devices fit %s %s: %s",
				 wanted->role, count, what, mark, seen);
	*device = found;
	return 0;
}
