// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/cpu_features.h"

#include <cpuid.h>
#include <stdlib.h>
#include <string.h>

#include "lab/base/error.h"
#include "lab/guest/qmp.h"

#define CPUID_POWER 0x80000007
#define CPUID_INVARIANT_TSC (1u << 8)

gboolean lab_cpu_has_invariant_tsc(void)
{
	guint eax, ebx, ecx, edx;

	return __get_cpuid(CPUID_POWER, &eax, &ebx, &ecx, &edx) && (edx & CPUID_INVARIANT_TSC);
}

/* Not "kvm", which shows that there is KVM, and not the older spellings with '_'. */
static gboolean is_feature(JsonObject *property)
{
	const char *name = json_object_get_string_member_with_default(property, "name", "");

	return (g_str_has_prefix(name, "kvm-") || g_str_has_prefix(name, "kvmclock")) &&
	       !strcmp(json_object_get_string_member_with_default(property, "type", ""), "bool");
}

static int by_name(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *kvm_features(virDomainPtr domain, const char *cpu, GError **error)
{
	g_autofree char *command =
		g_strdup_printf("{\"execute\":\"qom-list\",\"arguments\":{\"path\":\"%s\"}}", cpu);
	g_autoptr(JsonNode) node = lab_qmp_ask(domain, command, error);
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	JsonArray *list = node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;

	if (!node)
		return NULL;
	for (guint i = 0; list && i < json_array_get_length(list); i++) {
		JsonObject *property = json_array_get_object_element(list, i);
		const char *name;
		gboolean on = FALSE;

		if (!is_feature(property))
			continue;
		name = json_object_get_string_member(property, "name");
		if (!lab_qmp_switch(domain, cpu, name, &on, error))
			return NULL;
		if (on)
			g_ptr_array_add(names, g_strdup(name));
	}
	g_ptr_array_sort(names, by_name);
	g_ptr_array_add(names, NULL);
	return g_strjoinv(" ", (char **)names->pdata);
}

gboolean lab_cpu_features_read_back(virDomainPtr domain, const LabBootJob *job, char **cpu,
				    char **kvm, GError **error)
{
	g_autofree char *path = lab_qmp_first_cpu(domain, error);
	g_autofree char *text = NULL, *features = NULL;
	gboolean pmu, invtsc;

	if (!path || !lab_qmp_switch(domain, path, "pmu", &pmu, error) ||
	    !lab_qmp_switch(domain, path, "invtsc", &invtsc, error) ||
	    !(features = kvm_features(domain, path, error)))
		return FALSE;
	text = g_strdup_printf("pmu=%s invtsc=%s", pmu ? "on" : "off", invtsc ? "on" : "off");
	if (pmu != job->pmu || invtsc != job->invtsc) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
			    "asked for a CPU with pmu=%s invtsc=%s, but QEMU has %s",
			    job->pmu ? "on" : "off", job->invtsc ? "on" : "off", text);
		return FALSE;
	}
	*cpu = g_steal_pointer(&text);
	*kvm = g_steal_pointer(&features);
	return TRUE;
}
