/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Texts that a kernel or a program wrote -> numbers. Internal to lab/measure. The texts come from a
 * guest that is not trusted: every error is LAB_ERROR_UNKNOWN, starts with @what (the name of the
 * record) and names the line.
 */
#pragma once
#include <gio/gio.h>

/**
 * lab_counters_parse() - "name value" lines, as /proc/vmstat and nodeN/numastat have them
 *
 * Return: (transfer full): char* -> guint64*. A name that comes twice, or is not [A-Za-z0-9_]+, is
 * an error.
 */
GHashTable *lab_counters_parse(GBytes *text, const char *what, GError **error);

/**
 * lab_counters_is_level() - is this /proc/vmstat name a level (nr_free_pages), of which a
 * difference says nothing, and not a count of events? Levels are the nr_ names except those that
 * mm/vmstat.c only ever increments.
 */
gboolean lab_counters_is_level(const char *name);

/**
 * lab_counters_delta() - add after - before of each counter that is in both to @deltas, under
 * "PREFIX" "NAME"
 * @deltas: char* -> guint64*
 *
 * A counter that went backwards was not a count of events in this kernel: it is left out.
 */
void lab_counters_delta(GHashTable *before, GHashTable *after, const char *prefix,
			GHashTable *deltas);

/**
 * lab_interrupts_delta() - the lines TLB, CAL, RES, LOC and HYP of two /proc/interrupts, summed
 * over CPUs, as "irq.TLB", ...
 *
 * Left out: a line that either lacks, or that does not have one column a CPU, or that went
 * backwards on a CPU, or where the CPUs changed; CAL also where a CPU's count has its highest bit
 * set: up to Linux 4.0 arch/x86/kernel/irq.c shows irq_call_count - irq_tlb_count, which
 * underflows.
 */
gboolean lab_interrupts_delta(GBytes *before, GBytes *after, const char *what, GHashTable *deltas,
			      GError **error);

/** struct LabFsMark - means over fs_mark's lines; lines 0: its table is not there */
typedef struct {
	guint lines;
	double files_per_s;
	double overhead_us;
} LabFsMark;

/**
 * lab_fs_mark_parse() - fs_mark's own table in what a step printed
 *
 * The head is "FSUse% Count Size Files/sec App Overhead" (-v adds columns behind); below it stands
 * one line an iteration (-L). A table ends at the first line that is not five numbers.
 */
LabFsMark lab_fs_mark_parse(GBytes *text);
