/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Signs of a crash in a kernel's log or on a console. Bytes of a guest: data, quoted and never
 * obeyed. */
#pragma once
#include <glib.h>

/**
 * enum LabEvidenceKind - in order of weight
 * @LAB_EVIDENCE_NONE:    none
 * @LAB_EVIDENCE_TROUBLE: the kernel complains and goes on: lockups, RCU stalls, hung tasks, OOM
 * kills, lockdep
 * @LAB_EVIDENCE_CRASH:   panic, BUG, Oops, general protection fault, KASAN and its kin: nothing
 * measured here counts
 */
typedef enum {
	LAB_EVIDENCE_NONE,
	LAB_EVIDENCE_TROUBLE,
	LAB_EVIDENCE_CRASH,
} LabEvidenceKind;

typedef struct {
	LabEvidenceKind kind;
	const char *name; /* static: "panic", "soft lockup", "oom-kill", ... */
	guint line;	  /* from 1 */
	char *first;	  /* the line, without the kernel's time stamp; printable */
	char *quote;	  /* the line and some that follow, each with its newline; printable */
} LabEvidence;

/**
 * lab_evidence_find() - the first crash in @text, else the first trouble
 *
 * Return: (nullable): NULL when there is none; free with lab_evidence_free()
 */
LabEvidence *lab_evidence_find(const char *text, gsize length);
void lab_evidence_free(LabEvidence *evidence);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabEvidence, lab_evidence_free)

/**
 * lab_evidence_lines() - the last @n lines of @text that are not empty, printable, each with
 * newline
 *
 * Control characters become \xNN, tabs blanks, bytes that are not UTF-8 \xNN, carriage returns at
 * ends of lines go, long lines are cut. Free with g_free().
 */
char *lab_evidence_lines(const char *text, gsize length, guint n);
