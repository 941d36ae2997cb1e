/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results for people and programs, on stdout. main() checks at the end that all of it could be
 * written. */
#pragma once
#include <glib.h>
#include <json-glib/json-glib.h>

typedef struct _PrintTable PrintTable;

/** print_table_new() - headings, NULL-terminated; one that starts with '>' is a column aligned
 * right */
PrintTable *print_table_new(const char *heading, ...) G_GNUC_NULL_TERMINATED;

/**
 * print_table_add() - a row: as many strings as headings, then NULL; copied
 *
 * Missing data is "-" ("" is shown empty); control characters are shown as '?'.
 */
void print_table_add(PrintTable *table, const char *cell, ...) G_GNUC_NULL_TERMINATED;

/** print_table() - headings and rows, columns two spaces apart, no blanks at the ends of lines;
 * nothing when there is no row */
void print_table(const PrintTable *table);
/** print_table_text() - the same as a string; free with g_free() */
char *print_table_text(const PrintTable *table);
void print_table_free(PrintTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PrintTable, print_table_free)

/** print_json() - indented, with a newline */
void print_json(JsonNode *root);

/** print_json_builder() - what a finished JsonBuilder holds */
void print_json_builder(JsonBuilder *builder);

/**
 * print_clean() - bytes that came from a guest, safe for a terminal: control characters (but
 * newline and tab) and invalid UTF-8 as '?'. Free with g_free().
 */
char *print_clean(const char *text);

/** print_size() - "185 MiB", to the next whole one. Free with g_free(). */
char *print_size(guint64 bytes);

/** print_wrap() - paragraphs wrapped to @width columns after @indent blanks; lines that start with
 * a blank stay. Free with g_free(). */
char *print_wrap(const char *text, guint width, guint indent);

typedef enum { PRINT_PLAIN, PRINT_GOOD, PRINT_BAD, PRINT_DIM } PrintColour;

/** print_set_colour() - by main(): FALSE with --no-color, $NO_COLOR, $TERM=dumb, or when stdout is
 * no terminal */
void print_set_colour(gboolean on);
/** print_colour() - escape sequence that starts a colour (PRINT_PLAIN ends it), or "" */
const char *print_colour(PrintColour colour);
