/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles as text. */
#include <math.h>
#include <string.h>

#include "lab/verdict/profiles.h"

#define MARGIN "            "
/* Shares are sums of fractions: no more than rounding apart is equal. */
#define EQUAL_PCT 1e-6

static void add_head(GString *s, const LabProfiles *p)
{
	g_string_append_printf(
		s, "# %s (%s), run %u, step %s: %u boot%s, %" G_GUINT64_FORMAT " samples of %s\n",
		p->label[0], p->label[1], p->run, p->step, p->boots->len,
		p->boots->len == 1 ? "" : "s", p->n_samples, p->event ? p->event : "nothing");
	if (p->fault_entry)
		g_string_append_printf(s, "# page faults enter by %s\n", p->fault_entry);
	for (char **note = p->notes; *note; note++)
		g_string_append_printf(s, "# %s\n", *note);
}

/* ---- chains ------------------------------------------------------------------------------------- */

static guint n_shown(const LabCallNode *node, double limit_pct)
{
	guint n = 0;

	while (node->children && n < node->children->len &&
	       ((LabCallNode *)node->children->pdata[n])->share >= limit_pct)
		n++;
	return n;
}

static void add_callers(GString *s, const LabCallNode *node, const char *prefix, double limit_pct);

static void add_branch(GString *s, const LabCallNode *child, const char *prefix, gboolean is_last,
		       double limit_pct)
{
	g_autofree char *deeper =
		g_strconcat(prefix, is_last ? "           " : "|          ", NULL);

	g_string_append_printf(s, "%s|          \n%s%c--%.2f%%--%s\n", prefix, prefix,
			       is_last ? ' ' : '|', child->share, child->symbol);
	add_callers(s, child, deeper, limit_pct);
}

/* One caller after the other while there is but one; then a branch for each. */
static void add_callers(GString *s, const LabCallNode *node, const char *prefix, double limit_pct)
{
	guint n = n_shown(node, limit_pct);

	while (n == 1) {
		const LabCallNode *only = node->children->pdata[0];

		if (fabs(only->share - node->share) > EQUAL_PCT)
			break;
		g_string_append_printf(s, "%s%s\n", prefix, only->symbol);
		node = only;
		n = n_shown(node, limit_pct);
	}
	for (guint i = 0; i < n; i++)
		add_branch(s, node->children->pdata[i], prefix, i + 1 == n, limit_pct);
}

static void add_tree(GString *s, const LabProfileRow *row, double limit_pct)
{
	if (!row->root->children)
		return;
	g_string_append_printf(s, MARGIN "|\n" MARGIN "---%s\n", row->symbol);
	add_callers(s, row->root, MARGIN "   ", limit_pct);
	g_string_append_c(s, '\n');
}

/* ---- rows --------------------------------------------------------------------------------------- */

static void widths(const LabProfiles *p, double limit_pct, int *comm, int *object)
{
	*comm = (int)strlen("Command");
	*object = (int)strlen("Shared Object");
	for (guint i = 0; i < p->rows->len; i++) {
		const LabProfileRow *row = p->rows->pdata[i];

		if (row->summary.amean < limit_pct)
			continue;
		*comm = MAX(*comm, (int)strlen(row->comm));
		*object = MAX(*object, (int)strlen(row->object));
	}
}

char *lab_profiles_text(const LabProfiles *p, double limit_pct, gboolean chains)
{
	g_autoptr(GString) s = g_string_new(NULL);
	int comm, object;

	add_head(s, p);
	widths(p, limit_pct, &comm, &object);
	g_string_append_printf(s, "#\n# Overhead%s  %-*s  %-*s  Symbol\n#\n",
			       p->boots->len > 1 ? "     +-" : "", comm, "Command", object,
			       "Shared Object");
	for (guint i = 0; i < p->rows->len; i++) {
		const LabProfileRow *row = p->rows->pdata[i];

		if (row->summary.amean < limit_pct)
			break;
		g_string_append_printf(s, "%9.2f%%", row->summary.amean);
		if (p->boots->len > 1)
			g_string_append_printf(s, " %6.2f", row->summary.stddev);
		g_string_append_printf(s, "  %-*s  %-*s  [%c] %s\n", comm, row->comm, object,
				       row->object, row->is_kernel ? 'k' : '.', row->symbol);
		if (chains)
			add_tree(s, row, limit_pct);
	}
	if (p->boots->len > 1)
		g_string_append(s, "# Overhead: mean over boots; +-: its standard deviation, in "
				   "points of percent\n");
	return g_string_free(g_steal_pointer(&s), FALSE);
}

/* ---- folded ------------------------------------------------------------------------------------- */

static char *fold(const LabProfileChain *chain)
{
	g_autoptr(GString) s = g_string_new(chain->comm);

	for (guint i = chain->n_frames; i-- > 0;)
		g_string_append_printf(s, ";%s%s", chain->frames[i]->symbol,
				       chain->frames[i]->is_kernel ? "_[k]" : "");
	return g_string_free(g_steal_pointer(&s), FALSE);
}

char *lab_profiles_folded(const LabProfiles *p)
{
	g_autoptr(GHashTable) counts =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	g_autoptr(GString) s = g_string_new(NULL);
	g_autoptr(GList) keys = NULL;

	for (guint i = 0; i < p->boots->len; i++) {
		const LabProfile *profile = p->boots->pdata[i];

		for (guint j = 0; j < profile->chains->len; j++) {
			const LabProfileChain *chain = profile->chains->pdata[j];
			char *key = fold(chain);
			guint64 *count = g_hash_table_lookup(counts, key);

			if (!count) {
				count = g_new0(guint64, 1);
				g_hash_table_insert(counts, key, count);
			} else {
				g_free(key);
			}
			*count += chain->n_samples;
		}
	}
	keys = g_list_sort(g_hash_table_get_keys(counts), (GCompareFunc)strcmp);
	for (GList *key = keys; key; key = key->next)
		g_string_append_printf(s, "%s %" G_GUINT64_FORMAT "\n", (char *)key->data,
				       *(guint64 *)g_hash_table_lookup(counts, key->data));
	return g_string_free(g_steal_pointer(&s), FALSE);
}

/* ---- two kernels -------------------------------------------------------------------------------- */

char *lab_profiles_diff_text(const LabProfiles *before, const LabProfiles *after,
			     double limit_pct)
{
	g_autoptr(GPtrArray) shifts = lab_profiles_diff(before, after);
	g_autoptr(GString) s = g_string_new(NULL);

	add_head(s, before);
	add_head(s, after);
	g_string_append_printf(s, "#\n# %8s  %8s  %8s  %-20s  Symbol\n#\n", "before", "after",
			       "points", "95 % interval");
	for (guint i = 0; i < shifts->len; i++) {
		const LabProfileShift *shift = shifts->pdata[i];
		g_autofree char *interval = NULL;

		if (MAX(shift->share[0], shift->share[1]) < limit_pct)
			continue;
		if (isfinite(shift->interval.low) && isfinite(shift->interval.high))
			interval = g_strdup_printf("%+.2f .. %+.2f", shift->interval.low,
						   shift->interval.high);
		g_string_append_printf(
			s, "%9.2f%%  %7.2f%%  %+8.2f  %-20s%c [%c] %s%s%s\n", shift->share[0],
			shift->share[1], shift->share[1] - shift->share[0],
			interval ? interval : "-", interval && shift->p < 0.05 ? '*' : ' ',
			shift->is_kernel ? 'k' : '.', shift->symbol, shift->is_kernel ? "" : " ",
			shift->is_kernel ? "" : shift->object);
	}
	g_string_append_printf(s,
			       "# *: the interval (%s t) excludes 0; for each function alone, "
			       "without correction for their number\n",
			       lab_profiles_paired(before, after) ? "paired" : "Welch's");
	return g_string_free(g_steal_pointer(&s), FALSE);
}
