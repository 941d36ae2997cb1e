// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/domain.h"

#include <libxml/tree.h>
#include <string.h>
#include <unistd.h>

#include "agent/protocol.h"
#include "lab/base/error.h"
#include "lab/base/qcow2.h"
#include "lab/guest/boot_files.h"
#include "lab/guest/domain_args.h"
#include "lab/guest/domain_pin.h"
#include "lab/guest/domain_xml.h"

#define QEMU_NAMESPACE "http://libvirt.org/schemas/domain/qemu/1.0"
/* The guest sees it (SMBIOS): a random one makes two boots differ. */
#define UUID "6e756d61-6c61-4200-8000-000000000001"
#define KIB 1024
/* QEMU's default depends on the host's memory, and a full cache ends the running CPU's turn. */
#define TB_CACHE_MIB 512

static xmlNode *element_uint(xmlNode *parent, const char *name, guint64 value)
{
	g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT, value);

	return lab_xml_element(parent, name, text, NULL);
}

/* A boot loader on the disk: it takes the kernel's arguments from the firmware's tables (lab/build/guestfs/make.c). */
static void add_firmware_arguments(xmlNode *domain, xmlNode *os, const char *args)
{
	xmlNode *info = lab_xml_element(domain, "sysinfo", NULL, "type", "smbios", NULL);

	lab_xml_element(lab_xml_element(info, "oemStrings", NULL, NULL), "entry", args, NULL);
	lab_xml_element(os, "smbios", NULL, "mode", "sysinfo", NULL);
}

static void add_os(xmlNode *domain, const LabBootJob *job, const char *dir)
{
	g_autofree char *initrd = g_canonicalize_filename(job->initrd_path, dir);
	g_autofree char *args = lab_domain_kernel_args(job);
	xmlNode *os = lab_xml_element(domain, "os", NULL, NULL);

	lab_xml_element(os, "type", "hvm", "arch", "x86_64", "machine", "q35", NULL);
	if (!*job->kernel_path) {
		add_firmware_arguments(domain, os, args);
		return;
	}
	lab_xml_element(os, "kernel", job->kernel_path, NULL);
	lab_xml_element(os, "initrd", initrd, NULL);
	lab_xml_element(os, "cmdline", args, NULL);
}

static void add_distances(xmlNode *cell, const LabTopology *t, guint from)
{
	xmlNode *distances = lab_xml_element(cell, "distances", NULL, NULL);

	for (guint to = 0; to < t->n_nodes; to++) {
		xmlNode *sibling = lab_xml_element(distances, "sibling", NULL, NULL);

		lab_xml_attribute_uint(sibling, "id", to);
		lab_xml_attribute_uint(sibling, "value", lab_topology_distance(t, from, to));
	}
}

static void add_nodes(xmlNode *cpu, const LabTopology *t)
{
	xmlNode *numa = lab_xml_element(cpu, "numa", NULL, NULL);

	for (guint i = 0; i < t->n_nodes; i++) {
		g_autofree char *cpus = lab_cpuset_format(&t->nodes[i].cpus);
		xmlNode *cell = lab_xml_element(numa, "cell", NULL, NULL);

		lab_xml_attribute_uint(cell, "id", i);
		if (*cpus)
			xmlNewProp(cell, BAD_CAST "cpus", BAD_CAST cpus);
		lab_xml_attribute_uint(cell, "memory", t->nodes[i].memory_bytes / KIB);
		xmlNewProp(cell, BAD_CAST "unit", BAD_CAST "KiB");
		add_distances(cell, t, i);
	}
}

/* Emulated, QEMU's "max": nothing of it comes from the host, and it has ARAT, which an exact guest of many CPUs
 * needs. */
static xmlNode *add_model(xmlNode *domain, const LabBootJob *job)
{
	xmlNode *cpu;

	if (job->clock != LAB_CLOCK_KVM)
		return lab_xml_element(domain, "cpu", NULL, "mode", "maximum", NULL);
	if (!g_strcmp0(job->cpu_model, "host"))
		return lab_xml_element(domain, "cpu", NULL, "mode", "host-passthrough", "check",
				       "none", "migratable", "off", NULL);
	cpu = lab_xml_element(domain, "cpu", NULL, "mode", "custom", "match", "exact", "check",
			      "full", NULL);
	lab_xml_element(cpu, "model", job->cpu_model, "fallback", "forbid", NULL);
	return cpu;
}

static void add_cpu(xmlNode *domain, const LabBootJob *job)
{
	const LabTopology *t = job->topology;
	xmlNode *cpu = add_model(domain, job);
	xmlNode *topology = lab_xml_element(cpu, "topology", NULL, NULL);

	lab_xml_attribute_uint(topology, "sockets", t->sockets);
	lab_xml_attribute_uint(topology, "dies", t->dies);
	lab_xml_attribute_uint(topology, "cores", t->cores);
	lab_xml_attribute_uint(topology, "threads", t->threads);
	if (job->invtsc)
		lab_xml_element(cpu, "feature", NULL, "policy", "require", "name", "invtsc", NULL);
	if (t->kind == LAB_TOPOLOGY_VNUMA && !lab_domain_nodes_by_args(t))
		add_nodes(cpu, t);
}

static void add_features(xmlNode *domain, const LabBootJob *job)
{
	xmlNode *features = lab_xml_element(domain, "features", NULL, NULL);
	xmlNode *tcg;

	lab_xml_element(features, "acpi", NULL, NULL);
	lab_xml_element(features, "apic", NULL, NULL);
	if (job->clock == LAB_CLOCK_KVM) {
		lab_xml_element(features, "pmu", NULL, "state", job->pmu ? "on" : "off", NULL);
		return;
	}
	/*
	 * SeaBIOS reads disks by system management mode where there is one, which changes the memory map each time; QEMU with a thread
	 * for each CPU has been seen to die of that in GRUB (iotlb_to_section(), its issue 1921).
	 */
	if (job->boot == LAB_BOOT_DISK)
		lab_xml_element(features, "smm", NULL, "state", "off", NULL);
	tcg = lab_xml_element(features, "tcg", NULL, NULL);
	xmlNewProp(element_uint(tcg, "tb-cache", TB_CACHE_MIB), BAD_CAST "unit", BAD_CAST "MiB");
}

static void add_clock(xmlNode *domain, const LabBootJob *job)
{
	g_autofree char *start =
		g_strdup_printf("%" G_GINT64_FORMAT, lab_domain_rtc_base(job->seed));
	xmlNode *clock =
		lab_xml_element(domain, "clock", NULL, "offset", "absolute", "start", start, NULL);

	/* Emulated, the guest's clock goes by the guest's time. */
	if (job->clock != LAB_CLOCK_KVM)
		lab_xml_element(clock, "timer", NULL, "name", "rtc", "track", "guest", NULL);
	lab_xml_element(clock, "timer", NULL, "name", "hpet", "present", "no", NULL);
}

/* A daemon's virtlogd would put another file in its place, which nobody looks at, unless told to append. */
static void add_serial(xmlNode *devices, const char *files, const char *name, const char *port,
		       const LabDomainHost *host)
{
	g_autofree char *path = g_strconcat(files, name, NULL);
	xmlNode *serial = lab_xml_element(devices, "serial", NULL, "type", "file", NULL);
	xmlNode *target;

	if (host->daemon)
		lab_xml_element(serial, "source", NULL, "path", path, "append", "on", NULL);
	else
		lab_xml_element(serial, "source", NULL, "path", path, NULL);
	target = lab_xml_element(serial, "target", NULL, "type", "isa-serial", "port", port, NULL);
	lab_xml_element(target, "model", NULL, "name", "isa-serial", NULL);
}

/* Where the images themselves say it with paths of this host. */
static void add_chain(xmlNode *disk, const GPtrArray *chain)
{
	xmlNode *above = disk;

	for (guint i = 0; i < chain->len; i++) {
		const LabQcow2Layer *layer = chain->pdata[i];

		above = lab_xml_element(above, "backingStore", NULL, "type", "file", NULL);
		lab_xml_element(above, "format", NULL, "type", layer->format, NULL);
		lab_xml_element(above, "source", NULL, "file", layer->path, NULL);
	}
	lab_xml_element(above, "backingStore", NULL, NULL);
}

/* @cache, @io: (nullable): for what is no part of the measurement. @chain: (nullable) */
static void add_disk(xmlNode *devices, const char *role, const char *path, const char *format,
		     const char *target, gboolean readonly, const char *cache, const char *io,
		     const GPtrArray *chain)
{
	g_autofree char *serial = g_strconcat(AGENT_SERIAL_PREFIX, role, NULL);
	xmlNode *disk =
		lab_xml_element(devices, "disk", NULL, "type", "file", "device", "disk", NULL);
	xmlNode *driver =
		lab_xml_element(disk, "driver", NULL, "name", "qemu", "type", format, NULL);

	xmlNewProp(driver, BAD_CAST "cache", BAD_CAST(cache ? cache : "unsafe"));
	if (io)
		xmlNewProp(driver, BAD_CAST "io", BAD_CAST io);
	lab_xml_element(disk, "source", NULL, "file", path, NULL);
	if (chain)
		add_chain(disk, chain);
	lab_xml_element(disk, "target", NULL, "dev", target, "bus", "virtio", NULL);
	if (readonly)
		lab_xml_element(disk, "readonly", NULL, NULL);
	lab_xml_element(disk, "serial", serial, NULL);
	if (!strcmp(target, "vda"))
		lab_xml_element(disk, "boot", NULL, "order", "1", NULL);
}

/* What the guest's results are durable in is the host's page cache: that outlives the guest and QEMU. */
static void add_disks(xmlNode *devices, const LabBootJob *job, const char *files,
		      const LabDomainHost *host)
{
	g_autofree char *root = g_strconcat(files, LAB_BOOT_ROOT_DISK, NULL);
	g_autofree char *scratch = g_strconcat(files, LAB_BOOT_SCRATCH_DISK, NULL);
	g_autofree char *results = g_strconcat(files, "results.img", NULL);
	g_auto(GStrv) more = g_strsplit(job->more_scratch ? job->more_scratch : "", " ", -1);

	add_disk(devices, "root", root, "qcow2", "vda", FALSE, job->disk_cache, job->disk_io,
		 host->root_chain);
	add_disk(devices, "job", job->agent_job_path, "raw", "vdb", TRUE, NULL, NULL, NULL);
	add_disk(devices, "results", results, "raw", "vdc", FALSE, NULL, NULL, NULL);
	if (job->scratch_bytes)
		add_disk(devices, "scratch", scratch, "qcow2", "vdd", FALSE, job->disk_cache,
			 job->disk_io, host->scratch_chain);
	if (job->files_path)
		add_disk(devices, "files", job->files_path, "raw", "vde", TRUE, NULL, NULL, NULL);
	for (guint i = 0; more[i]; i++) {
		g_autofree char *name = lab_boot_files_more_scratch("", i + 2);
		g_autofree char *path = g_strconcat(files, name, NULL);
		g_autofree char *role = g_strdup_printf("scratch%u", i + 2);
		g_autofree char *target = g_strdup_printf("vd%c", 'f' + (int)i);

		add_disk(devices, role, path, "qcow2", target, FALSE, job->disk_cache, job->disk_io,
			 NULL);
	}
}

static void add_devices(xmlNode *domain, const LabBootJob *job, const char *files,
			const LabDomainHost *host)
{
	xmlNode *devices = lab_xml_element(domain, "devices", NULL, NULL);

	lab_xml_element(devices, "emulator", host->emulator ? host->emulator : job->emulator, NULL);
	lab_xml_element(devices, "controller", NULL, "type", "usb", "model", "none", NULL);
	if (job->boot == LAB_BOOT_DISK)
		add_disks(devices, job, files, host);
	add_serial(devices, files, "console.log", "0", host);
	add_serial(devices, files, "progress.log", "1", host);
	/* q35 always has one; left alone by a guest that does not ask for it. */
	lab_xml_element(devices, "watchdog", NULL, "model", "itco", "action", "none", NULL);
	lab_xml_element(devices, "memballoon", NULL, "model", "none", NULL);
}

static void add_variable(xmlNode *commandline, xmlNs *qemu, const char *name, const char *value)
{
	xmlNode *env = xmlNewChild(commandline, qemu, BAD_CAST "env", NULL);

	xmlNewProp(env, BAD_CAST "name", BAD_CAST name);
	xmlNewProp(env, BAD_CAST "value", BAD_CAST value);
}

static void add_commandline(xmlNode *domain, const LabBootJob *job, const char *files,
			    const LabDomainHost *host)
{
	g_autoptr(GPtrArray) args = lab_domain_extra_args(job, files);
	xmlNs *qemu = xmlNewNs(domain, BAD_CAST QEMU_NAMESPACE, BAD_CAST "qemu");
	xmlNode *commandline = xmlNewChild(domain, qemu, BAD_CAST "commandline", NULL);
	g_autofree char *pid = g_strdup_printf("%d", (int)host->guard_pid);

	/* After libvirt's own, of which the daemon may know only one. */
	if (host->daemon) {
		g_ptr_array_add(args, g_strdup("-uuid"));
		g_ptr_array_add(args, g_strdup(UUID));
	}
	for (guint i = 0; i < args->len; i++) {
		xmlNode *arg = xmlNewChild(commandline, qemu, BAD_CAST "arg", NULL);

		xmlNewProp(arg, BAD_CAST "value", BAD_CAST g_ptr_array_index(args, i));
	}
	if (host->emulator && (host->guard_pid || host->daemon))
		add_variable(commandline, qemu, "NUMALAB_QEMU", job->emulator);
	if (host->preload)
		add_variable(commandline, qemu, "LD_PRELOAD", host->preload);
	if (host->guard_pid)
		add_variable(commandline, qemu, "NUMALAB_GUARD", pid);
}

static char *user_label(const LabDomainHost *host)
{
	g_auto(GStrv) ids = host->owner ? g_strsplit(host->owner, ":", 2) : NULL;

	return ids && ids[0] && ids[1]
		       ? g_strdup_printf("+%s:+%s", ids[0], ids[1])
		       : g_strdup_printf("+%u:+%u", (unsigned)geteuid(), (unsigned)getegid());
}

/* As this user, with this user's rights to the files, whatever the daemon does for others; on another host as the user that the files
 * were made for. */
static void add_labels(xmlNode *domain, const LabDomainHost *host)
{
	g_autofree char *user = user_label(host);

	for (const char *const *model = host->models; model && *model; model++) {
		xmlNode *label;

		/* A user's own daemon on another host changes nobody. */
		if (host->files && !host->owner && !strcmp(*model, "dac"))
			continue;
		if (strcmp(*model, "dac")) {
			lab_xml_element(domain, "seclabel", NULL, "type", "none", "model", *model,
					NULL);
			continue;
		}
		label = lab_xml_element(domain, "seclabel", NULL, "type", "static", "model", "dac",
					"relabel", "no", NULL);
		lab_xml_element(label, "label", user, NULL);
	}
}

static gboolean check(const LabBootJob *job, GError **error)
{
	const LabTopology *t = job->topology;

	/* More would need x2APIC with an interrupt remapper. */
	if (t->n_cpus > 255) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "a q35 machine takes up to 255 CPUs, found %u", t->n_cpus);
		return FALSE;
	}
	if (t->memory_bytes < 1024 * KIB) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "no node has memory");
		return FALSE;
	}
	return TRUE;
}

/* libvirt cuts names at 20 bytes where it makes socket paths of them, and takes no '/' or newline.
 */
char *lab_domain_name(const LabBootJob *job, const LabDomainHost *host)
{
	char *name;

	if (host->id)
		name = g_strdup_printf("numalab-%s-%s", host->id, job->id);
	else if (host->daemon)
		name = g_strdup_printf("numalab-%d-%s", (int)getpid(), job->id);
	else
		name = g_strconcat("numalab-", job->id, NULL);

	return g_strcanon(name, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "-._", '_');
}

char *lab_domain_xml(const LabBootJob *job, const char *dir, const LabDomainHost *host,
		     GError **error)
{
	g_autofree char *name = lab_domain_name(job, host);
	g_autofree char *uuid = host->daemon ? g_uuid_string_random() : g_strdup(UUID);
	g_autofree char *files = host->files ? g_strdup(host->files) : g_strconcat(dir, "/", NULL);
	xmlDoc *doc;
	xmlNode *domain, *memory;
	xmlChar *text;
	char *copy;
	int size;

	if (!check(job, error))
		return NULL;
	doc = xmlNewDoc(BAD_CAST "1.0");
	domain = xmlNewNode(NULL, BAD_CAST "domain");
	xmlDocSetRootElement(doc, domain);
	xmlNewProp(domain, BAD_CAST "type", BAD_CAST(job->clock == LAB_CLOCK_KVM ? "kvm" : "qemu"));
	lab_xml_element(domain, "name", name, NULL);
	lab_xml_element(domain, "uuid", uuid, NULL);
	memory = element_uint(domain, "memory", job->topology->memory_bytes / KIB);
	xmlNewProp(memory, BAD_CAST "unit", BAD_CAST "KiB");
	element_uint(domain, "vcpu", job->topology->n_cpus);
	lab_domain_add_pin(domain, &job->pin);
	add_os(domain, job, dir);
	add_features(domain, job);
	add_cpu(domain, job);
	add_clock(domain, job);
	lab_xml_element(domain, "on_poweroff", "destroy", NULL);
	lab_xml_element(domain, "on_reboot", "destroy", NULL);
	lab_xml_element(domain, "on_crash", "destroy", NULL);
	add_devices(domain, job, files, host);
	add_labels(domain, host);
	add_commandline(domain, job, files, host);
	xmlDocDumpFormatMemory(doc, &text, &size, 1);
	copy = g_strndup((const char *)text, (gsize)size);
	xmlFree(text);
	xmlFreeDoc(doc);
	return copy;
}
