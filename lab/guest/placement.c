// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/placement.h"

#include <sched.h>

#include "lab/base/error.h"
#include "lab/base/units.h"
#include "lab/guest/embed.h"
#include "lab/guest/qmp.h"

#define SYSTEM "/sys/devices/system/"

G_GNUC_PRINTF(3, 4)
static gboolean refuse(GError **error, const LabOrigin *origin, const char *format, ...)
{
	g_autofree char *text = NULL;
	GError *local = NULL;
	va_list ap;

	va_start(ap, format);
	text = g_strdup_vprintf(format, ap);
	va_end(ap);
	lab_error_set_at(&local, origin, "pin: %s", text);
	local->code = LAB_ERROR_INFRA; /* the file is right, the host is another */
	g_propagate_error(error, local);
	return FALSE;
}

static gboolean read_set(const char *root, const char *file, LabCpuSet *set, GError **error)
{
	g_autofree char *path = g_strconcat(root, file, NULL);
	g_autofree char *text = NULL;

	if (g_file_get_contents(path, &text, NULL, error) &&
	    lab_cpuset_parse(g_strstrip(text), set, error))
		return TRUE;
	g_prefix_error(error, "pin: %s: ", path);
	return FALSE;
}

/* ---- before a boot --------------------------------------------------------------------------- */

static gboolean check_cpu(guint cpu, const LabCpuSet *online, const LabCpuSet *allowed,
			  const LabOrigin *origin, GError **error)
{
	g_autofree char *have = lab_cpuset_format(online),
			*may = allowed ? lab_cpuset_format(allowed) : NULL;

	if (!lab_cpuset_has(online, cpu))
		return refuse(error, origin,
			      "wanted a CPU of this host that is online (%s), found %u", have, cpu);
	if (allowed && !lab_cpuset_has(allowed, cpu))
		return refuse(
			error, origin,
			"wanted a CPU that this process may use (%s), found %u; 'taskset' and "
			"cpuset control groups decide that",
			may, cpu);
	return TRUE;
}

static gboolean check_cpus(const LabPlacement *p, const char *root, const LabCpuSet *allowed,
			   GError **error)
{
	g_autoptr(GArray) cpus = lab_placement_list(p->cpus);
	LabCpuSet online = {0}, emulator = {0}, own = {0};

	if (!p->cpus && !p->emulator)
		return TRUE;
	if (!allowed && lab_placement_allowed(0, &own))
		allowed = &own;
	if (!read_set(root, SYSTEM "cpu/online", &online, error) ||
	    !lab_cpuset_parse(p->emulator ? p->emulator : "", &emulator, error))
		return FALSE;
	for (guint i = 0; i < cpus->len; i++)
		if (!check_cpu(g_array_index(cpus, guint, i), &online, allowed, &p->cpus_origin,
			       error))
			return FALSE;
	LAB_CPUSET_FOREACH (cpu, &emulator)
		if (!check_cpu(cpu, &online, allowed, &p->emulator_origin, error))
			return FALSE;
	return TRUE;
}

static gboolean check_nodes(const LabPlacement *p, const char *root, GError **error)
{
	g_autoptr(GArray) nodes = lab_placement_list(p->nodes);
	g_autofree char *have = NULL;
	LabCpuSet with_memory = {0};

	if (!p->nodes)
		return TRUE;
	if (!read_set(root, SYSTEM "node/has_memory", &with_memory, error))
		return FALSE;
	have = lab_cpuset_format(&with_memory);
	for (guint i = 0; i < nodes->len; i++)
		if (!lab_cpuset_has(&with_memory, g_array_index(nodes, guint, i)))
			return refuse(error, &p->nodes_origin,
				      "wanted a node of this host that has memory (%s), found %u",
				      have, g_array_index(nodes, guint, i));
	return TRUE;
}

/* A number in a file of @dir; 0 when there is none. */
static guint64 number(const char *dir, const char *name)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	g_autofree char *text = NULL;

	return g_file_get_contents(path, &text, NULL, NULL) ? g_ascii_strtoull(text, NULL, 10) : 0;
}

static gboolean check_pool(const LabPlacement *p, const char *root, const char *pools,
			   const char *where, guint64 wanted, GError **error)
{
	g_autofree char *pool = g_strdup_printf("%s/hugepages-%" G_GUINT64_FORMAT "kB", pools,
						p->hugepage_bytes / 1024);
	g_autofree char *dir = g_strconcat(root, pool, NULL);
	g_autofree char *size = lab_format_bytes(p->hugepage_bytes);
	guint64 reserved = number(dir, "resv_hugepages"), have = number(dir, "free_hugepages");

	if (!g_file_test(dir, G_FILE_TEST_IS_DIR))
		return refuse(error, &p->hugepages_origin,
			      "this host has no huge pages of %s (no %s)", size, dir);
	have -= MIN(reserved, have);
	if (have >= wanted)
		return TRUE;
	return refuse(error, &p->hugepages_origin,
		      "wanted %" G_GUINT64_FORMAT
		      " free huge pages of %s%s, found %" G_GUINT64_FORMAT
		      "; 'echo %" G_GUINT64_FORMAT " > %s/nr_hugepages' (as root) reserves them",
		      wanted, size, where, have, number(dir, "nr_hugepages") + wanted - have, dir);
}

static gboolean check_hugepages(const LabPlacement *p, const LabTopology *t, const char *root,
				GError **error)
{
	g_autoptr(GArray) nodes = lab_placement_list(p->nodes);
	g_autofree guint64 *wanted = g_new0(guint64, LAB_CPUSET_MAX);

	if (!p->hugepage_bytes)
		return TRUE;
	for (guint i = 0; i < nodes->len; i++)
		wanted[g_array_index(nodes, guint, i)] +=
			t->nodes[i].memory_bytes / p->hugepage_bytes;
	for (guint node = 0; node < LAB_CPUSET_MAX; node++) {
		g_autofree char *pools = g_strdup_printf(SYSTEM "node/node%u/hugepages", node);
		g_autofree char *where = g_strdup_printf(" on node %u", node);

		if (wanted[node] && !check_pool(p, root, pools, where, wanted[node], error))
			return FALSE;
	}
	return nodes->len || check_pool(p, root, "/sys/kernel/mm/hugepages", "",
					t->memory_bytes / p->hugepage_bytes, error);
}

gboolean lab_placement_check(const LabPlacement *placement, const LabTopology *topology,
			     const char *root, const LabCpuSet *allowed, GError **error)
{
	return check_cpus(placement, root, allowed, error) && check_nodes(placement, root, error) &&
	       check_hugepages(placement, topology, root, error);
}

/* ---- after the start ------------------------------------------------------------------------- */

gboolean lab_placement_allowed(pid_t thread, LabCpuSet *allowed)
{
	cpu_set_t set;

	if (sched_getaffinity(thread, sizeof set, &set) < 0)
		return FALSE;
	*allowed = (LabCpuSet){0};
	for (guint cpu = 0; cpu < MIN(CPU_SETSIZE, LAB_CPUSET_MAX); cpu++)
		if (CPU_ISSET(cpu, &set))
			lab_cpuset_add(allowed, cpu);
	return TRUE;
}

char *lab_placement_check_thread(const char *what, pid_t thread, const char *wanted, GError **error)
{
	g_autofree char *found = NULL;
	LabCpuSet set;

	if (thread > 0 && lab_placement_allowed(thread, &set))
		found = lab_cpuset_format(&set);
	if (!g_strcmp0(found, wanted))
		return g_steal_pointer(&found);
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
		    "pin: asked for %s on the host's CPUs %s, but it is on %s", what, wanted,
		    found ? found : "none: its thread is gone");
	return NULL;
}

static pid_t thread_of(JsonArray *cpus, guint index)
{
	for (guint i = 0; i < json_array_get_length(cpus); i++) {
		JsonObject *cpu = json_array_get_object_element(cpus, i);

		if (json_object_get_int_member_with_default(cpu, "cpu-index", -1) == index)
			return (pid_t)json_object_get_int_member_with_default(cpu, "thread-id", -1);
	}
	return -1;
}

static gboolean read_cpus(virDomainPtr domain, const char *wanted, GString *s, GError **error)
{
	g_auto(GStrv) list = g_strsplit(wanted, ",", -1);
	g_autoptr(JsonNode) cpus = lab_qmp_cpus(domain, error);

	if (!cpus)
		return FALSE;
	for (guint i = 0; list[i]; i++) {
		g_autofree char *what = g_strdup_printf("the guest's CPU %u", i);
		g_autofree char *found = lab_placement_check_thread(
			what, thread_of(json_node_get_array(cpus), i), list[i], error);

		if (!found)
			return FALSE;
		g_string_append_printf(s, "%s%s", i ? "," : "cpus=", found);
	}
	return TRUE;
}

gboolean lab_placement_read_back(virDomainPtr domain, const LabPlacement *asked, pid_t qemu,
				 char **text, GError **error)
{
	g_autoptr(GString) s = g_string_new(NULL);

	if (asked->cpus && !read_cpus(domain, asked->cpus, s, error))
		return FALSE;
	if (asked->emulator) {
		g_autofree char *found = lab_placement_check_thread("QEMU's main thread", qemu,
								    asked->emulator, error);

		if (!found)
			return FALSE;
		g_string_append_printf(s, "%semulator=%s", s->len ? " " : "", found);
	}
	*text = s->len ? g_string_free(g_steal_pointer(&s), FALSE) : NULL;
	return TRUE;
}

/* libvirt asks that host's kernel for the threads of CPUs; of the others it knows what it has set. */
static gboolean ask_cpus(virDomainPtr domain, const char *wanted, GString *s, GError **error)
{
	g_auto(GStrv) list = g_strsplit(wanted, ",", -1);
	guint n = g_strv_length(list);
	int map_length = VIR_CPU_MAPLEN(LAB_CPUSET_MAX);
	g_autofree virVcpuInfo *infos = g_new0(virVcpuInfo, n);
	g_autofree unsigned char *maps = g_malloc0((gsize)map_length * n);

	if (virDomainGetVcpus(domain, infos, (int)n, maps, map_length) != (int)n) {
		lab_embed_set_error(error, "pin: libvirt does not tell where the guest's CPUs are");
		return FALSE;
	}
	for (guint i = 0; i < n; i++) {
		g_autofree char *found = NULL;
		LabCpuSet set = {0};

		for (guint cpu = 0; cpu < LAB_CPUSET_MAX; cpu++)
			if (VIR_CPU_USABLE(maps, map_length, (int)i, cpu))
				lab_cpuset_add(&set, cpu);
		found = lab_cpuset_format(&set);
		if (strcmp(found, list[i])) {
			g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
				    "pin: asked for the guest's CPU %u on the host's CPUs %s, but "
				    "it is on %s",
				    i, list[i], found);
			return FALSE;
		}
		g_string_append_printf(s, "%s%s", i ? "," : "cpus=", found);
	}
	return TRUE;
}

gboolean lab_placement_ask(virDomainPtr domain, const LabPlacement *asked, char **text,
			   GError **error)
{
	g_autoptr(GString) s = g_string_new(NULL);

	if (asked->cpus && !ask_cpus(domain, asked->cpus, s, error))
		return FALSE;
	if (asked->emulator)
		g_string_append_printf(s, "%semulator=%s", s->len ? " " : "", asked->emulator);
	*text = s->len ? g_string_free(g_steal_pointer(&s), FALSE) : NULL;
	return TRUE;
}
