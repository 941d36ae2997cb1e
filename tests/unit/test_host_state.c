/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The state of a host, read from a root of our own: a server with a load, a virtual machine that tells little, one that tells
 * nothing. */
#include <check.h>
#include <glib/gstdio.h>
#include <stdlib.h>

#include "lab/base/error.h"
#include "lab/guest/host_state.h"
#include "lab/run/host.h"
#include "tests/unit/made_root.h"

static void setup(void)
{
	root = g_dir_make_tmp("host-XXXXXX", NULL);
}

#define CPU "/sys/devices/system/cpu/"

static void busy_server(void)
{
	put("/proc/sys/kernel/osrelease", "6.12.95-amd64\n");
	put("/proc/cpuinfo",
	    "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) Gold 6330 CPU @ 2.00GHz\n"
	    "microcode\t: 0xd0003f5\ncpu MHz\t\t: 2000.000\n");
	put(CPU "cpu0/cpufreq/scaling_governor", "powersave\n");
	put(CPU "cpu1/cpufreq/scaling_governor", "performance\n");
	put(CPU "cpu10/cpufreq/scaling_governor", "powersave\n");
	put(CPU "cpufreq/policy0/scaling_governor", "schedutil\n");
	put(CPU "intel_pstate/no_turbo", "0\n");
	put(CPU "smt/active", "1\n");
	put("/proc/loadavg", "12.07 3.02 1.00 3/1163 21146\n");
	put("/proc/swaps",
	    "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
	    "/dev/dm-1                               partition\t8388604\t\t1024\t\t-2\n"
	    "/swap\\040file                           file\t\t1048572\t\t7\t\t-3\n");
	put("/proc/17/comm", "qemu-system-x86\n");
	put("/proc/18/comm", "qemu-kvm\n");
	put("/proc/19/comm", "qemu-img\n");
	put("/proc/self/comm", "qemu-system-x86\n");
	put("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
	put("/sys/kernel/mm/ksm/run", "1\n");
}

/* As Debian 12's kernel has it in a virtual machine. */
static void quiet_guest(void)
{
	put("/proc/sys/kernel/osrelease", "6.1.0-57-amd64\n");
	put("/proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\nmicrocode\t: 0x1000065\n");
	put(CPU "cpu0/topology/core_id", "0\n");
	put(CPU "smt/active", "0\n");
	put("/proc/loadavg", "0.50 0.02 0.00 1/63 146\n");
	put("/proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n");
	put("/sys/kernel/mm/transparent_hugepage/enabled", "[always] madvise never\n");
	put("/sys/kernel/mm/ksm/run", "2\n");
}

START_TEST(server)
{
	g_autoptr(LabHostState) s = NULL;

	busy_server();
	s = lab_host_state_read(root);
	ck_assert_str_eq(s->kernel_release, "6.12.95-amd64");
	ck_assert_str_eq(s->microcode, "0xd0003f5");
	ck_assert_str_eq(s->governors, "performance powersave");
	ck_assert_str_eq(s->turbo, "on");
	ck_assert_str_eq(s->smt, "on");
	ck_assert_str_eq(s->load, "12.07");
	ck_assert_str_eq(s->other_guests, "2");
	ck_assert_str_eq(s->swap_used_kib, "1031");
	ck_assert_str_eq(s->thp, "madvise");
	ck_assert_str_eq(s->ksm, "1");
}
END_TEST

START_TEST(absent_is_null)
{
	g_autoptr(LabHostState) s = NULL;
	g_autoptr(LabHostState) nothing = lab_host_state_read("/nonexistent");
	g_autoptr(GPtrArray) findings = lab_host_state_judge(nothing, FALSE);
	g_autofree char *text = NULL, *path = g_build_filename(root, "host.json", NULL);

	ck_assert_uint_eq(findings->len, 0);
	quiet_guest();
	s = lab_host_state_read(root);
	ck_assert(!s->governors && !s->turbo);
	ck_assert_str_eq(s->swap_used_kib, "0");
	ck_assert(lab_host_state_write(s, root, NULL));
	text = lab_file_read(path, NULL, NULL);
	ck_assert_str_eq(text, "{\n  \"kernel_release\" : \"6.1.0-57-amd64\",\n"
			       "  \"microcode\" : \"0x1000065\",\n  \"governors\" : null,\n"
			       "  \"turbo\" : null,\n  \"smt\" : \"off\",\n  \"load\" : \"0.50\",\n"
			       "  \"other_guests\" : \"0\",\n  \"swap_used_kib\" : \"0\",\n"
			       "  \"thp\" : \"always\",\n  \"ksm\" : \"2\"\n}\n");
	ck_assert(lab_host_state_write(nothing, root, NULL));
	g_free(text);
	text = lab_file_read(path, NULL, NULL);
	ck_assert_ptr_nonnull(g_strrstr(text, "\"load\" : null"));
}
END_TEST

/* Each rule is broken by one file. */
static const struct {
	const char *file, *text, *rule, *found;
} rules[] = {
	{CPU "cpu3/cpufreq/scaling_governor", "ondemand\n", "governor", "ondemand"},
	{CPU "cpufreq/boost", "1\n", "turbo", "on"},
	{CPU "smt/active", "1\n", "SMT", "on"},
	{"/proc/loadavg", "0.51 0.00 0.00 1/63 146\n", "load average", "0.51"},
	{"/proc/4/comm", "qemu-system-x86\n", "other guests", "1"},
	{"/proc/swaps", "Filename Type Size Used Priority\n/dev/sda2 partition 8 4 -2\n",
	 "KiB of swap in use", "4"},
	{"/sys/kernel/mm/ksm/run", "1\n", "KSM", "running"},
};

START_TEST(rule)
{
	g_autoptr(LabHostState) quiet = NULL, s = NULL;
	g_autoptr(GPtrArray) none = NULL, findings = NULL, wanted = NULL;
	const LabHostFinding *f;

	quiet_guest();
	quiet = lab_host_state_read(root);
	none = lab_host_state_judge(quiet, FALSE);
	ck_assert_uint_eq(none->len, 0);
	put(rules[_i].file, rules[_i].text);
	s = lab_host_state_read(root);
	findings = lab_host_state_judge(s, FALSE);
	ck_assert_uint_eq(findings->len, 1);
	f = findings->pdata[0];
	ck_assert_str_eq(f->rule, rules[_i].rule);
	ck_assert_str_eq(f->found, rules[_i].found);
	ck_assert(*f->wanted && *f->fix);
	/* Swap is what host-pressure is made of, and nothing else is. */
	wanted = lab_host_state_judge(s, TRUE);
	ck_assert_uint_eq(wanted->len, g_str_has_prefix(f->rule, "KiB of swap") ? 0 : 1);
}
END_TEST

static void on_note(const LabRunEvent *event, gpointer data)
{
	ck_assert_int_eq(event->kind, LAB_EVENT_NOTE);
	ck_assert(g_str_has_prefix(event->text, "host: "));
	g_ptr_array_add(data, g_strdup(event->text));
}

START_TEST(strict)
{
	g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GError) error = NULL;
	LabScenario scenario = {.clock = LAB_CLOCK_KVM, .memory_high_bytes = 1};
	LabRunOptions options = {.notify = on_note, .data = notes};

	busy_server();
	ck_assert(lab_run_check_host(&scenario, &options, root, &error));
	ck_assert_uint_eq(notes->len, 6);
	ck_assert_str_eq(notes->pdata[0],
			 "host: governor: performance powersave, wanted performance "
			 "(cpupower frequency-set -g performance)");
	options.strict = TRUE;
	ck_assert(!lab_run_check_host(&scenario, &options, root, &error));
	ck_assert_int_eq(lab_error_exit_code(error), 3);
	ck_assert_uint_eq(notes->len, 6);
	for (guint i = 0; i < notes->len; i++)
		ck_assert_ptr_nonnull(g_strrstr(error->message, (char *)notes->pdata[i] + 6));
	scenario.clock = LAB_CLOCK_EXACT;
	ck_assert(lab_run_check_host(&scenario, &options, root, NULL));
}
END_TEST

/* Swap is in use because a point of the sweep wants it. */
START_TEST(pressure_of_a_point)
{
	g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GPtrArray) points = g_ptr_array_new();
	LabScenario calm = {.clock = LAB_CLOCK_KVM}, short_of_memory = {.memory_high_bytes = 1};
	LabPoint first = {.scenario = &calm}, second = {.scenario = &calm};
	LabScenario scenario = {.clock = LAB_CLOCK_KVM, .points = points};
	LabRunOptions options = {.notify = on_note, .data = notes};
	guint without;

	busy_server();
	g_ptr_array_add(points, &first);
	g_ptr_array_add(points, &second);
	ck_assert(lab_run_check_host(&scenario, &options, root, NULL));
	without = notes->len;
	second.scenario = &short_of_memory;
	ck_assert(lab_run_check_host(&scenario, &options, root, NULL));
	ck_assert_uint_eq(notes->len, 2 * without - 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("host_state");
	TCase *tc = tcase_create("host_state");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, server);
	tcase_add_test(tc, absent_is_null);
	tcase_add_loop_test(tc, rule, 0, G_N_ELEMENTS(rules));
	tcase_add_test(tc, strict);
	tcase_add_test(tc, pressure_of_a_point);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
