// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/domain_args.h"

#include "lab/guest/domain.h"

#define MIB (1024u * 1024u)
#define GIB (1024u * MIB)
#define NVDIMM_SLOTS 3

/* 1 January 2015: after the epoch of every kernel of interest, long before any 32-bit end of time.
 */
#define RTC_EPOCH 1420070400
/* Seeds differ by whole hours: kernels that take no RDRAND see them by the clock, and no log rounds
 * it away. */
#define RTC_STEP_S 3600
#define RTC_SEEDS 87600 /* ten years */

gint64 lab_domain_rtc_base(guint64 seed)
{
	return RTC_EPOCH + (gint64)(seed % RTC_SEEDS) * RTC_STEP_S;
}

char *lab_domain_kernel_args(const LabBootJob *job)
{
	/*
	 * nokaslr norandmaps random.trust_cpu=0 cpu_init_udelay=0: what the exact clock takes.
	 * cryptomgr.notests: the self-tests of the crypto code are a fifth of the instructions
	 * that Debian 6.1 needs to boot (1.5 s of 7.0 s of guest time), and nothing here uses it.
	 * tsc=reliable: no watchdog that may change the clock source in mid-run.
	 * panic=-1 oops=panic: a crash ends the guest at once, by a reset, which QEMU turns into
	 * its end. earlyprintk: a kernel that dies before its console is up still says why.
	 */
	g_autoptr(GString) s = g_string_new("earlyprintk=ttyS0,115200 console=ttyS0,115200");

	/* 6: notices and worse. The kernel's banner is the first sign of life; the whole log comes
	 * with the results. */
	g_string_append(s, job->console_quiet ? " loglevel=6" : " loglevel=8");
	g_string_append(s, " panic=-1 oops=panic");
	/* Under KVM layouts are part of what boots sample, and the clock source is the kernel's choice. */
	if (job->clock == LAB_CLOCK_KVM)
		g_string_append(s, " cryptomgr.notests");
	else
		g_string_append(s, " nokaslr norandmaps random.trust_cpu=0 cpu_init_udelay=0"
				   " cryptomgr.notests tsc=reliable");
	/* A boot loader knows it. */
	if (job->boot == LAB_BOOT_DISK && *job->kernel_path)
		g_string_append_printf(s, " root=%s ro", job->disk_root);
	if (job->topology->kind == LAB_TOPOLOGY_FAKE)
		g_string_append_printf(s, " numa=fake=%u", job->topology->n_nodes);
	if (job->cmdline_extra && *job->cmdline_extra)
		g_string_append_printf(s, " %s", job->cmdline_extra);
	return g_string_free(g_steal_pointer(&s), FALSE);
}

gboolean lab_domain_nodes_by_args(const LabTopology *topology)
{
	for (guint i = 0; i < topology->n_nodes; i++)
		if (!topology->nodes[i].memory_bytes)
			return TRUE;
	return FALSE;
}

G_GNUC_PRINTF(3, 4)
static void add(GPtrArray *args, const char *option, const char *format, ...)
{
	va_list ap;

	g_ptr_array_add(args, g_strdup(option));
	va_start(ap, format);
	g_ptr_array_add(args, g_strdup_vprintf(format, ap));
	va_end(ap);
}

/* A comma in an option's value is written twice. */
static char *escape(const char *value)
{
	g_auto(GStrv) parts = g_strsplit(value, ",", -1);

	return g_strjoinv(",,", parts);
}

static void add_node(GPtrArray *args, const LabTopology *t, guint id)
{
	g_autofree char *list = lab_cpuset_format(&t->nodes[id].cpus);
	g_auto(GStrv) ranges = g_strsplit(list, ",", -1);
	g_autoptr(GString) s = g_string_new(NULL);

	g_string_append_printf(s, "node,nodeid=%u", id);
	for (char **range = ranges; *range; range++)
		g_string_append_printf(s, ",cpus=%s", *range);
	if (t->nodes[id].memory_bytes) {
		add(args, "-object", "memory-backend-ram,id=ram-node%u,size=%" G_GUINT64_FORMAT, id,
		    t->nodes[id].memory_bytes);
		g_string_append_printf(s, ",memdev=ram-node%u", id);
	}
	add(args, "-numa", "%s", s->str);
}

static void add_nodes(GPtrArray *args, const LabTopology *t)
{
	for (guint i = 0; i < t->n_nodes; i++)
		add_node(args, t, i);
	for (guint i = 0; i < t->n_nodes; i++)
		for (guint j = 0; j < t->n_nodes; j++)
			add(args, "-numa", "dist,src=%u,dst=%u,val=%u", i, j,
			    lab_topology_distance(t, i, j));
}

static void add_nvdimm(GPtrArray *args, const char *id, const char *path, guint64 bytes,
		       const char *access)
{
	g_autofree char *escaped = escape(path);

	add(args, "-object", "memory-backend-file,id=%s,mem-path=%s,size=%" G_GUINT64_FORMAT ",%s",
	    id, escaped, bytes, access);
	add(args, "-device", "nvdimm,id=nv-%s,memdev=%s%s", id, id,
	    g_strrstr(access, "readonly=on") ? ",unarmed=on" : "");
}

static void add_nvdimms(GPtrArray *args, const LabBootJob *job, const char *files)
{
	g_autofree char *results = g_strconcat(files, "results.img", NULL);
	g_autofree char *scratch = g_strconcat(files, "scratch.img", NULL);
	guint64 bytes = (job->image_path ? job->image_bytes : 0) + job->scratch_bytes +
			job->files_bytes + job->results_bytes;

	add(args, "-machine", "nvdimm=on");
	add(args, "-m", "slots=%u,maxmem=%" G_GUINT64_FORMAT "M",
	    NVDIMM_SLOTS + (job->files_path ? 1 : 0),
	    (job->topology->memory_bytes + (bytes + GIB - 1) / GIB * GIB) / MIB);
	if (job->image_path)
		add_nvdimm(args, "root", job->image_path, job->image_bytes,
			   "share=off,readonly=on");
	if (job->scratch_bytes)
		add_nvdimm(args, "scratch",
			   job->scratch_path && !job->scratch_keep ? job->scratch_path : scratch,
			   job->scratch_bytes, job->scratch_keep ? "share=on" : "share=off");
	add_nvdimm(args, "results", results, job->results_bytes, "share=on");
	/* Last: the others are where they are without it. */
	if (job->files_path)
		add_nvdimm(args, "files", job->files_path, job->files_bytes,
			   "share=off,readonly=on");
}

/* libvirt has no element for these. "-cpu MODEL,x=on" and this property are the same to QEMU. */
static void add_async_pf(GPtrArray *args, const LabBootJob *job)
{
	gboolean older = job->async_pf == LAB_ASYNC_PF_ON;
	gboolean by_interrupt = job->async_pf != LAB_ASYNC_PF_OFF;

	if (job->async_pf == LAB_ASYNC_PF_DEFAULT)
		return;
	add(args, "-global", "%s-x86_64-cpu.kvm-asyncpf=%s", job->cpu_model, older ? "on" : "off");
	add(args, "-global", "%s-x86_64-cpu.kvm-asyncpf-int=%s", job->cpu_model,
	    by_interrupt ? "on" : "off");
}

GPtrArray *lab_domain_extra_args(const LabBootJob *job, const char *files)
{
	g_autoptr(GPtrArray) args = g_ptr_array_new_with_free_func(g_free);

	if (lab_domain_nodes_by_args(job->topology))
		add_nodes(args, job->topology);
	if (job->boot == LAB_BOOT_DIRECT)
		add_nvdimms(args, job, files);
	if (job->clock == LAB_CLOCK_EXACT) {
		/* 2^1 ns an instruction, one thread for all CPUs; an idle guest does not wait for
		 * the host's clock. */
		add(args, "-icount", "shift=1,sleep=off");
		add(args, "-seed", "%" G_GUINT64_FORMAT, job->seed);
	}
	if (job->clock == LAB_CLOCK_KVM)
		add_async_pf(args, job);
	return g_steal_pointer(&args);
}
