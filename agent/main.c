/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the kernel's hand to power-off, as PID 1 of the guest; or, in a guest with a disk and an init of its own, as one of its
 * services. protocol.h is its contract.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/devices.h"
#include "agent/fields.h"
#include "agent/files.h"
#include "agent/job.h"
#include "agent/modules.h"
#include "agent/mounts.h"
#include "agent/progress.h"
#include "agent/protocol.h"
#include "agent/records.h"
#include "agent/settings.h"
#include "agent/steps.h"
#include "agent/verify.h"

/* Guest time for all NVDIMMs to appear after their drivers were loaded. */
#define DEVICES_WAIT_NS 30000000000ull

static struct records records = {.fd = -1};
static struct job job;
static struct fault fault;
static bool is_service;

__attribute__((noreturn)) static void power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	/* A machine without power-off: at least stop. PID 1 must not return. */
	reboot(RB_HALT_SYSTEM);
	for (;;)
		pause();
}

/* The kernel's log: its last bytes when there is no room for all of it. Best effort, safe in a handler. */
static void record_log(void)
{
	static char log[1 << 20]; /* larger than CONFIG_LOG_BUF_SHIFT of distributions makes it */
	struct fault ignored;
	int bytes = klogctl(3 /* SYSLOG_ACTION_READ_ALL */, log, sizeof(log));
	size_t room = records_room(&records, "dmesg");
	size_t used = bytes > 0 ? (size_t)bytes : 0;
	size_t skipped = used > room ? used - room : 0;

	if (used > skipped)
		records_add(&records, AGENT_REC_LOG, "dmesg", log + skipped, used - skipped,
			    clock_ns(), &ignored);
}

static void record_fail(const struct fault *why)
{
	static char data[3 * sizeof(why->message) + 512];
	struct text text = {.data = data, .size = sizeof(data)};
	struct fault ignored;

	text_add(&text, "stage", why->stage);
	if (why->step[0])
		text_add(&text, "step", why->step);
	text_add(&text, "message", why->message);
	records_add(&records, AGENT_REC_FAIL, "", text.data, text.used, clock_ns(), &ignored);
}

__attribute__((noreturn)) static void fail(void)
{
	progress_fail(fault.stage, fault.message);
	record_log();
	record_fail(&fault);
	power_off();
}

/* The agent's own end: say so with what is safe in a handler, then power off. */
static void on_crash(int number)
{
	static struct fault crash;

	signal(number, SIG_DFL);
	fault_set(&crash, "agent", "the agent was killed by signal %d (%s)", number,
		  number == SIGABRT ? "out of memory" : strsignal(number));
	record_log();
	record_fail(&crash);
	progress_fail(crash.stage, crash.message);
	power_off();
}

static void catch_crashes(void)
{
	static const int numbers[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};
	static char stack[65536];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = on_crash, .sa_flags = SA_ONSTACK};
	sigset_t children;

	sigaltstack(&alternate, NULL);
	sigfillset(&action.sa_mask);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		sigaction(numbers[i], &action, NULL);
	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	sigprocmask(SIG_BLOCK, &children, NULL);
}

/* The environment of every step; also where execvp() looks. */
static void set_environment(void)
{
	clearenv();
	setenv("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
	setenv("HOME", "/root", 1);
	setenv("LC_ALL", "C", 1);
	setenv("TZ", "UTC0", 1);
	umask(022);
	/* Depends on nothing outside: uname -n is in the output of some programs. */
	(void)!sethostname("numalab", 7);
}

/* Descriptors 0 to 2: a kernel without /dev/console in its initrd gives none. */
static void set_descriptors(void)
{
	int fd = open("/dev/null", O_RDWR);

	if (fd < 0)
		return;
	dup2(fd, 0);
	dup2(fd, 1);
	dup2(fd, 2);
	if (fd > 2)
		close(fd);
}

static void record_start(void)
{
	static char data[16384];
	struct text text = {.data = data, .size = sizeof(data)};
	char *command_line = file_read("/proc/cmdline", NULL);
	char *clock_source =
		file_read("/sys/devices/system/clocksource/clocksource0/current_clocksource", NULL);
	char *init = file_read("/proc/1/comm", NULL);
	struct utsname name;

	uname(&name);
	text_add(&text, "release", name.release);
	text_add(&text, "version", name.version);
	text_add(&text, "agent", NUMALAB_VERSION);
	text_add_number(&text, "clock_ns", clock_ns());
	text_add_number(&text, "boot_clock_ns", clock_read_ns(CLOCK_BOOTTIME));
	if (command_line) {
		command_line[strcspn(command_line, "\n")] = '\0';
		text_add(&text, "cmdline", command_line);
	}
	if (clock_source) {
		clock_source[strcspn(clock_source, "\n")] = '\0';
		text_add(&text, "clocksource", clock_source);
	}
	if (init) {
		init[strcspn(init, "\n")] = '\0';
		text_add(&text, "init", init);
	}
	free(init);
	free(command_line);
	free(clock_source);
	if (records_add(&records, AGENT_REC_START, "", text.data, text.used, clock_ns(), &fault))
		fail();
	progress_say("start");
}

struct devices {
	struct device image, scratch, files;
};

/* A device that the job has no bytes of is not waited for. */
static void find_device(int listener, uint64_t bytes, const char *role, uint64_t deadline_ns,
			struct device *device)
{
	struct device_wanted wanted = {role, bytes};

	if (bytes && devices_wait(listener, &wanted, deadline_ns, device, &fault))
		fail();
}

/* /dev/scratch2 and /mnt/scratch2, and so on. */
static void set_up_more_scratch(int listener, uint64_t deadline_ns)
{
	for (uint64_t i = 2; i < job.more_scratch + 2; i++) {
		char role[32];
		struct device device;

		snprintf(role, sizeof(role), "scratch%llu", (unsigned long long)i);
		find_device(listener, 1, role, deadline_ns, &device);
		if (mounts_scratch(device.path, role, &fault))
			fail();
	}
}

/*
 * Up to the START record. A fault on the way is kept until the results device is there, so that it
 * can be told on it; only a fault of that device itself goes to progress and console alone.
 */
static void set_up(char *job_text, struct devices *devices)
{
	struct fault results_fault;
	struct device results;
	int listener = devices_listen();
	int faulty = job_parse(job_text, &job, &fault);
	struct device_wanted wanted = {"results", job.results_bytes};
	uint64_t deadline_ns;

	if (faulty && !job.results_bytes)
		fail();
	if ((is_service ? modules_probe : modules_load)(&job, faulty ? &results_fault : &fault))
		faulty = 1;
	deadline_ns = clock_ns() + DEVICES_WAIT_NS;
	if (devices_wait(listener, &wanted, deadline_ns, &results, &results_fault) ||
	    records_open(&records, results.path, job.results_bytes, &results_fault)) {
		if (faulty)
			fault_add(&fault, "%s", results_fault.message);
		else
			fault = results_fault;
		fail();
	}
	record_start();
	if (faulty)
		fail();
	find_device(listener, job.image_bytes, "image", deadline_ns, &devices->image);
	find_device(listener, job.scratch_bytes, "scratch", deadline_ns, &devices->scratch);
	find_device(listener, job.files_bytes, "files", deadline_ns, &devices->files);
	set_up_more_scratch(listener, deadline_ns);
	if (listener >= 0)
		close(listener);
}

/* Settings, then everything is compared with the job: of a wrong kernel that is told, not what it can not be set to. */
static void set_and_verify(void)
{
	static char data[65536];
	static struct fault unset;
	struct text text = {.data = data, .size = sizeof(data)};
	struct fault full;
	int not_set = settings_apply(&job, &unset);
	int differs = verify_machine(&job, &text, &fault);

	for (size_t i = 0; !not_set && i < job.n_settings; i++) {
		char key[128];

		snprintf(key, sizeof(key), "setting.%s", job.settings[i].name);
		text_add(&text, key, job.settings[i].value);
	}
	if (records_add(&records, AGENT_REC_VERIFY, "", text.data, text.used, clock_ns(), &full) &&
	    !differs) {
		fault = full;
		differs = 1;
	}
	if (differs && not_set)
		fault_add(&fault, "%s", unset.message);
	else if (not_set)
		fault = unset;
	if (differs || not_set)
		fail();
	progress_say("verified");
}

static void record_end(void)
{
	char data[128];
	struct text text = {.data = data, .size = sizeof(data)};

	record_log();
	text_add_number(&text, "steps", job.n_steps);
	text_add_number(&text, "clock_ns", clock_ns());
	if (records_add(&records, AGENT_REC_END, "", text.data, text.used, clock_ns(), &fault))
		fail();
	progress_say("end");
}

static void set_up_mounts(const struct devices *devices)
{
	const char *scratch = job.scratch_bytes ? devices->scratch.path : NULL;

	if ((job.image_bytes && mounts_root(devices->image.path, job.image_type, &fault)) ||
	    (job.files_bytes && mounts_files(devices->files.path, &fault)) ||
	    (is_service ? mounts_service : mounts_work)(&fault) ||
	    mounts_scratch(scratch, "scratch", &fault))
		fail();
}

/* Return: path of the job, or NULL: this is no place for the agent. */
static const char *where_am_i(int argc, char **argv)
{
	is_service = argc == 3 && !strcmp(argv[1], "service") && getppid() == 1;
	if (is_service)
		return argv[2];
	return getpid() == 1 ? AGENT_JOB_PATH : NULL;
}

int main(int argc, char **argv)
{
	const char *job_path = where_am_i(argc, argv);
	struct devices devices;
	char *job_text;

	if (!job_path) {
		fprintf(stderr, "numalab-agent " NUMALAB_VERSION
				" is PID 1 or a service of a guest and does nothing elsewhere\n");
		return 2;
	}
	catch_crashes();
	set_environment();
	if (is_service)
		devices_use_disks();
	else if (mounts_kernel(&fault))
		fail();
	set_descriptors();
	progress_open();
	progress_say("agent %s", NUMALAB_VERSION);
	job_text = file_read(job_path, NULL);
	if (!job_text) {
		fault_set(&fault, "setup", "the job %s: %s", job_path, strerror(errno));
		fail();
	}
	set_up(job_text, &devices);
	set_up_mounts(&devices);
	set_and_verify();
	if (job.settle_ns) {
		struct timespec settle = clock_timespec(job.settle_ns);

		while (clock_nanosleep(CLOCK_MONOTONIC, 0, &settle, &settle) == EINTR)
			;
	}
	if (steps_run(&job, &records, &fault))
		fail();
	record_end();
	power_off();
}
