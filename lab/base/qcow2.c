/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/base/qcow2.h"

#include <json-glib/json-glib.h>

#include "lab/base/error.h"
#include "lab/base/process.h"

gboolean lab_qcow2_above(const char *backing, const char *format, const char *path, GError **error)
{
	const char *const argv[] = {"qemu-img", "create", "-q",	  "-f", "qcow2", "-b",
				    backing,	"-F",	  format, path, NULL};

	return lab_process_check(argv, NULL, NULL, error);
}

gboolean lab_qcow2_empty(guint64 bytes, const char *path, GError **error)
{
	g_autofree char *size = g_strdup_printf("%" G_GUINT64_FORMAT, bytes);
	const char *const argv[] = {"qemu-img", "create", "-q", "-f", "qcow2", path, size, NULL};

	return lab_process_check(argv, NULL, NULL, error);
}

static void layer_free(gpointer data)
{
	LabQcow2Layer *layer = data;

	g_free(layer->path);
	g_free(layer->format);
	g_free(layer);
}

static gboolean add_layer(GPtrArray *chain, JsonNode *node)
{
	JsonObject *object = JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
	const char *path = NULL, *format = NULL;
	LabQcow2Layer *layer;

	if (object) {
		path = json_object_get_string_member_with_default(object, "filename", NULL);
		format = json_object_get_string_member_with_default(object, "format", NULL);
	}
	if (!path || !format)
		return FALSE;
	layer = g_new0(LabQcow2Layer, 1);
	layer->path = g_strdup(path);
	layer->format = g_strdup(format);
	g_ptr_array_add(chain, layer);
	return TRUE;
}

GPtrArray *lab_qcow2_chain(const char *path, GError **error)
{
	const char *const argv[] = {"qemu-img",	     "info", "-U", "--backing-chain",
				    "--output=json", path,   NULL};
	g_autoptr(GPtrArray) chain = g_ptr_array_new_with_free_func(layer_free);
	g_autoptr(JsonNode) root = NULL;
	g_autofree char *out = NULL;
	gboolean ok;

	if (!lab_process_check(argv, NULL, &out, error))
		return NULL;
	root = json_from_string(out, NULL);
	ok = root && JSON_NODE_HOLDS_ARRAY(root) &&
	     json_array_get_length(json_node_get_array(root));
	for (guint i = 0; ok && i < json_array_get_length(json_node_get_array(root)); i++)
		ok = add_layer(chain, json_array_get_element(json_node_get_array(root), i));
	if (ok)
		return g_steal_pointer(&chain);
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "qemu-img does not say what %s consists of",
		    path);
	return NULL;
}
