/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_compare_store STORE: a store with one run of 2 kernels x 5 seeds, of as many metrics as a
 * real one has. tests/bench/compare.sh copies it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lab/guest/boot.h"
#include "lab/measure/samples.h"
#include "lab/store/store.h"

#define N_KERNELS 2
#define N_SEEDS 5
#define N_STEPS 2
/* /proc/vmstat, numastat of 4 nodes, /proc/interrupts: as Debian's 6.12 has them */
#define N_COUNTERS 260

static const char scenario[] = "{\"prepare\": [{\"name\": \"step0\"}], \"steps\": [{\"name\": "
			       "\"step1\"}]}";

static void die(GError *error)
{
	if (!error)
		return;
	fprintf(stderr, "%s\n", error->message);
	exit(EXIT_FAILURE);
}

static void add(GPtrArray *samples, char *metric, double value, const char *unit, int better)
{
	LabSample *sample = g_new(LabSample, 1);

	*sample = (LabSample){metric, value, unit, better};
	g_ptr_array_add(samples, sample);
}

static GPtrArray *make_samples(GRand *random, guint kernel)
{
	static const char *const times[] = {"real", "user", "syst"};
	GPtrArray *samples = g_ptr_array_new_with_free_func((GDestroyNotify)lab_sample_free);

	for (guint s = 0; s < N_STEPS; s++)
		for (guint t = 0; t < G_N_ELEMENTS(times); t++)
			add(samples, g_strdup_printf("%s-step%u", times[t], s),
			    5 + kernel + g_rand_double(random), "s", -1);
	add(samples, g_strdup("files/s-step0"), 5000 + 99 * g_rand_double(random), "files/s", 1);
	for (guint c = 0; c < N_COUNTERS; c++) {
		double count = g_rand_int_range(random, 0, 1 << 30);

		add(samples, g_strdup_printf("counter_%u", c), count, "count", 0);
		for (guint s = 0; s < N_STEPS; s++)
			add(samples, g_strdup_printf("counter_%u:step%u", c, s), count / 2, "count",
			    0);
	}
	return samples;
}

static LabPlan *make_plan(void)
{
	static const char *const kernels[] = {"aaaaaaaaaaaa", "bbbbbbbbbbbb", NULL};
	LabPlan *plan = lab_plan_new();

	plan->scenario_name = g_strdup("bench");
	plan->scenario_path = g_strdup("bench.yaml");
	plan->scenario_digest = g_strdup("5ce0");
	plan->clock = g_strdup("exact");
	plan->image_digest = g_strdup("1333");
	plan->qemu_version = g_strdup("10.0.2");
	plan->kernels = g_strdupv((char **)kernels);
	for (guint i = 0; i < N_KERNELS * N_SEEDS; i++) {
		LabPlanBoot *boot = g_new0(LabPlanBoot, 1);
		guint kernel = i % N_KERNELS, seed = 1 + i / N_KERNELS;

		boot->id = g_strdup_printf("6.%u-s%u", kernel, seed);
		boot->kernel_label = g_strdup_printf("6.%u", kernel);
		boot->kernel_text = g_strdup_printf("debian:k%u", kernel);
		boot->kernel_digest = g_strdup(kernels[kernel]);
		boot->seed = seed;
		g_ptr_array_add(plan->boots, boot);
	}
	return plan;
}

static void complete(const LabRun *run, const LabPlanBoot *boot, GRand *random, guint kernel)
{
	g_autofree char *dir = lab_run_boot_dir(run, boot);
	g_autofree char *path = g_build_filename(dir, "samples.json", NULL);
	g_autoptr(GPtrArray) samples = make_samples(random, kernel);
	LabBootResult result = {.outcome = LAB_OUTCOME_OK,
				.stage = (char *)"done",
				.message = (char *)"",
				.evidence = (char *)"",
				.digest = boot->id,
				.job_digest = (char *)"10b",
				.host_qemu_version = (char *)"10.0.2"};
	GError *error = NULL;

	g_mkdir_with_parents(dir, 0755);
	lab_samples_write(samples, path, &error);
	die(error);
	lab_boot_result_write(&result, dir, &error);
	die(error);
}

int main(int argc, char **argv)
{
	g_autoptr(LabPlan) plan = make_plan();
	g_autoptr(GRand) random = g_rand_new_with_seed(1);
	g_autoptr(LabStore) store = NULL;
	g_autoptr(LabRun) run = NULL;
	GError *error = NULL;

	if (argc != 2) {
		fprintf(stderr, "usage: bench_compare_store STORE\n");
		return EXIT_FAILURE;
	}
	store = lab_store_open(argv[1], &error);
	die(error);
	run = lab_store_create_run(store, plan, "name: bench\n", scenario, &error);
	die(error);
	for (guint i = 0; i < run->plan->boots->len; i++)
		complete(run, run->plan->boots->pdata[i], random, i % N_KERNELS);
	return EXIT_SUCCESS;
}
