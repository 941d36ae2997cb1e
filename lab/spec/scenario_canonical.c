/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What decides a run, and what decides a prepared file system, as JSON. */
#include "lab/spec/scenario_parts.h"

#include "lab/base/digest.h"

static const char *const step_kinds[] = {
	[LAB_STEP_EXEC] = "exec",
	[LAB_STEP_MKDIR] = "mkdir",
	[LAB_STEP_MOUNT] = "mount",
	[LAB_STEP_UMOUNT] = "umount",
	[LAB_STEP_DROP_CACHES] = "drop_caches",
	[LAB_STEP_NUMA_TOUCH] = "numa_touch",
};

/* @whole: also what it is called and how it is watched, which does not change what it does. */
static JsonArray *steps_json(const GPtrArray *steps, gboolean whole)
{
	JsonArray *array = json_array_new();

	for (guint i = 0; i < steps->len; i++) {
		const LabStep *step = steps->pdata[i];
		JsonObject *o = json_object_new();

		json_object_set_string_member(o, "kind", step_kinds[step->kind]);
		json_object_set_array_member(o, "argv", lab_spec_json_strv(step->argv));
		if (whole) {
			json_object_set_string_member(o, "name", step->name);
			json_object_set_boolean_member(o, "measure", step->measure);
			json_object_set_int_member(o, "timeout_ns", (gint64)step->timeout_ns);
			/* Left out where it is the default, as modules below. */
			if (step->oom_kills_allowed)
				json_object_set_string_member(o, "oom_kills", "allowed");
		}
		json_array_add_object_element(array, o);
	}
	return array;
}

static JsonArray *settings_json(const GPtrArray *settings)
{
	JsonArray *array = json_array_new();

	for (guint i = 0; i < settings->len; i++) {
		const LabSetting *setting = settings->pdata[i];
		JsonObject *o = json_object_new();

		json_object_set_string_member(o, "name", setting->name);
		json_object_set_string_member(o, "value", setting->value);
		json_object_set_array_member(o, "paths", lab_spec_json_strv(setting->paths));
		json_array_add_object_element(array, o);
	}
	return array;
}

static void set_canonical(JsonObject *o, const char *key, const char *canonical)
{
	json_object_set_member(o, key, json_from_string(canonical, NULL));
}

static JsonObject *kvm_json(const LabScenario *s)
{
	JsonObject *o = json_object_new();

	json_object_set_string_member(o, "cpu_model", s->cpu_model);
	json_object_set_string_member(o, "pmu", s->pmu ? "on" : "off");
	json_object_set_string_member(o, "async_pf", lab_async_pf_name(s->async_pf));
	if (s->pin.cpus)
		json_object_set_string_member(o, "pin_cpus", s->pin.cpus);
	if (s->pin.emulator)
		json_object_set_string_member(o, "pin_emulator", s->pin.emulator);
	if (s->pin.nodes)
		json_object_set_string_member(o, "pin_nodes", s->pin.nodes);
	if (s->pin.hugepage_bytes)
		json_object_set_int_member(o, "pin_hugepage_bytes", (gint64)s->pin.hugepage_bytes);
	json_object_set_int_member(o, "memory_high_bytes", (gint64)s->memory_high_bytes);
	json_object_set_int_member(o, "memory_max_bytes", (gint64)s->memory_max_bytes);
	return o;
}

/* What every boot of the scenario is made with. */
static JsonObject *machine_json(const LabScenario *s)
{
	JsonObject *o = json_object_new();

	set_canonical(o, "topology", s->topology->canonical);
	json_object_set_string_member(o, "clock", lab_clock_name(s->clock));
	json_object_set_int_member(o, "numa_balancing", s->numa_balancing);
	json_object_set_array_member(o, "settings", settings_json(s->settings));
	json_object_set_int_member(o, "settle_ns", (gint64)s->settle_ns);
	json_object_set_int_member(o, "scratch_bytes", (gint64)s->scratch_bytes);
	json_object_set_string_member(o, "console", s->console_quiet ? "quiet" : "verbose");
	json_object_set_array_member(o, "kernel_args", lab_spec_json_strv(s->kernel_args));
	/* Left out where there are none: digests from before there was this key stay. */
	if (*s->modules)
		json_object_set_array_member(o, "modules", lab_spec_json_strv(s->modules));
	if (s->boot == LAB_BOOT_DISK)
		json_object_set_object_member(o, "disk", lab_scenario_disk_json(s));
	if (s->clock == LAB_CLOCK_KVM)
		json_object_set_object_member(o, "kvm", kvm_json(s));
	return o;
}

void lab_scenario_finish(LabScenario *s)
{
	JsonObject *o = machine_json(s), *prepare;

	set_canonical(o, "image", s->image->canonical);
	json_object_set_array_member(o, "steps", steps_json(s->steps, TRUE));
	json_object_set_int_member(o, "step_deadline_ns", (gint64)s->deadlines.step_ns);
	/* Left out where there is nothing, as modules. */
	if (s->collect.perf_steps || s->collect.stat_steps || s->collect.series_steps ||
	    s->collect.hists)
		json_object_set_object_member(o, "collect", lab_scenario_collect_json(s));
	if (s->prepare->len) {
		prepare = json_object_new();
		json_object_set_array_member(prepare, "steps", steps_json(s->prepare, TRUE));
		json_object_set_boolean_member(prepare, "fresh", s->prepare_fresh);
		if (s->prepare_kernel)
			json_object_set_string_member(prepare, "kernel", s->prepare_kernel->text);
		json_object_set_object_member(o, "prepare", prepare);
		prepare = machine_json(s);
		json_object_set_array_member(prepare, "steps", steps_json(s->prepare, FALSE));
		s->prepare_canonical = lab_spec_canonical(prepare);
	}
	s->canonical = lab_spec_canonical(o);
	s->digest = lab_digest_data(s->canonical, -1);
}

void lab_scenario_finish_sweep(LabScenario *s)
{
	g_autoptr(JsonNode) own = json_from_string(s->canonical, NULL);
	JsonObject *sweep = json_object_new();
	JsonArray *points = json_array_new();

	for (guint i = 0; i < s->points->len; i++) {
		const LabPoint *point = s->points->pdata[i];
		JsonObject *o = json_object_new();

		json_object_set_array_member(o, "values", lab_spec_json_strv(point->values));
		set_canonical(o, "scenario", point->scenario->canonical);
		json_array_add_object_element(points, o);
	}
	json_object_set_array_member(sweep, "keys", lab_spec_json_strv(s->sweep));
	json_object_set_array_member(sweep, "points", points);
	json_object_set_object_member(json_node_get_object(own), "sweep", sweep);
	g_free(s->canonical);
	g_free(s->digest);
	s->canonical = lab_spec_canonical(json_node_dup_object(own));
	s->digest = lab_digest_data(s->canonical, -1);
}
