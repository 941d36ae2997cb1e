// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/evidence.h"

#include <string.h>

#define QUOTE_LINES 24
#define LINE_MAX_BYTES 400u

typedef struct {
	const char *name;
	LabEvidenceKind kind;
	const char *pattern; /* anywhere in a line */
	gboolean at_start;   /* only after the time stamp */
} Sign;

/*
 * In this order within a line: "BUG: soft lockup" is a lockup, not a BUG. Texts of kernels 3.10
 * to 7.2; where one changed, both. A watchdog may bark at a guest that is only slow (plain tcg on a
 * busy host), so it is trouble; a kernel told to panic then says so in a line of its own.
 */
static const Sign signs[] = {
	{"panic", LAB_EVIDENCE_CRASH, "Kernel panic - not syncing", FALSE},
	{"soft lockup", LAB_EVIDENCE_TROUBLE, "BUG: soft lockup", FALSE},
	{"hard lockup", LAB_EVIDENCE_TROUBLE, "Watchdog detected hard LOCKUP", FALSE},
	{"workqueue lockup", LAB_EVIDENCE_TROUBLE, "BUG: workqueue lockup", FALSE},
	{"spinlock lockup", LAB_EVIDENCE_TROUBLE, "BUG: spinlock lockup", FALSE},
	{"KASAN", LAB_EVIDENCE_CRASH, "BUG: KASAN:", FALSE},
	{"KASAN", LAB_EVIDENCE_CRASH, "AddressSanitizer:", TRUE},
	{"KFENCE", LAB_EVIDENCE_CRASH, "BUG: KFENCE:", FALSE},
	{"KCSAN", LAB_EVIDENCE_TROUBLE, "BUG: KCSAN:", FALSE},
	{"lockdep", LAB_EVIDENCE_TROUBLE, "BUG: MAX_LOCK", FALSE},
	{"Oops", LAB_EVIDENCE_CRASH, "BUG: unable to handle", FALSE},
	{"BUG", LAB_EVIDENCE_CRASH, "kernel BUG at ", FALSE},
	{"BUG", LAB_EVIDENCE_CRASH, "BUG: ", TRUE},
	{"Oops", LAB_EVIDENCE_CRASH, "Oops: ", FALSE},
	{"general protection", LAB_EVIDENCE_CRASH, "general protection fault", TRUE},
	{"stack overflow", LAB_EVIDENCE_CRASH, "kernel stack overflow", FALSE},
	{"double fault", LAB_EVIDENCE_CRASH, "PANIC: double fault", FALSE},
	{"early exception", LAB_EVIDENCE_CRASH, "PANIC: early exception", FALSE},
	{"UBSAN", LAB_EVIDENCE_TROUBLE, "UBSAN: ", TRUE},
	{"RCU stall", LAB_EVIDENCE_TROUBLE, "self-detected stall on CPU", FALSE},
	{"RCU stall", LAB_EVIDENCE_TROUBLE, "detected stalls on CPUs/tasks", FALSE},
	{"RCU stall", LAB_EVIDENCE_TROUBLE, "detected expedited stalls on CPUs", FALSE},
	{"hung task", LAB_EVIDENCE_TROUBLE, " blocked for more than ", FALSE},
	{"oom-kill", LAB_EVIDENCE_TROUBLE, "Out of memory: Kill", FALSE},
	{"oom-kill", LAB_EVIDENCE_TROUBLE, "Memory cgroup out of memory: Kill", FALSE},
	{"oom-kill", LAB_EVIDENCE_TROUBLE, " invoked oom-killer: ", FALSE},
	{"lockdep", LAB_EVIDENCE_TROUBLE, "possible circular locking dependency detected", FALSE},
	{"lockdep", LAB_EVIDENCE_TROUBLE, "possible recursive locking detected", FALSE},
	{"lockdep", LAB_EVIDENCE_TROUBLE, "inconsistent lock state", FALSE},
	{"lockdep", LAB_EVIDENCE_TROUBLE, "possible irq lock inversion dependency", FALSE},
	{"lockdep", LAB_EVIDENCE_TROUBLE, "suspicious RCU usage", FALSE},
	{"lockdep", LAB_EVIDENCE_TROUBLE, "bad unlock balance detected", FALSE},
	{"lockdep", LAB_EVIDENCE_TROUBLE, "unsafe locking dependency detected", FALSE},
};

/* "[    1.234567] ", or with "[  T1]" or "<4>" as some configurations have it. */
static const char *skip_stamp(const char *line, const char *end)
{
	const char *p = line;

	while (p < end && (*p == '[' || *p == '<')) {
		char close = *p == '[' ? ']' : '>';
		gsize inner = strspn(p + 1, " .0123456789TC");

		if (p + 1 + inner >= end || p[1 + inner] != close)
			break;
		p += inner + 2;
		while (p < end && *p == ' ')
			p++;
	}
	return p;
}

static const Sign *sign_of(const char *line, const char *end)
{
	const char *text = skip_stamp(line, end);

	/* Kernels repeat old messages in brackets of their own, commands are shown quoted: neither
	 * starts a line. */
	for (const Sign *s = signs; s < signs + G_N_ELEMENTS(signs); s++) {
		gsize n = strlen(s->pattern);

		if (s->at_start ? (gsize)(end - text) >= n && !memcmp(text, s->pattern, n)
				: memmem(text, (gsize)(end - text), s->pattern, n) != NULL)
			return s;
	}
	return NULL;
}

static void append_printable(GString *s, const char *line, const char *end)
{
	gsize cut = s->len + LINE_MAX_BYTES;

	while (end > line && (end[-1] == '\r' || end[-1] == ' '))
		end--;
	while (line < end && s->len < cut) {
		gunichar c = g_utf8_get_char_validated(line, end - line);

		if (*line == '\t') {
			g_string_append_c(s, ' ');
			line++;
		} else if (*line && c != (gunichar)-1 && c != (gunichar)-2 &&
			   g_unichar_isprint(c)) {
			g_string_append_unichar(s, c);
			line = g_utf8_next_char(line);
		} else {
			g_string_append_printf(s, "\\x%02x", (guchar)*line++);
		}
	}
	if (line < end)
		g_string_append(s, "...");
}

static const char *line_end(const char *line, const char *end)
{
	const char *newline = memchr(line, '\n', (gsize)(end - line));

	return newline ? newline : end;
}

static LabEvidence *make(const Sign *sign, guint number, const char *line, const char *end)
{
	LabEvidence *e = g_new0(LabEvidence, 1);
	g_autoptr(GString) quote = g_string_new(NULL), first = g_string_new(NULL);
	const char *stop = line_end(line, end);

	append_printable(first, skip_stamp(line, stop), stop);
	for (guint i = 0; i < QUOTE_LINES && line < end; i++) {
		stop = line_end(line, end);
		append_printable(quote, line, stop);
		g_string_append_c(quote, '\n');
		line = stop < end ? stop + 1 : end;
	}
	e->kind = sign->kind;
	e->name = sign->name;
	e->line = number;
	e->first = g_string_free(g_steal_pointer(&first), FALSE);
	e->quote = g_string_free(g_steal_pointer(&quote), FALSE);
	return e;
}

LabEvidence *lab_evidence_find(const char *text, gsize length)
{
	const char *end = text + length, *found_line = NULL;
	const Sign *found = NULL;
	guint number = 0, found_number = 0;

	for (const char *line = text; line < end; line = line_end(line, end) + 1) {
		const Sign *sign = sign_of(line, line_end(line, end));

		number++;
		if (!sign || (found && sign->kind <= found->kind))
			continue;
		found = sign;
		found_line = line;
		found_number = number;
		if (sign->kind == LAB_EVIDENCE_CRASH)
			break;
	}
	return found ? make(found, found_number, found_line, end) : NULL;
}

void lab_evidence_free(LabEvidence *evidence)
{
	if (!evidence)
		return;
	g_free(evidence->first);
	g_free(evidence->quote);
	g_free(evidence);
}

static gboolean is_blank(const char *line, const char *end)
{
	while (line < end && g_ascii_isspace(*line))
		line++;
	return line == end;
}

char *lab_evidence_lines(const char *text, gsize length, guint n)
{
	g_autoptr(GPtrArray) starts = g_ptr_array_new();
	g_autoptr(GString) s = g_string_new(NULL);
	const char *end = text + length;

	for (const char *line = text; line < end; line = line_end(line, end) + 1)
		if (!is_blank(line, line_end(line, end)))
			g_ptr_array_add(starts, (gpointer)line);
	for (guint i = starts->len > n ? starts->len - n : 0; i < starts->len; i++) {
		const char *line = g_ptr_array_index(starts, i);

		append_printable(s, line, line_end(line, end));
		g_string_append_c(s, '\n');
	}
	return g_string_free(g_steal_pointer(&s), FALSE);
}
