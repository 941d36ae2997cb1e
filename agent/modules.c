/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/modules.h"

/* Return: 0 or an errno value. */
static int load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int error = 0;

	if (fd < 0)
		return errno;
	if (syscall(SYS_finit_module, fd, "", 0))
		error = errno;
	close(fd);
	/*
	 * ENODEV: a soft dependency offers drivers for hardware that the guest may lack (crc32c-intel on a CPU without
	 * SSE 4.2), as modprobe would load them. Whether what is needed is there shows when devices and mounts are set up.
	 */
	return error == EEXIST || error == ENODEV ? 0 : error;
}

/* What the kernel means, where strerror() would mislead. */
static const char *reason(int error)
{
	switch (error) {
	case ENOENT:
		return "no such file, or it needs a symbol of a module that is not loaded (see "
		       "dmesg)";
	case ENOEXEC:
		return "it is not a module for this kernel (see dmesg)";
	default:
		return strerror(error);
	}
}

int modules_load(const struct job *job, struct fault *fault)
{
	int result = 0;

	for (size_t i = 0; i < job->n_modules; i++) {
		int error = load(job->modules[i]);

		if (error && !result)
			result = fault_set(fault, "setup", "loading module %s: %s", job->modules[i],
					   reason(error));
	}
	return result;
}
