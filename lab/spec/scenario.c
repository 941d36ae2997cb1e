/* SPDX-License-Identifier: GPL-2.0-or-later */
/* YAML -> a checked scenario. */
#include "lab/spec/scenario_parts.h"

#include <string.h>

#include "lab/base/suggest.h"
#include "lab/base/units.h"

#define DEFAULT_BOOTS 3
#define MAX_BOOTS 10000
#define MAX_SEED 4294967295
#define MAX_SCALE 1000000000
#define SECOND_NS 1000000000ull

struct raw {
	const char *name, *about;
	const LabYamlNode *topology, *image, *scale, *settings, *scratch, *prepare, *steps,
		*collect, *judge, *deadlines, *seeds, *files,
		*boot, *disk, *kvm, /* any of its keys: read by lab_scenario_read_kvm() */
		*sweep; /* not there any more: its points are read one by one */
	const GPtrArray *kernels, *kernel_args, *modules;
	guint clock, console;
	guint64 boots, settle_ns;
};

/* Words of the file, and of every other place that names a clock. */
static const char *const clocks[] = {[LAB_CLOCK_EXACT] = "exact", [LAB_CLOCK_TCG] = "tcg",
				     [LAB_CLOCK_KVM] = "kvm", NULL};
static const char *const consoles[] = {"quiet", "verbose", NULL};

static const LabYamlField scenario_fields[] = {
	{"name", LAB_YAML_TEXT, offsetof(struct raw, name)},
	{"about", LAB_YAML_TEXT, offsetof(struct raw, about)},
	{"topology", LAB_YAML_ANY, offsetof(struct raw, topology), .required = TRUE},
	{"image", LAB_YAML_ANY, offsetof(struct raw, image), .required = TRUE},
	{"kernels", LAB_YAML_TEXTS, offsetof(struct raw, kernels), .required = TRUE},
	{"clock", LAB_YAML_WORD, offsetof(struct raw, clock), .words = clocks},
	{"boots", LAB_YAML_UINT, offsetof(struct raw, boots), .min = 1, .max = MAX_BOOTS},
	{"seeds", LAB_YAML_NODES, offsetof(struct raw, seeds)},
	{"boot", LAB_YAML_ANY, offsetof(struct raw, boot)},
	{"disk", LAB_YAML_ANY, offsetof(struct raw, disk)},
	{"cpu-model", LAB_YAML_ANY, offsetof(struct raw, kvm)},
	{"pmu", LAB_YAML_ANY, offsetof(struct raw, kvm)},
	{"async-pf", LAB_YAML_ANY, offsetof(struct raw, kvm)},
	{"pin", LAB_YAML_ANY, offsetof(struct raw, kvm)},
	{"host-pressure", LAB_YAML_ANY, offsetof(struct raw, kvm)},
	{"scale", LAB_YAML_ANY, offsetof(struct raw, scale)},
	{"settings", LAB_YAML_MEMBERS, offsetof(struct raw, settings)},
	{"settle", LAB_YAML_DURATION, offsetof(struct raw, settle_ns)},
	{"scratch", LAB_YAML_ANY, offsetof(struct raw, scratch)},
	{"prepare", LAB_YAML_ANY, offsetof(struct raw, prepare)},
	{"steps", LAB_YAML_NODES, offsetof(struct raw, steps), .required = TRUE},
	{"collect", LAB_YAML_MEMBERS, offsetof(struct raw, collect)},
	{"judge", LAB_YAML_NODES, offsetof(struct raw, judge)},
	{"deadlines", LAB_YAML_MEMBERS, offsetof(struct raw, deadlines)},
	{"console", LAB_YAML_WORD, offsetof(struct raw, console), .words = consoles},
	{"kernel-args", LAB_YAML_TEXTS, offsetof(struct raw, kernel_args)},
	{"modules", LAB_YAML_TEXTS, offsetof(struct raw, modules)},
	{"files", LAB_YAML_ANY, offsetof(struct raw, files)},
	{"sweep", LAB_YAML_ANY, offsetof(struct raw, sweep)},
	{0},
};

struct prepare {
	const LabYamlNode *steps;
	const char *kernel;
	gboolean fresh;
};

static const LabYamlField prepare_fields[] = {
	{"steps", LAB_YAML_NODES, offsetof(struct prepare, steps), .required = TRUE},
	{"kernel", LAB_YAML_TEXT, offsetof(struct prepare, kernel)},
	{"fresh", LAB_YAML_BOOL, offsetof(struct prepare, fresh)},
	{0},
};

static const LabYamlField deadline_fields[] = {
	{"first-output", LAB_YAML_DURATION, offsetof(LabDeadlines, first_output_ns)},
	{"agent", LAB_YAML_DURATION, offsetof(LabDeadlines, agent_ns)},
	{"step", LAB_YAML_DURATION, offsetof(LabDeadlines, step_ns)},
	{"power-off", LAB_YAML_DURATION, offsetof(LabDeadlines, power_off_ns)},
	{0},
};

const char *lab_clock_name(LabClock clock)
{
	return clocks[clock];
}

gboolean lab_clock_parse(const char *text, LabClock *clock)
{
	int i = lab_word_index(clocks, text);

	if (i >= 0)
		*clock = (LabClock)i;
	return i >= 0;
}

static void point_free(gpointer data)
{
	LabPoint *point = data;

	g_strfreev(point->values);
	lab_scenario_free(point->scenario);
	g_free(point);
}

void lab_scenario_free(LabScenario *s)
{
	if (!s)
		return;
	g_free(s->path);
	g_strfreev(s->sweep);
	g_clear_pointer(&s->points, g_ptr_array_unref);
	g_free(s->name);
	g_free(s->about);
	lab_topology_free(s->topology);
	lab_image_recipe_free(s->image);
	g_free(s->cpu_model);
	lab_placement_clear(&s->pin);
	g_clear_pointer(&s->kernels, g_ptr_array_unref);
	g_free(s->seeds);
	g_clear_pointer(&s->settings, g_ptr_array_unref);
	g_clear_pointer(&s->prepare, g_ptr_array_unref);
	lab_kernel_spec_free(s->prepare_kernel);
	g_clear_pointer(&s->steps, g_ptr_array_unref);
	g_strfreev(s->counters);
	lab_collect_clear(&s->collect);
	g_clear_pointer(&s->judge, g_ptr_array_unref);
	g_strfreev(s->kernel_args);
	g_strfreev(s->modules);
	g_free(s->module_origins);
	g_free(s->files);
	g_free(s->text);
	g_strfreev(s->overrides);
	g_free(s->canonical);
	g_free(s->digest);
	g_free(s->prepare_canonical);
	g_free(s);
}

/* ---- what a scenario names ---- */

/* Paths start from the scenario's directory; those of a --set from the current one. */
static char *base_of(const LabScenario *s, const LabYamlNode *node)
{
	return node->origin.line ? g_path_get_dirname(s->path) : NULL;
}

static char *find(const LabScenario *s, const LabYamlNode *node, const char *folder,
		  const char *what, GError **error)
{
	g_autofree char *base = base_of(s, node);
	const char *name;

	if (!lab_yaml_text(node, what, &name, error))
		return NULL;
	return lab_spec_find(folder, what, name, base, &node->origin, error);
}

static gboolean read_topology(const LabYamlNode *node, LabScenario *s, GError **error)
{
	g_autofree char *path = NULL;

	if (node->kind == LAB_YAML_MAP) {
		s->topology = lab_topology_from_node(node, s->name, error);
		return s->topology != NULL;
	}
	path = find(s, node, "topologies", "a topology", error);
	s->topology = path ? lab_topology_load(path, error) : NULL;
	return s->topology != NULL;
}

static gboolean read_image(const LabYamlNode *node, LabScenario *s, GError **error)
{
	g_autofree char *path = NULL, *base = base_of(s, node);

	if (node->kind == LAB_YAML_SCALAR && g_str_has_prefix(node->text, LAB_IMAGE_DISK_PREFIX)) {
		s->image = lab_image_recipe_of_disk(node, base, error);
		return s->image != NULL;
	}
	path = find(s, node, "images", "an image", error);
	s->image = path ? lab_image_recipe_load(path, error) : NULL;
	return s->image != NULL;
}

static LabKernelSpec *read_kernel(const LabYamlNode *node, const LabScenario *s, GError **error)
{
	g_autofree char *base = base_of(s, node);

	return lab_kernel_spec_parse(node->text, &node->origin, base, error);
}

static gboolean read_kernels(const LabYamlNode *root, const GPtrArray *list, LabScenario *s,
			     GError **error)
{
	s->kernels = g_ptr_array_new_with_free_func((GDestroyNotify)lab_kernel_spec_free);
	if (!list->len)
		return lab_yaml_fail(lab_yaml_get(root, "kernels"), error, "at least one kernel");
	for (guint i = 0; i < list->len; i++) {
		const LabYamlNode *node = list->pdata[i];
		LabKernelSpec *spec = read_kernel(node, s, error);

		if (!spec)
			return FALSE;
		g_ptr_array_add(s->kernels, spec);
		for (guint j = 0; j < i; j++)
			if (!strcmp(((const LabKernelSpec *)s->kernels->pdata[j])->text,
				    spec->text))
				return lab_yaml_fail(node, error, "each kernel once");
	}
	return TRUE;
}

/* ---- numbers ---- */

guint64 lab_scenario_scale(const LabScenario *s, guint64 value)
{
	unsigned __int128 n = (unsigned __int128)value * s->scale_numerator;

	return (guint64)((n + s->scale_denominator - 1) / s->scale_denominator);
}

static gboolean read_scale(const LabYamlNode *node, LabScenario *s, GError **error)
{
	g_auto(GStrv) parts = NULL;
	guint64 n = 0, d = 1;

	s->scale_numerator = s->scale_denominator = 1;
	if (!node)
		return TRUE;
	parts = g_strsplit(node->kind == LAB_YAML_SCALAR ? node->text : "", "/", 2);
	if (!parts[0] || !lab_parse_uint(parts[0], MAX_SCALE, &n, NULL) ||
	    (parts[1] && !lab_parse_uint(parts[1], MAX_SCALE, &d, NULL)) || !n || n > d)
		return lab_yaml_fail(node, error, "a fraction like 1/1000, not above 1");
	s->scale_numerator = n;
	s->scale_denominator = d;
	return TRUE;
}

gboolean lab_scenario_read_scratch(const LabYamlNode *node, LabScenario *s, GError **error)
{
	gboolean disk = s->boot == LAB_BOOT_DISK;
	guint64 bytes, scaled;
	g_autofree char *before = lab_format_bytes(s->scratch_bytes);

	if (!lab_yaml_bytes(node, &bytes, error))
		return FALSE;
	if (!bytes || bytes % LAB_SCRATCH_UNIT || bytes > (disk ? LAB_SCRATCH_MAX_DISK : LAB_SCRATCH_MAX))
		return lab_yaml_fail(node, error, "a multiple of 2MiB up to %s",
				     disk ? "1PiB" : "1TiB ('boot: disk' takes more)");
	scaled = (lab_scenario_scale(s, bytes) + LAB_SCRATCH_UNIT - 1) / LAB_SCRATCH_UNIT *
		 LAB_SCRATCH_UNIT;
	if (s->scale_numerator != s->scale_denominator)
		bytes = MAX(scaled, MIN(bytes, LAB_SCRATCH_MIN_SCALED));
	if (s->scratch_bytes && s->scratch_bytes != bytes)
		return lab_yaml_fail(node, error,
				     "one size of the scratch device, '%s' as given before",
				     before);
	s->scratch_bytes = bytes;
	return TRUE;
}

static gboolean read_seeds(const LabYamlNode *root, const struct raw *raw, LabScenario *s,
			   GError **error)
{
	const LabYamlNode *boots = lab_yaml_get(root, "boots");
	guint n = raw->seeds ? raw->seeds->children->len : (guint)raw->boots;

	if (boots && raw->seeds) {
		lab_error_set_at(error, &raw->seeds->key_origin,
				 "wanted either 'boots' or 'seeds', found both");
		return FALSE;
	}
	if (!n || n > MAX_BOOTS)
		return lab_yaml_fail(raw->seeds, error, "1 to %d seeds", MAX_BOOTS);
	s->n_seeds = n;
	s->seeds = g_new(guint64, n);
	for (guint i = 0; i < n; i++) {
		const LabYamlNode *node = raw->seeds ? raw->seeds->children->pdata[i] : NULL;

		s->seeds[i] = i + 1;
		if (!node)
			continue;
		if (!lab_yaml_uint(node, 1, MAX_SEED, &s->seeds[i], error))
			return FALSE;
		for (guint j = 0; j < i; j++)
			if (s->seeds[j] == s->seeds[i])
				return lab_yaml_fail(node, error, "each seed once");
	}
	return TRUE;
}

/* ---- the rest ---- */

static gboolean read_prepare(const LabYamlNode *node, LabScenario *s, GError **error)
{
	struct prepare p = {0};

	if (!node || node->kind == LAB_YAML_LIST)
		return TRUE;
	if (node->kind != LAB_YAML_MAP)
		return lab_yaml_fail(node, error, "a list of steps, or {steps, kernel, fresh}");
	if (!lab_yaml_read(node, "prepare", prepare_fields, &p, error))
		return FALSE;
	s->prepare_fresh = p.fresh;
	if (!p.kernel)
		return TRUE;
	if (p.fresh)
		return lab_yaml_fail(lab_yaml_get(node, "kernel"), error,
				     "no kernel with fresh: true (each boot prepares for itself)");
	s->prepare_kernel = read_kernel(lab_yaml_get(node, "kernel"), s, error);
	return s->prepare_kernel != NULL;
}

static gboolean read_deadlines(const LabYamlNode *node, LabScenario *s, GError **error)
{
	s->deadlines =
		(LabDeadlines){60 * SECOND_NS, 300 * SECOND_NS, 1800 * SECOND_NS, 60 * SECOND_NS};
	if (!node)
		return TRUE;
	if (!lab_yaml_read(node, "deadlines", deadline_fields, &s->deadlines, error))
		return FALSE;
	for (const LabYamlField *f = deadline_fields; f->key; f++)
		if (!*(const guint64 *)((const char *)&s->deadlines + f->offset))
			return lab_yaml_fail(lab_yaml_get(node, f->key), error,
					     "a duration above 0s");
	return TRUE;
}

/* Arguments by which a guest would no longer be the one that is described and checked. */
static gboolean check_kernel_args(const GPtrArray *args, GError **error)
{
	static const char *const ours[] = {
		"numa=", "root=", "init=", "rdinit=", "console=", "initrd="};

	for (guint i = 0; args && i < args->len; i++) {
		const LabYamlNode *node = args->pdata[i];

		for (const char *p = node->text; *p; p++)
			if (*p <= ' ' || *p == 127 || *p == '"')
				return lab_yaml_fail(node, error,
						     "a kernel argument without blanks and quotes");
		for (guint j = 0; j < G_N_ELEMENTS(ours); j++)
			if (g_str_has_prefix(node->text, ours[j]))
				return lab_yaml_fail(
					node, error,
					"another kernel argument than '%s' (numalab sets it)",
					ours[j]);
	}
	return TRUE;
}

/* '-' and '_' are one in a module's name, as modprobe has it. */
static gboolean read_modules(const GPtrArray *list, LabScenario *s, GError **error)
{
	guint n = list ? list->len : 0;

	s->modules = g_new0(char *, n + 1);
	s->module_origins = g_new(LabOrigin, n);
	for (guint i = 0; i < n; i++) {
		const LabYamlNode *node = list->pdata[i];
		g_autofree char *name = g_strdelimit(g_strdup(node->text), "-", '_');

		if (name[strspn(name, G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "_")])
			return lab_yaml_fail(node, error,
					     "a module's name of letters, digits, '_' and '-'");
		if (g_strv_contains((const char *const *)s->modules, name))
			return lab_yaml_fail(node, error, "each module once");
		s->modules[i] = g_steal_pointer(&name);
		s->module_origins[i] = node->origin;
	}
	return TRUE;
}

static gboolean read_files(const LabYamlNode *node, LabScenario *s, GError **error)
{
	g_autofree char *base = node ? base_of(s, node) : NULL;
	g_autofree char *absolute = base ? g_canonicalize_filename(base, NULL) : NULL;
	const char *path;

	if (!node)
		return TRUE;
	if (!lab_yaml_text(node, "a directory", &path, error))
		return FALSE;
	s->files = g_canonicalize_filename(path, absolute);
	s->files_origin = node->origin;
	return TRUE;
}

LabScenario *lab_scenario_from_node(const LabYamlNode *root, const char *path, GError **error)
{
	g_autoptr(LabScenario) s = g_new0(LabScenario, 1);
	struct raw raw = {.boots = DEFAULT_BOOTS};

	if (!lab_yaml_read(root, "a scenario", scenario_fields, &raw, error) ||
	    (raw.name && !lab_spec_check_name(lab_yaml_get(root, "name"), error)))
		return NULL;
	s->path = g_strdup(path);
	s->sweep = g_new0(char *, 1);
	s->points = g_ptr_array_new_with_free_func(point_free);
	s->name = raw.name ? g_strdup(raw.name) : lab_spec_name(path);
	s->about = g_strdup(raw.about);
	s->clock = (LabClock)raw.clock;
	s->console_quiet = raw.console == 0;
	s->settle_ns = raw.settle_ns;
	if (!read_topology(raw.topology, s, error) || !read_image(raw.image, s, error) ||
	    !read_kernels(root, raw.kernels, s, error) || !read_seeds(root, &raw, s, error) ||
	    !read_scale(raw.scale, s, error) ||
	    !lab_scenario_read_disk(raw.boot, raw.disk, raw.image, s, error) ||
	    !lab_scenario_read_kvm(root, s, error) ||
	    !lab_scenario_read_settings(raw.settings, s, error) ||
	    (raw.scratch && !lab_scenario_read_scratch(raw.scratch, s, error)) ||
	    !read_prepare(raw.prepare, s, error) || !lab_scenario_read_steps(root, s, error) ||
	    !lab_scenario_read_collect(raw.collect, s, error) ||
	    !lab_scenario_read_judge(raw.judge, s, error) ||
	    !read_deadlines(raw.deadlines, s, error) ||
	    !check_kernel_args(raw.kernel_args, error) || !read_modules(raw.modules, s, error) ||
	    !read_files(raw.files, s, error))
		return NULL;
	s->kernel_args = lab_yaml_strv(raw.kernel_args);
	lab_scenario_finish(s);
	return g_steal_pointer(&s);
}
