/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs that do the work: fs_mark, xfs_repair, numa_touch, any command. */
#include "lab/spec/scenario_verbs.h"

#include <string.h>

#include "lab/base/units.h"

#define PAGE_BYTES 4096
#define FS_MARK_MAX_THREADS 64 /* fs_mark 3.3 */
#define INODE_BYTES 512	       /* mkfs.xfs's default */
#define TOUCH_MAX_THREADS 1024 /* the agent's limit */

void lab_argv_add_texts(GStrvBuilder *argv, const GPtrArray *texts)
{
	for (guint i = 0; texts && i < texts->len; i++)
		g_strv_builder_add(argv, ((const LabYamlNode *)texts->pdata[i])->text);
}

static void add_uint(GStrvBuilder *argv, const char *option, guint64 value)
{
	g_autofree char *text = g_strdup_printf("%" G_GUINT64_FORMAT, value);

	if (option)
		g_strv_builder_add(argv, option);
	g_strv_builder_add(argv, text);
}

/* ---- fs_mark ---- */

struct fs_mark {
	struct lab_step_common common;
	guint64 dirs, subdirs, files, loops;
	const LabYamlNode *size, *sync;
	const GPtrArray *options;
};

static const LabYamlField fs_mark_fields[] = {
	LAB_STEP_COMMON_FIELDS,
	{"dirs", LAB_YAML_UINT, offsetof(struct fs_mark, dirs), .min = 1,
	 .max = FS_MARK_MAX_THREADS},
	{"subdirs", LAB_YAML_UINT, offsetof(struct fs_mark, subdirs), .min = 2, .max = 1000000},
	{"files", LAB_YAML_UINT, offsetof(struct fs_mark, files), .required = TRUE, .min = 1,
	 .max = 1000000000},
	{"loops", LAB_YAML_UINT, offsetof(struct fs_mark, loops), .min = 1, .max = 1000000},
	{"size", LAB_YAML_ANY, offsetof(struct fs_mark, size)},
	{"sync", LAB_YAML_ANY, offsetof(struct fs_mark, sync)},
	{"options", LAB_YAML_TEXTS, offsetof(struct fs_mark, options)},
	{0},
};

static gboolean fs_mark_sync(const LabYamlNode *node, char **option, GError **error)
{
	guint64 method;

	if (node->kind == LAB_YAML_SCALAR && !strcmp(node->text, "none"))
		method = 0;
	else if (node->kind == LAB_YAML_SCALAR && !strcmp(node->text, "fsync"))
		method = 1;
	else if (node->kind != LAB_YAML_SCALAR || !lab_parse_uint(node->text, 6, &method, NULL))
		return lab_yaml_fail(node, error, "none, fsync, or fs_mark's sync method 0 to 6");
	*option = g_strdup_printf("-S%u", (guint)method);
	return TRUE;
}

/* fs_mark's users write 0, without a unit. */
static gboolean fs_mark_size(const LabYamlNode *node, guint64 *bytes, GError **error)
{
	if (node->kind == LAB_YAML_SCALAR && !strcmp(node->text, "0")) {
		*bytes = 0;
		return TRUE;
	}
	return lab_yaml_bytes(node, bytes, error);
}

static gboolean fs_mark_fits(const LabYamlNode *body, const struct fs_mark *m, const LabScenario *s,
			     GError **error)
{
	guint64 most = s->scratch_bytes / INODE_BYTES, threads = m->dirs,
		loops = m->loops ? m->loops : 1;
	guint64 files = m->files * threads; /* below 2^36 */

	if (!s->scratch_bytes || (files <= most && files * loops <= most))
		return TRUE;
	return lab_yaml_fail(lab_yaml_get(body, "files"), error,
			     "at most %" G_GUINT64_FORMAT
			     " files in all (%d bytes each on the scratch device)",
			     most, INODE_BYTES);
}

gboolean lab_verb_read_fs_mark(const LabYamlNode *body, struct lab_steps *steps,
			       struct lab_step_common *common, LabStep *step, GError **error)
{
	struct fs_mark m = {.common = *common, .dirs = 1};
	g_autofree char *sync = NULL;
	guint64 size_bytes = 0;
	g_autoptr(GStrvBuilder) argv = g_strv_builder_new();

	if (!lab_yaml_read(body, "fs_mark", fs_mark_fields, &m, error) ||
	    (m.size && !fs_mark_size(m.size, &size_bytes, error)) ||
	    (m.sync && !fs_mark_sync(m.sync, &sync, error)) ||
	    !lab_steps_need_mounted(steps, step, error))
		return FALSE;
	m.files = lab_scenario_scale(steps->scenario, m.files);
	if (!fs_mark_fits(body, &m, steps->scenario, error))
		return FALSE;
	g_strv_builder_add(argv, "fs_mark");
	if (m.subdirs)
		add_uint(argv, "-D", m.subdirs);
	if (sync)
		g_strv_builder_add(argv, sync);
	add_uint(argv, "-n", m.files);
	if (m.size)
		add_uint(argv, "-s", size_bytes);
	if (m.loops)
		add_uint(argv, "-L", m.loops);
	/* fs_mark 3.3 deletes what it made, unless it loops. */
	if (m.loops < 2)
		g_strv_builder_add(argv, "-k");
	lab_argv_add_texts(argv, m.options);
	for (guint i = 0; i < m.dirs; i++) {
		g_autofree char *dir = g_strdup_printf(LAB_SCRATCH_DIRECTORY "/%u", i);

		g_strv_builder_add(argv, "-d");
		g_strv_builder_add(argv, dir);
	}
	step->argv = g_strv_builder_end(argv);
	*common = m.common;
	return TRUE;
}

/* ---- xfs_repair ---- */

struct xfs_repair {
	struct lab_step_common common;
	const LabYamlNode *options;
	const GPtrArray *flags;
};

static const LabYamlField xfs_repair_fields[] = {
	LAB_STEP_COMMON_FIELDS,
	{"options", LAB_YAML_MEMBERS, offsetof(struct xfs_repair, options)},
	{"flags", LAB_YAML_TEXTS, offsetof(struct xfs_repair, flags)},
	{0},
};

static gboolean add_repair_option(GStrvBuilder *argv, const LabYamlNode *option, GError **error)
{
	g_autofree char *text = NULL, *key = lab_yaml_quote(option->key);

	if (option->kind != LAB_YAML_SCALAR || strchr(option->text, ','))
		return lab_yaml_fail(option, error, "a value of xfs_repair's -o %s", key);
	text = *option->text ? g_strdup_printf("%s=%s", option->key, option->text)
			     : g_strdup(option->key);
	g_strv_builder_add(argv, "-o");
	g_strv_builder_add(argv, text);
	return TRUE;
}

gboolean lab_verb_read_xfs_repair(const LabYamlNode *body, struct lab_steps *steps,
				  struct lab_step_common *common, LabStep *step, GError **error)
{
	struct xfs_repair x = {.common = *common};
	g_autoptr(GStrvBuilder) argv = g_strv_builder_new();

	if (!lab_yaml_read(body, "xfs_repair", xfs_repair_fields, &x, error) ||
	    !lab_steps_need_made(steps, step, error) ||
	    !lab_steps_need_unmounted(steps, step, error))
		return FALSE;
	g_strv_builder_add(argv, "xfs_repair");
	lab_argv_add_texts(argv, x.flags);
	for (guint i = 0; x.options && i < x.options->children->len; i++)
		if (!add_repair_option(argv, x.options->children->pdata[i], error))
			return FALSE;
	g_strv_builder_add(argv, LAB_SCRATCH_DEVICE);
	step->argv = g_strv_builder_end(argv);
	*common = x.common;
	return TRUE;
}

/* ---- numa_touch ---- */

struct numa_touch {
	struct lab_step_common common;
	guint64 threads, size_bytes, duration_ns, touches;
};

static const LabYamlField numa_touch_fields[] = {
	LAB_STEP_COMMON_FIELDS,
	{"threads", LAB_YAML_UINT, offsetof(struct numa_touch, threads), .min = 1,
	 .max = TOUCH_MAX_THREADS},
	{"size", LAB_YAML_BYTES, offsetof(struct numa_touch, size_bytes), .required = TRUE},
	{"duration", LAB_YAML_DURATION, offsetof(struct numa_touch, duration_ns)},
	{"touches", LAB_YAML_UINT, offsetof(struct numa_touch, touches), .min = 1},
	{0},
};

static gboolean check_numa_touch(const LabYamlNode *body, const struct numa_touch *t,
				 const LabScenario *s, GError **error)
{
	const LabYamlNode *size = lab_yaml_get(body, "size"),
			  *duration = lab_yaml_get(body, "duration"),
			  *touches = lab_yaml_get(body, "touches");
	g_autofree char *most = lab_format_bytes(s->topology->memory_bytes);

	if (t->size_bytes < t->threads * PAGE_BYTES)
		return lab_yaml_fail(size, error, "a page of 4KiB for each thread");
	if (t->size_bytes >= s->topology->memory_bytes)
		return lab_yaml_fail(size, error, "less than the guest's memory of %s", most);
	if (duration && !t->duration_ns)
		return lab_yaml_fail(duration, error, "a duration above 0s");
	if (!duration == !touches) {
		lab_error_set_at(
			error, touches ? &touches->key_origin : &body->origin,
			"wanted either the key 'duration' or 'touches' of numa_touch, found %s",
			touches ? "both" : "none");
		return FALSE;
	}
	return TRUE;
}

gboolean lab_verb_read_numa_touch(const LabYamlNode *body, struct lab_steps *steps,
				  struct lab_step_common *common, LabStep *step, GError **error)
{
	const LabScenario *s = steps->scenario;
	struct numa_touch t = {.common = *common, .threads = s->topology->n_cpus};
	g_autoptr(GStrvBuilder) argv = g_strv_builder_new();
	guint64 unit;

	if (!lab_yaml_read(body, "numa_touch", numa_touch_fields, &t, error) ||
	    !check_numa_touch(body, &t, s, error))
		return FALSE;
	unit = t.threads * PAGE_BYTES;
	if (s->scale_numerator != s->scale_denominator)
		t.size_bytes = (lab_scenario_scale(s, t.size_bytes) + unit - 1) / unit * unit;
	add_uint(argv, NULL, t.threads);
	add_uint(argv, NULL, t.size_bytes);
	add_uint(argv, NULL, t.duration_ns);
	add_uint(argv, NULL, lab_scenario_scale(s, t.touches));
	step->argv = g_strv_builder_end(argv);
	*common = t.common;
	return TRUE;
}

/* ---- run ---- */

struct run {
	struct lab_step_common common;
	const LabYamlNode *argv;
};

static const LabYamlField run_fields[] = {
	LAB_STEP_COMMON_FIELDS,
	{"argv", LAB_YAML_NODES, offsetof(struct run, argv), .required = TRUE},
	{0},
};

gboolean lab_verb_read_run(const LabYamlNode *body, struct lab_steps *steps,
			   struct lab_step_common *common, LabStep *step, GError **error)
{
	struct run r = {.common = *common, .argv = body};
	g_autoptr(GStrvBuilder) argv = g_strv_builder_new();

	if (body->kind == LAB_YAML_SCALAR)
		return lab_yaml_fail(body, error, "a command as a list: [COMMAND, ARGUMENT, ...]");
	if (body->kind == LAB_YAML_MAP && !lab_yaml_read(body, "run", run_fields, &r, error))
		return FALSE;
	if (!r.argv->children->len)
		return lab_yaml_fail(r.argv, error, "a command");
	for (guint i = 0; i < r.argv->children->len; i++) {
		const LabYamlNode *arg = r.argv->children->pdata[i];

		/* "" is an argument, but no command. */
		if (arg->kind != LAB_YAML_SCALAR || (!*arg->text && (!arg->quoted || !i)))
			return lab_yaml_fail(arg, error, i ? "an argument" : "a command");
		g_strv_builder_add(argv, arg->text);
	}
	step->argv = g_strv_builder_end(argv);
	*common = r.common;
	steps->unknown = TRUE;
	return TRUE;
}
