/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/measure/kallsyms.h"

#include <string.h>

#include "agent/protocol.h"

#define KERNEL "[kernel.kallsyms]"
#define PAGE 4096u

typedef struct {
	guint64 start, end;
	const char *name, *module;
} Symbol;

struct LabKallsyms {
	GStringChunk *texts;
	GArray *symbols; /* of Symbol, by start; one for each start */
};

/* "ffffffff81000000 T _stext", and of a module "ffffffffc0201000 t xfs_alloc_fix\t[xfs]" */
static gboolean parse(LabKallsyms *s, const char *line, gsize length, Symbol *symbol)
{
	const char *end = line + length, *tab = memchr(line, '\t', length);
	const char *name_end = tab ? tab : end;
	char *after;

	if (length < 20 || line[16] != ' ' || line[18] != ' ' || name_end <= line + 19)
		return FALSE;
	symbol->start = g_ascii_strtoull(line, &after, 16);
	if (after != line + 16)
		return FALSE;
	for (const char *p = line + 17; p < end; p++)
		if (!g_ascii_isprint(*p) && *p != '\t')
			return FALSE;
	symbol->name = g_string_chunk_insert_len(s->texts, line + 19, name_end - line - 19);
	if (tab) {
		g_autofree char *module = g_strndup(tab + 1, (gsize)(end - tab - 1));

		symbol->module = g_string_chunk_insert_const(s->texts, module);
	} else {
		symbol->module = g_string_chunk_insert_const(s->texts, KERNEL);
	}
	return TRUE;
}

static void add_lines(LabKallsyms *s, GBytes *payload)
{
	gsize length;
	const char *line = g_bytes_get_data(payload, &length), *end = line + length;

	while (line < end) {
		const char *newline = memchr(line, '\n', (gsize)(end - line));
		gsize bytes = (gsize)((newline ? newline : end) - line);
		Symbol symbol;

		if (parse(s, line, bytes, &symbol))
			g_array_append_val(s->symbols, symbol);
		line += bytes + 1;
	}
}

/* Stable: of one address, as kallsyms has them. */
static int by_start(gconstpointer left, gconstpointer right)
{
	const Symbol *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* kallsyms has no sizes: a function goes to the next one, and the last before a gap a page further than its own, as perf has it. */
static void set_ends(GArray *symbols)
{
	guint kept = 0;

	for (guint i = 0; i < symbols->len; i++) {
		Symbol symbol = g_array_index(symbols, Symbol, i);

		if (kept && g_array_index(symbols, Symbol, kept - 1).start == symbol.start)
			kept--;
		g_array_index(symbols, Symbol, kept++) = symbol;
	}
	g_array_set_size(symbols, kept);
	for (guint i = 0; i < kept; i++) {
		Symbol *symbol = &g_array_index(symbols, Symbol, i);
		const Symbol *next = i + 1 < kept ? &g_array_index(symbols, Symbol, i + 1) : NULL;
		guint64 page = (symbol->start + PAGE - 1) / PAGE * PAGE + PAGE;

		symbol->end = next && next->module == symbol->module ? next->start : page;
		if (next && symbol->end > next->start)
			symbol->end = next->start;
	}
}

LabKallsyms *lab_kallsyms_read(const LabRecords *records)
{
	g_autoptr(LabKallsyms) s = g_new0(LabKallsyms, 1);

	s->texts = g_string_chunk_new(1 << 16);
	s->symbols = g_array_new(FALSE, FALSE, sizeof(Symbol));
	for (guint i = 0; i < records->records->len; i++) {
		const LabRecord *record = records->records->pdata[i];

		if (record->type == AGENT_REC_SYMBOLS)
			add_lines(s, record->payload);
	}
	if (!s->symbols->len)
		return NULL;
	g_array_sort(s->symbols, by_start);
	set_ends(s->symbols);
	return g_steal_pointer(&s);
}

void lab_kallsyms_free(LabKallsyms *s)
{
	if (!s)
		return;
	g_string_chunk_free(s->texts);
	g_array_unref(s->symbols);
	g_free(s);
}

const char *lab_kallsyms_find(const LabKallsyms *s, guint64 address, const char **module)
{
	guint low = 0, high = s->symbols->len;

	/* The first that starts behind it. */
	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(s->symbols, Symbol, middle).start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || g_array_index(s->symbols, Symbol, low - 1).end <= address)
		return NULL;
	*module = g_array_index(s->symbols, Symbol, low - 1).module;
	return g_array_index(s->symbols, Symbol, low - 1).name;
}

GArray *lab_kallsyms_parts(const LabKallsyms *s)
{
	GArray *parts = g_array_new(FALSE, FALSE, sizeof(LabKallsymsPart));

	for (guint i = 0; i < s->symbols->len; i++) {
		const Symbol *symbol = &g_array_index(s->symbols, Symbol, i);
		LabKallsymsPart *last =
			parts->len ? &g_array_index(parts, LabKallsymsPart, parts->len - 1) : NULL;

		if (last && last->name == symbol->module) {
			last->end = symbol->end;
			continue;
		}
		g_array_append_vals(
			parts, &(LabKallsymsPart){symbol->module, symbol->start, symbol->end}, 1);
	}
	return parts;
}
