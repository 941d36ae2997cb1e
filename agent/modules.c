/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/modules.h"

/* Return: NULL, or what is wrong. */
static const char *load(const struct job_module *module)
{
	int fd = open(module->path, O_RDONLY | O_CLOEXEC);
	int error = 0;

	if (fd < 0)
		return strerror(errno);
	if (syscall(SYS_finit_module, fd, "", 0))
		error = errno;
	close(fd);
	switch (error) {
	case 0:
	case EEXIST:
		return NULL;
	/* A soft dependency may be on all drivers of one algorithm: this CPU may lack what some want. */
	case ENODEV:
		return module->wanted ? strerror(error) : NULL;
	/* What the kernel means, where strerror() would mislead. */
	case ENOENT:
		return "it needs a symbol of a module that is not loaded (see dmesg)";
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
		const struct job_module *module = &job->modules[i];
		const char *wrong = load(module);

		if (wrong && !result)
			result = fault_set(fault, "setup", "loading module %s: %s", module->path,
					   wrong);
	}
	return result;
}

int modules_probe(const struct job *job, struct fault *fault)
{
	for (size_t i = 0; i < job->n_modules; i++) {
		char *argv[] = {"modprobe", "--", job->modules[i].path, NULL};
		int status = -1;
		pid_t pid;
		int error = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);

		if (!error)
			while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
				;
		if (error)
			return fault_set(fault, "setup", "modprobe: %s", strerror(error));
		if (status)
			return fault_set(fault, "setup", "modprobe %s failed (exit %d)", argv[2],
					 WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	}
	return 0;
}
