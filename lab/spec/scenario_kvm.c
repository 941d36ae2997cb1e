/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What only a guest under KVM can be given: a CPU model and its PMU, asynchronous page faults, a place on the host, a host
 * short of memory. */
#include "lab/spec/scenario_parts.h"

#include <string.h>

#include "lab/base/suggest.h"

#define MIN_MEMORY (64ull << 20)

static const char *const async_pfs[] = {
	[LAB_ASYNC_PF_DEFAULT] = "default",
	[LAB_ASYNC_PF_ON] = "on",
	[LAB_ASYNC_PF_OFF] = "off",
	[LAB_ASYNC_PF_INT_ONLY] = "int-only",
	NULL,
};

static const char *const switches[] = {"off", "on", NULL};

struct pressure {
	guint64 memory_high, memory_max;
};

static const LabYamlField pressure_fields[] = {
	{"memory-high", LAB_YAML_BYTES, offsetof(struct pressure, memory_high)},
	{"memory-max", LAB_YAML_BYTES, offsetof(struct pressure, memory_max)},
	{0},
};

const char *lab_async_pf_name(LabAsyncPf async_pf)
{
	return async_pfs[async_pf];
}

gboolean lab_async_pf_parse(const char *text, LabAsyncPf *async_pf)
{
	int i = lab_word_index(async_pfs, text);

	if (i >= 0)
		*async_pf = (LabAsyncPf)i;
	return i >= 0;
}

static gboolean read_cpu_model(const LabYamlNode *node, LabScenario *s, GError **error)
{
	const char *model = "host";

	if (node && !lab_yaml_text(node, "a CPU model", &model, error))
		return FALSE;
	/* It becomes a part of a QEMU option. */
	if (!g_ascii_isalnum(*model) ||
	    strspn(model, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_.-") != strlen(model))
		return lab_yaml_fail(node, error, "'host' or a CPU model of QEMU");
	s->cpu_model = g_strdup(model);
	return TRUE;
}

static gboolean read_limit(const LabYamlNode *map, const char *key, guint64 bytes,
			   const LabScenario *s, GError **error)
{
	const LabYamlNode *node = lab_yaml_get(map, key);

	if (!node || (bytes >= MIN_MEMORY && bytes < s->topology->memory_bytes))
		return TRUE;
	return lab_yaml_fail(node, error, "a size from 64MiB to less than the guest's memory");
}

static gboolean read_pressure(const LabYamlNode *node, LabScenario *s, GError **error)
{
	struct pressure p = {0};

	if (!node)
		return TRUE;
	if (!lab_yaml_read(node, "host-pressure", pressure_fields, &p, error) ||
	    !read_limit(node, "memory-high", p.memory_high, s, error) ||
	    !read_limit(node, "memory-max", p.memory_max, s, error))
		return FALSE;
	if (!p.memory_high && !p.memory_max)
		return lab_yaml_fail(node, error, "memory-high, memory-max or both");
	if (p.memory_max && p.memory_max <= p.memory_high)
		return lab_yaml_fail(lab_yaml_get(node, "memory-max"), error,
				     "more than memory-high");
	if (s->pin.hugepage_bytes)
		return lab_yaml_fail(node, error,
				     "no hugepages beside it (the host cannot take them away)");
	s->memory_high_bytes = p.memory_high;
	s->memory_max_bytes = p.memory_max;
	return TRUE;
}

/* The first of our keys that is there, or NULL. */
static const LabYamlNode *first_given(const LabYamlNode *root)
{
	static const char *const keys[] = {"cpu-model", "pmu", "async-pf", "pin", "host-pressure"};
	const LabYamlNode *given = NULL;

	for (gsize i = 0; !given && i < G_N_ELEMENTS(keys); i++)
		given = lab_yaml_get(root, keys[i]);
	return given;
}

gboolean lab_scenario_read_kvm(const LabYamlNode *root, LabScenario *s, GError **error)
{
	const LabYamlNode *given = first_given(root), *async_pf = lab_yaml_get(root, "async-pf"),
			  *pmu = lab_yaml_get(root, "pmu");
	guint word = LAB_ASYNC_PF_DEFAULT, on;

	if (s->clock != LAB_CLOCK_KVM) {
		if (!given)
			return TRUE;
		lab_error_set_at(error, &given->key_origin,
				 "wanted 'clock: kvm' beside this key, found clock %s",
				 lab_clock_name(s->clock));
		return FALSE;
	}
	if (!read_cpu_model(lab_yaml_get(root, "cpu-model"), s, error))
		return FALSE;
	/* QEMU's own default: a named model has none. */
	on = !strcmp(s->cpu_model, "host");
	if ((pmu && !lab_yaml_word(pmu, switches, &on, error)) ||
	    (async_pf && !lab_yaml_word(async_pf, async_pfs, &word, error)) ||
	    !lab_scenario_read_pin(lab_yaml_get(root, "pin"), s, error) ||
	    !read_pressure(lab_yaml_get(root, "host-pressure"), s, error))
		return FALSE;
	s->pmu = on != 0;
	s->async_pf = (LabAsyncPf)word;
	return TRUE;
}
