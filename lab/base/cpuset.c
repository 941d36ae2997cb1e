/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/base/cpuset.h"

#include <string.h>

#include "lab/base/error.h"
#include "lab/base/units.h"

void lab_cpuset_add(LabCpuSet *set, guint cpu)
{
	g_return_if_fail(cpu < LAB_CPUSET_MAX);
	set->bits[cpu / 64] |= G_GUINT64_CONSTANT(1) << (cpu % 64);
}

gboolean lab_cpuset_has(const LabCpuSet *set, guint cpu)
{
	return cpu < LAB_CPUSET_MAX && (set->bits[cpu / 64] >> (cpu % 64) & 1);
}

guint lab_cpuset_count(const LabCpuSet *set)
{
	guint n = 0;

	for (gsize i = 0; i < G_N_ELEMENTS(set->bits); i++)
		n += (guint)__builtin_popcountll(set->bits[i]);
	return n;
}

guint lab_cpuset_next(const LabCpuSet *set, guint from)
{
	while (from < LAB_CPUSET_MAX && !lab_cpuset_has(set, from))
		from++;
	return from;
}

gboolean lab_cpuset_equal(const LabCpuSet *a, const LabCpuSet *b)
{
	return !memcmp(a, b, sizeof *a);
}

guint lab_cpuset_overlap(const LabCpuSet *a, const LabCpuSet *b)
{
	LAB_CPUSET_FOREACH(cpu, a)
		if (lab_cpuset_has(b, cpu))
			return cpu;
	return LAB_CPUSET_MAX;
}

void lab_cpuset_union(LabCpuSet *into, const LabCpuSet *other)
{
	for (gsize i = 0; i < G_N_ELEMENTS(into->bits); i++)
		into->bits[i] |= other->bits[i];
}

gboolean lab_cpuset_parse(const char *text, LabCpuSet *set, GError **error)
{
	g_auto(GStrv) parts = g_strsplit(text, ",", -1);
	LabCpuSet result = {0};

	for (char **p = parts; *p; p++) {
		g_auto(GStrv) ends = g_strsplit(*p, "-", 2);
		guint64 first, last;

		if (!lab_parse_uint(ends[0] ? g_strstrip(ends[0]) : "", LAB_CPUSET_MAX - 1, &first,
				    NULL) ||
		    !lab_parse_uint(ends[1] ? g_strstrip(ends[1]) : ends[0], LAB_CPUSET_MAX - 1,
				    &last, NULL) ||
		    last < first) {
			g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
				    "wanted a list like 0-3,8 of numbers below %d, found '%s'",
				    LAB_CPUSET_MAX, text);
			return FALSE;
		}
		for (guint64 cpu = first; cpu <= last; cpu++)
			lab_cpuset_add(&result, (guint)cpu);
	}
	*set = result;
	return TRUE;
}

char *lab_cpuset_format(const LabCpuSet *set)
{
	g_autoptr(GString) s = g_string_new(NULL);
	guint cpu = lab_cpuset_next(set, 0);

	while (cpu < LAB_CPUSET_MAX) {
		guint last = cpu;

		while (lab_cpuset_has(set, last + 1))
			last++;
		g_string_append_printf(s, "%s%u", s->len ? "," : "", cpu);
		if (last > cpu)
			g_string_append_printf(s, "-%u", last);
		cpu = lab_cpuset_next(set, last + 1);
	}
	return g_string_free(g_steal_pointer(&s), FALSE);
}
