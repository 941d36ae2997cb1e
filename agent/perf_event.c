/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/files.h"
#include "agent/kernel_text.h"
#include "agent/perf_event.h"

#define EVENTS "/sys/kernel/tracing/events"

#define CACHE(cache, op, result)                                                                   \
	(PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 |                          \
	 PERF_COUNT_HW_CACHE_RESULT_##result << 16)

/* As perf list names them. */
static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
} named[] = {
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
	{"cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES},
	{"cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
	{"branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	{"branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
	{"bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES},
	{"ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES},
	{"stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND},
	{"stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND},
	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
	{"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
	{"page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS},
	{"minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN},
	{"major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ},
	{"context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES},
	{"cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS},
	{"alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS},
	{"emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS},
	{"L1-dcache-loads", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, ACCESS)},
	{"L1-dcache-load-misses", PERF_TYPE_HW_CACHE, CACHE(L1D, READ, MISS)},
	{"LLC-loads", PERF_TYPE_HW_CACHE, CACHE(LL, READ, ACCESS)},
	{"LLC-load-misses", PERF_TYPE_HW_CACHE, CACHE(LL, READ, MISS)},
	{"dTLB-loads", PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, ACCESS)},
	{"dTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(DTLB, READ, MISS)},
	{"iTLB-load-misses", PERF_TYPE_HW_CACHE, CACHE(ITLB, READ, MISS)},
	{"node-loads", PERF_TYPE_HW_CACHE, CACHE(NODE, READ, ACCESS)},
	{"node-load-misses", PERF_TYPE_HW_CACHE, CACHE(NODE, READ, MISS)},
};

/* Names of tracepoints become paths: no others than the kernel has. */
static int is_tracepoint(const char *name)
{
	size_t system = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");
	const char *event = name + system + 1;

	return system && name[system] == ':' && *event &&
	       !event[strspn(event, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-*?")];
}

static int find_tracepoint(const char *name, uint64_t *config)
{
	char path[sizeof(EVENTS) + PERF_NAME_MAX + 8], *id, *colon;

	if (!is_tracepoint(name) || strlen(name) >= PERF_NAME_MAX)
		return -1;
	snprintf(path, sizeof(path), EVENTS "/%s/id", name);
	colon = strchr(path, ':');
	*colon = '/';
	id = file_read(path, NULL);
	if (!id)
		return -1;
	*config = strtoull(id, NULL, 10);
	free(id);
	return 0;
}

int perf_event_find(const char *name, uint32_t *type, uint64_t *config)
{
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		if (!strcmp(named[i].name, name)) {
			*type = named[i].type;
			*config = named[i].config;
			return 0;
		}
	*type = PERF_TYPE_TRACEPOINT;
	return find_tracepoint(name, config);
}

size_t perf_event_expand(const char *name, void (*each)(const char *name, void *data), void *data)
{
	const char *pattern = strchr(name, ':');
	char path[sizeof(EVENTS) + PERF_NAME_MAX], found[2 * PERF_NAME_MAX];
	struct dirent **entries;
	size_t matches = 0;
	int n;

	if (!pattern || !strpbrk(pattern, "*?") || !is_tracepoint(name)) {
		each(name, data);
		return 1;
	}
	snprintf(path, sizeof(path), EVENTS "/%.*s", (int)(pattern - name), name);
	n = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		const char *event = entries[i]->d_name;

		if (entries[i]->d_type == DT_DIR && *event != '.' &&
		    strlen(event) < PERF_NAME_MAX && !fnmatch(pattern + 1, event, 0)) {
			snprintf(found, sizeof(found), "%.*s:%s", (int)(pattern - name), name, event);
			each(found, data);
			matches++;
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return matches;
}

int perf_event_open_on(struct perf_event_attr *attr, unsigned cpu)
{
	return (int)syscall(SYS_perf_event_open, attr, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

size_t perf_cpus(unsigned cpus[PERF_CPUS_MAX])
{
	char *text = file_read("/sys/devices/system/cpu/online", NULL);
	struct id_set online = {0};
	size_t n = 0;

	if (text) {
		text[strcspn(text, "\n")] = '\0';
		id_set_parse(text, &online);
	}
	free(text);
	for (unsigned cpu = 0; cpu < ID_SET_MAX && n < PERF_CPUS_MAX; cpu++)
		if (id_set_has(&online, cpu))
			cpus[n++] = cpu;
	return n;
}
