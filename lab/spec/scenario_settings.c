/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the guest's kernel is told before the first step: files to write, by the kernels that have them. */
#include "lab/spec/scenario_parts.h"

#include <string.h>

#include "lab/base/units.h"

#define MS_NS 1000000ull
#define MIB (1ull << 20)
/* Linux 5.13 moved these from sysctls to debugfs. */
#define DEBUGFS "/sys/kernel/debug/sched/numa_balancing/"
#define SYSCTL "/proc/sys/kernel/numa_balancing_"

struct numa_balancing {
	guint enabled;
	guint64 scan_delay_ns, scan_period_min_ns, scan_period_max_ns, scan_size_bytes;
};

struct raw {
	const LabYamlNode *numa_balancing, *sysctl;
	guint transparent_hugepage;
};

/* An odd index is "on". */
static const char *const switches[] = {"off", "on", "false", "true", NULL};
static const char *const hugepages[] = {"always", "madvise", "never", NULL};

static const LabYamlField settings_fields[] = {
	{"numa_balancing", LAB_YAML_ANY, offsetof(struct raw, numa_balancing)},
	{"transparent_hugepage", LAB_YAML_WORD, offsetof(struct raw, transparent_hugepage),
	 .words = hugepages},
	{"sysctl", LAB_YAML_MEMBERS, offsetof(struct raw, sysctl)},
	{0},
};

static const LabYamlField numa_balancing_fields[] = {
	{"enabled", LAB_YAML_WORD, offsetof(struct numa_balancing, enabled), .words = switches},
	{"scan_delay", LAB_YAML_DURATION, offsetof(struct numa_balancing, scan_delay_ns)},
	{"scan_period_min", LAB_YAML_DURATION, offsetof(struct numa_balancing, scan_period_min_ns)},
	{"scan_period_max", LAB_YAML_DURATION, offsetof(struct numa_balancing, scan_period_max_ns)},
	{"scan_size", LAB_YAML_BYTES, offsetof(struct numa_balancing, scan_size_bytes)},
	{0},
};

void lab_setting_free(LabSetting *setting)
{
	if (!setting)
		return;
	g_free(setting->name);
	g_free(setting->value);
	g_strfreev(setting->paths);
	g_free(setting);
}

static void add(LabScenario *s, const char *name, const char *value, const char *path,
		const char *older_path)
{
	const char *paths[] = {path, older_path, NULL};
	LabSetting *setting = g_new0(LabSetting, 1);

	setting->name = g_strdup(name);
	setting->value = g_strdup(value);
	setting->paths = g_strdupv((char **)paths);
	g_ptr_array_add(s->settings, setting);
}

static void add_scan(LabScenario *s, const char *key, guint64 value)
{
	g_autofree char *name = g_strconcat("numa_balancing.", key, NULL);
	g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT, value);
	g_autofree char *debugfs = g_strconcat(DEBUGFS, key, NULL),
			*sysctl = g_strconcat(SYSCTL, key, NULL);

	add(s, name, text, debugfs, sysctl);
}

/* A time that the workload must outlast: scaled with it, down to what the clock ticks of a guest can do. */
static gboolean add_scan_time(const LabYamlNode *map, const char *key, guint64 ns, guint64 floor_ns,
			      LabScenario *s, GError **error)
{
	const LabYamlNode *node = lab_yaml_get(map, key);
	g_autofree char *file = g_strconcat(key, "_ms", NULL);
	guint64 scaled_ms;

	if (!node)
		return TRUE;
	if (!ns || ns % MS_NS || ns / MS_NS > G_MAXINT32)
		return lab_yaml_fail(node, error, "a multiple of 1ms above 0s");
	scaled_ms = (lab_scenario_scale(s, ns) + MS_NS - 1) / MS_NS;
	add_scan(s, file, MAX(scaled_ms, MIN(ns, floor_ns) / MS_NS));
	return TRUE;
}

static gboolean read_numa_balancing(const LabYamlNode *node, LabScenario *s, GError **error)
{
	struct numa_balancing n = {.enabled = 1};
	const LabYamlNode *size;

	if (node->kind != LAB_YAML_MAP) {
		if (!lab_yaml_word(node, switches, &n.enabled, error))
			return FALSE;
		s->numa_balancing = n.enabled % 2;
		return TRUE;
	}
	if (!lab_yaml_read(node, "numa_balancing", numa_balancing_fields, &n, error))
		return FALSE;
	s->numa_balancing = n.enabled % 2;
	if (!add_scan_time(node, "scan_delay", n.scan_delay_ns, 50 * MS_NS, s, error) ||
	    !add_scan_time(node, "scan_period_min", n.scan_period_min_ns, 10 * MS_NS, s, error) ||
	    !add_scan_time(node, "scan_period_max", n.scan_period_max_ns, 1000 * MS_NS, s, error))
		return FALSE;
	size = lab_yaml_get(node, "scan_size");
	if (size &&
	    (!n.scan_size_bytes || n.scan_size_bytes % MIB || n.scan_size_bytes / MIB > G_MAXINT32))
		return lab_yaml_fail(size, error, "a multiple of 1MiB above 0B");
	if (size)
		add_scan(s, "scan_size_mb", n.scan_size_bytes / MIB);
	return TRUE;
}

/* "vm.swappiness"; each part is one file name below /proc/sys, so that no path leads elsewhere. */
static char *sysctl_path(const char *key)
{
	g_auto(GStrv) parts = g_strsplit(key, ".", -1);
	g_autofree char *joined = NULL;

	if (g_strv_length(parts) < 2)
		return NULL;
	for (char **p = parts; *p; p++)
		if (!**p ||
		    strspn(*p,
			   "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") !=
			    strlen(*p))
			return NULL;
	joined = g_strjoinv("/", parts);
	return g_strconcat("/proc/sys/", joined, NULL);
}

static gboolean read_sysctl(const LabYamlNode *node, LabScenario *s, GError **error)
{
	g_autofree char *path = sysctl_path(node->key);
	g_autofree char *quoted = lab_yaml_quote(node->key);
	const char *value;

	if (!path) {
		lab_error_set_at(error, &node->key_origin,
				 "wanted a sysctl like vm.swappiness, found %s", quoted);
		return FALSE;
	}
	if (g_str_has_prefix(node->key, "kernel.numa_balancing")) {
		lab_error_set_at(error, &node->key_origin,
				 "wanted the setting 'numa_balancing' for this, found %s", quoted);
		return FALSE;
	}
	if (!lab_yaml_text(node, "a value", &value, error))
		return FALSE;
	for (const char *p = value; *p; p++)
		if (g_ascii_iscntrl(*p) && *p != '\t')
			return lab_yaml_fail(node, error, "a value of one line");
	add(s, node->key, value, path, NULL);
	return TRUE;
}

gboolean lab_scenario_read_settings(const LabYamlNode *node, LabScenario *s, GError **error)
{
	struct raw raw = {.transparent_hugepage = G_N_ELEMENTS(hugepages)};

	s->settings = g_ptr_array_new_with_free_func((GDestroyNotify)lab_setting_free);
	s->numa_balancing = s->topology->n_nodes > 1;
	if (node && !lab_yaml_read(node, "settings", settings_fields, &raw, error))
		return FALSE;
	if (raw.numa_balancing && !read_numa_balancing(raw.numa_balancing, s, error))
		return FALSE;
	add(s, "numa_balancing", s->numa_balancing ? "1" : "0", "/proc/sys/kernel/numa_balancing",
	    NULL);
	if (raw.transparent_hugepage < G_N_ELEMENTS(hugepages))
		add(s, "transparent_hugepage", hugepages[raw.transparent_hugepage],
		    "/sys/kernel/mm/transparent_hugepage/enabled", NULL);
	for (guint i = 0; raw.sysctl && i < raw.sysctl->children->len; i++)
		if (!read_sysctl(raw.sysctl->children->pdata[i], s, error))
			return FALSE;
	return TRUE;
}
