// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/outcome.h"

#include <string.h>

#include "agent/protocol.h"
#include "lab/base/units.h"
#include "lab/guest/evidence.h"

#define CONSOLE_LINES 5
#define OUTPUT_LINES 10
#define LOG_LINES 5

G_GNUC_PRINTF(4, 5)
static void say(LabBootResult *result, LabOutcome outcome, char *evidence, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list ap;

	va_start(ap, format);
	text = g_strdup_vprintf(format, ap);
	va_end(ap);
	result->outcome = outcome;
	result->message = lab_evidence_lines(text, strlen(text), 1);
	g_strchomp(result->message);
	result->evidence = evidence ? evidence : g_strdup("");
}

static char *console_end(const LabOutcomeFacts *facts)
{
	return lab_evidence_lines(facts->console, facts->console_length, CONSOLE_LINES);
}

/* "; the console's last line: ..." */
static char *last_words(const LabOutcomeFacts *facts)
{
	g_autofree char *line = lab_evidence_lines(facts->console, facts->console_length, 1);

	g_strchomp(line);
	return *line ? g_strconcat("; the console's last line: ", line, NULL)
		     : g_strdup("; the console is empty");
}

/* "before its agent started", "in step xfsrepair", ... */
static char *when(const LabWatchReport *watch)
{
	switch (watch->stage) {
	case LAB_STAGE_START:
	case LAB_STAGE_FIRST_OUTPUT:
		return g_strdup("before its agent started");
	case LAB_STAGE_AGENT:
		return g_strdup("before the machine was verified");
	case LAB_STAGE_VERIFIED:
		return g_strdup("before the first step");
	case LAB_STAGE_STEP:
		return g_strdup_printf("in step %s", watch->step_name);
	default:
		return g_strdup("after the last step");
	}
}

/* From the console, else from the kernel's log as the agent kept it: "quiet" keeps much of it off
 * the console. */
static LabEvidence *find_evidence(const LabOutcomeFacts *facts)
{
	g_autoptr(LabEvidence) found = lab_evidence_find(facts->console, facts->console_length);
	const LabRecord *log =
		facts->records ? lab_records_find(facts->records, AGENT_REC_LOG, NULL) : NULL;
	g_autoptr(LabEvidence) logged = NULL;
	const char *text;
	gsize length;

	if (!log || (found && found->kind == LAB_EVIDENCE_CRASH))
		return g_steal_pointer(&found);
	text = g_bytes_get_data(log->payload, &length);
	logged = lab_evidence_find(text ? text : "", length);
	return logged && (!found || logged->kind > found->kind) ? g_steal_pointer(&logged)
								: g_steal_pointer(&found);
}

static void append_output(const LabOutcomeFacts *facts, const char *step, const char *which,
			  GString *s)
{
	g_autofree char *name = g_strdup_printf("%s/%s", step, which);
	const LabRecord *output = lab_records_find(facts->records, AGENT_REC_OUTPUT, name);
	g_autofree char *lines = NULL;
	const char *text;
	gsize length;

	if (!output)
		return;
	text = g_bytes_get_data(output->payload, &length);
	lines = lab_evidence_lines(text ? text : "", length, OUTPUT_LINES);
	if (*lines)
		g_string_append_printf(s, "%s of %s:\n%s", which, step, lines);
}

static void decide_fail(const LabOutcomeFacts *facts, const LabRecord *fail,
			const LabEvidence *trouble, LabBootResult *result)
{
	g_autofree char *stage = lab_record_value(fail, "stage");
	g_autofree char *step = lab_record_value(fail, "step");
	g_autofree char *message = lab_record_value(fail, "message");
	g_autoptr(GString) s = g_string_new(NULL);
	gboolean in_step = !g_strcmp0(stage, "step");

	/* It powered off, but what it reached was this. */
	g_free(result->stage);
	result->stage = g_strdup(in_step && step ? step : lab_stage_name(LAB_STAGE_AGENT, NULL));
	if (in_step && step) {
		append_output(facts, step, "stdout", s);
		append_output(facts, step, "stderr", s);
	}
	if (trouble)
		g_string_append_printf(s, "%s:\n%s", trouble->name, trouble->quote);
	if (in_step)
		say(result, LAB_OUTCOME_STEP, g_string_free(g_steal_pointer(&s), FALSE), "%s",
		    message && *message ? message : "a step failed");
	else
		say(result, LAB_OUTCOME_INFRA, g_string_free(g_steal_pointer(&s), FALSE), "%s: %s",
		    stage ? stage : "agent",
		    message && *message ? message : "failed without a message");
}

static char *trouble_or_console(const LabOutcomeFacts *facts, const LabEvidence *trouble)
{
	return trouble ? g_strdup(trouble->quote) : console_end(facts);
}

static void decide_deadline(const LabOutcomeFacts *facts, const LabEvidence *trouble,
			    LabBootResult *result)
{
	const LabWatchReport *watch = facts->watch;
	g_autofree char *limit = lab_format_duration_ns(watch->limit_ns);
	g_autofree char *last = last_words(facts);
	char *evidence = trouble_or_console(facts, trouble);

	switch (watch->stage) {
	case LAB_STAGE_START:
		say(result, LAB_OUTCOME_KERNEL, evidence, "the kernel printed nothing within %s",
		    limit);
		break;
	case LAB_STAGE_FIRST_OUTPUT:
		say(result, LAB_OUTCOME_KERNEL, evidence, "the agent did not start within %s%s",
		    limit, last);
		break;
	case LAB_STAGE_AGENT:
		say(result, LAB_OUTCOME_KERNEL, evidence,
		    "the agent did not get the machine set up within %s%s", limit, last);
		break;
	case LAB_STAGE_VERIFIED:
		say(result, LAB_OUTCOME_KERNEL, evidence, "no step started within %s%s", limit,
		    last);
		break;
	case LAB_STAGE_STEP:
		say(result, LAB_OUTCOME_STEP, evidence,
		    "step %s: the guest made no progress within %s of the host's time%s",
		    watch->step_name, limit, last);
		break;
	default:
		say(result, LAB_OUTCOME_KERNEL, evidence, "the guest did not power off within %s%s",
		    limit, last);
		break;
	}
}

/* QEMU's own doing, or somebody else's; not the guest's. */
static gboolean is_gone(const LabWatchReport *watch)
{
	return watch->end == LAB_WATCH_GONE || watch->end == LAB_WATCH_PAUSED;
}

static void decide_gone(const LabOutcomeFacts *facts, LabBootResult *result)
{
	g_autofree char *at = when(facts->watch);
	g_autofree char *said =
		lab_evidence_lines(facts->qemu_log, strlen(facts->qemu_log), LOG_LINES);
	g_autofree char *last = lab_evidence_lines(facts->qemu_log, strlen(facts->qemu_log), 1);

	g_strchomp(last);
	if (facts->watch->end == LAB_WATCH_PAUSED)
		say(result, LAB_OUTCOME_INFRA, g_steal_pointer(&said),
		    "QEMU stopped the guest %s%s%s", at, *last ? ": " : "", last);
	else if (facts->host_oom_kills)
		say(result, LAB_OUTCOME_INFRA, g_steal_pointer(&said),
		    "the host killed QEMU %s: out of memory (host-pressure's memory-max)", at);
	else
		say(result, LAB_OUTCOME_INFRA, g_steal_pointer(&said), "QEMU ended %s%s%s", at,
		    *last ? ": " : " (it was killed, or crashed)", last);
}

/* The guest has ended by itself, and nothing tells why. */
static void decide_silent(const LabOutcomeFacts *facts, const LabEvidence *trouble,
			  LabBootResult *result)
{
	const LabWatchReport *watch = facts->watch;
	g_autofree char *at = when(watch), *last = last_words(facts);
	char *evidence = trouble_or_console(facts, trouble);

	if (facts->records && facts->records->damage)
		say(result, LAB_OUTCOME_INFRA, evidence, "the records are damaged (%s)",
		    facts->records->damage);
	else if (watch->stage == LAB_STAGE_POWER_OFF)
		say(result, LAB_OUTCOME_INFRA, evidence,
		    "the agent could not record how the job ended%s", last);
	else
		say(result, LAB_OUTCOME_KERNEL, evidence, "the guest reset or powered off %s%s", at,
		    last);
}

static void decide_complete(const LabOutcomeFacts *facts, const LabEvidence *trouble,
			    LabBootResult *result)
{
	/* All is recorded, but the console may lack its end: no proof. */
	if (facts->watch->end == LAB_WATCH_DEADLINE) {
		decide_deadline(facts, trouble, result);
		return;
	}
	if (is_gone(facts->watch)) {
		decide_gone(facts, result);
		return;
	}
	g_free(result->stage);
	result->stage = g_strdup(lab_stage_name(LAB_STAGE_DONE, NULL));
	say(result, LAB_OUTCOME_OK, trouble ? g_strdup(trouble->quote) : NULL, "%s", "");
}

void lab_outcome_decide(const LabOutcomeFacts *facts, LabBootResult *result)
{
	const LabWatchReport *watch = facts->watch;
	g_autoptr(LabEvidence) found = find_evidence(facts);
	const LabRecord *fail =
		facts->records ? lab_records_find(facts->records, AGENT_REC_FAIL, NULL) : NULL;

	result->stage = g_strdup(lab_stage_name(watch->stage, watch->step_name));
	if (found && found->kind == LAB_EVIDENCE_CRASH) {
		g_autofree char *at = when(watch);

		say(result, LAB_OUTCOME_KERNEL, g_strdup(found->quote), "%s %s: %s", found->name,
		    at, found->first);
	} else if (facts->records && facts->records->complete) {
		decide_complete(facts, found, result);
	} else if (fail) {
		decide_fail(facts, fail, found, result);
	} else if (is_gone(watch)) {
		decide_gone(facts, result);
	} else if (watch->end == LAB_WATCH_DEADLINE) {
		decide_deadline(facts, found, result);
	} else {
		decide_silent(facts, found, result);
	}
}
