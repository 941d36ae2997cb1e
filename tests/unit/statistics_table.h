/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tables of docs/statistics.md, between "<!-- NAME -->" and "<!-- end -->"; NUMALAB_GOLDEN=1 rewrites
 * them, review the diff. */
#pragma once
#include <check.h>
#include <glib.h>
#include <string.h>

#define STATISTICS_DOC TEST_TREE "/docs/statistics.md"

static inline void check_table(const char *name, const char *table)
{
	g_autofree char *mark = g_strdup_printf("<!-- %s -->\n", name);
	g_autofree char *wanted = g_strdup_printf("\n%s\n", table);
	g_autofree char *doc = NULL, *found = NULL;
	char *start, *end;

	ck_assert_msg(g_file_get_contents(STATISTICS_DOC, &doc, NULL, NULL), "no %s",
		      STATISTICS_DOC);
	start = strstr(doc, mark);
	ck_assert_msg(start != NULL, "no %s in %s", mark, STATISTICS_DOC);
	start += strlen(mark);
	end = strstr(start, "<!-- ");
	ck_assert_msg(end && g_str_has_prefix(end, "<!-- end -->"), "no end of %s", mark);
	found = g_strndup(start, end - start);
	if (g_getenv("NUMALAB_GOLDEN")) {
		g_autofree char *made = NULL;

		made = g_strdup_printf("%.*s%s%s", (int)(start - doc), doc, wanted, end);
		ck_assert(g_file_set_contents(STATISTICS_DOC, made, -1, NULL));
		return;
	}
	ck_assert_msg(!strcmp(found, wanted),
		      "%s has another table '%s' ('make statistics-tables' makes it):%s",
		      STATISTICS_DOC, name, wanted);
}
