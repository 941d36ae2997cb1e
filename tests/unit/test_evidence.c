/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts of real consoles: which are signs of a crash, which of trouble, which of nothing; and how they are quoted. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lab/guest/evidence.h"

static const struct {
	const char *text;
	LabEvidenceKind kind;
	const char *name;
	guint line;
	const char *first;
} cases[] = {
	{"", LAB_EVIDENCE_NONE, NULL, 0, NULL},
	{"[    0.000000] Linux version 6.1.0-57-amd64 (debian-kernel@lists.debian.org)\n"
	 "[   17.223222] reboot: Power down\n",
	 LAB_EVIDENCE_NONE, NULL, 0, NULL},
	{"[    5.1] a\r\n[    5.436218] Kernel panic - not syncing: VFS: Unable to mount root fs "
	 "on "
	 "unknown-block(0,0)\r\n[    5.4] CPU: 0 PID: 1 Comm: swapper/0\r\n",
	 LAB_EVIDENCE_CRASH, "panic", 2,
	 "Kernel panic - not syncing: VFS: Unable to mount root fs on unknown-block(0,0)"},
	{"[    2.345678] BUG: kernel NULL pointer dereference, address: 0000000000000008\n"
	 "[    2.345679] #PF: supervisor read access in kernel mode\n"
	 "[    2.345680] Oops: 0000 [#1] PREEMPT SMP NOPTI\n",
	 LAB_EVIDENCE_CRASH, "BUG", 1,
	 "BUG: kernel NULL pointer dereference, address: 0000000000000008"},
	{"[   12.000001] BUG: unable to handle kernel paging request at ffff88013fc01000\n",
	 LAB_EVIDENCE_CRASH, "Oops", 1,
	 "BUG: unable to handle kernel paging request at ffff88013fc01000"},
	{"[   12.000001] BUG: unable to handle page fault for address: fffffffffffffff0\n",
	 LAB_EVIDENCE_CRASH, "Oops", 1,
	 "BUG: unable to handle page fault for address: fffffffffffffff0"},
	{"[  100.5] ------------[ cut here ]------------\n"
	 "[  100.5] kernel BUG at mm/huge_memory.c:2745!\n",
	 LAB_EVIDENCE_CRASH, "BUG", 2, "kernel BUG at mm/huge_memory.c:2745!"},
	{"[    3.1] general protection fault, probably for non-canonical address "
	 "0xdead000000000100: "
	 "0000 [#1] SMP\n",
	 LAB_EVIDENCE_CRASH, "general protection", 1, NULL},
	{"[    3.1] general protection fault: 0000 [#1] SMP\n", LAB_EVIDENCE_CRASH,
	 "general protection", 1, NULL},
	{"[    3.1] traps: foo[123] general protection ip:400 sp:7ff error:0 in foo\n",
	 LAB_EVIDENCE_NONE, NULL, 0, NULL},
	{"[   44.1] BUG: KASAN: use-after-free in xfs_buf_rele+0x1b/0x2a0\n", LAB_EVIDENCE_CRASH,
	 "KASAN", 1, NULL},
	{"[   44.1] BUG: Bad page state in process fs_mark  pfn:12345\n", LAB_EVIDENCE_CRASH, "BUG",
	 1, NULL},
	{"[   44.1] BUG: scheduling while atomic: xfs_repair/99/0x00000002\n", LAB_EVIDENCE_CRASH,
	 "BUG", 1, NULL},
	{"[   44.1] BUG: sleeping function called from invalid context at mm/slab.h:494\n",
	 LAB_EVIDENCE_CRASH, "BUG", 1, NULL},
	{"PANIC: early exception 0x0d IP 10:ffffffff81000000 error 0 cr2 0x0\n", LAB_EVIDENCE_CRASH,
	 "early exception", 1, NULL},
	/* Trouble: a slow host may cause it. */
	{"[   68.0] watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [xfs_repair:143]\n",
	 LAB_EVIDENCE_TROUBLE, "soft lockup", 1, NULL},
	{"[   68.0] BUG: soft lockup - CPU#3 stuck for 22s! [swapper/3:0]\n", LAB_EVIDENCE_TROUBLE,
	 "soft lockup", 1, NULL},
	{"[   68.0] NMI watchdog: Watchdog detected hard LOCKUP on cpu 2\n", LAB_EVIDENCE_TROUBLE,
	 "hard lockup", 1, NULL},
	{"[   68.0] BUG: workqueue lockup - pool cpus=0 node=0 flags=0x0 nice=0 stuck for 30s!\n",
	 LAB_EVIDENCE_TROUBLE, "workqueue lockup", 1, NULL},
	{"[   21.0] rcu: INFO: rcu_preempt self-detected stall on CPU\n", LAB_EVIDENCE_TROUBLE,
	 "RCU stall", 1, NULL},
	{"[   21.0] INFO: rcu_sched detected stalls on CPUs/tasks: { 1} (detected by 0, t=5252 "
	 "jiffies)\n",
	 LAB_EVIDENCE_TROUBLE, "RCU stall", 1, NULL},
	{"[   21.0] rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 2-... } 3 "
	 "jiffies\n",
	 LAB_EVIDENCE_TROUBLE, "RCU stall", 1, NULL},
	{"[  242.6] INFO: task fs_mark:171 blocked for more than 120 seconds.\n",
	 LAB_EVIDENCE_TROUBLE, "hung task", 1,
	 "INFO: task fs_mark:171 blocked for more than 120 seconds."},
	{"[   30.1] xfs_repair invoked oom-killer: gfp_mask=0x140cca, order=0, oom_score_adj=0\n"
	 "[   30.2] Out of memory: Killed process 143 (xfs_repair) total-vm:1048576kB\n",
	 LAB_EVIDENCE_TROUBLE, "oom-kill", 1, NULL},
	{"[   30.2] Out of memory: Kill process 143 (xfs_repair) score 900 or sacrifice child\n",
	 LAB_EVIDENCE_TROUBLE, "oom-kill", 1, NULL},
	{"[    9.9] WARNING: possible circular locking dependency detected\n", LAB_EVIDENCE_TROUBLE,
	 "lockdep", 1, NULL},
	{"[    9.9] [ INFO: possible circular locking dependency detected ]\n",
	 LAB_EVIDENCE_TROUBLE, "lockdep", 1, NULL},
	{"[    9.9] INFO: inconsistent lock state\n", LAB_EVIDENCE_TROUBLE, "lockdep", 1, NULL},
	/* A crash outweighs the trouble before it; the first crash stays. */
	{"[    1.0] rcu: INFO: rcu_preempt self-detected stall on CPU\n"
	 "[    2.0] x\n"
	 "[    3.0] Kernel panic - not syncing: hung_task: blocked tasks\n"
	 "[    4.0] kernel BUG at kernel/panic.c:1!\n",
	 LAB_EVIDENCE_CRASH, "panic", 3, "Kernel panic - not syncing: hung_task: blocked tasks"},
	/* Stamps of other configurations; none at all. */
	{"<0>[    3.0][    T1] Kernel panic - not syncing: Attempted to kill init! "
	 "exitcode=0x00000009\n",
	 LAB_EVIDENCE_CRASH, "panic", 1,
	 "Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000009"},
	{"Kernel panic - not syncing: early", LAB_EVIDENCE_CRASH, "panic", 1, NULL},
	/* Words in the middle of other lines. */
	{"[    0.0] Kernel command line: debug BUG: x oops=panic panic=-1\n", LAB_EVIDENCE_NONE,
	 NULL, 0, NULL},
	{"[    1.0] DEBUG: nothing\n", LAB_EVIDENCE_NONE, NULL, 0, NULL},
};

START_TEST(find)
{
	g_autoptr(LabEvidence) found = lab_evidence_find(cases[_i].text, strlen(cases[_i].text));

	if (cases[_i].kind == LAB_EVIDENCE_NONE) {
		ck_assert_msg(!found, "found '%s'", found ? found->first : "");
		return;
	}
	ck_assert_ptr_nonnull(found);
	ck_assert_int_eq(found->kind, cases[_i].kind);
	ck_assert_str_eq(found->name, cases[_i].name);
	ck_assert_uint_eq(found->line, cases[_i].line);
	if (cases[_i].first)
		ck_assert_str_eq(found->first, cases[_i].first);
	ck_assert(strstr(found->quote, found->first));
}
END_TEST

START_TEST(quote_is_bounded)
{
	g_autoptr(GString) s = g_string_new("[ 1.0] Kernel panic - not syncing: x\n");
	g_autoptr(LabEvidence) found = NULL;
	guint lines = 0;

	for (int i = 0; i < 100; i++) {
		for (int j = 0; j < 200; j++)
			g_string_append(s, "abcdefghij");
		g_string_append_c(s, '\n');
	}
	found = lab_evidence_find(s->str, s->len);
	for (const char *p = found->quote; *p; p++)
		lines += *p == '\n';
	ck_assert_uint_eq(lines, 24);
	ck_assert_uint_lt(strlen(found->quote), 24 * 410);
}
END_TEST

static const struct {
	const char *text;
	gsize length; /* 0: strlen */
	guint n;
	const char *lines;
} quotes[] = {
	{"a\nb\nc\n", 0, 2, "b\nc\n"},
	{"a\nb\nc", 0, 9, "a\nb\nc\n"},
	{"a\n\n  \n\n", 0, 1, "a\n"},
	{"", 0, 3, ""},
	{"with return\r\n", 0, 1, "with return\n"},
	{"\033[31mred\033[0m\n", 0, 1, "\\x1b[31mred\\x1b[0m\n"},
	{"tab\there\n", 0, 1, "tab here\n"},
	{"caf\xc3\xa9 \xff\xfe\n", 0, 1, "caf\xc3\xa9 \\xff\\xfe\n"},
	{"nul\0byte\n", 9, 1, "nul\\x00byte\n"},
	{"right-to-left \xe2\x80\xae x\n", 0, 1, "right-to-left \\xe2\\x80\\xae x\n"},
};

START_TEST(last_lines)
{
	gsize length = quotes[_i].length ? quotes[_i].length : strlen(quotes[_i].text);
	g_autofree char *lines = lab_evidence_lines(quotes[_i].text, length, quotes[_i].n);

	ck_assert_str_eq(lines, quotes[_i].lines);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("evidence");
	TCase *tcase = tcase_create("evidence");
	SRunner *runner = srunner_create(suite);

	tcase_add_loop_test(tcase, find, 0, G_N_ELEMENTS(cases));
	tcase_add_test(tcase, quote_is_bounded);
	tcase_add_loop_test(tcase, last_lines, 0, G_N_ELEMENTS(quotes));
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
