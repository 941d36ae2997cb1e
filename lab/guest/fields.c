// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/fields.h"

#include "lab/base/error.h"

#define AT(type, value, field) (*(type *)((char *)(value) + (field)->offset))

void lab_fields_write(JsonBuilder *builder, const LabField *fields, gsize n_fields,
		      gconstpointer value)
{
	for (const LabField *f = fields; f < fields + n_fields; f++) {
		json_builder_set_member_name(builder, f->name);
		switch (f->type) {
		case LAB_FIELD_STRING:
		case LAB_FIELD_NULLABLE:
			if (AT(char *, value, f))
				json_builder_add_string_value(builder, AT(char *, value, f));
			else if (f->type == LAB_FIELD_NULLABLE)
				json_builder_add_null_value(builder);
			else
				json_builder_add_string_value(builder, "");
			break;
		case LAB_FIELD_UINT64:
			json_builder_add_int_value(builder, (gint64)AT(guint64, value, f));
			break;
		case LAB_FIELD_INT64:
			json_builder_add_int_value(builder, AT(gint64, value, f));
			break;
		case LAB_FIELD_UINT:
			json_builder_add_int_value(builder, AT(guint, value, f));
			break;
		case LAB_FIELD_BOOL:
			json_builder_add_boolean_value(builder, AT(gboolean, value, f));
			break;
		}
	}
}

static gboolean fits(const LabField *field, JsonNode *node)
{
	GType type = node ? json_node_get_value_type(node) : G_TYPE_INVALID;

	switch (field->type) {
	case LAB_FIELD_NULLABLE:
		return node && (JSON_NODE_HOLDS_NULL(node) || type == G_TYPE_STRING);
	case LAB_FIELD_STRING:
		return type == G_TYPE_STRING;
	case LAB_FIELD_UINT64:
	case LAB_FIELD_INT64:
		return type == G_TYPE_INT64;
	case LAB_FIELD_UINT:
		return type == G_TYPE_INT64 && json_node_get_int(node) >= 0 &&
		       json_node_get_int(node) <= G_MAXUINT;
	case LAB_FIELD_BOOL:
		return type == G_TYPE_BOOLEAN;
	}
	return FALSE;
}

static void take(const LabField *field, JsonNode *node, gpointer value)
{
	switch (field->type) {
	case LAB_FIELD_STRING:
	case LAB_FIELD_NULLABLE:
		AT(char *, value, field) =
			JSON_NODE_HOLDS_NULL(node) ? NULL : json_node_dup_string(node);
		break;
	case LAB_FIELD_UINT64:
		AT(guint64, value, field) = (guint64)json_node_get_int(node);
		break;
	case LAB_FIELD_INT64:
		AT(gint64, value, field) = json_node_get_int(node);
		break;
	case LAB_FIELD_UINT:
		AT(guint, value, field) = (guint)json_node_get_int(node);
		break;
	case LAB_FIELD_BOOL:
		AT(gboolean, value, field) = json_node_get_boolean(node);
		break;
	}
}

gboolean lab_fields_read(JsonObject *object, const LabField *fields, gsize n_fields, gpointer value,
			 GError **error)
{
	static const char *const wanted[] = {
		[LAB_FIELD_STRING] = "a string",      [LAB_FIELD_NULLABLE] = "a string or null",
		[LAB_FIELD_UINT64] = "a number",      [LAB_FIELD_INT64] = "a number",
		[LAB_FIELD_UINT] = "a number from 0", [LAB_FIELD_BOOL] = "true or false",
	};

	for (const LabField *f = fields; f < fields + n_fields; f++) {
		JsonNode *node = json_object_get_member(object, f->name);

		if (fits(f, node))
			continue;
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "wanted '%s' with %s, found %s",
			    f->name, wanted[f->type],
			    node ? json_node_type_name(node) : "no such member");
		return FALSE;
	}
	for (const LabField *f = fields; f < fields + n_fields; f++)
		take(f, json_object_get_member(object, f->name), value);
	return TRUE;
}

void lab_fields_clear(const LabField *fields, gsize n_fields, gpointer value)
{
	for (const LabField *f = fields; f < fields + n_fields; f++)
		if (f->type == LAB_FIELD_STRING || f->type == LAB_FIELD_NULLABLE)
			g_clear_pointer(&AT(char *, value, f), g_free);
}
