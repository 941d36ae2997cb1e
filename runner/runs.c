/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runner/runs.h"

#include <string.h>

#include "lab/base/units.h"

char *runs_time(gint64 real_us)
{
	g_autoptr(GDateTime) time = g_date_time_new_from_unix_local(real_us / G_USEC_PER_SEC);

	return real_us && time ? g_date_time_format(time, "%Y-%m-%d %H:%M") : g_strdup("-");
}

char *runs_took(const LabRun *run)
{
	if (!run->started_us || run->ended_us < run->started_us)
		return g_strdup("-");
	return lab_format_elapsed(run->ended_us - run->started_us);
}

static const LabPlanBoot *first_boot(const LabRun *run, const char *digest)
{
	for (guint i = 0; i < run->plan->boots->len; i++) {
		const LabPlanBoot *boot = run->plan->boots->pdata[i];

		if (strcmp(boot->kernel_digest, digest) == 0)
			return boot;
	}
	return NULL;
}

char *runs_kernels(const LabRun *run)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (char **digest = run->plan->kernels; *digest; digest++) {
		const LabPlanBoot *boot = first_boot(run, *digest);

		if (boot)
			g_string_append_printf(text, "%s%s", text->len ? ", " : "",
					       boot->kernel_label);
	}
	return g_string_free(g_steal_pointer(&text), FALSE);
}

static void kernels_json(LabJsonWriter *w, const LabRun *run)
{
	lab_json_writer_array(w, "kernels", LAB_JSON_BLOCK);
	for (char **digest = run->plan->kernels; *digest; digest++) {
		const LabPlanBoot *boot = first_boot(run, *digest);

		lab_json_writer_object(w, NULL, LAB_JSON_LINE);
		lab_json_writer_string(w, "version", boot ? boot->kernel_label : NULL);
		lab_json_writer_string(w, "kernel", boot ? boot->kernel_text : NULL);
		lab_json_writer_string(w, "digest", *digest);
		lab_json_writer_end(w);
	}
	lab_json_writer_end(w);
}

static void points_json(LabJsonWriter *w, const LabPlan *plan)
{
	if (!plan->points->len)
		return;
	lab_json_writer_array(w, "points", LAB_JSON_BLOCK);
	for (guint i = 0; i < plan->points->len; i++) {
		const LabPlanPoint *point = plan->points->pdata[i];

		lab_json_writer_object(w, NULL, LAB_JSON_LINE);
		for (guint k = 0; plan->sweep[k]; k++)
			lab_json_writer_string(w, plan->sweep[k], point->values[k]);
		lab_json_writer_string(w, "scenario_digest", point->scenario_digest);
		lab_json_writer_string(w, "prepared_digest", point->prepared_digest);
		lab_json_writer_end(w);
	}
	lab_json_writer_end(w);
}

void runs_json(LabJsonWriter *w, const LabRun *run)
{
	const LabPlan *plan = run->plan;

	lab_json_writer_uint(w, "run", run->id);
	lab_json_writer_string(w, "state", lab_run_state_name(run->state));
	lab_json_writer_string(w, "dir", run->dir);
	lab_json_writer_string(w, "scenario", plan->scenario_name);
	lab_json_writer_string(w, "scenario_path", plan->scenario_path);
	lab_json_writer_string(w, "scenario_digest", plan->scenario_digest);
	lab_json_writer_string(w, "plan_digest", plan->digest);
	lab_json_writer_string(w, "clock", plan->clock);
	lab_json_writer_string(w, "image_digest", plan->image_digest);
	lab_json_writer_string(w, "prepared_digest", plan->prepared_digest);
	lab_json_writer_string(w, "files_digest", plan->files_digest);
	points_json(w, plan);
	lab_json_writer_string(w, "qemu_version", plan->qemu_version);
	lab_json_writer_uint(w, "n_boots", plan->boots->len);
	lab_json_writer_uint(w, "n_ok", run->n_ok);
	lab_json_writer_uint(w, "n_failed", run->n_failed);
	lab_json_writer_uint(w, "n_missing", run->n_missing);
	lab_json_writer_uint(w, "started_us", (guint64)run->started_us);
	lab_json_writer_uint(w, "ended_us", (guint64)run->ended_us);
	kernels_json(w, run);
}
