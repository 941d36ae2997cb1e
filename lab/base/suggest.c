/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/base/suggest.h"

#include <string.h>

int lab_word_index(const char *const *words, const char *word)
{
	for (int i = 0; words[i]; i++)
		if (!strcmp(words[i], word))
			return i;
	return -1;
}

/* Optimal string alignment distance. */
static guint distance(const char *a, const char *b)
{
	gsize la = strlen(a), lb = strlen(b), w = lb + 1;
	g_autofree guint *d = g_new(guint, (la + 1) * w);

	for (gsize j = 0; j <= lb; j++)
		d[j] = (guint)j;
	for (gsize i = 1; i <= la; i++) {
		d[i * w] = (guint)i;
		for (gsize j = 1; j <= lb; j++) {
			guint cost = a[i - 1] != b[j - 1];
			guint best = MIN(d[(i - 1) * w + j] + 1, d[i * w + j - 1] + 1);

			best = MIN(best, d[(i - 1) * w + j - 1] + cost);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				best = MIN(best, d[(i - 2) * w + j - 2] + 1);
			d[i * w + j] = best;
		}
	}
	return d[la * w + lb];
}

const char *lab_suggest(const char *word, const char *const *candidates)
{
	const char *nearest = NULL;
	gsize length = strlen(word);
	guint best;

	if (length > 64)
		return NULL;
	best = MAX(1, (guint)length / 3) + 1;
	for (; *candidates; candidates++) {
		guint d = distance(word, *candidates);

		if (d < best) {
			best = d;
			nearest = *candidates;
		}
	}
	return nearest;
}

char *lab_suggest_text(const char *word, const char *const *candidates)
{
	const char *nearest = lab_suggest(word, candidates);

	return nearest ? g_strdup_printf(" (did you mean '%s'?)", nearest) : g_strdup("");
}
