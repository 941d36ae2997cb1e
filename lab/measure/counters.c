/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/measure/counters.h"

#include <math.h>
#include <string.h>

#include "lab/base/error.h"

/* A copy of the bytes as lines; a NUL in a text from the guest ends it. */
static char **lines_of(GBytes *text)
{
	gsize length;
	const char *data = g_bytes_get_data(text, &length);
	g_autofree char *copy = g_strndup(data ? data : "", length);

	return g_strsplit(copy, "\n", -1);
}

static gboolean is_name(const char *word)
{
	return *word && strspn(word, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_") == strlen(word);
}

static gboolean parse_u64(const char *word, guint64 *value)
{
	return g_ascii_isdigit(*word) &&
	       g_ascii_string_to_unsigned(word, 10, 0, G_MAXUINT64, value, NULL);
}

/* What a guest wrote, made fit for one line of a message. */
static char *quote(const char *line)
{
	g_autofree char *start = g_strndup(line, 60);

	return g_strescape(start, NULL);
}

static void put(GHashTable *table, char *name, guint64 value)
{
	g_hash_table_insert(table, name, g_memdup2(&value, sizeof(value)));
}

GHashTable *lab_counters_parse(GBytes *text, const char *what, GError **error)
{
	g_autoptr(GHashTable) table =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	g_auto(GStrv) lines = lines_of(text);

	for (guint i = 0; lines[i]; i++) {
		g_auto(GStrv) words = NULL;
		guint64 value;

		if (!*lines[i])
			continue;
		words = g_strsplit(lines[i], " ", 3);
		if (g_strv_length(words) != 2 || !is_name(words[0]) ||
		    !parse_u64(words[1], &value) || g_hash_table_contains(table, words[0])) {
			g_autofree char *found = quote(lines[i]);

			g_set_error(error, LAB_ERROR, LAB_ERROR_UNKNOWN,
				    "%s:%u: wanted a counter's name and value, found '%s'", what,
				    i + 1, found);
			return NULL;
		}
		put(table, g_strdup(words[0]), value);
	}
	return g_steal_pointer(&table);
}

gboolean lab_counters_is_level(const char *name)
{
	static const char *const events[] = {
		"nr_dirtied",
		"nr_written",
		"nr_throttled_written",
		"nr_vmscan_write",
		"nr_vmscan_immediate_reclaim",
		"nr_foll_pin_acquired",
		"nr_foll_pin_released",
		NULL,
	};

	if (g_str_equal(name, "workingset_nodes"))
		return TRUE;
	return g_str_has_prefix(name, "nr_") && !g_str_has_prefix(name, "nr_tlb_") &&
	       !g_strv_contains(events, name);
}

void lab_counters_delta(GHashTable *before, GHashTable *after, const char *prefix,
			GHashTable *deltas)
{
	GHashTableIter iter;
	gpointer name, end;

	g_hash_table_iter_init(&iter, after);
	while (g_hash_table_iter_next(&iter, &name, &end)) {
		const guint64 *start = g_hash_table_lookup(before, name);

		if (start && *(guint64 *)end >= *start)
			put(deltas, g_strconcat(prefix, name, NULL), *(guint64 *)end - *start);
	}
}

/* ---- /proc/interrupts ----------------------------------------------------------------------- */

static const char *const IRQS[] = {"TLB", "CAL", "RES", "LOC", "HYP"};

typedef struct {
	char **cpus;			    /* "CPU0", ... */
	GArray *counts[G_N_ELEMENTS(IRQS)]; /* of guint64, one a CPU; NULL: absent */
} Interrupts;

static void interrupts_clear(Interrupts *irqs)
{
	g_clear_pointer(&irqs->cpus, g_strfreev);
	for (guint i = 0; i < G_N_ELEMENTS(IRQS); i++)
		g_clear_pointer(&irqs->counts[i], g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Interrupts, interrupts_clear)

static char **words_of(const char *line)
{
	g_auto(GStrv) all = g_strsplit_set(line, " \t\r", -1);
	g_autoptr(GPtrArray) words = g_ptr_array_new();

	for (guint i = 0; all[i]; i++)
		if (*all[i])
			g_ptr_array_add(words, g_strdup(all[i]));
	g_ptr_array_add(words, NULL);
	return (char **)g_ptr_array_steal(words, NULL);
}

static void interrupts_add(Interrupts *irqs, char **words)
{
	for (guint i = 0; i < G_N_ELEMENTS(IRQS); i++) {
		guint n = g_strv_length(irqs->cpus);
		g_autoptr(GArray) counts = NULL;
		guint64 value;

		if (strncmp(words[0], IRQS[i], 3) != 0 || strcmp(words[0] + 3, ":") != 0)
			continue;
		counts = g_array_new(FALSE, FALSE, sizeof(guint64));
		for (char **w = words + 1; *w && counts->len < n && parse_u64(*w, &value); w++)
			g_array_append_val(counts, value);
		if (counts->len == n && !irqs->counts[i])
			irqs->counts[i] = g_steal_pointer(&counts);
	}
}

static gboolean interrupts_parse(GBytes *text, const char *what, Interrupts *irqs, GError **error)
{
	g_auto(GStrv) lines = lines_of(text);
	g_auto(GStrv) cpus = words_of(lines[0] ? lines[0] : "");

	for (guint i = 0; i == 0 || cpus[i]; i++) {
		if (cpus[i] && g_str_has_prefix(cpus[i], "CPU"))
			continue;
		g_set_error(error, LAB_ERROR, LAB_ERROR_UNKNOWN,
			    "%s:1: wanted a head of CPU0 CPU1 ..., found none", what);
		return FALSE;
	}
	irqs->cpus = g_steal_pointer(&cpus);
	for (guint i = 1; lines[i - 1] && lines[i]; i++) {
		g_auto(GStrv) words = words_of(lines[i]);

		if (words[0])
			interrupts_add(irqs, words);
	}
	return TRUE;
}

static gboolean one_delta(const GArray *before, const GArray *after, gboolean underflows,
			  guint64 *delta)
{
	guint64 sum = 0;

	for (guint cpu = 0; cpu < after->len; cpu++) {
		guint64 start = g_array_index(before, guint64, cpu);
		guint64 end = g_array_index(after, guint64, cpu);

		if (end < start || (underflows && end >> 31) ||
		    __builtin_add_overflow(sum, end - start, &sum))
			return FALSE;
	}
	*delta = sum;
	return TRUE;
}

gboolean lab_interrupts_delta(GBytes *before, GBytes *after, const char *what, GHashTable *deltas,
			      GError **error)
{
	g_auto(Interrupts) start = {0};
	g_auto(Interrupts) end = {0};

	if (!interrupts_parse(before, what, &start, error) ||
	    !interrupts_parse(after, what, &end, error))
		return FALSE;
	if (!g_strv_equal((const char *const *)start.cpus, (const char *const *)end.cpus))
		return TRUE;
	for (guint i = 0; i < G_N_ELEMENTS(IRQS); i++) {
		guint64 delta;

		if (start.counts[i] && end.counts[i] &&
		    one_delta(start.counts[i], end.counts[i], g_str_equal(IRQS[i], "CAL"), &delta))
			put(deltas, g_strconcat("irq.", IRQS[i], NULL), delta);
	}
	return TRUE;
}

/* ---- fs_mark -------------------------------------------------------------------------------- */

static gboolean is_fs_mark_head(char **words)
{
	static const char *const head[] = {"FSUse%",	"Count", "Size",
					   "Files/sec", "App",	 "Overhead"};

	for (guint i = 0; i < G_N_ELEMENTS(head); i++)
		if (!words[i] || strcmp(words[i], head[i]) != 0)
			return FALSE;
	return TRUE;
}

static gboolean parse_number(const char *word, double *value)
{
	char *end;

	if (!g_ascii_isdigit(*word))
		return FALSE;
	*value = g_ascii_strtod(word, &end);
	return !*end && isfinite(*value);
}

static gboolean is_fs_mark_row(char **words, double columns[5])
{
	for (guint i = 0; i < 5; i++)
		if (!words[i] || !parse_number(words[i], &columns[i]))
			return FALSE;
	return TRUE;
}

LabFsMark lab_fs_mark_parse(GBytes *text)
{
	g_auto(GStrv) lines = lines_of(text);
	LabFsMark mark = {0};
	gboolean in_table = FALSE;
	double columns[5];

	for (guint i = 0; lines[i]; i++) {
		g_auto(GStrv) words = words_of(lines[i]);

		if (is_fs_mark_head(words)) {
			in_table = TRUE;
		} else if (in_table && is_fs_mark_row(words, columns)) {
			mark.lines++;
			mark.files_per_s += columns[3];
			mark.overhead_us += columns[4];
		} else {
			in_table = FALSE;
		}
	}
	if (mark.lines) {
		mark.files_per_s /= mark.lines;
		mark.overhead_us /= mark.lines;
	}
	return mark;
}
