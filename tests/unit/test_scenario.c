/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/spec/scenario.h"

#include <string.h>

#include "tests/unit/scenario_texts.h"
#include "tests/unit/spec_cases.h"

static LabScenario *load(const char *text, const char *const *overrides)
{
	g_autoptr(GError) error = NULL;
	LabScenario *s;

	spec_write("t.yaml", text);
	s = lab_scenario_load("t.yaml", overrides, &error);
	ck_assert_msg(s != NULL, "%s", error ? error->message : "no error set");
	return s;
}

static void check_step(const GPtrArray *steps, guint i, const char *name, LabStepKind kind,
		       const char *argv)
{
	const LabStep *step;
	g_autofree char *joined = NULL;

	ck_assert_uint_lt(i, steps->len);
	step = steps->pdata[i];
	joined = g_strjoinv("|", step->argv);
	ck_assert_str_eq(step->name, name);
	ck_assert_int_eq(step->kind, kind);
	ck_assert_str_eq(joined, argv);
}

static void check_setting(const LabScenario *s, guint i, const char *name, const char *value,
			  const char *paths)
{
	const LabSetting *setting;
	g_autofree char *joined = NULL;

	ck_assert_uint_lt(i, s->settings->len);
	setting = s->settings->pdata[i];
	joined = g_strjoinv(" ", setting->paths);
	ck_assert_str_eq(setting->name, name);
	ck_assert_str_eq(setting->value, value);
	ck_assert_str_eq(joined, paths);
}

START_TEST(defaults)
{
	g_autoptr(LabScenario) s = load(RUN, NULL);

	ck_assert_str_eq(s->name, "t");
	ck_assert_ptr_null(s->about);
	ck_assert_str_eq(s->path, "t.yaml");
	ck_assert_str_eq(s->text, RUN);
	ck_assert_str_eq(s->topology->name, "vnuma-4x1p-512M");
	ck_assert_str_eq(s->image->name, "xfs");
	ck_assert_int_eq(s->clock, LAB_CLOCK_EXACT);
	ck_assert_uint_eq(s->n_seeds, 3);
	ck_assert_uint_eq(s->seeds[0], 1);
	ck_assert_uint_eq(s->seeds[2], 3);
	ck_assert_uint_eq(s->scale_denominator, 1);
	ck_assert_int_eq(s->numa_balancing, 1);
	ck_assert_uint_eq(s->settings->len, 1);
	check_setting(s, 0, "numa_balancing", "1", "/proc/sys/kernel/numa_balancing");
	ck_assert_uint_eq(s->scratch_bytes, 0);
	ck_assert_uint_eq(s->prepare->len, 0);
	ck_assert_ptr_null(s->prepare_canonical);
	ck_assert_ptr_null(s->prepare_kernel);
	ck_assert_uint_eq(g_strv_length(s->counters), 3);
	ck_assert_uint_eq(s->judge->len, 0);
	ck_assert_uint_eq(s->deadlines.step_ns, 1800ull * 1000000000);
	ck_assert(s->console_quiet);
	ck_assert_uint_eq(g_strv_length(s->kernel_args), 0);
	ck_assert_ptr_null(s->modules[0]);
	ck_assert_ptr_null(s->files);
	ck_assert_uint_eq(g_strv_length(s->overrides), 0);
}
END_TEST

START_TEST(everything)
{
	g_autoptr(LabScenario) s =
		load("name: all\nabout: of it\n"
		     "topology: {kind: vnuma, nodes: [{cpus: 0, memory: 1GiB}]}\n"
		     "image: xfs\n"
		     "kernels: [debian:bookworm, 'dir:../linux']\n"
		     "clock: tcg\n"
		     "seeds: [5, 9]\n"
		     "settings:\n"
		     "  numa_balancing: {enabled: off, scan_delay: 20ms, scan_period_min: 5ms, "
		     "scan_period_max: 2s, scan_size: 64MiB}\n"
		     "  transparent_hugepage: never\n"
		     "  sysctl: {vm.swappiness: 10, kernel.printk: '4 4 1 7'}\n"
		     "settle: 2s\n"
		     "prepare: {steps: [{mkfs.xfs: {size: 302MiB}}], kernel: debian:sid}\n"
		     "steps: [{run: {argv: [sh, -c, ''], timeout: 3s, measure: false, oom-kills: "
		     "allowed}}, "
		     "{numa_touch: {size: 1MiB, touches: 7}}]\n"
		     "collect: {counters: [numastat]}\n"
		     "judge: [{metric: touches-numatouch, threshold: 0.25%}, {metric: pgfault, "
		     "threshold: 12%, better: lower}, {metric: pgalloc, threshold: 1%, better: "
		     "higher}]\n"
		     "deadlines: {first-output: 1s, agent: 2s, step: 3m, power-off: 4s}\n"
		     "console: verbose\n"
		     "kernel-args: [tsc=reliable, nosmt]\n"
		     "modules: [loop, kvm-amd]\n"
		     "files: ../tools\n",
		     NULL);
	g_autofree char *linux_path = g_canonicalize_filename("../linux", NULL);
	g_autofree char *files = g_canonicalize_filename("../tools", NULL);
	const LabStep *step = s->steps->pdata[0];

	ck_assert_str_eq(s->name, "all");
	ck_assert_str_eq(s->topology->name, "all");
	ck_assert_int_eq(s->clock, LAB_CLOCK_TCG);
	ck_assert_uint_eq(s->n_seeds, 2);
	ck_assert_uint_eq(s->seeds[1], 9);
	ck_assert_str_eq(((LabKernelSpec *)s->kernels->pdata[1])->path, linux_path);
	ck_assert_str_eq(((LabKernelSpec *)s->kernels->pdata[1])->origin.path, "t.yaml");
	ck_assert_int_eq(s->numa_balancing, 0);
	check_setting(s, 0, "numa_balancing.scan_delay_ms", "20",
		      "/sys/kernel/debug/sched/numa_balancing/scan_delay_ms "
		      "/proc/sys/kernel/numa_balancing_scan_delay_ms");
	check_setting(s, 1, "numa_balancing.scan_period_min_ms", "5",
		      "/sys/kernel/debug/sched/numa_balancing/scan_period_min_ms "
		      "/proc/sys/kernel/numa_balancing_scan_period_min_ms");
	check_setting(s, 2, "numa_balancing.scan_period_max_ms", "2000",
		      "/sys/kernel/debug/sched/numa_balancing/scan_period_max_ms "
		      "/proc/sys/kernel/numa_balancing_scan_period_max_ms");
	check_setting(s, 3, "numa_balancing.scan_size_mb", "64",
		      "/sys/kernel/debug/sched/numa_balancing/scan_size_mb "
		      "/proc/sys/kernel/numa_balancing_scan_size_mb");
	check_setting(s, 4, "numa_balancing", "0", "/proc/sys/kernel/numa_balancing");
	check_setting(s, 5, "transparent_hugepage", "never",
		      "/sys/kernel/mm/transparent_hugepage/enabled");
	check_setting(s, 6, "vm.swappiness", "10", "/proc/sys/vm/swappiness");
	check_setting(s, 7, "kernel.printk", "4 4 1 7", "/proc/sys/kernel/printk");
	ck_assert_uint_eq(s->settle_ns, 2000000000);
	ck_assert_uint_eq(s->scratch_bytes, 302ull << 20);
	ck_assert_str_eq(s->prepare_kernel->suite, "sid");
	check_step(s->steps, 0, "sh", LAB_STEP_EXEC, "sh|-c|");
	ck_assert(!step->measure && step->oom_kills_allowed);
	ck_assert(!((const LabStep *)s->steps->pdata[1])->oom_kills_allowed);
	ck_assert_ptr_nonnull(strstr(s->canonical, "\"oom_kills\":\"allowed\""));
	ck_assert_uint_eq(step->timeout_ns, 3000000000);
	ck_assert_uint_eq(step->origin.line, 14);
	ck_assert_str_eq(step->verb, "run");
	check_step(s->steps, 1, "numatouch", LAB_STEP_NUMA_TOUCH, "1|1048576|0|7");
	ck_assert_str_eq(s->counters[0], "numastat");
	ck_assert_int_eq(((LabJudge *)s->judge->pdata[0])->threshold_ppm, 2500);
	ck_assert_int_eq(((LabJudge *)s->judge->pdata[1])->threshold_ppm, 120000);
	ck_assert_int_eq(((LabJudge *)s->judge->pdata[0])->better, 0);
	ck_assert_int_eq(((LabJudge *)s->judge->pdata[1])->better, -1);
	ck_assert_int_eq(((LabJudge *)s->judge->pdata[2])->better, 1);
	ck_assert_uint_eq(s->deadlines.first_output_ns, 1000000000);
	ck_assert_uint_eq(s->deadlines.step_ns, 180ull * 1000000000);
	ck_assert_uint_eq(s->deadlines.power_off_ns, 4000000000);
	ck_assert(!s->console_quiet);
	ck_assert_str_eq(s->kernel_args[1], "nosmt");
	ck_assert_str_eq(s->modules[0], "loop");
	ck_assert_str_eq(s->modules[1], "kvm_amd");
	ck_assert_ptr_null(s->modules[2]);
	ck_assert_uint_eq(s->module_origins[1].line, 20);
	ck_assert_uint_eq(s->module_origins[1].column, 17);
	ck_assert_str_eq(s->files, files);
	ck_assert_uint_eq(s->files_origin.line, 21);
	ck_assert_uint_eq(s->files_origin.column, 8);
}
END_TEST

START_TEST(steps_become_argv)
{
	g_autoptr(LabScenario) s = load(HEAD "steps:\n"
					     "  - mkfs.xfs: {size: 1GiB, options: [-m, crc=0]}\n"
					     "  - mount: {options: [noatime, discard]}\n"
					     "  - mkdir: [/mnt/scratch/a, /tmp/b]\n"
					     "  - fs_mark: {dirs: 2, subdirs: 100, files: 30, "
					     "size: 0, loops: 2, sync: none, options: [-w, 1]}\n"
					     "  - fs_mark: {files: 1, size: 4KiB, sync: 5}\n"
					     "  - umount:\n"
					     "  - mount: {type: xfs, options: 'ro,norecovery'}\n"
					     "  - umount: {}\n"
					     "  - xfs_repair: {flags: [-v, -t, 1], options: "
					     "{bhash: 101073, ag_stride: -1, force_geometry: }}\n"
					     "  - xfs_repair: {name: again}\n"
					     "  - drop_caches\n"
					     "  - run: [/usr/bin/Num@ctl, -H]\n"
					     "  - run: {argv: ['-x'], name: xfsrepair-2}\n"
					     "  - xfs_repair\n",
					NULL);

	ck_assert_uint_eq(s->scratch_bytes, 1ull << 30);
	check_step(s->steps, 0, "mkfs", LAB_STEP_EXEC, "mkfs.xfs|-f|-m|crc=0|/dev/scratch");
	check_step(s->steps, 1, "mount", LAB_STEP_MOUNT,
		   "/dev/scratch|/mnt/scratch|xfs|noatime,discard");
	check_step(s->steps, 2, "mkdir", LAB_STEP_MKDIR, "/mnt/scratch/a|/tmp/b");
	check_step(s->steps, 3, "fsmark", LAB_STEP_EXEC,
		   "fs_mark|-D|100|-S0|-n|30|-s|0|-L|2|-w|1|-d|/mnt/scratch/0|-d|/mnt/scratch/1");
	/* A single loop: kept, as it would delete its files. */
	check_step(s->steps, 4, "fsmark-2", LAB_STEP_EXEC,
		   "fs_mark|-S5|-n|1|-s|4096|-k|-d|/mnt/scratch/0");
	check_step(s->steps, 5, "umount", LAB_STEP_UMOUNT, "/mnt/scratch");
	check_step(s->steps, 6, "mount-2", LAB_STEP_MOUNT,
		   "/dev/scratch|/mnt/scratch|xfs|ro,norecovery");
	check_step(s->steps, 7, "umount-2", LAB_STEP_UMOUNT, "/mnt/scratch");
	check_step(s->steps, 8, "xfsrepair", LAB_STEP_EXEC,
		   "xfs_repair|-v|-t|1|-o|bhash=101073|-o|ag_stride=-1|-o|force_geometry|/dev/"
		   "scratch");
	check_step(s->steps, 9, "again", LAB_STEP_EXEC, "xfs_repair|/dev/scratch");
	check_step(s->steps, 10, "dropcaches", LAB_STEP_DROP_CACHES, "");
	check_step(s->steps, 11, "num-ctl", LAB_STEP_EXEC, "/usr/bin/Num@ctl|-H");
	check_step(s->steps, 12, "xfsrepair-2", LAB_STEP_EXEC, "-x");
	/* A name that was chosen is not taken by a default. */
	check_step(s->steps, 13, "xfsrepair-3", LAB_STEP_EXEC, "xfs_repair|/dev/scratch");
	for (guint i = 0; i < s->steps->len; i++) {
		const LabStep *step = s->steps->pdata[i];
		gboolean quiet = step->kind != LAB_STEP_EXEC && step->kind != LAB_STEP_NUMA_TOUCH;

		ck_assert_int_eq(step->measure, !quiet);
	}
}
END_TEST

START_TEST(prepare_and_steps_share_names_and_state)
{
	g_autoptr(LabScenario) s = load(
		"topology: vnuma-4x1p-512M\nimage: xfs\nkernels: [debian:sid]\nsteps: [mount]\n"
		"prepare: {fresh: true, steps: [{mkfs.xfs: {size: 512MiB}}, mount, umount]}\n",
		NULL);

	ck_assert(s->prepare_fresh);
	check_step(s->prepare, 1, "mount", LAB_STEP_MOUNT, "/dev/scratch|/mnt/scratch|xfs|");
	check_step(s->steps, 0, "mount-2", LAB_STEP_MOUNT, "/dev/scratch|/mnt/scratch|xfs|");
	ck_assert_ptr_nonnull(s->prepare_canonical);
}
END_TEST

START_TEST(any_command_ends_the_checks)
{
	g_autoptr(LabScenario) s =
		load(SCRATCH "  - run: [sh, -c, 'mkfs.xfs /dev/scratch && mount ...']\n"
			     "  - fs_mark: {files: 1}\n  - xfs_repair\n",
		     NULL);

	ck_assert_uint_eq(s->steps->len, 3);
}
END_TEST

START_TEST(one_node_needs_no_balancing)
{
	g_autoptr(LabScenario) s =
		load("topology: {kind: vnuma, nodes: [{cpus: 0, memory: 1GiB}]}\nimage: xfs\n"
		     "kernels: [debian:sid]\nsteps: [drop_caches]\n",
		     NULL);

	ck_assert_int_eq(s->numa_balancing, 0);
	check_setting(s, 0, "numa_balancing", "0", "/proc/sys/kernel/numa_balancing");
}
END_TEST

/* ---- scale ---- */

START_TEST(scale)
{
	const char *overrides[] = {"scale=1/2000", NULL};
	const char *text = HEAD "settings: {numa_balancing: {scan_delay: 1s, scan_period_min: 8ms, "
				"scan_period_max: 60s}}\n"
				"steps:\n"
				"  - mkfs.xfs: {size: 64GiB}\n"
				"  - mount\n"
				"  - fs_mark: {dirs: 16, subdirs: 10000, files: 100001, size: 0, "
				"loops: 32, sync: none}\n"
				"  - numa_touch: {threads: 3, size: 200MiB, touches: 5}\n";
	g_autoptr(LabScenario) s = load(text, overrides), full = load(text, NULL);

	ck_assert_uint_eq(s->scale_numerator, 1);
	ck_assert_uint_eq(s->scale_denominator, 2000);
	ck_assert_uint_eq(s->scratch_bytes, 2ull << 30);
	ck_assert_uint_eq(full->scratch_bytes, 64ull << 30);
	check_setting(s, 0, "numa_balancing.scan_delay_ms", "50",
		      "/sys/kernel/debug/sched/numa_balancing/scan_delay_ms "
		      "/proc/sys/kernel/numa_balancing_scan_delay_ms");
	/* Below its floor already: it stays. */
	ck_assert_str_eq(((LabSetting *)s->settings->pdata[1])->value, "8");
	ck_assert_str_eq(((LabSetting *)s->settings->pdata[2])->value, "1000");
	ck_assert_str_eq(((LabSetting *)full->settings->pdata[0])->value, "1000");
	ck_assert_str_eq(((LabSetting *)full->settings->pdata[2])->value, "60000");
	ck_assert_str_eq(((LabStep *)s->steps->pdata[2])->argv[5], "51");
	ck_assert_str_eq(((LabStep *)full->steps->pdata[2])->argv[5], "100001");
	check_step(s->steps, 3, "numatouch", LAB_STEP_NUMA_TOUCH, "3|110592|0|1");
	check_step(full->steps, 3, "numatouch", LAB_STEP_NUMA_TOUCH, "3|209715200|0|5");
	ck_assert_str_ne(s->digest, full->digest);
}
END_TEST

START_TEST(scale_of_sizes)
{
	struct {
		const char *scale, *size;
		guint64 bytes;
	} cases[] = {
		{"1", "64GiB", 64ull << 30},   {"7/7", "512MiB", 512ull << 20},
		{"1/2", "64GiB", 32ull << 30}, {"1/3", "64GiB", 22907191296},
		{"1/64", "64GiB", 2ull << 30}, {"1/1000000000", "64GiB", 2ull << 30},
		{"1/2", "1GiB", 1ull << 30},
	};

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text =
			g_strdup_printf(HEAD "scale: %s\nsteps: [{mkfs.xfs: {size: %s}}]\n",
					cases[i].scale, cases[i].size);
		g_autoptr(LabScenario) s = load(text, NULL);

		ck_assert_msg(s->scratch_bytes == cases[i].bytes, "%s of %s: %" G_GUINT64_FORMAT,
			      cases[i].scale, cases[i].size, s->scratch_bytes);
		ck_assert_uint_eq(s->scratch_bytes % (2 << 20), 0);
	}
}
END_TEST

/* ---- overrides ---- */

START_TEST(overrides_are_applied)
{
	const char *overrides[] = {"boots=5",
				   "boots=7",
				   "clock=tcg",
				   "settings.numa_balancing=off",
				   "settings.transparent_hugepage=never",
				   "settings.sysctl.vm.swappiness=60",
				   "settings.sysctl.vm.stat_interval=1",
				   "steps.xfsrepair.options.bhash=4096",
				   "steps.1.options.ag_stride=-1",
				   "steps.dropcaches.name=drop",
				   "prepare.mkfs.options=[-m, crc=1]",
				   "prepare.make.files=7",
				   "kernels.0=debian:sid",
				   NULL};
	g_autoptr(LabScenario) s = load(small, overrides);
	g_autofree char *here = NULL;

	here = g_canonicalize_filename("linux", NULL);
	ck_assert_uint_eq(s->n_seeds, 7);
	ck_assert_int_eq(s->clock, LAB_CLOCK_TCG);
	ck_assert_int_eq(s->numa_balancing, 0);
	check_setting(s, 1, "transparent_hugepage", "never",
		      "/sys/kernel/mm/transparent_hugepage/enabled");
	check_setting(s, 2, "vm.swappiness", "60", "/proc/sys/vm/swappiness");
	check_setting(s, 3, "vm.stat_interval", "1", "/proc/sys/vm/stat_interval");
	check_step(s->steps, 0, "drop", LAB_STEP_DROP_CACHES, "");
	check_step(s->steps, 1, "xfsrepair", LAB_STEP_EXEC,
		   "xfs_repair|-o|bhash=4096|-o|ag_stride=-1|/dev/scratch");
	check_step(s->prepare, 0, "mkfs", LAB_STEP_EXEC, "mkfs.xfs|-f|-m|crc=1|/dev/scratch");
	check_step(s->prepare, 2, "make", LAB_STEP_EXEC,
		   "fs_mark|-n|7|-k|-d|/mnt/scratch/0|-d|/mnt/scratch/1");
	ck_assert_str_eq(((LabKernelSpec *)s->kernels->pdata[0])->text, "debian:sid");
	ck_assert_str_eq(((LabKernelSpec *)s->kernels->pdata[1])->path, here);
	ck_assert_uint_eq(g_strv_length(s->overrides), G_N_ELEMENTS(overrides) - 1);
	ck_assert_str_eq(s->overrides[0], "boots=5");
	ck_assert_str_eq(s->text, small);
}
END_TEST

/* A path in the file starts from the file, one of the command line from where the command is. */
START_TEST(relative_paths)
{
	const char *overrides[] = {"kernels=[dir:k, 'dir:/k']", "files=k", NULL};
	g_autofree char *in_sub = g_canonicalize_filename("sub/k", NULL),
			*here = g_canonicalize_filename("k", NULL);
	g_autoptr(LabScenario) s = NULL, set = NULL;

	ck_assert_int_eq(g_mkdir_with_parents("sub", 0700), 0);
	spec_write("sub/top.yaml", "kind: vnuma\nnodes: [{cpus: 0, memory: 64MiB}]\n");
	spec_write("sub/s.yaml",
		   "topology: ./top.yaml\nimage: xfs\nkernels: [dir:k]\nsteps: [drop_caches]\n"
		   "files: k\n");
	s = lab_scenario_load("sub/s.yaml", NULL, NULL);
	set = lab_scenario_load("sub/s.yaml", overrides, NULL);
	ck_assert_ptr_nonnull(s);
	ck_assert_ptr_nonnull(set);
	ck_assert_str_eq(s->topology->name, "top");
	ck_assert_str_eq(((LabKernelSpec *)s->kernels->pdata[0])->path, in_sub);
	ck_assert_str_eq(((LabKernelSpec *)set->kernels->pdata[0])->path, here);
	ck_assert_str_eq(((LabKernelSpec *)set->kernels->pdata[0])->origin.path,
			 "--set kernels=[dir:k, 'dir:/k']");
	ck_assert_str_eq(s->files, in_sub);
	ck_assert_str_eq(set->files, here);
	ck_assert_str_eq(set->files_origin.path, "--set files=k");
}
END_TEST

/* ---- canonical form ---- */

START_TEST(canonical_form)
{
	const char *same[] = {"name=other",
			      "about=x",
			      "kernels=[debian:sid]",
			      "seeds=[8]",
			      "collect={counters: []}",
			      "judge=[{metric: pgfault, threshold: 1%}]",
			      "deadlines.agent=1h",
			      "modules=[]",
			      "files=/x",
			      "scale=1/1"};
	const char *other[] = {"clock=tcg",
			       "settle=1s",
			       "settings.numa_balancing=off",
			       "settings.sysctl.vm.x=1",
			       "steps.xfsrepair.options.bhash=1",
			       "steps.xfsrepair.timeout=1s",
			       "prepare.make.files=7",
			       "topology=vnuma-2x2p-1G",
			       "console=verbose",
			       "kernel-args=[a]",
			       "modules=[loop]",
			       "deadlines.step=1h"};
	/* ... and of these, what leaves a prepared file system as it is */
	const char *prepared[] = {"steps.xfsrepair.options.bhash=1", "prepare.make.name=n",
				  "prepare.make.timeout=1s", "deadlines.step=1h"};
	g_autoptr(LabScenario) s = load(small, NULL);

	for (guint i = 0; i < G_N_ELEMENTS(same); i++) {
		const char *set[] = {same[i], NULL};
		g_autoptr(LabScenario) t = load(small, set);

		ck_assert_msg(g_str_equal(t->digest, s->digest), "%s changed the digest", same[i]);
	}
	for (guint i = 0; i < G_N_ELEMENTS(other); i++) {
		const char *set[] = {other[i], NULL};
		g_autoptr(LabScenario) t = load(small, set);

		ck_assert_msg(!g_str_equal(t->digest, s->digest), "%s left the digest", other[i]);
	}
	for (guint i = 0; i < G_N_ELEMENTS(prepared); i++) {
		const char *set[] = {prepared[i], NULL};
		g_autoptr(LabScenario) t = load(small, set);

		ck_assert_str_eq(t->prepare_canonical, s->prepare_canonical);
	}
}
END_TEST

START_TEST(modules_are_canonical)
{
	const char *dash[] = {"modules=[kvm-amd, loop]", NULL};
	const char *underscore[] = {"modules=[kvm_amd, loop]", NULL};
	const char *order[] = {"modules=[loop, kvm_amd]", NULL};
	g_autoptr(LabScenario) a = load(small, dash), b = load(small, underscore);
	g_autoptr(LabScenario) c = load(small, order);

	ck_assert_str_eq(a->digest, b->digest);
	ck_assert_str_ne(a->digest, c->digest);
	ck_assert_ptr_nonnull(strstr(a->canonical, "\"modules\":[\"kvm_amd\",\"loop\"]"));
	ck_assert_ptr_nonnull(strstr(a->prepare_canonical, "\"modules\":[\"kvm_amd\",\"loop\"]"));
}
END_TEST

/* Caches and runs are found by this: a change here makes every one of them anew. */
START_TEST(canonical_form_is_stable)
{
	g_autoptr(LabScenario) s = NULL;

	spec_write("i.yaml", "suite: sid\npackages: [a1]\n");
	s = load("topology: {kind: fake, nodes: 2, cpus: 1, memory: 64MiB}\nimage: "
		 "./i.yaml\nkernels: [debian:sid]\n"
		 "prepare: [{mkfs.xfs: {size: 512MiB}}]\nsteps: [drop_caches]\n",
		 NULL);
	ck_assert_str_eq(
		s->canonical,
		"{\"clock\":\"exact\",\"console\":\"quiet\",\"image\":{\"exclude\":[],\"packages\":"
		"[\"a1\"],\"suite\":\"sid\"},"
		"\"kernel_args\":[],\"numa_balancing\":1,\"prepare\":{\"fresh\":false,\"steps\":[{"
		"\"argv\":[\"mkfs.xfs\","
		"\"-f\",\"/dev/"
		"scratch\"],\"kind\":\"exec\",\"measure\":true,\"name\":\"mkfs\",\"timeout_ns\":0}]"
		"},"
		"\"scratch_bytes\":536870912,\"settings\":[{\"name\":\"numa_balancing\",\"paths\":"
		"[\"/proc/sys/kernel/"
		"numa_balancing\"],\"value\":\"1\"}],\"settle_ns\":0,\"step_deadline_ns\":"
		"1800000000000,"
		"\"steps\":[{\"argv\":[],\"kind\":\"drop_caches\",\"measure\":false,\"name\":"
		"\"dropcaches\",\"timeout_ns\":0}],"
		"\"topology\":{\"cpu\":{\"cores\":1,\"dies\":1,\"sockets\":1,\"threads\":1},"
		"\"cpus\":1,\"kind\":\"fake\","
		"\"memory\":\"64MiB\",\"nodes\":2}}");
	ck_assert_str_eq(s->prepare_canonical,
			 "{\"clock\":\"exact\",\"console\":\"quiet\",\"kernel_args\":[],\"numa_"
			 "balancing\":1,\"scratch_bytes\":536870912,"
			 "\"settings\":[{\"name\":\"numa_balancing\",\"paths\":[\"/proc/sys/kernel/"
			 "numa_balancing\"],\"value\":\"1\"}],"
			 "\"settle_ns\":0,\"steps\":[{\"argv\":[\"mkfs.xfs\",\"-f\",\"/dev/"
			 "scratch\"],\"kind\":\"exec\"}],"
			 "\"topology\":{\"cpu\":{\"cores\":1,\"dies\":1,\"sockets\":1,\"threads\":"
			 "1},\"cpus\":1,\"kind\":\"fake\","
			 "\"memory\":\"64MiB\",\"nodes\":2}}");
	ck_assert_str_eq(s->digest,
			 "70760dfb00687ae21171aa923ab17bf5359ca5f9e4d502a27d736f3578b03b3d");
}
END_TEST

/* ---- shipped ---- */

START_TEST(shipped_scenarios_load)
{
	g_autoptr(GDir) dir = g_dir_open(TEST_TREE "/scenarios", 0, NULL);
	const char *entry;
	guint n = 0;

	ck_assert_ptr_nonnull(dir);
	for (; (entry = g_dir_read_name(dir)); n++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *path = g_build_filename(TEST_TREE, "scenarios", entry, NULL);
		g_autoptr(LabScenario) s = lab_scenario_load(path, NULL, &error);

		ck_assert_msg(s != NULL, "%s", error ? error->message : "no error set");
		ck_assert_ptr_nonnull(s->about);
	}
	ck_assert_uint_ge(n, 3);
}
END_TEST

START_TEST(found_by_name)
{
	g_autoptr(GError) error = NULL;
	const char *scaled[] = {"scale=1/2000", NULL};
	g_autoptr(LabScenario) s = lab_scenario_find("xfsrepair-numa", scaled, &error);

	ck_assert_msg(s != NULL, "%s", error ? error->message : "no error set");
	/* The report's: 16 directories of 100,000 files, 32 times; a 2,000th of it. */
	check_step(s->prepare, 2, "fsmark", LAB_STEP_EXEC,
		   "fs_mark|-D|10000|-S0|-n|50|-s|0|-L|32|-d|/mnt/scratch/0|-d|/mnt/scratch/1|-d|/"
		   "mnt/scratch/2|-d|"
		   "/mnt/scratch/3|-d|/mnt/scratch/4|-d|/mnt/scratch/5|-d|/mnt/scratch/6|-d|/mnt/"
		   "scratch/7|-d|"
		   "/mnt/scratch/8|-d|/mnt/scratch/9|-d|/mnt/scratch/10|-d|/mnt/scratch/11|-d|/mnt/"
		   "scratch/12|-d|"
		   "/mnt/scratch/13|-d|/mnt/scratch/14|-d|/mnt/scratch/15");
	check_step(s->steps, 1, "xfsrepair", LAB_STEP_EXEC,
		   "xfs_repair|-o|bhash=101073|/dev/scratch");
	ck_assert_ptr_null(lab_scenario_find("dem", NULL, &error));
	ck_assert_str_eq(
		error->message,
		"wanted a scenario of scenarios/ or a path, found 'dem' (did you mean 'demo'?)");
	g_clear_error(&error);
	ck_assert_ptr_null(lab_scenario_find("./dem.yaml", NULL, &error));
	ck_assert_str_eq(error->message, "./dem.yaml: wanted a scenario file, found none");
}
END_TEST

START_TEST(kvm)
{
	g_autoptr(LabScenario) plain = load(small, (const char *[]){"clock=kvm", NULL});
	g_autoptr(LabScenario) s =
		load(small, (const char *[]){"clock=kvm", "async-pf=int-only", "cpu-model=EPYC-v2",
					     "host-pressure={memory-high: 1GiB, memory-max: 1536MiB}",
					     "pmu=on",
					     "pin={cpus: [9, 2, 9, 2], emulator: [1, 0]}", NULL});
	g_autoptr(LabScenario) listed = load(
		small, (const char *[]){"clock=kvm",
					"pin={cpus: '2-3,8-9', nodes: [0, 0, 1, 1], hugepages: 2MiB}",
					NULL});

	ck_assert_int_eq(plain->async_pf, LAB_ASYNC_PF_DEFAULT);
	ck_assert_str_eq(plain->cpu_model, "host");
	ck_assert(!plain->memory_high_bytes && !plain->memory_max_bytes);
	ck_assert_int_eq(s->async_pf, LAB_ASYNC_PF_INT_ONLY);
	ck_assert_str_eq(s->cpu_model, "EPYC-v2");
	ck_assert_uint_eq(s->memory_high_bytes, 1ull << 30);
	ck_assert_uint_eq(s->memory_max_bytes, 3ull << 29);
	ck_assert(plain->pmu && s->pmu);
	ck_assert(!plain->pin.cpus && !plain->pin.emulator && !plain->pin.nodes);
	ck_assert_uint_eq(plain->pin.hugepage_bytes, 0);
	ck_assert_str_eq(s->pin.cpus, "9,2,9,2");
	ck_assert_str_eq(s->pin.emulator, "0-1");
	ck_assert(!s->pin.nodes && !s->pin.hugepage_bytes);
	ck_assert_str_eq(listed->pin.nodes, "0,0,1,1");
	ck_assert_uint_eq(listed->pin.hugepage_bytes, 2 << 20);
	ck_assert_str_eq(listed->pin.cpus, "2,3,8,9");
	ck_assert_ptr_null(strstr(plain->canonical, "pin_"));
	ck_assert_ptr_nonnull(strstr(s->canonical, "\"pin_cpus\":\"9,2,9,2\",\"pin_emulator\":"
						   "\"0-1\",\"pmu\":\"on\""));
	ck_assert_ptr_nonnull(strstr(listed->canonical, "\"pin_hugepage_bytes\":2097152,"
							"\"pin_nodes\":\"0,0,1,1\""));
	ck_assert_str_ne(s->digest, plain->digest);
	ck_assert_str_ne(s->prepare_canonical, plain->prepare_canonical);
}
END_TEST

START_TEST(set_to_null)
{
	g_autoptr(LabScenario) plain = load(small, NULL);
	g_autoptr(LabScenario) s = load(small, (const char *[]){"clock=kvm", "async-pf=on", "async-pf=null",
								 "clock=null", "settle=null", NULL});

	ck_assert_str_eq(s->digest, plain->digest);
}
END_TEST

START_TEST(disk)
{
	g_autoptr(LabScenario) direct = load(small, (const char *[]){"clock=tcg", NULL});
	g_autoptr(LabScenario) s = load(small, (const char *[]){"clock=tcg", "boot=disk", NULL});
	g_autoptr(LabScenario) other = load(
		small, (const char *[]){"clock=tcg", "boot=disk",
					"disk={root: xfs, bootloader: none, cache: none, io: native, size: 20GiB, "
					"more-scratch: [2MiB, 500TiB]}", NULL});
	g_autoptr(LabScenario) own =
		load(small, (const char *[]){"clock=tcg", "boot=disk", "image=disk:/srv/a.qcow2", NULL});
	g_autoptr(LabScenario) elsewhere =
		load(small, (const char *[]){"clock=tcg", "boot=disk", "image=disk:/srv/b.raw", NULL});

	ck_assert_int_eq(direct->boot, LAB_BOOT_DIRECT);
	ck_assert_ptr_null(strstr(direct->canonical, "\"disk\""));
	ck_assert_int_eq(s->boot, LAB_BOOT_DISK);
	ck_assert_str_eq(s->disk.root, "ext4");
	ck_assert_str_eq(s->disk.bootloader, "grub");
	ck_assert_uint_eq(s->disk.bytes, 8ull << 30);
	ck_assert_ptr_nonnull(strstr(s->canonical, "\"disk\":{\"bootloader\":\"grub\",\"cache\":\"writeback\","
						   "\"io\":\"threads\",\"root\":\"ext4\",\"size_bytes\":8589934592}"));
	ck_assert_str_ne(s->prepare_canonical, direct->prepare_canonical);
	ck_assert_str_eq(other->disk.io, "native");
	ck_assert_str_ne(other->digest, s->digest);
	ck_assert_uint_eq(other->disk.n_more_scratch, 2);
	ck_assert_ptr_nonnull(strstr(other->canonical, "\"more_scratch_bytes\":[2097152,549755813888000]"));
	ck_assert_ptr_null(strstr(s->canonical, "more_scratch"));
	/* Of somebody's image, what it holds decides; that is not known here. */
	ck_assert_str_eq(own->image->disk, "/srv/a.qcow2");
	ck_assert_str_eq(own->image->name, "a.qcow2");
	ck_assert_str_eq(own->digest, elsewhere->digest);
	ck_assert_ptr_null(strstr(own->canonical, "size_bytes"));
}
END_TEST

START_TEST(clock_words)
{
	LabClock clock = LAB_CLOCK_TCG;

	ck_assert(lab_clock_parse("exact", &clock));
	ck_assert_int_eq(clock, LAB_CLOCK_EXACT);
	ck_assert(!lab_clock_parse("kvn", &clock));
	ck_assert_int_eq(clock, LAB_CLOCK_EXACT);
	ck_assert_str_eq(lab_clock_name(LAB_CLOCK_TCG), "tcg");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("scenario");
	TCase *tc = tcase_create("scenario");

	tcase_add_unchecked_fixture(tc, spec_setup, spec_teardown);
	tcase_add_test(tc, defaults);
	tcase_add_test(tc, everything);
	tcase_add_test(tc, steps_become_argv);
	tcase_add_test(tc, prepare_and_steps_share_names_and_state);
	tcase_add_test(tc, any_command_ends_the_checks);
	tcase_add_test(tc, one_node_needs_no_balancing);
	tcase_add_test(tc, scale);
	tcase_add_test(tc, scale_of_sizes);
	tcase_add_test(tc, overrides_are_applied);
	tcase_add_test(tc, relative_paths);
	tcase_add_test(tc, canonical_form);
	tcase_add_test(tc, modules_are_canonical);
	tcase_add_test(tc, canonical_form_is_stable);
	tcase_add_test(tc, shipped_scenarios_load);
	tcase_add_test(tc, found_by_name);
	tcase_add_test(tc, kvm);
	tcase_add_test(tc, disk);
	tcase_add_test(tc, set_to_null);
	tcase_add_test(tc, clock_words);
	suite_add_tcase(suite, tc);
	return spec_run(suite);
}
