/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The devices of a job: NVDIMMs, found by their size, or virtio disks, found by their serial number. Names follow no order. */
#ifndef NUMALAB_AGENT_DEVICES_H
#define NUMALAB_AGENT_DEVICES_H

#include <stdint.h>

#include "agent/fault.h"

/* Path of a device in /dev. */
struct device {
	char path[64];
};

/**
 * struct device_wanted
 * @role: "results": for messages; AGENT_SERIAL_PREFIX and it are the serial number of a disk
 * @bytes: of an NVDIMM, which has no serial number
 */
struct device_wanted {
	const char *role;
	uint64_t bytes;
};

/** devices_use_disks() - from now on devices are virtio disks */
void devices_use_disks(void);

/**
 * devices_listen() - start to hear of new devices
 *
 * Before the drivers are loaded, so that no device appears between a look and the wait for the
 * next. Return: a descriptor for devices_wait(), or -1 (devices_wait() then only looks once).
 */
int devices_listen(void);

/**
 * devices_wait() - wait until there is the device of @wanted
 * @listener: from devices_listen()
 * @deadline_ns: CLOCK_MONOTONIC value after which to give up
 * @fault: stage "setup", lists the devices that are there; also when two fit
 *
 * Drivers may probe asynchronously, so devices can come after their module was loaded.
 * Return: 0 or -1.
 */
int devices_wait(int listener, const struct device_wanted *wanted, uint64_t deadline_ns,
		 struct device *device, struct fault *fault);

#endif
