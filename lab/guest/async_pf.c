// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/async_pf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/guest/qmp.h"

/* Linux's HYPERVISOR_CALLBACK_VECTOR, 0xf3: the vector of "ready" since 5.8, and of nothing else in a guest of KVM. */
static const struct {
	const char *name, *filter;
} events[] = {
	[LAB_ASYNC_PF_NOT_PRESENT] = {"kvm_async_pf_not_present"},
	[LAB_ASYNC_PF_READY] = {"kvm_async_pf_ready"},
	[LAB_ASYNC_PF_INTERRUPTS] = {"kvm_apic_accept_irq", "vec == 0xf3"},
};

/* ---- read back ------------------------------------------------------------------------------- */

gboolean lab_async_pf_read_back(virDomainPtr domain, LabAsyncPf asked, char **text, GError **error)
{
	g_autofree char *cpu = lab_qmp_first_cpu(domain, error);
	gboolean older, by_interrupt;
	LabAsyncPf found;

	if (!cpu || !lab_qmp_switch(domain, cpu, "kvm-asyncpf", &older, error) ||
	    !lab_qmp_switch(domain, cpu, "kvm-asyncpf-int", &by_interrupt, error))
		return FALSE;
	*text = g_strdup_printf("kvm-asyncpf=%s kvm-asyncpf-int=%s", older ? "on" : "off",
				by_interrupt ? "on" : "off");
	found = older && by_interrupt	? LAB_ASYNC_PF_ON
		: !older && by_interrupt ? LAB_ASYNC_PF_INT_ONLY
		: !older		 ? LAB_ASYNC_PF_OFF
					 : LAB_ASYNC_PF_DEFAULT;
	if (asked == LAB_ASYNC_PF_DEFAULT || asked == found)
		return TRUE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "asked for async-pf %s, but QEMU has %s",
		    lab_async_pf_name(asked), *text);
	return FALSE;
}

/* ---- count ----------------------------------------------------------------------------------- */

struct LabAsyncPfCounter {
	GArray *fds[LAB_ASYNC_PF_N_COUNTS]; /* of int: one for each thread */
};

/* Number of a tracepoint for perf_event_open(), 0 when there is none. */
static guint64 tracepoint(const char *name)
{
	static const char *const roots[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

	for (gsize i = 0; i < G_N_ELEMENTS(roots); i++) {
		g_autofree char *path =
			g_build_filename(roots[i], "events", "kvm", name, "id", NULL);
		g_autofree char *text = NULL;

		if (g_file_get_contents(path, &text, NULL, NULL))
			return g_ascii_strtoull(text, NULL, 10);
	}
	return 0;
}

static gboolean open_event(GArray *fds, guint64 id, const char *filter, pid_t thread)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof attr,
		.config = id,
		.inherit = 1,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, thread, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return FALSE;
	g_array_append_val(fds, fd);
	return !filter || ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter) == 0;
}

/* A thread that has ended meanwhile is none. */
static gboolean open_threads(GArray *fds, guint64 id, const char *filter, pid_t qemu)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/task", (int)qemu);
	g_autoptr(GDir) tasks = g_dir_open(path, 0, NULL);
	const char *name;

	while (tasks && (name = g_dir_read_name(tasks)))
		if (!open_event(fds, id, filter, (pid_t)g_ascii_strtoll(name, NULL, 10)) &&
		    errno != ESRCH)
			return FALSE;
	return fds->len > 0;
}

LabAsyncPfCounter *lab_async_pf_count(pid_t qemu, char **why)
{
	g_autoptr(LabAsyncPfCounter) counter = g_new0(LabAsyncPfCounter, 1);

	for (int i = 0; i < LAB_ASYNC_PF_N_COUNTS; i++) {
		guint64 id = tracepoint(events[i].name);

		counter->fds[i] = g_array_new(FALSE, FALSE, sizeof(int));
		if (!id) {
			*why = g_strdup_printf("no tracepoint kvm:%s (is tracefs mounted, and "
					       "readable?)",
					       events[i].name);
			return NULL;
		}
		if (!open_threads(counter->fds[i], id, events[i].filter, qemu)) {
			*why = g_strdup_printf("perf_event_open: %s", g_strerror(errno));
			return NULL;
		}
	}
	return g_steal_pointer(&counter);
}

static gint64 sum(const GArray *fds)
{
	guint64 total = 0, value;

	for (guint i = 0; i < fds->len; i++)
		if (read(g_array_index(fds, int, i), &value, sizeof value) == sizeof value)
			total += value;
	return (gint64)total;
}

void lab_async_pf_counted(const LabAsyncPfCounter *counter, gint64 counts[LAB_ASYNC_PF_N_COUNTS])
{
	for (int i = 0; i < LAB_ASYNC_PF_N_COUNTS; i++)
		counts[i] = sum(counter->fds[i]);
}

void lab_async_pf_counter_free(LabAsyncPfCounter *counter)
{
	if (!counter)
		return;
	for (int i = 0; i < LAB_ASYNC_PF_N_COUNTS; i++) {
		for (guint j = 0; counter->fds[i] && j < counter->fds[i]->len; j++)
			close(g_array_index(counter->fds[i], int, j));
		if (counter->fds[i])
			g_array_unref(counter->fds[i]);
	}
	g_free(counter);
}
