/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a boot left, and what it says about whom. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "agent/protocol.h"
#include "lab/guest/outcome.h"

#define SECOND G_GUINT64_CONSTANT(1000000000)
#define BANNER "[    0.000000] Linux version 6.1.0\n"

/* Records as pairs "TYPE NAME" and payload. */
typedef struct {
	guint type;
	const char *name, *payload;
} Record;

typedef struct {
	const char *about;
	LabWatchEnd end;
	LabStage stage;
	const char *step;
	const char *console;
	const Record *records; /* ends with type 0; NULL: no header */
	const char *damage;
	const char *qemu_log;
	LabOutcome outcome;
	const char *result_stage, *message, *evidence; /* evidence: a part of it, or NULL: empty */
	guint64 host_oom_kills;
} Case;

#define START                                                                                      \
	{                                                                                          \
		AGENT_REC_START, "", "release 6.1.0\n"                                             \
	}
#define END                                                                                        \
	{                                                                                          \
		AGENT_REC_END, "", "steps 1\n"                                                     \
	}

static const Record complete[] = {START, END, {0}};
static const Record only_start[] = {START, {0}};
static const Record nothing[] = {{0}};
static const Record crashed_log[] = {
	START, {AGENT_REC_LOG, "dmesg", "<4>[ 5.0] kernel BUG at mm/rmap.c:12!\n"}, END, {0}};
static const Record lockdep_log[] = {
	START,
	{AGENT_REC_LOG, "dmesg", "<4>[ 5.0] WARNING: possible recursive locking detected\n"},
	END,
	{0}};
static const Record exit3[] = {
	START,
	{AGENT_REC_OUTPUT, "repair/stdout", "Phase 1\nPhase 2\n"},
	{AGENT_REC_OUTPUT, "repair/stderr", "fatal \033[1merror\n"},
	{AGENT_REC_FAIL, "",
	 "stage step\nstep repair\nmessage step%20repair:%20exit%20status%203\n"},
	{0}};
static const Record mismatch[] = {
	START,
	{AGENT_REC_FAIL, "",
	 "stage verify\nmessage CPUs%20of%20node%201:%20wanted%202,%20found%201\n"},
	{0}};

static const Case cases[] = {
	{"all is well", LAB_WATCH_SHUTDOWN, LAB_STAGE_POWER_OFF, "repair", BANNER, complete, NULL,
	 "", LAB_OUTCOME_OK, "done", "", NULL},
	{"a lockup that a slow host may cause does not make it fail, but is kept",
	 LAB_WATCH_SHUTDOWN, LAB_STAGE_POWER_OFF, "repair",
	 BANNER "[ 9.0] watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [x:1]\n", complete, NULL,
	 "", LAB_OUTCOME_OK, "done", "", "soft lockup - CPU#1"},
	{"lockdep's words are only in the log", LAB_WATCH_SHUTDOWN, LAB_STAGE_POWER_OFF, "repair",
	 BANNER, lockdep_log, NULL, "", LAB_OUTCOME_OK, "done", "", "recursive locking"},
	{"a BUG on the console, though every step succeeded", LAB_WATCH_SHUTDOWN,
	 LAB_STAGE_POWER_OFF, "repair", BANNER "[ 3.0] kernel BUG at mm/x.c:1!\n", complete, NULL,
	 "", LAB_OUTCOME_KERNEL, "power-off", "BUG after the last step: kernel BUG at mm/x.c:1!",
	 "kernel BUG at mm/x.c:1!"},
	{"a BUG in the log", LAB_WATCH_SHUTDOWN, LAB_STAGE_POWER_OFF, "repair", BANNER, crashed_log,
	 NULL, "", LAB_OUTCOME_KERNEL, "power-off",
	 "BUG after the last step: kernel BUG at mm/rmap.c:12!", "mm/rmap.c:12"},
	{"complete, but QEMU was killed before its end", LAB_WATCH_GONE, LAB_STAGE_POWER_OFF,
	 "repair", BANNER, complete, NULL, "", LAB_OUTCOME_INFRA, "power-off",
	 "QEMU ended after the last step (it was killed, or crashed)", NULL},
	{"complete, but does not power off", LAB_WATCH_DEADLINE, LAB_STAGE_POWER_OFF, "repair",
	 BANNER, complete, NULL, "", LAB_OUTCOME_KERNEL, "power-off",
	 "the guest did not power off within 1m; the console's last line: [    0.000000] Linux "
	 "version "
	 "6.1.0",
	 "Linux version"},
	{"panic before the agent", LAB_WATCH_SHUTDOWN, LAB_STAGE_FIRST_OUTPUT, NULL,
	 BANNER "[    1.0] Kernel panic - not syncing: No working init found.\n[    1.0] CPU: 0\n",
	 NULL, NULL, "", LAB_OUTCOME_KERNEL, "first-output",
	 "panic before its agent started: Kernel panic - not syncing: No working init found.",
	 "CPU: 0"},
	{"panic in a step that also failed", LAB_WATCH_SHUTDOWN, LAB_STAGE_STEP, "repair",
	 BANNER "[    9.0] Kernel panic - not syncing: x\n", exit3, NULL, "", LAB_OUTCOME_KERNEL,
	 "repair", "panic in step repair: Kernel panic - not syncing: x", "not syncing"},
	{"a step exits with 3", LAB_WATCH_SHUTDOWN, LAB_STAGE_POWER_OFF, "repair", BANNER, exit3,
	 NULL, "", LAB_OUTCOME_STEP, "repair", "step repair: exit status 3",
	 "stdout of repair:\nPhase 1\nPhase 2\nstderr of repair:\nfatal \\x1b[1merror\n"},
	{"a step fails after the OOM killer came", LAB_WATCH_SHUTDOWN, LAB_STAGE_POWER_OFF,
	 "repair", BANNER "[ 8.0] Out of memory: Killed process 143 (xfs_repair)\n", exit3, NULL,
	 "", LAB_OUTCOME_STEP, "repair", "step repair: exit status 3",
	 "oom-kill:\n[ 8.0] Out of memory"},
	{"the machine is another", LAB_WATCH_SHUTDOWN, LAB_STAGE_POWER_OFF, NULL, BANNER, mismatch,
	 NULL, "", LAB_OUTCOME_INFRA, "agent", "verify: CPUs of node 1: wanted 2, found 1", NULL},
	{"QEMU killed", LAB_WATCH_GONE, LAB_STAGE_STEP, "repair", BANNER, only_start, NULL, "",
	 LAB_OUTCOME_INFRA, "repair", "QEMU ended in step repair (it was killed, or crashed)",
	 NULL},
	{"the host killed QEMU", LAB_WATCH_GONE, LAB_STAGE_STEP, "repair", BANNER, only_start, NULL,
	 "", LAB_OUTCOME_INFRA, "repair",
	 "the host killed QEMU in step repair: out of memory (host-pressure's memory-max)", NULL, 1},
	{"KVM gave up", LAB_WATCH_PAUSED, LAB_STAGE_FIRST_OUTPUT, NULL, BANNER, NULL, NULL,
	 "KVM internal error. Suberror: 1\nEAX=0\n", LAB_OUTCOME_INFRA, "first-output",
	 "QEMU stopped the guest before its agent started: EAX=0", "KVM internal error"},
	{"QEMU gave up", LAB_WATCH_GONE, LAB_STAGE_START, NULL, "", NULL, NULL,
	 "qemu-system-x86_64: cannot set up guest memory 'pc.ram': Cannot allocate memory\n",
	 LAB_OUTCOME_INFRA, "start",
	 "QEMU ended before its agent started: qemu-system-x86_64: cannot set up guest memory "
	 "'pc.ram': Cannot allocate memory",
	 "Cannot allocate memory"},
	{"prints nothing", LAB_WATCH_DEADLINE, LAB_STAGE_START, NULL, "", NULL, NULL, "",
	 LAB_OUTCOME_KERNEL, "start", "the kernel printed nothing within 1m", NULL},
	{"no agent", LAB_WATCH_DEADLINE, LAB_STAGE_FIRST_OUTPUT, NULL, BANNER, NULL, NULL, "",
	 LAB_OUTCOME_KERNEL, "first-output",
	 "the agent did not start within 1m; the console's last line: [    0.000000] Linux version "
	 "6.1.0",
	 "Linux version"},
	{"dead in a step", LAB_WATCH_DEADLINE, LAB_STAGE_STEP, "repair",
	 BANNER "[ 9.0] rcu: INFO: rcu_preempt self-detected stall on CPU\n", only_start, NULL, "",
	 LAB_OUTCOME_STEP, "repair",
	 "step repair: the guest made no progress within 1m of the host's time; the console's last "
	 "line: [ 9.0] rcu: INFO: rcu_preempt self-detected stall on CPU",
	 "self-detected stall"},
	{"reset without a word", LAB_WATCH_SHUTDOWN, LAB_STAGE_STEP, "repair", BANNER, only_start,
	 NULL, "", LAB_OUTCOME_KERNEL, "repair",
	 "the guest reset or powered off in step repair; the console's last line: [    0.000000] "
	 "Linux "
	 "version 6.1.0",
	 "Linux version"},
	{"reset before it printed anything", LAB_WATCH_SHUTDOWN, LAB_STAGE_START, NULL, "", NULL,
	 NULL, "", LAB_OUTCOME_KERNEL, "start",
	 "the guest reset or powered off before its agent started; the console is empty", NULL},
	{"damaged records", LAB_WATCH_SHUTDOWN, LAB_STAGE_POWER_OFF, "repair", BANNER, nothing,
	 "record 7: checksum of the body is wrong", "", LAB_OUTCOME_INFRA, "power-off",
	 "the records are damaged (record 7: checksum of the body is wrong)", "Linux version"},
	{"the agent had no device for its records", LAB_WATCH_SHUTDOWN, LAB_STAGE_POWER_OFF, NULL,
	 BANNER "numalab-agent: no results device\n", NULL, NULL, "", LAB_OUTCOME_INFRA,
	 "power-off",
	 "the agent could not record how the job ended; the console's last line: numalab-agent: no "
	 "results device",
	 "no results device"},
};

static void record_free(gpointer data)
{
	LabRecord *record = data;

	g_free(record->name);
	g_bytes_unref(record->payload);
	g_free(record);
}

static LabRecords *records_of(const Case *c)
{
	LabRecords *records;

	if (!c->records)
		return NULL;
	records = g_new0(LabRecords, 1);
	records->records = g_ptr_array_new_with_free_func(record_free);
	records->damage = g_strdup(c->damage);
	for (const Record *r = c->records; r->type; r++) {
		LabRecord *record = g_new0(LabRecord, 1);

		record->type = r->type;
		record->name = g_strdup(r->name);
		record->payload = g_bytes_new_static(r->payload, strlen(r->payload));
		records->complete = r->type == AGENT_REC_END;
		g_ptr_array_add(records->records, record);
	}
	return records;
}

START_TEST(decide)
{
	const Case *c = &cases[_i];
	LabWatchReport watch = {
		.end = c->end, .stage = c->stage, .step = !!c->step, .limit_ns = 60 * SECOND};
	g_autoptr(LabRecords) records = records_of(c);
	LabOutcomeFacts facts = {.watch = &watch,
				 .records = records,
				 .console = c->console,
				 .console_length = strlen(c->console),
				 .qemu_log = c->qemu_log,
				 .host_oom_kills = c->host_oom_kills};
	g_autoptr(LabBootResult) result = g_new0(LabBootResult, 1);

	g_strlcpy(watch.step_name, c->step ? c->step : "", sizeof watch.step_name);
	lab_outcome_decide(&facts, result);
	ck_assert_msg(result->outcome == c->outcome, "%s: %s (%s)", c->about,
		      lab_outcome_name(result->outcome), result->message);
	ck_assert_str_eq(result->stage, c->result_stage);
	ck_assert_str_eq(result->message, c->message);
	if (c->evidence)
		ck_assert_msg(strstr(result->evidence, c->evidence) != NULL, "%s: %s", c->about,
			      result->evidence);
	else
		ck_assert_str_eq(result->evidence, "");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("outcome");
	TCase *tcase = tcase_create("outcome");
	SRunner *runner = srunner_create(suite);

	tcase_add_loop_test(tcase, decide, 0, G_N_ELEMENTS(cases));
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	int failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
