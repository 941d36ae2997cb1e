/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "lab/base/digest.h"
#include "lab/base/error.h"
#include "lab/base/paths.h"
#include "lab/base/suggest.h"
#include "lab/base/units.h"
#include "lab/guest/boot.h"
#include "lab/measure/samples.h"
#include "lab/store/store.h"
#include "runner/command.h"
#include "runner/print.h"
#include "runner/runs.h"

static gboolean json;

static const GOptionEntry options[] = {
	{"json", 0, 0, G_OPTION_ARG_NONE, &json, "print JSON", NULL},
	{NULL},
};

static LabBootResult *read_result(const LabRun *run, const LabPlanBoot *boot)
{
	g_autofree char *dir = lab_run_boot_dir(run, boot);

	return lab_boot_result_read(dir, NULL);
}

/* ---- a run -------------------------------------------------------------------------------------- */

static void print_head(const LabRun *run)
{
	const LabPlan *plan = run->plan;
	g_autofree char *started = runs_time(run->started_us);
	g_autofree char *took = runs_took(run);

	printf("run       %u, %s: %u ok, %u failed, %u missing\n", run->id,
	       lab_run_state_name(run->state), run->n_ok, run->n_failed, run->n_missing);
	printf("scenario  %s %.*s (%s)\n", plan->scenario_name, LAB_DIGEST_SHORT,
	       plan->scenario_digest, plan->scenario_path);
	printf("clock     %s, QEMU %s\n", plan->clock, plan->qemu_version);
	if (plan->is_aa)
		printf("a/a       a kernel against itself: numalab noise %u\n", run->id);
	printf("image     %.*s\n", LAB_DIGEST_SHORT, plan->image_digest);
	if (plan->prepared_digest)
		printf("prepared  %.*s\n", LAB_DIGEST_SHORT, plan->prepared_digest);
	for (guint i = 0; i < plan->points->len; i++) {
		g_autofree char *label = lab_plan_point_label(plan, i, NULL);

		printf("%s  p%u: %s\n", i ? "        " : "sweep   ", i + 1, label);
	}
	if (plan->files_digest)
		printf("/files    %.*s\n", LAB_DIGEST_SHORT, plan->files_digest);
	printf("started   %s, took %s\n", started, took);
	printf("files     %s\n\n", run->dir);
}

static void add_boot_row(PrintTable *table, const LabRun *run, const LabBootSamples *boot)
{
	g_autoptr(LabBootResult) result = read_result(run, boot->boot);
	g_autofree char *seed = g_strdup_printf("%" G_GUINT64_FORMAT, boot->boot->seed);
	g_autofree char *host = result ? lab_format_elapsed(result->host_us) : g_strdup("-");
	g_autofree char *digest = g_strndup(boot->digest, LAB_DIGEST_SHORT);

	print_table_add(table, boot->boot->id, boot->boot->kernel_label, seed, boot->outcome,
			result && *result->stage ? result->stage : "-", host,
			*digest ? digest : "-", boot->message, NULL);
}

/* What part @i of a boot took on the host: from when the stage before was reached. "-": it was not. Free with g_free(). */
static char *part_text(const LabBootResult *result, guint i)
{
	gint64 begin = 0;

	if (!result || !result->stage_us[i])
		return g_strdup("-");
	for (guint before = i; before-- > 0 && !begin;)
		begin = result->stage_us[before];
	return g_strdup_printf("%.1f s", (double)(result->stage_us[i] - begin) / G_USEC_PER_SEC);
}

static void print_parts(const LabRun *run, const GPtrArray *boots)
{
	g_autoptr(PrintTable) table =
		print_table_new("BOOT", ">QEMU", ">OUTPUT", ">AGENT", ">STEPS", ">OFF", NULL);

	for (guint i = 0; i < boots->len; i++) {
		const LabPlanBoot *boot = ((const LabBootSamples *)boots->pdata[i])->boot;
		g_autoptr(LabBootResult) result = read_result(run, boot);
		g_autofree char *qemu = part_text(result, 0), *output = part_text(result, 1);
		g_autofree char *agent = part_text(result, 2), *steps = part_text(result, 3);
		g_autofree char *off = part_text(result, 4);

		print_table_add(table, boot->id, qemu, output, agent, steps, off, NULL);
	}
	printf("\n");
	print_table(table);
}

static void print_run(const LabRun *run, const GPtrArray *boots)
{
	g_autoptr(PrintTable) table = print_table_new("BOOT", "KERNEL", ">SEED", "OUTCOME", "STAGE",
						      ">HOST", "DIGEST", "MESSAGE", NULL);

	print_head(run);
	for (guint i = 0; i < boots->len; i++)
		add_boot_row(table, run, boots->pdata[i]);
	print_table(table);
	print_parts(run, boots);
}

static void boot_json(LabJsonWriter *w, const LabRun *run, const LabBootSamples *boot)
{
	g_autofree char *dir = lab_run_boot_dir(run, boot->boot);
	g_autoptr(LabBootResult) result = read_result(run, boot->boot);

	lab_json_writer_string(w, "boot", boot->boot->id);
	lab_json_writer_string(w, "kernel", boot->boot->kernel_text);
	lab_json_writer_string(w, "version", boot->boot->kernel_label);
	lab_json_writer_string(w, "kernel_digest", boot->boot->kernel_digest);
	if (run->plan->points->len)
		lab_json_writer_uint(w, "point", boot->boot->point + 1);
	lab_json_writer_uint(w, "seed", boot->boot->seed);
	lab_json_writer_string(w, "dir", dir);
	lab_json_writer_string(w, "outcome", boot->outcome);
	lab_json_writer_string(w, "message", boot->message);
	lab_json_writer_string(w, "digest", boot->digest);
	lab_json_writer_string(w, "stage", result ? result->stage : NULL);
	lab_json_writer_string(w, "evidence", result ? result->evidence : NULL);
	lab_json_writer_string(w, "job_digest", result ? result->job_digest : NULL);
	if (!result)
		return;
	lab_json_writer_uint(w, "host_us", (guint64)result->host_us);
	lab_json_writer_array(w, "stage_us", LAB_JSON_LINE);
	for (gsize i = 0; i < G_N_ELEMENTS(result->stage_us); i++)
		lab_json_writer_uint(w, NULL, (guint64)result->stage_us[i]);
	lab_json_writer_end(w);
}

static void print_run_json(const LabRun *run, const GPtrArray *boots)
{
	g_autoptr(LabJsonWriter) w = lab_json_writer_new();
	g_autofree char *text = NULL;

	lab_json_writer_object(w, NULL, LAB_JSON_BLOCK);
	runs_json(w, run);
	lab_json_writer_array(w, "boots", LAB_JSON_BLOCK);
	for (guint i = 0; i < boots->len; i++) {
		lab_json_writer_object(w, NULL, LAB_JSON_BLOCK);
		boot_json(w, run, boots->pdata[i]);
		lab_json_writer_end(w);
	}
	lab_json_writer_end(w);
	lab_json_writer_end(w);
	text = lab_json_writer_text(w);
	fputs(text, stdout);
}

/* ---- a boot ------------------------------------------------------------------------------------- */

static const LabBootSamples *find_boot(const LabRun *run, const GPtrArray *boots, const char *id,
				       GError **error)
{
	g_autofree const char **ids = g_new0(const char *, boots->len + 1);
	g_autofree char *hint = NULL;

	for (guint i = 0; i < boots->len; i++) {
		const LabBootSamples *boot = boots->pdata[i];

		if (strcmp(boot->boot->id, id) == 0)
			return boot;
		ids[i] = boot->boot->id;
	}
	hint = lab_suggest_text(id, ids);
	g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
		    "run %u has no boot '%s'%s; 'numalab show %u' lists them", run->id, id, hint,
		    run->id);
	return NULL;
}

/* Counts are whole numbers. */
static char *value_text(const LabSample *sample)
{
	if (strcmp(sample->unit, "count") == 0 && sample->value < 1e18)
		return g_strdup_printf("%.0f", sample->value);
	return lab_format_number(sample->value);
}

static void print_samples(const LabBootSamples *boot)
{
	g_autoptr(PrintTable) table = print_table_new("METRIC", ">VALUE", "UNIT", NULL);

	for (guint i = 0; i < boot->samples->len; i++) {
		const LabSample *sample = boot->samples->pdata[i];
		g_autofree char *value = value_text(sample);

		print_table_add(table, sample->metric, value, sample->unit, NULL);
	}
	printf("\n");
	print_table(table);
}

static void print_boot(const LabRun *run, const LabBootSamples *boot)
{
	g_autofree char *dir = lab_run_boot_dir(run, boot->boot);
	g_autoptr(LabBootResult) result = read_result(run, boot->boot);
	g_autofree char *host = lab_format_elapsed(result ? result->host_us : 0);
	g_autofree char *evidence = print_clean(result ? result->evidence : "");
	g_autofree char *message = print_clean(boot->message);
	g_autofree char *clock = lab_plan_clock_note(run->plan);

	printf("boot      %s of run %u, seed %" G_GUINT64_FORMAT "\n", boot->boot->id, run->id,
	       boot->boot->seed);
	printf("kernel    %s (%s) %.*s\n", boot->boot->kernel_label, boot->boot->kernel_text,
	       LAB_DIGEST_SHORT, boot->boot->kernel_digest);
	printf("outcome   %s%s%s\n", boot->outcome, *message ? ": " : "", message);
	if (result)
		printf("stage     %s, after %s on the host\n", result->stage, host);
	if (*boot->digest)
		printf("digest    %s\n", boot->digest);
	printf("files     %s\n", dir);
	if (*evidence)
		printf("\n%s%s", evidence, g_str_has_suffix(evidence, "\n") ? "" : "\n");
	if (boot->samples) {
		print_samples(boot);
		printf("\n%s\n", clock);
	}
}

static void print_boot_json(const LabRun *run, const LabBootSamples *boot)
{
	g_autoptr(LabJsonWriter) w = lab_json_writer_new();
	g_autofree char *text = NULL;

	lab_json_writer_object(w, NULL, LAB_JSON_BLOCK);
	lab_json_writer_uint(w, "run", run->id);
	lab_json_writer_string(w, "clock", run->plan->clock);
	boot_json(w, run, boot);
	lab_json_writer_array(w, "samples", LAB_JSON_BLOCK);
	for (guint i = 0; boot->samples && i < boot->samples->len; i++) {
		const LabSample *sample = boot->samples->pdata[i];

		lab_json_writer_object(w, NULL, LAB_JSON_LINE);
		lab_json_writer_string(w, "metric", sample->metric);
		lab_json_writer_number(w, "value", sample->value);
		lab_json_writer_string(w, "unit", sample->unit);
		lab_json_writer_end(w);
	}
	lab_json_writer_end(w);
	lab_json_writer_end(w);
	text = lab_json_writer_text(w);
	fputs(text, stdout);
}

static int show(int argc, char **argv, CommandContext *context, GError **error)
{
	g_autofree char *root = lab_path_store(context->store);
	g_autoptr(LabStore) store = lab_store_open(root, error);
	g_autoptr(LabRun) run = store ? lab_store_find_run(store, argv[0], error) : NULL;
	g_autoptr(GPtrArray) boots = run ? lab_run_boots(run, error) : NULL;
	const LabBootSamples *boot = NULL;

	if (!boots)
		return COMMAND_FAILED;
	if (argc > 1) {
		boot = find_boot(run, boots, argv[1], error);
		if (!boot)
			return COMMAND_FAILED;
	}
	if (boot && json)
		print_boot_json(run, boot);
	else if (boot)
		print_boot(run, boot);
	else if (json)
		print_run_json(run, boots);
	else
		print_run(run, boots);
	return 0;
}

const Command cmd_show = {
	.name = "show",
	.group = COMMAND_GROUP_RESULT,
	.order = 20,
	.arguments = "RUN [BOOT]",
	.summary = "Show a run and its boots, or all that one boot left",
	.description =
		"RUN is a number, 'latest', or 'latest~1' for the one before it. With BOOT: its "
		"outcome, the lines that prove a failure, and every sample.",
	.options = options,
	.run = show,
};
COMMAND_REGISTER(cmd_show);
