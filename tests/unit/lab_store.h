/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs for tests: real directories in a store of their own, written by the library itself. All
 * functions end the test when they fail.
 */
#pragma once
#include <check.h>
#include <sqlite3.h>
#include <string.h>

#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/guest/boot.h"
#include "lab/measure/samples.h"
#include "lab/store/store.h"

#define assert_no_error(error) ck_assert_msg(!(error), "%s", (error) ? (error)->message : "")
#define assert_contains(text, part)                                                                \
	ck_assert_msg(strstr(text, part) != NULL, "'%s' does not contain '%s'", text, part)

static inline void add_plan_boot(LabPlan *plan, const char *id, const char *label, const char *text,
				 const char *digest, guint64 seed)
{
	LabPlanBoot *boot = g_new0(LabPlanBoot, 1);

	boot->id = g_strdup(id);
	boot->kernel_label = g_strdup(label);
	boot->kernel_text = g_strdup(text);
	boot->kernel_digest = g_strdup(digest);
	boot->seed = seed;
	g_ptr_array_add(plan->boots, boot);
}

/* @kernels: NULL-terminated digests; boots are added by add_plan_boot() */
static inline LabPlan *empty_plan(const char *const *kernels)
{
	LabPlan *plan = lab_plan_new();

	plan->scenario_name = g_strdup("demo");
	plan->scenario_path = g_strdup("scenarios/\"demo\".yaml");
	plan->scenario_digest = g_strdup("5ce0");
	plan->clock = g_strdup("exact");
	plan->image_digest = g_strdup("1333");
	plan->qemu_version = g_strdup("10.0.2");
	plan->order_seed = G_MAXUINT64;
	plan->kernels = g_strdupv((char **)kernels);
	return plan;
}

static inline void set_text(char **field, const char *value)
{
	g_free(*field);
	*field = g_strdup(value);
}

/* result.json, and samples.json when @samples is given: then the boot is ok */
static inline void complete_boot(const LabRun *run, const LabPlanBoot *boot, LabOutcome outcome,
				 const char *message, const char *digest, const GPtrArray *samples)
{
	g_autofree char *dir = lab_run_boot_dir(run, boot);
	g_autofree char *path = g_build_filename(dir, "samples.json", NULL);
	LabBootResult result = {.outcome = outcome,
				.stage = (char *)"done",
				.message = (char *)message,
				.evidence = (char *)"",
				.digest = (char *)digest,
				.job_digest = (char *)"10b",
				.host_qemu_version = (char *)"10.0.2"};
	g_autoptr(GError) error = NULL;

	lab_dir_make(dir, &error);
	assert_no_error(error);
	if (samples)
		lab_samples_write(samples, path, &error);
	assert_no_error(error);
	lab_boot_result_write(&result, dir, &error);
	assert_no_error(error);
}

/* The first number that @sql finds in the index, or -1 */
static inline gint64 query_index(const char *root, const char *sql)
{
	g_autofree char *path = g_build_filename(root, "index.sqlite", NULL);
	sqlite3_stmt *statement = NULL;
	gint64 value = -1;
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s",
		      sqlite3_errmsg(db));
	if (sqlite3_step(statement) == SQLITE_ROW)
		value = sqlite3_column_int64(statement, 0);
	sqlite3_finalize(statement);
	sqlite3_close(db);
	return value;
}

/* Two kernels, three boots. */
static inline LabPlan *small_plan(void)
{
	const char *const kernels[] = {"aaaa", "bbbb", NULL};
	LabPlan *plan = empty_plan(kernels);

	add_plan_boot(plan, "6.12-s1", "6.12", "debian:trixie", "bbbb", 1);
	add_plan_boot(plan, "6.1-s1", "6.1", "debian:bookworm", "aaaa", 1);
	add_plan_boot(plan, "6.1-s2", "6.1", "debian:bookworm", "aaaa", G_MAXUINT64);
	return plan;
}

static inline LabRun *create_run(LabStore *store)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabPlan) plan = small_plan();
	LabRun *run = lab_store_create_run(store, plan, "name: demo\n", "{}", &error);

	assert_no_error(error);
	ck_assert_ptr_nonnull(run);
	return run;
}

static inline void complete_small(const LabRun *run, guint i, LabOutcome outcome)
{
	g_autoptr(GPtrArray) samples = g_ptr_array_new();
	LabSample sample = {(char *)"real-xfsrepair", 5.25 + i, "s", -1};
	gboolean ok = outcome == LAB_OUTCOME_OK;

	g_ptr_array_add(samples, &sample);
	complete_boot(run, run->plan->boots->pdata[i], outcome, ok ? "" : "kernel panic",
		      ok ? "d19e57" : "", ok ? samples : NULL);
}

static inline void complete_all(const LabRun *run, LabOutcome last)
{
	complete_small(run, 0, LAB_OUTCOME_OK);
	complete_small(run, 1, LAB_OUTCOME_OK);
	complete_small(run, 2, last);
}
