/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/base/error.h"
#include "lab/guest/boot.h"
#include "lab/measure/samples.h"
#include "lab/store/store.h"

static void boot_samples_free(gpointer data)
{
	LabBootSamples *boot = data;

	g_free(boot->outcome);
	g_free(boot->message);
	g_free(boot->digest);
	g_clear_pointer(&boot->samples, g_ptr_array_unref);
	g_free(boot);
}

/* A boot whose process was killed between its result and its samples has its records still. */
static GPtrArray *read_samples(const char *dir, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "samples.json", NULL);
	g_autofree char *results = g_build_filename(dir, "results.img", NULL);
	g_autoptr(LabRecords) records = NULL;

	if (g_file_test(path, G_FILE_TEST_EXISTS))
		return lab_samples_read(path, error);
	records = lab_records_read(results, error);
	return records ? lab_samples_from_records(records, error) : NULL;
}

static void set_failure(LabBootSamples *boot, const char *outcome, const char *message)
{
	g_free(boot->outcome);
	g_free(boot->message);
	g_free(boot->digest);
	boot->outcome = g_strdup(outcome);
	boot->message = g_strdup(message);
	boot->digest = g_strdup("");
}

static LabBootSamples *read_boot(const char *dir, const LabPlanBoot *planned)
{
	LabBootSamples *boot = g_new0(LabBootSamples, 1);
	g_autoptr(GError) error = NULL;
	g_autoptr(LabBootResult) result = lab_boot_result_read(dir, &error);

	boot->boot = planned;
	if (!result) {
		gboolean absent = g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT);

		set_failure(boot, "missing", absent ? "not run to its end" : error->message);
		return boot;
	}
	boot->outcome = g_strdup(lab_outcome_name(result->outcome));
	boot->message = g_strdup(result->message);
	boot->digest = g_strdup(result->digest);
	if (result->outcome != LAB_OUTCOME_OK)
		return boot;
	boot->samples = read_samples(dir, &error);
	if (!boot->samples)
		set_failure(boot, lab_outcome_name(LAB_OUTCOME_INFRA), error->message);
	return boot;
}

GPtrArray *lab_run_boots(const LabRun *run, GError **error)
{
	g_autoptr(GPtrArray) boots = g_ptr_array_new_with_free_func(boot_samples_free);

	if (!g_file_test(run->dir, G_FILE_TEST_IS_DIR)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "%s is gone", run->dir);
		return NULL;
	}
	for (guint i = 0; i < run->plan->boots->len; i++) {
		const LabPlanBoot *planned = run->plan->boots->pdata[i];
		g_autofree char *dir = lab_run_boot_dir(run, planned);

		g_ptr_array_add(boots, read_boot(dir, planned));
	}
	return g_steal_pointer(&boots);
}
