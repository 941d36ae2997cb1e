// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/job.h"

#include <string.h>

#include "agent/protocol.h"

/* One field after a space, percent-encoded as agent/protocol.h has it. */
static void field(GString *s, const char *text)
{
	static const char hex[] = "0123456789ABCDEF";

	g_string_append_c(s, ' ');
	if (!text || !*text)
		g_string_append_c(s, '%');
	for (const guchar *p = (const guchar *)(text ? text : ""); *p; p++) {
		if (*p >= 0x21 && *p <= 0x7e && *p != '%') {
			g_string_append_c(s, (char)*p);
			continue;
		}
		g_string_append_c(s, '%');
		g_string_append_c(s, hex[*p >> 4]);
		g_string_append_c(s, hex[*p & 15]);
	}
}

static void number(GString *s, guint64 value)
{
	g_string_append_printf(s, " %" G_GUINT64_FORMAT, value);
}

static void text_line(GString *s, const char *word, const char *text)
{
	g_string_append(s, word);
	field(s, text);
	g_string_append_c(s, '\n');
}

static void number_line(GString *s, const char *word, guint64 value)
{
	g_string_append(s, word);
	number(s, value);
	g_string_append_c(s, '\n');
}

/* "/numalab/modules/kvm-amd.ko" is kvm_amd. */
static gboolean is_wanted(const LabScenario *scenario, const char *path)
{
	g_autofree char *name = g_path_get_basename(path);

	if (g_str_has_suffix(name, ".ko"))
		name[strlen(name) - strlen(".ko")] = 0;
	g_strdelimit(name, "-", '_');
	return g_strv_contains((const char *const *)scenario->modules, name);
}

static void modules(GString *s, const LabAgentJob *job)
{
	for (const char *const *module = job->modules; module && *module; module++) {
		g_string_append(s, "module");
		field(s, *module);
		g_string_append(s, is_wanted(job->scenario, *module) ? " wanted\n" : "\n");
	}
}

static void nodes(GString *s, const LabTopology *t)
{
	text_line(s, "kind", t->kind == LAB_TOPOLOGY_FAKE ? "fake" : "vnuma");
	for (guint i = 0; i < t->n_nodes; i++) {
		g_autofree char *cpus = lab_cpuset_format(&t->nodes[i].cpus);

		g_string_append(s, "node");
		number(s, i);
		field(s, cpus);
		number(s, t->nodes[i].memory_bytes);
		g_string_append_c(s, '\n');
	}
	for (guint i = 0; i < t->n_nodes; i++) {
		g_string_append(s, "distance");
		number(s, i);
		for (guint j = 0; j < t->n_nodes; j++)
			number(s, t->distances[i * t->n_nodes + j]);
		g_string_append_c(s, '\n');
	}
}

static void settings(GString *s, const LabScenario *scenario)
{
	for (guint i = 0; i < scenario->settings->len; i++) {
		const LabSetting *setting = g_ptr_array_index(scenario->settings, i);

		g_string_append(s, "setting");
		field(s, setting->name);
		field(s, setting->value);
		for (char **path = setting->paths; *path; path++)
			field(s, *path);
		g_string_append_c(s, '\n');
	}
}

static void step(GString *s, const LabStep *step, guint64 default_timeout_ns)
{
	static const char *const kinds[] = {
		[LAB_STEP_EXEC] = "exec",
		[LAB_STEP_MKDIR] = "mkdir",
		[LAB_STEP_MOUNT] = "mount",
		[LAB_STEP_UMOUNT] = "umount",
		[LAB_STEP_DROP_CACHES] = "drop_caches",
		[LAB_STEP_NUMA_TOUCH] = "numa_touch",
	};

	g_string_append(s, "step");
	field(s, step->name);
	number(s, step->measure);
	number(s, step->timeout_ns ? step->timeout_ns : default_timeout_ns);
	field(s, kinds[step->kind]);
	for (char **argument = step->argv; argument && *argument; argument++)
		field(s, *argument);
	g_string_append_c(s, '\n');
	if (step->oom_kills_allowed)
		text_line(s, "oom-kills-allowed", step->name);
}

static void words(GString *s, char *const *list)
{
	for (; list && *list; list++)
		field(s, *list);
	g_string_append_c(s, '\n');
}

/* What is collected while steps run, those that prepare excepted. */
static void collect(GString *s, const LabCollect *c)
{
	for (char **name = c->perf_steps; name && *name; name++) {
		g_string_append(s, "profile");
		field(s, *name);
		field(s, c->perf_event);
		number(s, c->perf_hz);
		number(s, c->perf_ring_bytes);
		number(s, c->perf_bytes);
		g_string_append_c(s, '\n');
	}
	for (char **name = c->stat_steps; name && *name; name++) {
		g_string_append(s, "stat");
		field(s, *name);
		words(s, c->stat_events);
	}
	for (char **name = c->series_steps; name && *name; name++) {
		g_string_append(s, "series");
		field(s, *name);
		number(s, c->series_ns);
		words(s, c->series_counters);
	}
	for (guint i = 0; c->hists && i < c->hists->len; i++) {
		const LabHist *hist = c->hists->pdata[i];

		for (char **name = hist->steps; *name; name++) {
			g_string_append(s, "hist");
			field(s, *name);
			field(s, hist->event);
			field(s, hist->keys);
			g_string_append_c(s, '\n');
		}
	}
}

/* Bits of KVM's CPUID leaf: asynchronous page faults, and those by interrupt. */
#define KVM_FEATURE_ASYNC_PF (1u << 4)
#define KVM_FEATURE_ASYNC_PF_INT (1u << 14)

/* Of MSR_KVM_ASYNC_PF_EN: enabled, and told by interrupt. */
#define ASYNC_PF_ENABLED 1u
#define ASYNC_PF_BY_INTERRUPT (1u << 3)

static void async_pf_msr(GString *s, LabAsyncPf async_pf, gboolean is_used)
{
	guint mask = ASYNC_PF_ENABLED | (is_used ? ASYNC_PF_BY_INTERRUPT : 0);

	if (async_pf != LAB_ASYNC_PF_OFF && !is_used)
		return;
	g_string_append(s, "async-pf-msr");
	number(s, mask);
	number(s, async_pf == LAB_ASYNC_PF_OFF ? 0 : mask);
	g_string_append_c(s, '\n');
}

static void kvm_features(GString *s, LabAsyncPf async_pf, gboolean is_used)
{
	static const guint wanted[] = {
		[LAB_ASYNC_PF_ON] = KVM_FEATURE_ASYNC_PF | KVM_FEATURE_ASYNC_PF_INT,
		[LAB_ASYNC_PF_OFF] = 0,
		[LAB_ASYNC_PF_INT_ONLY] = KVM_FEATURE_ASYNC_PF_INT,
	};

	if (async_pf == LAB_ASYNC_PF_DEFAULT)
		return;
	g_string_append(s, "kvm-features");
	number(s, KVM_FEATURE_ASYNC_PF | KVM_FEATURE_ASYNC_PF_INT);
	number(s, wanted[async_pf]);
	g_string_append_c(s, '\n');
	async_pf_msr(s, async_pf, is_used);
}

char *lab_agent_job_text(const LabAgentJob *job)
{
	g_autoptr(GString) s = g_string_new(AGENT_JOB_MAGIC "\n");

	text_line(s, "release", job->release);
	if (job->build_id && *job->build_id)
		text_line(s, "build-id", job->build_id);
	nodes(s, job->scenario->topology);
	number_line(s, "numa-balancing", job->scenario->numa_balancing ? 1 : 0);
	kvm_features(s, job->scenario->async_pf, job->uses_async_pf);
	modules(s, job);
	if (job->image_bytes) {
		number_line(s, "image-bytes", job->image_bytes);
		text_line(s, "image-type", job->image_type);
	}
	number_line(s, "scratch-bytes", job->scratch_bytes);
	if (job->scenario->disk.n_more_scratch)
		number_line(s, "more-scratch", job->scenario->disk.n_more_scratch);
	if (job->files_bytes)
		number_line(s, "files-bytes", job->files_bytes);
	number_line(s, "results-bytes", job->results_bytes);
	settings(s, job->scenario);
	if (job->scenario->settle_ns)
		number_line(s, "settle-ns", job->scenario->settle_ns);
	for (guint i = 0; i < job->n_phases; i++)
		for (guint j = 0; j < job->phases[i]->len; j++)
			step(s, g_ptr_array_index(job->phases[i], j),
			     job->scenario->deadlines.step_ns);
	if (!job->only_prepares)
		collect(s, &job->scenario->collect);
	g_string_append(s, "end\n");
	return g_string_free(g_steal_pointer(&s), FALSE);
}
