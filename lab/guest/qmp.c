// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/qmp.h"

#include <libvirt/libvirt-qemu.h>
#include <stdlib.h>

#include "lab/base/error.h"
#include "lab/guest/embed.h"

JsonNode *lab_qmp_ask(virDomainPtr domain, const char *command, GError **error)
{
	char *answer = NULL;
	JsonNode *result = NULL;

	if (virDomainQemuMonitorCommand(domain, command, &answer, 0) < 0) {
		lab_embed_set_error(error, "QEMU does not answer");
		return NULL;
	}
	g_autoptr(JsonNode) root = json_from_string(answer, NULL);

	if (root && JSON_NODE_HOLDS_OBJECT(root) &&
	    json_object_has_member(json_node_get_object(root), "return"))
		result = json_object_dup_member(json_node_get_object(root), "return");
	else
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "QEMU answered '%.200s' to %s",
			    answer, command);
	free(answer);
	return result;
}

JsonNode *lab_qmp_cpus(virDomainPtr domain, GError **error)
{
	g_autoptr(JsonNode) cpus = lab_qmp_ask(domain, "{\"execute\":\"query-cpus-fast\"}", error);

	if (!cpus)
		return NULL;
	if (JSON_NODE_HOLDS_ARRAY(cpus) && json_array_get_length(json_node_get_array(cpus)))
		return g_steal_pointer(&cpus);
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "QEMU tells of no CPU");
	return NULL;
}

char *lab_qmp_first_cpu(virDomainPtr domain, GError **error)
{
	g_autoptr(JsonNode) cpus = lab_qmp_cpus(domain, error);

	return cpus ? g_strdup(json_object_get_string_member_with_default(
			      json_array_get_object_element(json_node_get_array(cpus), 0),
			      "qom-path", ""))
		    : NULL;
}

gboolean lab_qmp_switch(virDomainPtr domain, const char *object, const char *name, gboolean *value,
			GError **error)
{
	g_autofree char *command =
		g_strdup_printf("{\"execute\":\"qom-get\",\"arguments\":{\"path\":\"%s\","
				"\"property\":\"%s\"}}",
				object, name);
	g_autoptr(JsonNode) node = lab_qmp_ask(domain, command, error);

	if (!node)
		return FALSE;
	*value = json_node_get_value_type(node) == G_TYPE_BOOLEAN && json_node_get_boolean(node);
	return TRUE;
}
