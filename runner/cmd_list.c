/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "lab/base/json_writer.h"
#include "lab/base/paths.h"
#include "lab/base/units.h"
#include "lab/store/store.h"
#include "runner/command.h"
#include "runner/print.h"
#include "runner/runs.h"

static gboolean json;

static const GOptionEntry options[] = {
	{"json", 0, 0, G_OPTION_ARG_NONE, &json, "print JSON", NULL},
	{NULL},
};

static void add_row(PrintTable *table, const LabRun *run)
{
	g_autofree char *id = g_strdup_printf("%u", run->id);
	g_autofree char *boots = g_strdup_printf("%u/%u", run->n_ok, run->plan->boots->len);
	g_autofree char *started = runs_time(run->started_us);
	g_autofree char *took = runs_took(run);
	g_autofree char *kernels = runs_kernels(run);

	print_table_add(table, id, lab_run_state_name(run->state), run->plan->scenario_name,
			run->plan->clock, boots, started, took, kernels, NULL);
}

static void print_people(const GPtrArray *runs, const GPtrArray *damaged)
{
	g_autoptr(PrintTable) table = print_table_new(">RUN", "STATE", "SCENARIO", "CLOCK", ">OK",
						      "STARTED", ">TOOK", "KERNELS", NULL);

	for (guint i = 0; i < runs->len; i++)
		add_row(table, runs->pdata[i]);
	print_table(table);
	for (guint i = 0; i < damaged->len; i++)
		printf("damaged: %s\n", (char *)damaged->pdata[i]);
}

static void print_program(const GPtrArray *runs, const GPtrArray *damaged)
{
	g_autoptr(LabJsonWriter) w = lab_json_writer_new();
	g_autofree char *text = NULL;

	lab_json_writer_object(w, NULL, LAB_JSON_BLOCK);
	lab_json_writer_array(w, "runs", LAB_JSON_BLOCK);
	for (guint i = 0; i < runs->len; i++) {
		lab_json_writer_object(w, NULL, LAB_JSON_BLOCK);
		runs_json(w, runs->pdata[i]);
		lab_json_writer_end(w);
	}
	lab_json_writer_end(w);
	lab_json_writer_array(w, "damaged", LAB_JSON_BLOCK);
	for (guint i = 0; i < damaged->len; i++)
		lab_json_writer_string(w, NULL, damaged->pdata[i]);
	lab_json_writer_end(w);
	lab_json_writer_end(w);
	text = lab_json_writer_text(w);
	fputs(text, stdout);
}

static int list(int argc, char **argv, CommandContext *context, GError **error)
{
	g_autofree char *root = lab_path_store(context->store);
	g_autoptr(LabStore) store = lab_store_open(root, error);
	g_autoptr(GPtrArray) damaged = NULL;
	g_autoptr(GPtrArray) runs = store ? lab_store_list(store, &damaged, error) : NULL;

	if (!runs)
		return COMMAND_FAILED;
	if (json)
		print_program(runs, damaged);
	else
		print_people(runs, damaged);
	return 0;
}

const Command cmd_list = {
	.name = "list",
	.group = COMMAND_GROUP_RESULT,
	.order = 10,
	.summary = "List the runs of the store",
	.description =
		"Oldest first. State: 'planned' has boots missing and can be resumed by the "
		"same 'numalab run' again; 'running' is held by a living process; 'done' has "
		"every boot ok; 'failed' is complete, and some boots are not ok.",
	.options = options,
	.run = list,
};
COMMAND_REGISTER(cmd_list);
