/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/run/plan.h"

/* "6.1.192-s1"; of a sweep "6.1.192-p2-s1" */
static char *id_of(const char *kernel, guint point, gboolean swept, guint64 seed)
{
	g_autofree char *where = swept ? g_strdup_printf("-p%u", point + 1) : g_strdup("");

	return g_strdup_printf("%s%s-s%" G_GUINT64_FORMAT, kernel, where, seed);
}

static LabPlanBoot *boot_new(const LabKernel *kernel, guint point, gboolean swept, guint64 seed)
{
	LabPlanBoot *boot = g_new0(LabPlanBoot, 1);

	boot->id = id_of(kernel->label, point, swept, seed);
	boot->point = point;
	boot->kernel_label = g_strdup(kernel->label);
	boot->kernel_text = g_strdup(kernel->text);
	boot->kernel_digest = g_strdup(kernel->digest);
	boot->seed = seed;
	return boot;
}

/* Two kernels may share a label (the same version from two trees): their digests then tell them
 * apart. */
static void make_ids_unique(GPtrArray *boots, gboolean swept)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; i < boots->len; i++) {
		LabPlanBoot *boot = g_ptr_array_index(boots, i);

		if (!g_hash_table_add(seen, boot->id)) {
			g_autofree char *kernel =
				g_strdup_printf("%s-%.8s", boot->kernel_label, boot->kernel_digest);

			g_free(boot->id);
			boot->id = id_of(kernel, boot->point, swept, boot->seed);
		}
	}
}

static void add_block(LabPlan *plan, const LabInputs *in, GRand *random, const guint64 *seeds)
{
	guint n = in->kernels->len, n_points = lab_plan_n_points(plan);
	guint n_all = n * n_points * (plan->is_aa && n == 1 ? 2 : 1);
	g_autofree guint *order = g_new(guint, n_all);

	for (guint i = 0; i < n_all; i++)
		order[i] = i;
	for (guint i = n_all; i > 1; i--) {
		guint j = (guint)g_rand_int_range(random, 0, (gint32)i), swap = order[j];

		order[j] = order[i - 1];
		order[i - 1] = swap;
	}
	for (guint i = 0; i < n_all; i++)
		g_ptr_array_add(plan->boots,
				boot_new(in->kernels->pdata[order[i] % n], order[i] / n % n_points,
					 plan->points->len, seeds[order[i] / n / n_points]));
}

static void add_boots(LabPlan *plan, const LabInputs *in, guint n_seeds)
{
	g_autoptr(GRand) random = g_rand_new_with_seed((guint32)plan->order_seed);
	const LabScenario *scenario = in->scenario;
	guint64 other = 0;

	for (guint s = 0; s < scenario->n_seeds; s++)
		other = MAX(other, scenario->seeds[s]);
	for (guint s = 0; s < n_seeds; s++) {
		guint64 own = s < scenario->n_seeds ? scenario->seeds[s] : ++other;

		add_block(plan, in, random, (guint64[]){own, plan->is_aa ? ++other : 0});
	}
	make_ids_unique(plan->boots, plan->points->len);
}

static void add_points(LabPlan *plan, const LabInputs *in)
{
	if (!in->points)
		return;
	g_strfreev(plan->sweep);
	plan->sweep = g_strdupv(in->scenario->sweep);
	for (guint i = 0; i < in->points->len; i++) {
		const LabInputs *at = in->points->pdata[i];
		LabPlanPoint *point = g_new0(LabPlanPoint, 1);

		point->values = g_strdupv(((LabPoint *)in->scenario->points->pdata[i])->values);
		point->scenario_digest = g_strdup(at->scenario->digest);
		point->prepared_digest = at->prepared ? g_strdup(at->prepared->digest) : NULL;
		g_ptr_array_add(plan->points, point);
	}
}

LabPlan *lab_plan_make(const LabInputs *in, guint n_seeds)
{
	const LabScenario *s = in->scenario;
	g_autoptr(LabPlan) plan = lab_plan_new();

	plan->scenario_name = g_strdup(s->name);
	plan->scenario_path = g_canonicalize_filename(s->path, NULL);
	plan->scenario_digest = g_strdup(s->digest);
	plan->clock = g_strdup(lab_clock_name(s->clock));
	plan->image_digest = g_strdup(lab_inputs_image_digest(in));
	plan->prepared_digest = in->prepared ? g_strdup(in->prepared->digest) : NULL;
	plan->files_digest = in->files ? g_strdup(in->files->digest) : NULL;
	plan->qemu_version = g_strdup(in->emulator_version);
	plan->order_seed = g_ascii_strtoull((char[9]){s->digest[0], s->digest[1], s->digest[2],
						      s->digest[3], s->digest[4], s->digest[5],
						      s->digest[6], s->digest[7], 0},
					    NULL, 16);
	plan->is_aa = in->options->aa;
	add_points(plan, in);
	add_boots(plan, in, n_seeds ? n_seeds : in->scenario->n_seeds);
	plan->kernels = g_new0(char *, in->kernels->len + 1);
	for (guint i = 0; i < in->kernels->len; i++)
		plan->kernels[i] =
			g_strdup(((LabKernel *)g_ptr_array_index(in->kernels, i))->digest);
	plan->digest = lab_plan_digest(plan);
	return g_steal_pointer(&plan);
}
