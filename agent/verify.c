/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <cpuid.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/files.h"
#include "agent/verify.h"

#define NODE_DIR "/sys/devices/system/node"
#define CPU_DIR "/sys/devices/system/cpu"

struct verify {
	const struct job *job;
	struct text *found;
	struct fault *fault;
	struct id_set cpus_online;
	struct id_set nodes_online;
	uint64_t present_bytes[JOB_NODES_MAX];
	unsigned asked[JOB_NODES_MAX]; /* the job's number of each node of the kernel */
};

/* A file of one line, without its newline; "" when it is not there. Free with free(). */
static char *read_line(const char *path)
{
	char *text = file_read(path, NULL);

	if (!text)
		text = calloc(1, 1);
	if (!text)
		abort();
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static void read_set(struct verify *v, const char *path, const char *key, struct id_set *set)
{
	char *line = read_line(path);

	memset(set, 0, sizeof(*set));
	text_add(v->found, key, line);
	if (id_set_parse(line, set))
		fault_add(v->fault, "%s: can not read '%s'", path, line);
	free(line);
}

static void compare(struct verify *v, const char *what, const char *wanted, const char *found)
{
	if (strcmp(wanted, found))
		fault_add(v->fault, "%s: wanted %s, found %s", what, *wanted ? wanted : "none",
			  *found ? found : "none");
}

static void compare_sets(struct verify *v, const char *what, const struct id_set *wanted,
			 const struct id_set *found)
{
	char wanted_list[ID_LIST_MAX], found_list[ID_LIST_MAX];

	id_set_format(wanted, wanted_list, sizeof(wanted_list));
	id_set_format(found, found_list, sizeof(found_list));
	compare(v, what, wanted_list, found_list);
}

static void verify_kernel(struct verify *v)
{
	struct utsname name;
	char build_id[129] = "";
	size_t bytes = 0;
	char *notes = file_read("/sys/kernel/notes", &bytes);

	uname(&name);
	text_add(v->found, "release", name.release);
	compare(v, "kernel release", v->job->release, name.release);
	if (notes && !notes_build_id(notes, bytes, build_id, sizeof(build_id)))
		text_add(v->found, "build_id", build_id);
	free(notes);
	if (v->job->build_id)
		compare(v, "kernel build id", v->job->build_id, build_id);
}

static void verify_numa_balancing(struct verify *v)
{
	char *line = read_line("/proc/sys/kernel/numa_balancing");
	char wanted[2] = {(char)('0' + v->job->numa_balancing), '\0'};

	if (*line)
		text_add(v->found, "numa_balancing", line);
	/* A kernel without it does not balance. */
	if (v->job->numa_balancing >= 0)
		compare(v, "numa_balancing", wanted, *line ? line : "0");
	free(line);
}

static void verify_cpus(struct verify *v)
{
	struct id_set present, wanted = {0};

	read_set(v, CPU_DIR "/present", "cpus_present", &present);
	read_set(v, CPU_DIR "/online", "cpus_online", &v->cpus_online);
	for (size_t i = 0; i < v->job->n_nodes; i++)
		id_set_union(&wanted, &v->job->nodes[i].cpus);
	if (v->job->kind == JOB_KIND_ANY)
		wanted = present;
	compare_sets(v, "CPUs online", &wanted, &v->cpus_online);
}

static void read_memory(struct verify *v)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	char *zoneinfo = file_read("/proc/zoneinfo", NULL);

	if (!zoneinfo) {
		fault_add(v->fault, "/proc/zoneinfo: not there");
		return;
	}
	zoneinfo_present(zoneinfo, v->present_bytes, JOB_NODES_MAX);
	for (size_t i = 0; i < JOB_NODES_MAX; i++)
		v->present_bytes[i] *= page_bytes;
	free(zoneinfo);
}

static unsigned first_cpu(const struct job_node *node)
{
	unsigned cpu = 0;

	while (cpu < ID_SET_MAX && !id_set_has(&node->cpus, cpu))
		cpu++;
	return cpu;
}

/* Where the firmware tables first name @node: CPUs come in their order, then memory in the order of nodes. */
static unsigned rank(const struct job_node *node, unsigned id)
{
	unsigned cpu = first_cpu(node);

	if (cpu < ID_SET_MAX)
		return cpu;
	return ID_SET_MAX + (node->bytes ? 0 : JOB_NODES_MAX) + id;
}

/*
 * Linux numbers nodes as the SRAT names them (acpi_map_pxm_to_node() takes the next free number), and QEMU's SRAT
 * has all CPUs before all memory. So a node without CPUs comes behind all that have some, whatever number it was
 * asked for with. numa=fake numbers by address.
 */
static void number_nodes(struct verify *v)
{
	const struct job *job = v->job;

	for (unsigned id = 0; id < JOB_NODES_MAX; id++)
		v->asked[id] = id;
	if (job->kind != JOB_KIND_VNUMA)
		return;
	for (unsigned id = 0; id < job->n_nodes; id++) {
		unsigned number = 0;

		for (unsigned other = 0; other < job->n_nodes; other++)
			number += rank(&job->nodes[other], other) < rank(&job->nodes[id], id);
		v->asked[number] = id;
	}
}

static const struct job_node *asked_node(const struct verify *v, unsigned id)
{
	return &v->job->nodes[v->asked[id]];
}

/* Nodes that have neither CPUs nor memory are never online; all others are. */
static void verify_nodes_online(struct verify *v)
{
	struct id_set wanted = {0};

	for (unsigned i = 0; i < v->job->n_nodes; i++) {
		const struct job_node *node = asked_node(v, i);

		if (node->bytes || !id_set_empty(&node->cpus))
			id_set_add(&wanted, i);
	}
	compare_sets(v, "nodes online", &wanted, &v->nodes_online);
}

static void verify_node_cpus(struct verify *v, unsigned id)
{
	const struct job_node *node = asked_node(v, id);
	struct id_set cpus;
	char path[80], key[40], what[40];

	snprintf(path, sizeof(path), NODE_DIR "/node%u/cpulist", id);
	snprintf(key, sizeof(key), "node.%u.cpus", id);
	snprintf(what, sizeof(what), "CPUs of node %u", id);
	read_set(v, path, key, &cpus);
	/* numa=fake: every CPU is in every node. */
	compare_sets(v, what, v->job->kind == JOB_KIND_FAKE ? &v->cpus_online : &node->cpus, &cpus);
}

static void verify_node_memory(struct verify *v, unsigned id)
{
	uint64_t wanted = asked_node(v, id)->bytes;
	uint64_t found = v->present_bytes[id];
	uint64_t less = VERIFY_MISSING_BYTES, more = 0;
	char key[40];

	snprintf(key, sizeof(key), "node.%u.present_bytes", id);
	text_add_number(v->found, key, found);
	if (v->job->kind == JOB_KIND_FAKE) {
		less += 2 * VERIFY_FAKE_STEP_BYTES;
		more += 2 * VERIFY_FAKE_STEP_BYTES;
	}
	if (!wanted)
		less = more = 0;
	if (found > wanted + more || found + less < wanted || (wanted && !found))
		fault_add(v->fault, "memory of node %u: wanted %llu bytes, found %llu", id,
			  (unsigned long long)wanted, (unsigned long long)found);
}

static void verify_memory_sum(struct verify *v)
{
	uint64_t wanted = 0, found = 0;

	for (unsigned i = 0; i < JOB_NODES_MAX; i++) {
		wanted += v->job->nodes[i].bytes;
		found += v->present_bytes[i];
	}
	if (found > wanted || found + VERIFY_MISSING_BYTES < wanted)
		fault_add(v->fault, "memory of all nodes: wanted %llu bytes, found %llu",
			  (unsigned long long)wanted, (unsigned long long)found);
}

/* The kernel shows the distances to nodes that are online, only. */
static void verify_node_distances(struct verify *v, unsigned id)
{
	const struct job_node *node = asked_node(v, id);
	char path[80], key[40], what[40];
	char wanted[JOB_NODES_MAX * 4 + 1] = "";
	size_t used = 0;
	char *found;

	snprintf(path, sizeof(path), NODE_DIR "/node%u/distance", id);
	snprintf(key, sizeof(key), "node.%u.distances", id);
	snprintf(what, sizeof(what), "distances of node %u", id);
	found = read_line(path);
	text_add(v->found, key, found);
	for (unsigned to = 0; to < v->job->n_nodes; to++) {
		unsigned distance =
			v->job->kind == JOB_KIND_FAKE ? 10 : node->distances[v->asked[to]];

		if (id_set_has(&v->nodes_online, to))
			used += (size_t)snprintf(wanted + used, sizeof(wanted) - used, "%s%u",
						 used ? " " : "", distance);
	}
	if (node->n_distances || v->job->kind == JOB_KIND_FAKE)
		compare(v, what, wanted, found);
	free(found);
}

static void verify_nodes(struct verify *v)
{
	struct id_set ignored;

	read_set(v, NODE_DIR "/online", "nodes_online", &v->nodes_online);
	read_set(v, NODE_DIR "/possible", "nodes_possible", &ignored);
	read_set(v, NODE_DIR "/has_cpu", "nodes_with_cpus", &ignored);
	read_set(v, NODE_DIR "/has_memory", "nodes_with_memory", &ignored);
	if (v->job->kind == JOB_KIND_ANY)
		return;
	number_nodes(v);
	read_memory(v);
	verify_nodes_online(v);
	for (unsigned id = 0; id < JOB_NODES_MAX; id++) {
		if (id >= v->job->n_nodes && !v->present_bytes[id])
			continue;
		if (v->asked[id] != id) {
			char key[40];

			snprintf(key, sizeof(key), "node.%u.asked", id);
			text_add_number(v->found, key, v->asked[id]);
		}
		verify_node_memory(v, id);
		if (!id_set_has(&v->nodes_online, id))
			continue;
		verify_node_cpus(v, id);
		verify_node_distances(v, id);
	}
	verify_memory_sum(v);
}

/* The value of the first line of /proc/cpuinfo that starts with @name. */
static void tell_cpu(struct verify *v, const char *cpuinfo, const char *name, const char *key)
{
	const char *line = cpuinfo ? strstr(cpuinfo, name) : NULL;
	const char *value = line ? strchr(line, ':') : NULL;
	char text[4096];

	if (!value)
		return;
	value += strspn(value, ": ");
	snprintf(text, sizeof(text), "%.*s", (int)strcspn(value, "\n"), value);
	text_add(v->found, key, text);
}

#define CPUID_HYPERVISOR 0x40000000u
#define MSR_DEVICE "/dev/cpu/0/msr"
#define MSR_KVM_ASYNC_PF_EN 0x4b564d02
#define CPUID_KVM_FEATURES 0x40000001u
#define CPUID_1_ECX_HYPERVISOR (1u << 31)

/* What this kernel has told KVM of asynchronous page faults, for the first CPU, where the driver of MSRs is there to tell it. */
static void verify_async_pf(struct verify *v)
{
	int fd = open(MSR_DEVICE, O_RDONLY | O_CLOEXEC);
	uint64_t value;
	char text[32];

	if (fd < 0)
		return;
	if (pread(fd, &value, sizeof(value), MSR_KVM_ASYNC_PF_EN) == sizeof(value)) {
		snprintf(text, sizeof(text), "%#llx", (unsigned long long)value);
		text_add(v->found, "async_pf_msr", text);
		if ((value & v->job->async_pf_mask) != v->job->async_pf_value)
			fault_add(v->fault,
				  "asynchronous page faults (MSR %#x): wanted %#llx of %#llx, "
				  "found %s",
				  MSR_KVM_ASYNC_PF_EN, (unsigned long long)v->job->async_pf_value,
				  (unsigned long long)v->job->async_pf_mask, text);
	}
	close(fd);
}

/* Linux's Documentation/virt/kvm/x86/cpuid.rst */
static void verify_hypervisor(struct verify *v)
{
	unsigned eax, ebx, ecx, edx, features = 0;
	char signature[13] = "";
	char text[24];

	__cpuid(1, eax, ebx, ecx, edx);
	if (ecx & CPUID_1_ECX_HYPERVISOR) {
		__cpuid(CPUID_HYPERVISOR, eax, ebx, ecx, edx);
		memcpy(signature, &ebx, 4);
		memcpy(signature + 4, &ecx, 4);
		memcpy(signature + 8, &edx, 4);
	}
	text_add(v->found, "hypervisor", signature);
	if (!strcmp(signature, "KVMKVMKVM")) {
		__cpuid(CPUID_KVM_FEATURES, features, ebx, ecx, edx);
		snprintf(text, sizeof(text), "%#x", features);
		text_add(v->found, "kvm_features", text);
		verify_async_pf(v);
	}
	if ((features & v->job->kvm_mask) != v->job->kvm_value)
		fault_add(v->fault, "KVM's features (CPUID): wanted %#llx of %#llx, found %#x",
			  (unsigned long long)v->job->kvm_value,
			  (unsigned long long)v->job->kvm_mask, features);
}

int verify_machine(const struct job *job, struct text *found, struct fault *fault)
{
	struct verify v = {.job = job, .found = found, .fault = fault};
	char *cpuinfo = file_read("/proc/cpuinfo", NULL);

	fault_set(fault, "verify", "%s", "");
	verify_kernel(&v);
	verify_cpus(&v);
	verify_nodes(&v);
	verify_numa_balancing(&v);
	tell_cpu(&v, cpuinfo, "model name", "cpu_model");
	tell_cpu(&v, cpuinfo, "flags", "cpu_flags");
	verify_hypervisor(&v);
	free(cpuinfo);
	return fault->message[0] ? -1 : 0;
}
