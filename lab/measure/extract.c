/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records -> plain files. The names come from a guest: they are all checked before the first file
 * is written. */
#include "lab/measure/samples.h"

#include <string.h>

#include "agent/protocol.h"
#include "lab/base/error.h"
#include "lab/base/file.h"

/* Where a record goes below the directory. NULL: nowhere. */
static char *target_of(const LabRecord *record)
{
	switch (record->type) {
	case AGENT_REC_START:
		return g_strdup("start");
	case AGENT_REC_VERIFY:
		return g_strdup("verify");
	case AGENT_REC_FAIL:
		return g_strdup("fail");
	case AGENT_REC_LOG:
		return g_strdup(record->name);
	case AGENT_REC_STEP_BEGIN:
		return g_strconcat("steps/", record->name, "/begin", NULL);
	case AGENT_REC_STEP_END:
		return g_strconcat("steps/", record->name, "/end", NULL);
	case AGENT_REC_PROFILE_END:
		return g_strconcat("steps/", record->name, "/profile", NULL);
	case AGENT_REC_STAT:
		return g_strconcat("steps/", record->name, "/stat", NULL);
	case AGENT_REC_SERIES:
		return g_strconcat("steps/", record->name, "/series", NULL);
	case AGENT_REC_HIST:
	case AGENT_REC_SNAPSHOT:
	case AGENT_REC_OUTPUT:
		return g_strconcat("steps/", record->name, NULL);
	default:
		return NULL;
	}
}

static gboolean is_safe(const char *name)
{
	g_auto(GStrv) parts = g_strsplit(name, "/", -1);

	for (guint i = 0; parts[i]; i++) {
		gsize length = strlen(parts[i]);

		if (!length || length > 200 || parts[i][0] == '.' ||
		    strspn(parts[i], G_CSET_A_2_Z G_CSET_a_2_z G_CSET_DIGITS "._-") != length)
			return FALSE;
	}
	return parts[0] && strlen(name) <= 1024;
}

/* Is @name, or a directory that it is in, already a file? */
static gboolean is_taken(GHashTable *files, const char *name)
{
	g_autofree char *path = g_strdup(name);

	for (char *slash = path; slash; slash = strrchr(path, '/')) {
		if (slash != path)
			*slash = 0;
		if (g_hash_table_contains(files, path))
			return TRUE;
	}
	return FALSE;
}

static gboolean check_name(const LabRecord *record, const char *target, GHashTable *files,
			   GHashTable *directories, GError **error)
{
	g_autofree char *shown = NULL;
	const char *why = NULL;

	if (!is_safe(target))
		why = "is no plain path";
	else if (record->type == AGENT_REC_LOG && !g_str_equal(record->name, "dmesg"))
		why = "is no known log"; /* logs stand beside the other files of a boot */
	else if (is_taken(files, target) || g_hash_table_contains(directories, target))
		why = "comes twice";
	if (!why)
		return TRUE;
	shown = g_strescape(record->name, NULL);
	g_set_error(error, LAB_ERROR, LAB_ERROR_UNKNOWN,
		    "the guest left a record '%s' whose name %s", shown, why);
	return FALSE;
}

static gboolean write_record(const LabRecord *record, const char *path, GError **error)
{
	g_autofree char *parent = g_path_get_dirname(path);
	gsize length;
	const char *data = g_bytes_get_data(record->payload, &length);

	/* Not synced: results.img is what counts, these can be made again from it. */
	return lab_dir_make(parent, error) &&
	       g_file_set_contents_full(path, data ? data : "", (gssize)length,
					G_FILE_SET_CONTENTS_NONE, 0644, error);
}

gboolean lab_records_extract(const LabRecords *records, const char *dir, GError **error)
{
	g_autoptr(GHashTable) files = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GHashTable) directories =
		g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GPtrArray) targets = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; i < records->records->len; i++) {
		const LabRecord *record = records->records->pdata[i];
		char *target = target_of(record);

		g_ptr_array_add(targets, target);
		if (!target)
			continue;
		if (!check_name(record, target, files, directories, error))
			return FALSE;
		g_hash_table_add(files, target);
		for (const char *slash = strchr(target, '/'); slash; slash = strchr(slash + 1, '/'))
			g_hash_table_add(directories, g_strndup(target, (gsize)(slash - target)));
	}
	for (guint i = 0; i < targets->len; i++) {
		g_autofree char *path = NULL;

		if (!targets->pdata[i])
			continue;
		path = g_build_filename(dir, targets->pdata[i], NULL);
		if (!write_record(records->records->pdata[i], path, error))
			return FALSE;
	}
	return TRUE;
}
