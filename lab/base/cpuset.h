/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sets of CPU (or node) numbers 0..LAB_CPUSET_MAX-1, in the kernel's list form ("0-3,8"). A plain value. */
#pragma once
#include <glib.h>

#define LAB_CPUSET_MAX 1024

typedef struct {
	guint64 bits[LAB_CPUSET_MAX / 64];
} LabCpuSet;

void lab_cpuset_add(LabCpuSet *set, guint cpu);
gboolean lab_cpuset_has(const LabCpuSet *set, guint cpu);
guint lab_cpuset_count(const LabCpuSet *set);
/** lab_cpuset_next() - smallest member >= @from, or LAB_CPUSET_MAX */
guint lab_cpuset_next(const LabCpuSet *set, guint from);
gboolean lab_cpuset_equal(const LabCpuSet *a, const LabCpuSet *b);
/** lab_cpuset_overlap() - smallest member of both, or LAB_CPUSET_MAX */
guint lab_cpuset_overlap(const LabCpuSet *a, const LabCpuSet *b);
void lab_cpuset_union(LabCpuSet *into, const LabCpuSet *other);
/** lab_cpuset_parse() - "" is the empty set. Errors: LAB_ERROR_USER naming the bad part; a CPU twice is one. */
gboolean lab_cpuset_parse(const char *text, LabCpuSet *set, GError **error);
/** lab_cpuset_format() - kernel list form, "" for the empty set. Free with g_free(). */
char *lab_cpuset_format(const LabCpuSet *set);

#define LAB_CPUSET_FOREACH(cpu, set)                                                               \
	for (guint cpu = lab_cpuset_next((set), 0); cpu < LAB_CPUSET_MAX;                          \
	     cpu = lab_cpuset_next((set), cpu + 1))
