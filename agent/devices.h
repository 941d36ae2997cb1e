/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The NVDIMMs, found by their size: their names follow no order. */
#ifndef NUMALAB_AGENT_DEVICES_H
#define NUMALAB_AGENT_DEVICES_H

#include <stdint.h>

#include "agent/fault.h"

/* Path of a device in /dev. */
struct device {
	char path[64];
};

/**
 * devices_listen() - start to hear of new devices
 *
 * Before the drivers are loaded, so that no device appears between a look and the wait for the
 * next. Return: a descriptor for devices_wait(), or -1 (devices_wait() then only looks once).
 */
int devices_listen(void);

/**
 * devices_wait() - wait until there is a pmem device of @bytes
 * @listener: from devices_listen()
 * @deadline_ns: CLOCK_MONOTONIC value after which to give up
 * @role: what the device is for, for the message
 * @fault: stage "setup", lists the devices that are there with their sizes; also when two have that
 * size
 *
 * Drivers may probe asynchronously, so devices can come after their module was loaded.
 * Return: 0 or -1.
 */
int devices_wait(int listener, uint64_t bytes, const char *role, uint64_t deadline_ns,
		 struct device *device, struct fault *fault);

#endif
