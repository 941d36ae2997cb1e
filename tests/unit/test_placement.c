/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a host must have for a placement, asked of a /sys of our own: 6 CPUs, one of them offline; 2 of 3 nodes with memory. */
#include <check.h>
#include <glib/gstdio.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/guest/placement.h"
#include "tests/unit/made_root.h"

static void setup(void)
{
	root = g_dir_make_tmp("placement-XXXXXX", NULL);
	put("/sys/devices/system/cpu/online", "0-3,5\n");
	put("/sys/devices/system/node/has_memory", "0,2\n");
	put("/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages", "600\n");
	put("/sys/devices/system/node/node0/hugepages/hugepages-2048kB/free_hugepages", "600\n");
	put("/sys/devices/system/node/node2/hugepages/hugepages-2048kB/nr_hugepages", "40\n");
	put("/sys/devices/system/node/node2/hugepages/hugepages-2048kB/free_hugepages", "30\n");
	put("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "640\n");
	put("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "630\n");
	put("/sys/kernel/mm/hugepages/hugepages-2048kB/resv_hugepages", "130\n");
}

static LabTopology *topology(const char *node_memory)
{
	g_autofree char *path = g_build_filename(root, "t.yaml", NULL);
	g_autofree char *text = g_strdup_printf(
		"kind: vnuma\nnodes: [{cpus: 0, memory: %s}, {cpus: 1, memory: %s}]\n", node_memory,
		node_memory);
	LabTopology *t;

	ck_assert(g_file_set_contents(path, text, -1, NULL));
	t = lab_topology_load(path, NULL);
	ck_assert_ptr_nonnull(t);
	return t;
}

static const struct {
	const char *cpus, *emulator, *nodes;
	guint64 hugepage_mib;
	const char *memory, *message; /* NULL: fine */
} cases[] = {
	{NULL, NULL, NULL, 0, "512MiB", NULL},
	{"1,1", "2-3", "0,2", 2, "60MiB", NULL},
	{"1,3", NULL, NULL, 0, "512MiB", NULL},
	{"1,4", NULL, NULL, 0, "512MiB",
	 "s.yaml:3:4: pin: wanted a CPU of this host that is online (0-3,5), found 4"},
	{"5,1", NULL, NULL, 0, "512MiB",
	 "s.yaml:3:4: pin: wanted a CPU that this process may use (0-3), found 5; 'taskset' and "
	 "cpuset control groups decide "
	 "that"},
	{NULL, "3-4", NULL, 0, "512MiB",
	 "s.yaml:5:6: pin: wanted a CPU of this host that is online (0-3,5), found 4"},
	{NULL, NULL, "0,1", 0, "512MiB",
	 "s.yaml:7:8: pin: wanted a node of this host that has memory (0,2), found 1"},
	/* Both guest nodes are on node 0: 600 pages there. */
	{NULL, NULL, "0,0", 2, "600MiB", NULL},
	{NULL, NULL, "0,0", 2, "602MiB",
	 "s.yaml:9:10: pin: wanted 602 free huge pages of 2MiB on node 0, found 600; 'echo 602 > "
	 "@/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages' (as root) "
	 "reserves them"},
	{NULL, NULL, "0,2", 2, "64MiB",
	 "s.yaml:9:10: pin: wanted 32 free huge pages of 2MiB on node 2, found 30; 'echo 42 > "
	 "@/sys/devices/system/node/node2/hugepages/hugepages-2048kB/nr_hugepages' (as root) "
	 "reserves them"},
	/* Anywhere: 630 free, of which 130 are somebody's. */
	{NULL, NULL, NULL, 2, "500MiB", NULL},
	{NULL, NULL, NULL, 2, "502MiB",
	 "s.yaml:9:10: pin: wanted 502 free huge pages of 2MiB, found 500; 'echo 642 > "
	 "@/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages' (as root) reserves them"},
	{NULL, NULL, NULL, 1024, "1GiB",
	 "s.yaml:9:10: pin: this host has no huge pages of 1GiB (no "
	 "@/sys/kernel/mm/hugepages/hugepages-1048576kB)"},
};

START_TEST(host)
{
	g_autoptr(LabTopology) t = topology(cases[_i].memory);
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) wanted = g_string_new(cases[_i].message);
	LabPlacement p = {
		.cpus = (char *)cases[_i].cpus,
		.emulator = (char *)cases[_i].emulator,
		.nodes = (char *)cases[_i].nodes,
		.hugepage_bytes = cases[_i].hugepage_mib << 20,
		.cpus_origin = {"s.yaml", 3, 4},
		.emulator_origin = {"s.yaml", 5, 6},
		.nodes_origin = {"s.yaml", 7, 8},
		.hugepages_origin = {"s.yaml", 9, 10},
	};
	LabCpuSet allowed;

	g_string_replace(wanted, "@", root, 0);
	ck_assert(lab_cpuset_parse("0-3", &allowed, NULL));
	ck_assert_int_eq(lab_placement_check(&p, t, root, &allowed, &error), !cases[_i].message);
	if (cases[_i].message) {
		ck_assert_str_eq(error->message, wanted->str);
		ck_assert_int_eq(lab_error_exit_code(error), 3);
	}
}
END_TEST

START_TEST(no_sysfs)
{
	g_autoptr(LabTopology) t = topology("64MiB");
	g_autoptr(GError) error = NULL;
	LabPlacement p = {.cpus = (char *)"0,0"};

	ck_assert(!lab_placement_check(&p, t, "/nonexistent", NULL, &error));
	ck_assert(g_str_has_prefix(error->message,
				   "pin: /nonexistent/sys/devices/system/cpu/online: "));
	ck_assert_int_eq(lab_error_exit_code(error), 3);
}
END_TEST

/* This process, on one CPU of those that it may use. */
START_TEST(thread)
{
	g_autoptr(GError) error = NULL, gone = NULL;
	g_autofree char *one = NULL, *all = NULL, *found = NULL, *message = NULL;
	LabCpuSet own;
	cpu_set_t set;
	guint cpu;

	ck_assert(lab_placement_allowed(0, &own));
	cpu = lab_cpuset_next(&own, 0);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	ck_assert_int_eq(sched_setaffinity(0, sizeof set, &set), 0);
	one = g_strdup_printf("%u", cpu);
	found = lab_placement_check_thread("it", getpid(), one, &error);
	ck_assert_str_eq(found, one);
	all = g_strdup_printf("%u-%u", cpu, cpu + 1);
	ck_assert_ptr_null(lab_placement_check_thread("it", getpid(), all, &error));
	message = g_strdup_printf("pin: asked for it on the host's CPUs %s, but it is on %s", all,
				  one);
	ck_assert_str_eq(error->message, message);
	ck_assert_int_eq(lab_error_exit_code(error), 3);
	ck_assert_ptr_null(lab_placement_check_thread("it", -1, one, &gone));
	ck_assert(g_str_has_suffix(gone->message, "none: its thread is gone"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("placement");
	TCase *tc = tcase_create("placement");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, host, 0, G_N_ELEMENTS(cases));
	tcase_add_test(tc, no_sysfs);
	tcase_add_test(tc, thread);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
