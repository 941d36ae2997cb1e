/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/fields.h"
#include "agent/files.h"
#include "agent/profile.h"

#define PAGE 4096u

/* What agent/protocol.h says of samples; a host need not look at the attributes. */
#define SAMPLE_TYPE                                                                                \
	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |                   \
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN)

static void set_attributes(struct profile *profile, const char *event)
{
	const struct job_collect *collect = &profile->step->collect;
	struct perf_event_attr *attr = &profile->attr;
	uint32_t type = 0;
	uint64_t config = 0;

	*attr = (struct perf_event_attr){
		.size = sizeof(*attr),
		.sample_type = SAMPLE_TYPE,
		.disabled = 1,
		.exclude_idle = 1, /* an idle CPU does no work that could be anybody's share */
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.task = 1,
		.sample_id_all = 1, /* what CPUs say has to be put in order */
		.watermark = 1,
		.wakeup_watermark = (uint32_t)(collect->ring_bytes / 2),
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.build_id = 1,
	};
	perf_event_find(event, &type, &config);
	attr->type = type;
	attr->config = config;
	/* A clock has its period; how many cycles there are in a second, the kernel finds out. */
	if (type == PERF_TYPE_SOFTWARE) {
		attr->sample_period = 1000000000u / collect->frequency;
	} else {
		attr->freq = 1;
		attr->sample_freq = collect->frequency;
	}
}

static void close_rings(struct profile *profile)
{
	for (size_t i = 0; i < profile->n_rings; i++) {
		munmap(profile->rings[i].page, PAGE + profile->step->collect.ring_bytes);
		close(profile->rings[i].fd);
	}
	profile->n_rings = 0;
}

static int open_ring(struct profile *profile, unsigned cpu)
{
	struct profile_ring *ring = &profile->rings[profile->n_rings];
	int fd = perf_event_open_on(&profile->attr, cpu);
	void *map;

	/* Build IDs of what is mapped: Linux 5.12 and newer. */
	if (fd < 0 && errno == EINVAL && profile->attr.build_id) {
		profile->attr.build_id = 0;
		fd = perf_event_open_on(&profile->attr, cpu);
	}
	if (fd < 0)
		return -1;
	map = mmap(NULL, PAGE + profile->step->collect.ring_bytes, PROT_READ | PROT_WRITE,
		   MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		close(fd);
		return -1;
	}
	*ring = (struct profile_ring){.fd = fd, .cpu = cpu, .page = map};
	profile->n_rings++;
	return 0;
}

static int open_rings(struct profile *profile, const char *event)
{
	unsigned cpus[PERF_CPUS_MAX];
	size_t n = perf_cpus(cpus);

	set_attributes(profile, event);
	for (size_t i = 0; i < n; i++) {
		if (!open_ring(profile, cpus[i]))
			continue;
		profile->error = errno;
		close_rings(profile);
		return -1;
	}
	profile->event = event;
	return 0;
}

/* A process of before is told of by nobody else. */
static size_t add_comm(char *to, const char *pid)
{
	char path[64], *comm;
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[16];
		struct {
			uint32_t pid, tid;
			uint64_t time;
			uint32_t cpu, reserved;
		} id;
	} record = {.header = {PERF_RECORD_COMM, PERF_RECORD_MISC_USER, sizeof(record)}};

	snprintf(path, sizeof(path), "/proc/%.16s/comm", pid);
	comm = file_read(path, NULL);
	if (!comm)
		return 0;
	comm[strcspn(comm, "\n")] = '\0';
	snprintf(record.comm, sizeof(record.comm), "%s", comm);
	free(comm);
	record.pid = record.tid = record.id.pid = record.id.tid = (uint32_t)atoi(pid);
	memcpy(to, &record, sizeof(record));
	return sizeof(record);
}

/* Names of the processes that are there already, as the first chunk. */
static void record_processes(struct profile *profile)
{
	struct agent_profile_chunk chunk = {.cpu = AGENT_PROFILE_NO_CPU};
	DIR *dir = profile->n_rings ? opendir("/proc") : NULL;
	size_t used = sizeof(chunk), size = used + profile->step->collect.ring_bytes;
	struct dirent *entry;
	struct fault ignored;

	if (!dir)
		return;
	memcpy(profile->copy, &chunk, sizeof(chunk));
	while ((entry = readdir(dir)) && used + 128 <= size)
		if (isdigit((unsigned char)entry->d_name[0]))
			used += add_comm(profile->copy + used, entry->d_name);
	closedir(dir);
	if (!records_add(profile->records, AGENT_REC_PROFILE, profile->step->name, profile->copy,
			 used, clock_ns(), &ignored))
		profile->bytes += used;
}

void profile_open(struct profile *profile, const struct job_step *step, struct records *records)
{
	const char *event = step->collect.profile_event;

	memset(profile, 0, sizeof(*profile));
	profile->step = step;
	profile->records = records;
	if (!event)
		return;
	profile->copy = malloc(sizeof(struct agent_profile_chunk) + step->collect.ring_bytes);
	if (!profile->copy) {
		profile->error = ENOMEM;
		return;
	}
	if (!strcmp(event, "auto") ? open_rings(profile, "cycles") : open_rings(profile, event))
		if (!strcmp(event, "auto"))
			open_rings(profile, "cpu-clock");
	record_processes(profile);
}

static void control(struct profile *profile, unsigned long request)
{
	for (size_t i = 0; i < profile->n_rings; i++)
		ioctl(profile->rings[i].fd, request, 0);
}

void profile_enable(struct profile *profile)
{
	control(profile, PERF_EVENT_IOC_ENABLE);
}

void profile_disable(struct profile *profile)
{
	control(profile, PERF_EVENT_IOC_DISABLE);
}

size_t profile_fds(const struct profile *profile, struct pollfd *fds)
{
	for (size_t i = 0; i < profile->n_rings; i++)
		fds[i] = (struct pollfd){.fd = profile->rings[i].fd, .events = POLLIN};
	return profile->n_rings;
}

/* Copy what the ring has. Return: how many bytes. */
static size_t take(struct profile *profile, struct profile_ring *ring)
{
	size_t size = profile->step->collect.ring_bytes;
	uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->page->data_tail;
	size_t bytes = (size_t)(head - tail), start = (size_t)(tail & (size - 1));
	size_t first = bytes < size - start ? bytes : size - start;
	char *to = profile->copy + sizeof(struct agent_profile_chunk);

	memcpy(to, (char *)ring->page + PAGE + start, first);
	memcpy(to + first, (char *)ring->page + PAGE, bytes - first);
	__atomic_store_n(&ring->page->data_tail, head, __ATOMIC_RELEASE);
	return bytes;
}

void profile_drain(struct profile *profile, size_t i)
{
	struct profile_ring *ring = &profile->rings[i];
	struct agent_profile_chunk chunk = {.cpu = ring->cpu};
	size_t bytes = take(profile, ring);
	size_t whole = bytes + sizeof(chunk);
	struct fault ignored;

	if (!bytes || profile->truncated)
		return;
	memcpy(profile->copy, &chunk, sizeof(chunk));
	/* A profile that is too large is cut, and the workload goes on. */
	if (profile->bytes + whole > profile->step->collect.profile_bytes ||
	    whole > records_room(profile->records, profile->step->name) ||
	    records_add(profile->records, AGENT_REC_PROFILE, profile->step->name, profile->copy,
			whole, clock_ns(), &ignored)) {
		profile->truncated = true;
		profile_disable(profile);
		return;
	}
	profile->bytes += whole;
}

int profile_end(struct profile *profile, uint64_t clock_ns, struct fault *fault)
{
	char data[1024];
	struct text text = {.data = data, .size = sizeof(data)};
	const struct perf_event_attr *attr = &profile->attr;

	if (!profile->step->collect.profile_event)
		return 0;
	for (size_t i = 0; i < profile->n_rings; i++)
		profile_drain(profile, i);
	text_add(&text, "asked", profile->step->collect.profile_event);
	if (profile->event) {
		text_add(&text, "event", profile->event);
		text_add_number(&text, "type", attr->type);
		text_add_number(&text, "config", attr->config);
		text_add_number(&text, "sample_type", attr->sample_type);
		text_add_number(&text, attr->freq ? "frequency" : "period", attr->sample_period);
		text_add_number(&text, "cpus", profile->n_rings);
		text_add_number(&text, "bytes", profile->bytes);
		text_add_number(&text, "truncated", profile->truncated);
	} else {
		text_add(&text, "not-supported", strerror(profile->error));
	}
	close_rings(profile);
	free(profile->copy);
	return records_add(profile->records, AGENT_REC_PROFILE_END, profile->step->name, text.data,
			   text.used, clock_ns, fault);
}

static int is_text(const char *line)
{
	const char *type = strchr(line, ' ');

	return type && type[1] && strchr("tTwW", type[1]);
}

/* No room: the profile is without names, and the boot as good as ever. */
static int record_symbols(struct records *records, const char *chunk, size_t bytes, bool *full,
			  struct fault *fault)
{
	*full |= bytes > records_room(records, "kallsyms");
	if (*full || !bytes)
		return 0;
	return records_add(records, AGENT_REC_SYMBOLS, "kallsyms", chunk, bytes, clock_ns(), fault);
}

int profile_symbols(struct records *records, struct fault *fault)
{
	static char chunk[256 * 1024], line[1024];
	FILE *file = fopen("/proc/kallsyms", "re");
	bool full = false;
	size_t used = 0;
	int status = 0;

	if (!file)
		return 0;
	while (!status && !full && fgets(line, sizeof(line), file)) {
		size_t bytes = strlen(line);

		if (!is_text(line))
			continue;
		if (used + bytes > sizeof(chunk)) {
			status = record_symbols(records, chunk, used, &full, fault);
			used = 0;
		}
		memcpy(chunk + used, line, bytes);
		used += bytes;
	}
	fclose(file);
	return status ? status : record_symbols(records, chunk, used, &full, fault);
}
