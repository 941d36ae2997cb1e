// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * numalab-emulator: what libvirt starts as <emulator>. Ties QEMU to the guard of its boot, then
 * becomes QEMU.
 *
 * NUMALAB_GUARD=PID   the guard; QEMU gets SIGKILL when it ends. Unset: no tie (libvirt probing
 * capabilities). NUMALAB_QEMU=PATH   what to execute; unset: qemu-system-x86_64 of PATH.
 *
 * A QEMU with -icount, the exact clock, gets numalab-tlbclock.so of our own directory preloaded, and nothing else.
 *
 * libvirt starts QEMU by a double fork: at first the parent is the process in between, and the
 * guard, a subreaper, becomes the parent when that one exits. The death signal is sent for whoever
 * is the parent when it exits, so it is armed with a harmless blocked signal first, which also
 * tells of the change of parents. A death signal survives execve() of a program without set-user-ID
 * bits.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "lab/guest/ram_backend.h"

#define QEMU "qemu-system-x86_64"
#define EXIT_CANNOT_TIE 125
#define EXIT_CANNOT_EXECUTE 126
#define TLB_CLOCK "numalab-tlbclock.so"
/* The process in between has nothing left to do but exit. */
#define PARENT_EXIT_S 10

static int tie_to(pid_t guard)
{
	const struct timespec patience = {.tv_sec = PARENT_EXIT_S};
	sigset_t notice, old;

	sigemptyset(&notice);
	sigaddset(&notice, SIGUSR1);
	if (sigprocmask(SIG_BLOCK, &notice, &old) < 0 || prctl(PR_SET_PDEATHSIG, SIGUSR1) < 0)
		return -1;
	/* Armed before looking: the parent is the guard now, or its exit will be told. */
	while (getppid() != guard) {
		if (kill(guard, 0) < 0 && errno == ESRCH)
			return -1;
		if (sigtimedwait(&notice, NULL, &patience) < 0 && errno != EINTR)
			return -1;
	}
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
		return -1;
	/* The guard may have ended before SIGKILL was armed. A SIGUSR1 that is pending then dies
	 * with us. */
	if (getppid() != guard)
		return -1;
	while (sigtimedwait(&notice, NULL, &(struct timespec){0}) > 0)
		;
	return sigprocmask(SIG_SETMASK, &old, NULL);
}

static bool is_exact(char **argv)
{
	for (; *argv; argv++)
		if (!strcmp(*argv, "-icount"))
			return true;
	return false;
}

/* The loader only warns of a library that it cannot preload, so look first. */
static int preload_tlb_clock(void)
{
	char path[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", path, sizeof path - sizeof TLB_CLOCK);
	char *name;

	if (length < 0)
		return -1;
	path[length] = 0;
	name = strrchr(path, '/') + 1;
	strcpy(name, TLB_CLOCK);
	if (access(path, R_OK) == 0)
		return setenv("LD_PRELOAD", path, 1);
	fprintf(stderr, "numalab-emulator: %s: %s; it is built and installed with numalab\n", path, strerror(errno));
	return -1;
}

int main(int argc, char **argv)
{
	const char *guard = getenv("NUMALAB_GUARD"), *qemu = getenv("NUMALAB_QEMU");

	if (guard && tie_to((pid_t)atol(guard)) < 0) {
		fprintf(stderr, "numalab-emulator: the guard %s is gone\n", guard);
		return EXIT_CANNOT_TIE;
	}
	if (is_exact(argv) && preload_tlb_clock() < 0)
		return EXIT_CANNOT_EXECUTE;
	unsetenv("NUMALAB_GUARD");
	unsetenv("NUMALAB_QEMU");
	lab_argv_drop_ram_backend(argv);
	argv[0] = (char *)(qemu ? qemu : QEMU);
	execvp(argv[0], argv);
	fprintf(stderr, "numalab-emulator: cannot execute %s: %s\n", argv[0], strerror(errno));
	return EXIT_CANNOT_EXECUTE;
}
