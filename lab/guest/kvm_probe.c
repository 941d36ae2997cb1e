/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/guest/kvm_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/base/process.h"
#include "lab/guest/kvm_guest.h"

#define CPUID_ENTRIES 256
#define EXITS_MAX 64		/* the guest makes two */
#define CPUID_XSAVE (1u << 26)	/* leaf 1, ECX */
#define CPUID_RDTSCP (1u << 27) /* leaf 0x80000001, EDX */

static const char *const state_names[] = {"works", "absent", "refused", "broken"};

const char *lab_kvm_state_name(LabKvmState state)
{
	return state_names[state];
}

char *lab_kvm_probe_text(const LabKvmProbe *probe)
{
	if (probe->state == LAB_KVM_WORKS)
		return g_strdup_printf(LAB_KVM_DEVICE " works: %s", probe->message);
	if (probe->state == LAB_KVM_BROKEN)
		return g_strdup_printf(LAB_KVM_DEVICE " opens but runs no guest: at %s: %s",
				       probe->stage, probe->message);
	return g_strdup(probe->message);
}

void lab_kvm_probe_free(LabKvmProbe *probe)
{
	if (!probe)
		return;
	g_free(probe->stage);
	g_free(probe->message);
	g_free(probe);
}

static LabKvmProbe *found(LabKvmState state, const char *stage, const char *format, ...)
	G_GNUC_PRINTF(3, 4);

static LabKvmProbe *found(LabKvmState state, const char *stage, const char *format, ...)
{
	LabKvmProbe *probe = g_new0(LabKvmProbe, 1);
	va_list ap;

	va_start(ap, format);
	probe->state = state;
	probe->stage = g_strdup(stage);
	probe->message = g_strdup_vprintf(format, ap);
	va_end(ap);
	return probe;
}

/* Shared with the thread that executes the guest; leaked on purpose when that does not come back.
 */
typedef struct {
	int vcpu;
	struct kvm_run *run;
	KvmGuestReport *report;
	GMutex lock;
	GCond ended;
	LabKvmProbe *probe; /* set when the guest has ended */
} Guest;

static LabKvmProbe *judge_end(const KvmGuestReport *report)
{
	const char *stage = kvm_guest_stage_name(report->stage);

	if (report->exception)
		return found(LAB_KVM_BROKEN, stage, "exception %u", report->exception - 1u);
	if (report->wrong)
		return found(LAB_KVM_BROKEN, stage, "the instruction had a wrong result");
	if (!report->done)
		return found(LAB_KVM_BROKEN, stage, "the guest ended early");
	return found(LAB_KVM_WORKS, stage, "a guest in long mode ran to its end");
}

static LabKvmProbe *execute(Guest *guest)
{
	struct kvm_run *run = guest->run;
	const KvmGuestReport *report = guest->report;

	for (guint exits = 0; exits < EXITS_MAX; exits++) {
		const char *stage;
		int rc = ioctl(guest->vcpu, KVM_RUN, 0);

		stage = kvm_guest_stage_name(report->stage);
		if (rc < 0 && errno == EINTR)
			continue;
		if (rc < 0)
			return found(LAB_KVM_BROKEN, stage, "KVM_RUN: %s", g_strerror(errno));
		switch (run->exit_reason) {
		case KVM_EXIT_IO:
			if (run->io.port == KVM_GUEST_EXIT_PORT)
				return judge_end(report);
			break;
		case KVM_EXIT_INTERNAL_ERROR:
			return found(LAB_KVM_BROKEN, stage, "KVM_EXIT_INTERNAL_ERROR, suberror %u",
				     run->internal.suberror);
		case KVM_EXIT_FAIL_ENTRY:
			return found(
				LAB_KVM_BROKEN, stage,
				"KVM_EXIT_FAIL_ENTRY, hardware reason 0x%llx",
				(unsigned long long)run->fail_entry.hardware_entry_failure_reason);
		case KVM_EXIT_SHUTDOWN:
			return found(LAB_KVM_BROKEN, stage, "KVM_EXIT_SHUTDOWN (triple fault)");
		default:
			return found(LAB_KVM_BROKEN, stage, "KVM exit reason %u, not expected",
				     run->exit_reason);
		}
	}
	return found(LAB_KVM_BROKEN, kvm_guest_stage_name(report->stage),
		     "the guest does not get past an exit");
}

static gpointer execute_thread(gpointer data)
{
	Guest *guest = data;
	LabKvmProbe *probe = execute(guest);

	g_mutex_lock(&guest->lock);
	guest->probe = probe;
	g_cond_signal(&guest->ended);
	g_mutex_unlock(&guest->lock);
	return NULL;
}

/* Takes @guest. */
static LabKvmProbe *execute_with_deadline(Guest *guest)
{
	gint64 deadline = g_get_monotonic_time() + LAB_KVM_GUEST_MS * 1000;
	LabKvmProbe *probe;
	GThread *thread;

	g_mutex_init(&guest->lock);
	g_cond_init(&guest->ended);
	thread = g_thread_new("vcpu", execute_thread, guest);
	g_mutex_lock(&guest->lock);
	while (!guest->probe && g_cond_wait_until(&guest->ended, &guest->lock, deadline))
		;
	probe = guest->probe;
	g_mutex_unlock(&guest->lock);
	if (!probe)
		return found(LAB_KVM_BROKEN, kvm_guest_stage_name(guest->report->stage),
			     "the guest did not go on within %d s", LAB_KVM_GUEST_MS / 1000);
	g_thread_join(thread);
	g_mutex_clear(&guest->lock);
	g_cond_clear(&guest->ended);
	g_free(guest);
	return probe;
}

/* The vCPU gets all that KVM offers. Returns NULL and what the guest may try of it. */
static LabKvmProbe *set_cpuid(int kvm, int vcpu, KvmGuestFeatures *features)
{
	g_autofree struct kvm_cpuid2 *cpuid = g_malloc0(
		sizeof(struct kvm_cpuid2) + CPUID_ENTRIES * sizeof(struct kvm_cpuid_entry2));

	cpuid->nent = CPUID_ENTRIES;
	if (ioctl(kvm, KVM_GET_SUPPORTED_CPUID, cpuid) < 0)
		return found(LAB_KVM_BROKEN, "create-vcpu", "KVM_GET_SUPPORTED_CPUID: %s",
			     g_strerror(errno));
	if (ioctl(vcpu, KVM_SET_CPUID2, cpuid) < 0)
		return found(LAB_KVM_BROKEN, "create-vcpu", "KVM_SET_CPUID2: %s",
			     g_strerror(errno));
	for (guint i = 0; i < cpuid->nent; i++) {
		const struct kvm_cpuid_entry2 *entry = &cpuid->entries[i];

		if (entry->function == 1)
			features->xsave = (entry->ecx & CPUID_XSAVE) != 0;
		if (entry->function == 0x80000001)
			features->rdtscp = (entry->edx & CPUID_RDTSCP) != 0;
	}
	return NULL;
}

static LabKvmProbe *set_registers(int vcpu, const KvmGuestFeatures *features)
{
	struct kvm_sregs sregs;
	struct kvm_regs regs;

	if (ioctl(vcpu, KVM_GET_SREGS, &sregs) < 0)
		return found(LAB_KVM_BROKEN, "registers", "KVM_GET_SREGS: %s", g_strerror(errno));
	kvm_guest_registers(&sregs, &regs, features);
	if (ioctl(vcpu, KVM_SET_SREGS, &sregs) < 0)
		return found(LAB_KVM_BROKEN, "registers", "KVM_SET_SREGS: %s", g_strerror(errno));
	if (ioctl(vcpu, KVM_SET_REGS, &regs) < 0)
		return found(LAB_KVM_BROKEN, "registers", "KVM_SET_REGS: %s", g_strerror(errno));
	return NULL;
}

static LabKvmProbe *probe_vcpu(int kvm, int vm, guint8 *memory)
{
	g_autofree Guest *guest = g_new0(Guest, 1);
	LabKvmProbe *bad;
	KvmGuestFeatures features = {0};
	int bytes = ioctl(kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	void *run;

	guest->vcpu = ioctl(vm, KVM_CREATE_VCPU, 0);
	if (guest->vcpu < 0)
		return found(LAB_KVM_BROKEN, "create-vcpu", "KVM_CREATE_VCPU: %s",
			     g_strerror(errno));
	run = mmap(NULL, bytes > 0 ? (gsize)bytes : 4096, PROT_READ | PROT_WRITE, MAP_SHARED,
		   guest->vcpu, 0);
	if (run == MAP_FAILED)
		return found(LAB_KVM_BROKEN, "create-vcpu", "mapping the vCPU: %s",
			     g_strerror(errno));
	guest->run = run;
	bad = set_cpuid(kvm, guest->vcpu, &features);
	if (bad)
		return bad;
	guest->report = kvm_guest_setup(memory, &features);
	bad = set_registers(guest->vcpu, &features);
	return bad ? bad : execute_with_deadline(g_steal_pointer(&guest));
}

static LabKvmProbe *probe_vm(int kvm)
{
	struct kvm_userspace_memory_region region = {.memory_size = KVM_GUEST_BYTES};
	int vm = ioctl(kvm, KVM_CREATE_VM, 0);
	void *memory;

	if (vm < 0)
		return found(LAB_KVM_BROKEN, "create-vm", "KVM_CREATE_VM: %s", g_strerror(errno));
	/* Intel CPUs without unrestricted guests need a place for it; others do not mind. */
	ioctl(vm, KVM_SET_TSS_ADDR, 0xfffbd000);
	/* Before the vCPU, which then has a local APIC. */
	if (ioctl(vm, KVM_CREATE_IRQCHIP, 0) < 0)
		return found(LAB_KVM_BROKEN, "create-irqchip", "KVM_CREATE_IRQCHIP: %s",
			     g_strerror(errno));
	memory = mmap(NULL, KVM_GUEST_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (memory == MAP_FAILED)
		return found(LAB_KVM_BROKEN, "memory", "%s", g_strerror(errno));
	region.userspace_addr = (guint64)(guintptr)memory;
	if (ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region) < 0)
		return found(LAB_KVM_BROKEN, "memory", "KVM_SET_USER_MEMORY_REGION: %s",
			     g_strerror(errno));
	return probe_vcpu(kvm, vm, memory);
}

/* Descriptors and mappings are left to the end of the process: the guest's thread may still use
 * them. */
LabKvmProbe *lab_kvm_probe_here(const char *device)
{
	int kvm = open(device, O_RDWR | O_CLOEXEC), version;

	if (kvm < 0 && (errno == ENOENT || errno == ENXIO || errno == ENODEV))
		return found(LAB_KVM_ABSENT, "open", "%s: %s", device, g_strerror(errno));
	if (kvm < 0)
		return found(LAB_KVM_REFUSED, "open", "%s: %s", device, g_strerror(errno));
	version = ioctl(kvm, KVM_GET_API_VERSION, 0);
	if (version != KVM_API_VERSION)
		return found(LAB_KVM_BROKEN, "open",
			     "%s is no KVM device (KVM_GET_API_VERSION: %d)", device, version);
	return probe_vm(kvm);
}

char *lab_kvm_probe_report(const LabKvmProbe *probe)
{
	return g_strdup_printf("%s\t%s\t%s\n", lab_kvm_state_name(probe->state), probe->stage,
			       probe->message);
}

static LabKvmProbe *parse_report(const char *text, GError **error)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", 2);
	g_auto(GStrv) fields = g_strsplit(lines[0] ? lines[0] : "", "\t", 3);

	for (guint i = 0; g_strv_length(fields) == 3 && i < G_N_ELEMENTS(state_names); i++)
		if (!strcmp(fields[0], state_names[i]))
			return found((LabKvmState)i, fields[1], "%s", fields[2]);
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "the KVM probe reported '%s'",
		    lines[0] ? lines[0] : "");
	return NULL;
}

typedef struct {
	GMainLoop *loop;
	GBytes *out;
	gboolean done;
} Read;

static void on_read(GObject *source, GAsyncResult *result, gpointer data)
{
	Read *r = data;

	g_subprocess_communicate_finish(G_SUBPROCESS(source), result, &r->out, NULL, NULL);
	r->done = TRUE;
	g_main_loop_quit(r->loop);
}

static gboolean on_deadline(gpointer data)
{
	g_cancellable_cancel(data);
	return G_SOURCE_REMOVE;
}

/*
 * Not lab_process_run(): that waits for a killed child, and one that is stuck in the kernel's KVM
 * code may never end. The cancelled read ends without the child.
 */
LabKvmProbe *lab_kvm_probe(const char *const *argv, GError **error)
{
	g_autoptr(GMainContext) context = g_main_context_new();
	g_autoptr(GMainLoop) loop = g_main_loop_new(context, FALSE);
	g_autoptr(GCancellable) cancellable = g_cancellable_new();
	g_autoptr(GSubprocessLauncher) launcher =
		g_subprocess_launcher_new(G_SUBPROCESS_FLAGS_STDOUT_PIPE);
	g_autoptr(GSubprocess) child = NULL;
	g_autoptr(GSource) timer = g_timeout_source_new(LAB_KVM_PROBE_MS);
	Read r = {.loop = loop};
	LabKvmProbe *probe;

	g_subprocess_launcher_set_child_setup(launcher, lab_process_child_setup, NULL, NULL);
	g_main_context_push_thread_default(context);
	child = g_subprocess_launcher_spawnv(launcher, argv, error);
	if (child) {
		g_source_set_callback(timer, on_deadline, cancellable, NULL);
		g_source_attach(timer, context);
		g_subprocess_communicate_async(child, NULL, cancellable, on_read, &r);
		while (!r.done)
			g_main_loop_run(loop);
		g_source_destroy(timer);
		g_subprocess_force_exit(child);
	}
	g_main_context_pop_thread_default(context);
	if (!child)
		return NULL;
	if (!r.out)
		return found(LAB_KVM_BROKEN, "start", "the probe did not end within %d s",
			     LAB_KVM_PROBE_MS / 1000);
	if (!g_bytes_get_size(r.out))
		probe = found(LAB_KVM_BROKEN, "start", "the probe died");
	else {
		g_autofree char *text =
			g_strndup(g_bytes_get_data(r.out, NULL), g_bytes_get_size(r.out));

		probe = parse_report(text, error);
	}
	g_bytes_unref(r.out);
	return probe;
}
