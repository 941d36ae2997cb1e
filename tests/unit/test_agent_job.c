/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's reader of jobs, built for the host. */
#include <check.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "agent/fault.c"
#include "agent/fields.c"
#include "agent/job.c"
#include "agent/job_collect.c"
#include "agent/kernel_text.c"

#define HEAD "numalab-job 1\n"
#define TAIL "end\n"
/* The smallest job there can be, and one more line in it (line 5). */
#define SMALL HEAD "release 6.1\nkind any\nresults-bytes 16\n"

static const char full_job[] = HEAD "release 6.1.0-57-amd64\n"
				    "build-id 6a2b4ac7\n"
				    "kind vnuma\n"
				    "node 0 0-1,4 536870912\n"
				    "node 1 % 1024\n"
				    "node 2 2-3 0\n"
				    "distance 0 10 20 30\n"
				    "distance 2 30 20 10\n"
				    "numa-balancing 1\n"
				    "kvm-features 16400 16\n"
				    "async-pf-msr 9 1\n"
				    "module /numalab/a.ko\n"
				    "module /numalab/b%20c.ko wanted\n"
				    "image-bytes 300\n"
				    "image-type erofs\n"
				    "scratch-bytes 200\n"
				    "files-bytes 400\n"
				    "results-bytes 100\n"
				    "setting scan_delay_ms 50 /a /b\n"
				    "setting empty % /c\n"
				    "settle-ns 5000000000\n"
				    "step a.b-c_9 1 250 exec echo % a%25b%0A\n"
				    "step made 0 0 mkdir /x /y\n"
				    "step m 0 0 mount /dev/scratch /mnt/scratch xfs %\n"
				    "step u 0 0 umount /mnt/scratch\n"
				    "step d 0 0 drop_caches\n"
				    "step t 1 0 numa_touch 4 4096 0 7\n"
				    "oom-kills-allowed u\n"
				    "profile t auto 997 8192 1048576\n"
				    "stat t cycles migrate:*\n"
				    "hist t migrate:mm_migrate_pages keys=reason\n"
				    "hist t tlb:tlb_flush keys=pages\n"
				    "series t 1000000 pgfault numastat.node0.numa_hit\n" TAIL;

START_TEST(test_full)
{
	g_autofree char *text = g_strdup(full_job);
	struct job job;
	struct fault fault = {0};

	ck_assert_msg(!job_parse(text, &job, &fault), "%s", fault.message);
	ck_assert_str_eq(job.release, "6.1.0-57-amd64");
	ck_assert_str_eq(job.build_id, "6a2b4ac7");
	ck_assert_int_eq(job.kind, JOB_KIND_VNUMA);
	ck_assert_uint_eq(job.n_nodes, 3);
	ck_assert_uint_eq(job.kvm_mask, 16400);
	ck_assert_uint_eq(job.kvm_value, 16);
	ck_assert_uint_eq(job.async_pf_mask, 9);
	ck_assert_uint_eq(job.async_pf_value, 1);
	ck_assert(id_set_has(&job.nodes[0].cpus, 0) && id_set_has(&job.nodes[0].cpus, 4));
	ck_assert(!id_set_has(&job.nodes[0].cpus, 2));
	ck_assert_uint_eq(job.nodes[0].bytes, 536870912);
	ck_assert(id_set_empty(&job.nodes[1].cpus));
	ck_assert_uint_eq(job.nodes[1].n_distances, 0);
	ck_assert_uint_eq(job.nodes[2].bytes, 0);
	ck_assert_uint_eq(job.nodes[2].distances[0], 30);
	ck_assert_int_eq(job.numa_balancing, 1);
	ck_assert_uint_eq(job.n_modules, 2);
	ck_assert_str_eq(job.modules[1].path, "/numalab/b c.ko");
	ck_assert(job.modules[1].wanted && !job.modules[0].wanted);
	ck_assert_uint_eq(job.image_bytes, 300);
	ck_assert_str_eq(job.image_type, "erofs");
	ck_assert_uint_eq(job.scratch_bytes, 200);
	ck_assert_uint_eq(job.files_bytes, 400);
	ck_assert_uint_eq(job.results_bytes, 100);
	ck_assert_uint_eq(job.n_settings, 2);
	ck_assert_uint_eq(job.settings[0].n_paths, 2);
	ck_assert_str_eq(job.settings[0].paths[1], "/b");
	ck_assert_ptr_null(job.settings[0].paths[2]);
	ck_assert_str_eq(job.settings[1].value, "");
	ck_assert_uint_eq(job.settle_ns, 5000000000ull);
	ck_assert_uint_eq(job.n_steps, 6);
	ck_assert_str_eq(job.steps[0].name, "a.b-c_9");
	ck_assert(job.steps[0].measure && !job.steps[1].measure);
	ck_assert_uint_eq(job.steps[0].timeout_ns, 250);
	ck_assert_uint_eq(job.steps[0].n_args, 3);
	ck_assert_str_eq(job.steps[0].args[1], "");
	ck_assert_str_eq(job.steps[0].args[2], "a%b\n");
	ck_assert_ptr_null(job.steps[0].args[3]);
	ck_assert_int_eq(job.steps[2].kind, JOB_STEP_MOUNT);
	ck_assert_str_eq(job.steps[2].args[3], "");
	ck_assert(job.steps[3].oom_kills_allowed && !job.steps[2].oom_kills_allowed &&
		  !job.steps[4].oom_kills_allowed);
	ck_assert_uint_eq(job.steps[4].n_args, 0);
	ck_assert_uint_eq(job.steps[5].touch.threads, 4);
	ck_assert_uint_eq(job.steps[5].touch.touches, 7);
	ck_assert_str_eq(job.steps[5].collect.profile_event, "auto");
	ck_assert_uint_eq(job.steps[5].collect.frequency, 997);
	ck_assert_uint_eq(job.steps[5].collect.ring_bytes, 8192);
	ck_assert_uint_eq(job.steps[5].collect.profile_bytes, 1048576);
	ck_assert_uint_eq(job.steps[5].collect.n_events, 2);
	ck_assert_str_eq(job.steps[5].collect.events[1], "migrate:*");
	ck_assert_uint_eq(job.steps[5].collect.n_hists, 2);
	ck_assert_str_eq(job.steps[5].collect.hists[1].trigger, "keys=pages");
	ck_assert_uint_eq(job.steps[5].collect.interval_ns, 1000000);
	ck_assert_str_eq(job.steps[5].collect.counters[1], "numastat.node0.numa_hit");
	ck_assert_ptr_null(job.steps[4].collect.profile_event);
	job_free(&job);
}
END_TEST

/* Every job that was cut short is refused, wherever the cut is. */
START_TEST(test_cut)
{
	for (size_t length = 0; length < sizeof(full_job) - 2; length++) {
		g_autofree char *text = g_strndup(full_job, length);
		struct job job;
		struct fault fault = {0};

		ck_assert_msg(job_parse(text, &job, &fault) == -1, "a cut at byte %zu passed",
			      length);
		ck_assert_str_eq(fault.stage, "setup");
		ck_assert_msg(g_str_has_prefix(fault.message, "job line "), "%s", fault.message);
		job_free(&job);
	}
}
END_TEST

static const struct {
	const char *job;
	const char *message;
} bad_jobs[] = {
	{"", "job line 1: the job has no end: it was cut"},
	{"numalab-job 2\nend\n", "job line 1: wanted 'numalab-job 1'"},
	{SMALL, "job line 5: the job has no end: it was cut"},
	{SMALL "end", NULL},
	{SMALL TAIL, NULL},
	{SMALL TAIL "step a 0 0 drop_caches\n", "job line 6: text behind the end"},
	{SMALL "\nend\n", "job line 5: field 1 is not percent-encoded as it must be"},
	{SMALL "profile a auto 1 8192 8192\n" TAIL, "job line 5: profile: no step 'a' before"},
	{SMALL "step a 0 0 drop_caches\nprofile a auto 0 8192 8192\n" TAIL,
	 "job line 6: profile: wanted 1 to 100000 samples a second, found 0"},
	{SMALL "step a 0 0 drop_caches\nprofile a auto 1 9000 8192\n" TAIL,
	 "job line 6: profile: wanted a power of 2 from 8192 to 16777216 for the ring, found 9000"},
	{SMALL "step a 0 0 drop_caches\nstat a x\nstat a y\n" TAIL, "job line 7: stat of step 'a' is given twice"},
	{SMALL "step a 0 0 drop_caches\nhist a x keys=y\n" TAIL, "job line 6: hist: wanted SYSTEM:EVENT, found 'x'"},
	{SMALL "step a 0 0 drop_caches\nseries a 10 x\n" TAIL,
	 "job line 6: series: wanted an interval of 1 ms or more, found 10 ns"},
	{SMALL "module  a\nend\n", "job line 5: field 2 is not percent-encoded as it must be"},
	{SMALL "module a%2\nend\n", "job line 5: field 2 is not percent-encoded as it must be"},
	{SMALL "module a%zz\nend\n", "job line 5: field 2 is not percent-encoded as it must be"},
	{SMALL "module a%00\nend\n", "job line 5: field 2 is not percent-encoded as it must be"},
	{SMALL "module \ta\nend\n", "job line 5: field 2 is not percent-encoded as it must be"},
	{SMALL "frobnicate 1\nend\n", "job line 5: unknown statement 'frobnicate'"},
	{SMALL "release 7\nend\n", "job line 5: release is given twice"},
	{SMALL "module a wanted b\nend\n", "job line 5: module: wrong number of fields (3)"},
	{SMALL "module a b\nend\n", "job line 5: module: wanted 'wanted' or nothing, found 'b'"},
	{SMALL "settle-ns 1s\nend\n", "job line 5: settle-ns: wanted a number, found '1s'"},
	{SMALL "settle-ns -1\nend\n", "job line 5: settle-ns: wanted a number, found '-1'"},
	{SMALL "settle-ns %\nend\n", "job line 5: settle-ns: wanted a number, found ''"},
	{SMALL "settle-ns 18446744073709551616\nend\n",
	 "job line 5: settle-ns: wanted a number, found '18446744073709551616'"},
	{SMALL "numa-balancing 2\nend\n", "job line 5: numa-balancing: wanted 0 or 1, found 2"},
	{SMALL "async-pf-msr 9 on\nend\n", "job line 5: async-pf-msr: wanted a number, found 'on'"},
	{SMALL "kvm-features 1\nend\n",
	 "job line 5: kvm-features: wrong number of fields (1)"},
	{SMALL "kvm-features 0x10 1\nend\n",
	 "job line 5: kvm-features: wanted a number, found '0x10'"},
	{SMALL "node 0 0-x 1\nend\n", "job line 5: node 0: wanted a list of CPUs, found '0-x'"},
	{SMALL "node 64 0 1\nend\n", "job line 5: node 64: the largest possible is 63"},
	{SMALL "node 1 0 1\nend\n", "job line 6: nodes must be numbered 0 to 0"},
	{SMALL "node 0 0 1\nnode 0 1 1\nend\n", "job line 6: node 0 is given twice"},
	{SMALL "node 0 0 1\ndistance 0 10 20\nend\n",
	 "job line 7: node 0 has 2 distances, but there are 1 nodes"},
	{SMALL "distance 0 256\nend\n", "job line 5: a distance is at most 255, found 256"},
	{SMALL "distance 0 10\ndistance 0 10\nend\n",
	 "job line 6: distances of node 0 are given twice"},
	{SMALL "image-bytes 5\nend\n", "job line 6: image-bytes without image-type"},
	{SMALL "scratch-bytes 16\nend\n",
	 "job line 6: two devices of the same size can not be told apart"},
	{SMALL "files-bytes 16\nend\n",
	 "job line 6: two devices of the same size can not be told apart"},
	{SMALL "files-bytes 8\nimage-type erofs\nimage-bytes 8\nend\n",
	 "job line 8: two devices of the same size can not be told apart"},
	{SMALL "files-bytes 0\nscratch-bytes 0\nend\n", NULL},
	{SMALL "step A 0 0 drop_caches\nend\n",
	 "job line 5: step name 'A': wanted 1 to 63 of a-z 0-9 . _ -"},
	{SMALL "step a/b 0 0 drop_caches\nend\n",
	 "job line 5: step name 'a/b': wanted 1 to 63 of a-z 0-9 . _ -"},
	{SMALL "step a 0 0 drop_caches\nstep a 0 0 drop_caches\nend\n",
	 "job line 6: step 'a' is given twice"},
	{SMALL "step a 2 0 drop_caches\nend\n",
	 "job line 5: step: wanted 0 or 1 for measure, found 2"},
	{SMALL "oom-kills-allowed a\nstep a 0 0 drop_caches\nend\n",
	 "job line 5: oom-kills-allowed: no step 'a' before"},
	{SMALL "step a 0 0 dance\nend\n", "job line 5: unknown kind of step 'dance'"},
	{SMALL "step a 0 0 exec\nend\n", "job line 5: step exec: wrong number of arguments (0)"},
	{SMALL "step a 0 0 mount /dev/scratch /mnt xfs\nend\n",
	 "job line 5: step mount: wrong number of arguments (3)"},
	{SMALL "step a 0 0 numa_touch 0 1 1 0\nend\n",
	 "job line 5: numa_touch: wanted 1 to 1024 threads, found 0"},
	{SMALL "step a 0 0 numa_touch 1 0 1 0\nend\n",
	 "job line 5: numa_touch: no memory to touch"},
	{SMALL "step a 0 0 numa_touch 1 1 0 0\nend\n",
	 "job line 5: numa_touch: wanted a duration or a number of touches"},
	{HEAD "kind any\nresults-bytes 1\nend\n", "job line 4: no release was given"},
	{HEAD "release 1\nresults-bytes 1\nend\n", "job line 4: no kind was given"},
	{HEAD "release 1\nkind any\nend\n", "job line 4: no results-bytes was given"},
	{HEAD "kind real\nend\n", "job line 2: kind: wanted vnuma, fake or any, found 'real'"},
	{HEAD "release 1\nkind vnuma\nresults-bytes 1\nend\n", "job line 5: no node was given"},
};

START_TEST(test_bad)
{
	g_autofree char *text = g_strdup(bad_jobs[_i].job);
	struct job job;
	struct fault fault = {0};
	int status = job_parse(text, &job, &fault);

	if (bad_jobs[_i].message) {
		ck_assert_int_eq(status, -1);
		ck_assert_str_eq(fault.message, bad_jobs[_i].message);
		ck_assert_str_eq(fault.stage, "setup");
	} else {
		ck_assert_msg(!status, "%s", fault.message);
	}
	job_free(&job);
}
END_TEST

/* A fault behind results-bytes can still be told on the results device. */
START_TEST(test_results_known_after_error)
{
	g_autofree char *text = g_strdup(HEAD "results-bytes 4096\nmodule /a.ko\nnonsense\nend\n");
	struct job job;
	struct fault fault = {0};

	ck_assert_int_eq(job_parse(text, &job, &fault), -1);
	ck_assert_uint_eq(job.results_bytes, 4096);
	ck_assert_uint_eq(job.n_modules, 1);
	job_free(&job);
}
END_TEST

START_TEST(test_long_fault)
{
	struct fault fault;

	fault_set(&fault, "verify", "%s", "");
	for (int i = 0; i < 1000; i++)
		fault_add(&fault, "difference %d", i);
	ck_assert_uint_lt(strlen(fault.message), sizeof(fault.message));
	ck_assert(g_str_has_prefix(fault.message, "difference 0; difference 1; difference 2"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent-job");
	TCase *tcase = tcase_create("job");
	SRunner *runner = srunner_create(suite);

	tcase_add_test(tcase, test_full);
	tcase_add_test(tcase, test_cut);
	tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(bad_jobs));
	tcase_add_test(tcase, test_results_known_after_error);
	tcase_add_test(tcase, test_long_fault);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	int failed = srunner_ntests_failed(runner);

	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
