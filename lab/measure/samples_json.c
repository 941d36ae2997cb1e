/* SPDX-License-Identifier: GPL-2.0-or-later */
/* samples.json: one sample a line, so that grep finds them. */
#include "lab/measure/samples.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/base/units.h"

static const char *const UNITS[] = {"s", "KiB", "count", "files/s", "us"};

static const char *static_unit(const char *unit)
{
	for (guint i = 0; unit && i < G_N_ELEMENTS(UNITS); i++)
		if (g_str_equal(unit, UNITS[i]))
			return UNITS[i];
	return NULL;
}

gboolean lab_samples_write(const GPtrArray *samples, const char *path, GError **error)
{
	g_autoptr(GString) text = g_string_new("{\"samples\": [");

	for (guint i = 0; i < samples->len; i++) {
		const LabSample *sample = samples->pdata[i];
		g_autofree char *metric = g_strescape(sample->metric, NULL);
		g_autofree char *value = lab_format_number(sample->value);

		g_string_append_printf(
			text,
			"%s\n{\"metric\": \"%s\", \"value\": %s, \"unit\": \"%s\", \"better\": %d}",
			i ? "," : "", metric, value, sample->unit, sample->better);
	}
	g_string_append(text, "\n]}\n");
	return lab_file_write(path, text->str, (gssize)text->len, error);
}

static gboolean get_member(JsonObject *object, const char *name, GType type, GValue *value)
{
	JsonNode *node = json_object_get_member(object, name);
	GValue found = G_VALUE_INIT;
	gboolean ok;

	if (!node || !JSON_NODE_HOLDS_VALUE(node))
		return FALSE;
	json_node_get_value(node, &found);
	/* 5 and 5.0 are the same number to JSON. */
	ok = G_VALUE_TYPE(&found) == type ||
	     (type == G_TYPE_DOUBLE && G_VALUE_TYPE(&found) == G_TYPE_INT64);
	g_value_init(value, type);
	ok = ok && g_value_transform(&found, value);
	g_value_unset(&found);
	return ok;
}

static LabSample *read_sample(JsonNode *node)
{
	g_auto(GValue) metric = G_VALUE_INIT;
	g_auto(GValue) value = G_VALUE_INIT;
	g_auto(GValue) unit = G_VALUE_INIT;
	g_auto(GValue) better = G_VALUE_INIT;
	JsonObject *object = JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
	LabSample *sample;

	if (!object || !get_member(object, "metric", G_TYPE_STRING, &metric) ||
	    !get_member(object, "value", G_TYPE_DOUBLE, &value) ||
	    !get_member(object, "unit", G_TYPE_STRING, &unit) ||
	    !get_member(object, "better", G_TYPE_INT64, &better) ||
	    !isfinite(g_value_get_double(&value)) || !static_unit(g_value_get_string(&unit)) ||
	    ABS(g_value_get_int64(&better)) > 1)
		return NULL;
	sample = g_new(LabSample, 1);
	*sample = (LabSample){
		.metric = g_value_dup_string(&metric),
		.value = g_value_get_double(&value),
		.unit = static_unit(g_value_get_string(&unit)),
		.better = (int)g_value_get_int64(&better),
	};
	return sample;
}

GPtrArray *lab_samples_read(const char *path, GError **error)
{
	g_autoptr(GPtrArray) samples =
		g_ptr_array_new_with_free_func((GDestroyNotify)lab_sample_free);
	g_autoptr(JsonParser) parser = json_parser_new();
	g_autoptr(GError) local = NULL;
	g_autofree char *text = NULL;
	JsonNode *node;
	JsonArray *array = NULL;
	gsize length;

	text = lab_file_read(path, &length, error);
	if (!text)
		return NULL;
	if (!json_parser_load_from_data(parser, text, (gssize)length, &local)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "%s: %s", path, local->message);
		return NULL;
	}
	node = json_parser_get_root(parser);
	node = node && JSON_NODE_HOLDS_OBJECT(node)
		       ? json_object_get_member(json_node_get_object(node), "samples")
		       : NULL;
	if (node && JSON_NODE_HOLDS_ARRAY(node))
		array = json_node_get_array(node);
	for (guint i = 0; array && i < json_array_get_length(array); i++) {
		LabSample *sample = read_sample(json_array_get_element(array, i));

		if (!sample) {
			g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "%s: sample %u is none",
				    path, i);
			return NULL;
		}
		g_ptr_array_add(samples, sample);
	}
	if (array)
		return g_steal_pointer(&samples);
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "%s: wanted samples, found none", path);
	return NULL;
}
