/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <check.h>
#include <glib/gstdio.h>
#include <stdlib.h>

#include "lab/base/error.h"
#include "lab/guest/kvm_guest.h"
#include "lab/guest/kvm_probe.h"

START_TEST(devices_that_are_none)
{
	static const struct {
		const char *device;
		LabKvmState state;
	} cases[] = {
		{"/nonexistent/kvm", LAB_KVM_ABSENT},
		{"/", LAB_KVM_REFUSED},
		{"/dev/null", LAB_KVM_BROKEN},
	};
	g_autoptr(LabKvmProbe) probe = lab_kvm_probe_here(cases[_i].device);

	ck_assert_int_eq(probe->state, cases[_i].state);
	ck_assert_str_eq(probe->stage, "open");
	ck_assert_ptr_nonnull(g_strrstr(probe->message, cases[_i].device));
}
END_TEST

/* Whatever this host's KVM is, there is an answer, in time, and it names a stage. */
START_TEST(this_host)
{
	gint64 start = g_get_monotonic_time();
	g_autoptr(LabKvmProbe) probe = lab_kvm_probe_here(LAB_KVM_DEVICE);

	ck_assert_int_lt(g_get_monotonic_time() - start, LAB_KVM_PROBE_MS * 1000);
	ck_assert_str_ne(probe->stage, "");
	ck_assert_str_ne(probe->message, "");
	if (probe->state == LAB_KVM_WORKS)
		ck_assert_str_eq(probe->stage, "hlt");
	else if (probe->state == LAB_KVM_BROKEN)
		ck_assert_str_ne(probe->stage, "open");
}
END_TEST

START_TEST(child_reports)
{
	const char *argv[] = {"printf", "%b", "broken\\tint3\\texception 3\\n", NULL};
	g_autoptr(GError) error = NULL;
	g_autoptr(LabKvmProbe) probe = lab_kvm_probe(argv, &error);
	g_autofree char *report = NULL;

	ck_assert_ptr_nonnull(probe);
	ck_assert_int_eq(probe->state, LAB_KVM_BROKEN);
	ck_assert_str_eq(probe->stage, "int3");
	ck_assert_str_eq(probe->message, "exception 3");
	report = lab_kvm_probe_report(probe);
	ck_assert_str_eq(report, "broken\tint3\texception 3\n");
}
END_TEST

START_TEST(child_dies)
{
	const char *argv[] = {"false", NULL};
	g_autoptr(LabKvmProbe) probe = lab_kvm_probe(argv, NULL);

	ck_assert_int_eq(probe->state, LAB_KVM_BROKEN);
	ck_assert_str_eq(probe->message, "the probe died");
}
END_TEST

START_TEST(child_hangs)
{
	const char *argv[] = {"tail", "-f", "/dev/null", NULL};
	gint64 start = g_get_monotonic_time();
	g_autoptr(LabKvmProbe) probe = lab_kvm_probe(argv, NULL);
	gint64 took = g_get_monotonic_time() - start;

	ck_assert_int_eq(probe->state, LAB_KVM_BROKEN);
	ck_assert_ptr_nonnull(g_strrstr(probe->message, "did not end"));
	ck_assert_int_ge(took, LAB_KVM_PROBE_MS * 1000);
	ck_assert_int_lt(took, LAB_KVM_PROBE_MS * 2000);
}
END_TEST

START_TEST(child_talks_nonsense)
{
	static const char *const texts[] = {"hello", "fine\\tint3\\tx\\n", "works\\tint3\\n"};
	const char *argv[] = {"printf", "%b", texts[_i], NULL};
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(lab_kvm_probe(argv, &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_INFRA));
}
END_TEST

START_TEST(no_child)
{
	const char *argv[] = {"/nonexistent/program", NULL};
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(lab_kvm_probe(argv, &error));
	ck_assert_ptr_nonnull(error);
}
END_TEST

/* What the host tells the guest, and the names of what the guest writes. */
START_TEST(guest)
{
	static const KvmGuestFeatures features = {.rdtscp = TRUE};
	g_autofree guint8 *memory = g_malloc0(KVM_GUEST_BYTES);
	const KvmGuestReport *report = kvm_guest_setup(memory, &features);

	ck_assert(report->has_rdtscp && !report->has_xsave);
	ck_assert(!report->stage && !report->ticks && !report->done);
	ck_assert_str_eq(kvm_guest_stage_name(KVM_GUEST_RDTSCP), "rdtscp");
	ck_assert_str_eq(kvm_guest_stage_name(KVM_GUEST_TIMER), "timer interrupt");
	ck_assert_str_eq(kvm_guest_stage_name(KVM_GUEST_HLT), "hlt");
	ck_assert_str_eq(kvm_guest_stage_name(KVM_GUEST_N_STAGES), "nowhere");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kvm_probe");
	TCase *tc = tcase_create("probe");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tc, 30);
	tcase_add_loop_test(tc, devices_that_are_none, 0, 3);
	tcase_add_test(tc, this_host);
	tcase_add_test(tc, child_reports);
	tcase_add_test(tc, child_dies);
	tcase_add_test(tc, child_hangs);
	tcase_add_loop_test(tc, child_talks_nonsense, 0, 3);
	tcase_add_test(tc, no_child);
	tcase_add_test(tc, guest);
	suite_add_tcase(suite, tc);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
