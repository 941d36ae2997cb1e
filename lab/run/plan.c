/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/run/plan.h"

static LabPlanBoot *boot_new(const LabKernel *kernel, guint64 seed)
{
	LabPlanBoot *boot = g_new0(LabPlanBoot, 1);

	boot->id = g_strdup_printf("%s-s%" G_GUINT64_FORMAT, kernel->label, seed);
	boot->kernel_label = g_strdup(kernel->label);
	boot->kernel_text = g_strdup(kernel->text);
	boot->kernel_digest = g_strdup(kernel->digest);
	boot->seed = seed;
	return boot;
}

/* Two kernels may share a label (the same version from two trees): their digests then tell them
 * apart. */
static void make_ids_unique(GPtrArray *boots)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; i < boots->len; i++) {
		LabPlanBoot *boot = g_ptr_array_index(boots, i);

		if (!g_hash_table_add(seen, boot->id)) {
			g_free(boot->id);
			boot->id =
				g_strdup_printf("%s-%.8s-s%" G_GUINT64_FORMAT, boot->kernel_label,
						boot->kernel_digest, boot->seed);
		}
	}
}

static void add_block(LabPlan *plan, const LabInputs *in, GRand *random, const guint64 *seeds)
{
	guint n = in->kernels->len, n_seeds = plan->is_aa && n == 1 ? 2 : 1;
	g_autofree guint *order = g_new(guint, n * n_seeds);

	for (guint i = 0; i < n * n_seeds; i++)
		order[i] = i;
	for (guint i = n * n_seeds; i > 1; i--) {
		guint j = (guint)g_rand_int_range(random, 0, (gint32)i), swap = order[j];

		order[j] = order[i - 1];
		order[i - 1] = swap;
	}
	for (guint i = 0; i < n * n_seeds; i++)
		g_ptr_array_add(plan->boots, boot_new(in->kernels->pdata[order[i] % n],
						      seeds[order[i] / n]));
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
	make_ids_unique(plan->boots);
}

LabPlan *lab_plan_make(const LabInputs *in, guint n_seeds)
{
	const LabScenario *s = in->scenario;
	g_autoptr(LabPlan) plan = g_new0(LabPlan, 1);

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
	plan->boots = g_ptr_array_new_with_free_func((GDestroyNotify)lab_plan_boot_free);
	add_boots(plan, in, n_seeds ? n_seeds : in->scenario->n_seeds);
	plan->kernels = g_new0(char *, in->kernels->len + 1);
	for (guint i = 0; i < in->kernels->len; i++)
		plan->kernels[i] =
			g_strdup(((LabKernel *)g_ptr_array_index(in->kernels, i))->digest);
	plan->digest = lab_plan_digest(plan);
	return g_steal_pointer(&plan);
}
