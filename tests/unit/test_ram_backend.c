/* SPDX-License-Identifier: GPL-2.0-or-later */
/* QEMU's arguments without the machine's own memory when nodes have theirs. */
#include <check.h>
#include <glib.h>
#include <stdlib.h>

#include "lab/guest/ram_backend.h"

#define RAM "-object {\"qom-type\":\"memory-backend-ram\",\"id\":\"pc.ram\",\"size\":1}"

static const struct {
	const char *from, *to;
} cases[] = {
	{"qemu -machine q35,memory-backend=pc.ram,hpet=off -m 1 " RAM
	 " -numa node,nodeid=0,memdev=r0 -x",
	 "qemu -machine q35,hpet=off -m 1 -numa node,nodeid=0,memdev=r0 -x"},
	{"qemu " RAM
	 " -machine q35,memory-backend=pc.ram -numa node,nodeid=1 -numa node,nodeid=0,memdev=r0",
	 "qemu -machine q35 -numa node,nodeid=1 -numa node,nodeid=0,memdev=r0"},
	/* Nodes of libvirt's own: nothing to take out. */
	{"qemu -machine q35,hpet=off -object {\"id\":\"ram-node0\"} -numa "
	 "node,nodeid=0,memdev=ram-node0",
	 "qemu -machine q35,hpet=off -object {\"id\":\"ram-node0\"} -numa "
	 "node,nodeid=0,memdev=ram-node0"},
	/* No nodes with memory: it is needed. */
	{"qemu -machine q35,memory-backend=pc.ram " RAM,
	 "qemu -machine q35,memory-backend=pc.ram " RAM},
	{"qemu -machine q35,memory-backend=pc.ram " RAM " -numa node,nodeid=0",
	 "qemu -machine q35,memory-backend=pc.ram " RAM " -numa node,nodeid=0"},
	/* Odd ends. */
	{"qemu -numa", "qemu -numa"},
	{"qemu -numa node,memdev=a -machine", "qemu -numa node,memdev=a -machine"},
	{"qemu -numa node,memdev=a -machine q,memory-backend=",
	 "qemu -numa node,memdev=a -machine q,memory-backend="},
	{"qemu", "qemu"},
};

START_TEST(drop)
{
	g_auto(GStrv) strings = g_strsplit(cases[_i].from, " ", -1);
	g_autofree char **argv = g_memdup2(strings, (g_strv_length(strings) + 1) * sizeof *strings);
	g_autofree char *result = NULL;

	lab_argv_drop_ram_backend(argv);
	result = g_strjoinv(" ", argv);
	ck_assert_str_eq(result, cases[_i].to);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ram backend");
	TCase *tcase = tcase_create("ram backend");
	SRunner *runner = srunner_create(suite);

	tcase_add_loop_test(tcase, drop, 0, G_N_ELEMENTS(cases));
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
