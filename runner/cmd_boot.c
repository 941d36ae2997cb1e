/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The one process per boot: what engines start. */
#include <stdio.h>

#include "lab/base/error.h"
#include "lab/guest/boot.h"
#include "runner/command.h"
#include "runner/print.h"

typedef struct {
	const char *dir;
	gboolean quiet;
} Arguments;

static void on_progress(const char *stage, guint step, guint n_steps, gpointer data)
{
	const Arguments *arguments = data;

	if (arguments->quiet)
		return;
	printf("stage %s %u %u\n", stage, step, n_steps);
	fflush(stdout);
}

static int exit_code(LabOutcome outcome)
{
	static const int codes[] = {
		[LAB_OUTCOME_OK] = 0,
		[LAB_OUTCOME_INFRA] = LAB_ERROR_INFRA,
		[LAB_OUTCOME_KERNEL] = LAB_ERROR_KERNEL,
		[LAB_OUTCOME_STEP] = LAB_ERROR_UNKNOWN,
	};

	return codes[outcome];
}

static void print_failure(const char *dir, const LabBootResult *result)
{
	g_autofree char *message = print_clean(result->message);
	g_autofree char *evidence = print_clean(result->evidence);

	fprintf(stderr, "numalab: %s: %s\n%s", dir, message, evidence);
}

/* In a process of its own; prints its own error, for main() is in the other. */
static int work(const LabGuard *guard, GCancellable *cancellable, gpointer data)
{
	const Arguments *arguments = data;
	g_autoptr(GError) error = NULL;
	g_autoptr(LabBootResult) result =
		lab_boot_run(guard, arguments->dir, on_progress, data, cancellable, &error);

	if (!result) {
		g_autofree char *message = print_clean(error->message);

		fprintf(stderr, "numalab: %s\n", message);
		return lab_error_exit_code(error);
	}
	if (result->outcome != LAB_OUTCOME_OK)
		print_failure(arguments->dir, result);
	return exit_code(result->outcome);
}

static int run(int argc, char **argv, CommandContext *context, GError **error)
{
	Arguments arguments = {.dir = argv[0], .quiet = context->quiet};
	int status;

	if (context->cache)
		g_setenv("NUMALAB_CACHE", context->cache, TRUE);
	if (!lab_guard_run(work, &arguments, context->cancellable, &status, error))
		return COMMAND_FAILED;
	if (status > 128 && status != LAB_ERROR_INTERRUPTED) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
			    "%s: the process that ran the boot was killed by signal %d",
			    arguments.dir, status - 128);
		return COMMAND_FAILED;
	}
	return status;
}

const Command cmd_boot = {
	.name = "boot",
	.group = COMMAND_GROUP_LAB,
	.order = 20,
	.arguments = "DIR",
	.summary = "Boot the guest that DIR/job.json describes",
	.description =
		"One start of one guest, which runs the workload once. This is what 'numalab run' "
		"starts for each boot of its plan, and what a cluster's scheduler may start "
		"instead.\n\n"
		"DIR is left complete: result.json is written last. A boot without it is run "
		"again from the start. Progress is printed as lines 'stage NAME STEP STEPS'.\n\n"
		"Exit codes: 0 done; 2 DIR/job.json is wrong; 3 the lab failed, or the guest is "
		"not the one asked for; 4 a step failed; 5 the kernel did not boot or crashed.",
	.run = run,
};
COMMAND_REGISTER(cmd_boot);
