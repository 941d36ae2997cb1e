/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Plain structs as JSON objects, by a table of their members. */
#pragma once
#include <json-glib/json-glib.h>

typedef enum {
	LAB_FIELD_STRING,   /* char *, never NULL */
	LAB_FIELD_NULLABLE, /* char *, NULL is null */
	LAB_FIELD_UINT64,
	LAB_FIELD_INT64,
	LAB_FIELD_UINT,
	LAB_FIELD_BOOL,
} LabFieldType;

typedef struct {
	const char *name;
	LabFieldType type;
	gsize offset;
} LabField;

#define LAB_FIELD(struct_type, member, field_type)                                                 \
	{                                                                                          \
#member, field_type, offsetof(struct_type, member)                                 \
	}

/** lab_fields_write() - add a member for each field to the object that @builder has open */
void lab_fields_write(JsonBuilder *builder, const LabField *fields, gsize n_fields,
		      gconstpointer value);

/**
 * lab_fields_read() - every field must be there, with its type; other members are ignored
 *
 * On error @value is untouched: LAB_ERROR_USER naming the member. Strings in @value are replaced,
 * not freed.
 */
gboolean lab_fields_read(JsonObject *object, const LabField *fields, gsize n_fields, gpointer value,
			 GError **error);

/** lab_fields_clear() - free the strings */
void lab_fields_clear(const LabField *fields, gsize n_fields, gpointer value);
