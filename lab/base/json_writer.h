/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * JSON text, written in order. In place of JsonGenerator where numbers are printed for people and
 * programs: json-glib 1.6 writes 0.1 as 0.10000000000000001, and 1e18 as "1e+18.0", which is no
 * JSON.
 *
 * Two blanks a level, '"key": value'; a container begun with LAB_JSON_LINE stands on one line, so
 * that grep finds all of it.
 */
#pragma once
#include <glib.h>

typedef struct _LabJsonWriter LabJsonWriter;

typedef enum { LAB_JSON_BLOCK, LAB_JSON_LINE } LabJsonLayout;

LabJsonWriter *lab_json_writer_new(void);
void lab_json_writer_free(LabJsonWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabJsonWriter, lab_json_writer_free)

/**
 * lab_json_writer_object(), _array() - begin one
 * @key: (nullable): NULL in an array and at the top; so for all below
 */
void lab_json_writer_object(LabJsonWriter *writer, const char *key, LabJsonLayout layout);
void lab_json_writer_array(LabJsonWriter *writer, const char *key, LabJsonLayout layout);
/** lab_json_writer_end() - of what was begun last */
void lab_json_writer_end(LabJsonWriter *writer);

/** lab_json_writer_string() - @value NULL is null; invalid UTF-8 becomes U+FFFD */
void lab_json_writer_string(LabJsonWriter *writer, const char *key, const char *value);
void lab_json_writer_uint(LabJsonWriter *writer, const char *key, guint64 value);
/** lab_json_writer_number() - NAN and infinities, which JSON lacks, are null */
void lab_json_writer_number(LabJsonWriter *writer, const char *key, double value);

/**
 * lab_json_writer_text() - all that was written, with a newline; everything must be ended
 *
 * Free with g_free().
 */
char *lab_json_writer_text(const LabJsonWriter *writer);
