/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/run/collect.h"

#include <glib/gstdio.h>

#include "lab/base/error.h"
#include "lab/measure/samples.h"

LabBootResult *lab_collect_boot(const char *dir, GError **error)
{
	g_autoptr(LabBootResult) result = lab_boot_result_read(dir, error);
	g_autofree char *samples_path = g_build_filename(dir, "samples.json", NULL);
	g_autofree char *records_path = g_build_filename(dir, "results.img", NULL);
	g_autoptr(LabRecords) records = NULL;
	g_autoptr(GPtrArray) samples = NULL;

	if (!result)
		return NULL;
	if (g_file_test(samples_path, G_FILE_TEST_EXISTS))
		return g_steal_pointer(&result);
	if (result->outcome != LAB_OUTCOME_OK) {
		/* A guest that died early has no records to look at. */
		records = lab_records_read(records_path, NULL);
		if (records && !lab_records_extract(records, dir, error))
			return NULL;
		return g_steal_pointer(&result);
	}
	records = lab_records_read(records_path, error);
	if (!records)
		return NULL;
	if (!records->complete) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
			    "%s: the records are not complete%s%s", records_path,
			    records->damage ? ": " : "", records->damage ? records->damage : "");
		return NULL;
	}
	samples = lab_samples_from_records(records, error);
	for (guint i = 0; samples && i < LAB_ASYNC_PF_N_COUNTS; i++) {
		g_autofree char *metric = g_strconcat("host.", lab_async_pf_count_name(i), NULL);

		lab_samples_add_count(samples, metric, result->async_pf_counts[i]);
	}
	if (!samples || !lab_records_extract(records, dir, error) ||
	    !lab_samples_write(samples, samples_path, error))
		return NULL;
	return g_steal_pointer(&result);
}

void lab_collect_disk(const LabInputs *in, const char *dir, const LabBootResult *result)
{
	g_autofree char *disk = g_build_filename(dir, LAB_BOOT_ROOT_DISK, NULL);
	g_autoptr(GError) local = NULL;

	if (!g_file_test(disk, G_FILE_TEST_EXISTS))
		return;
	if (result->outcome != LAB_OUTCOME_OK) {
		if (lab_disk_read(in->disk_tool, disk, dir, &local))
			lab_run_note(in->options,
				     "what the guest left on its disk: %s/{log,steps}.tar.gz", dir);
		else
			lab_run_note(in->options,
				     "the disk of a failed guest could not be read: %s",
				     local->message);
	}
	g_unlink(disk);
}
