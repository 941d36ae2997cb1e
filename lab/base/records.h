/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's records (agent/protocol.h), read from results.img: untrusted bytes, every length and checksum is checked. */
#pragma once
#include <gio/gio.h>

/** struct LabRecord - one record of results.img (agent/protocol.h); borrowed from LabRecords */
typedef struct {
	guint type;
	guint64 clock_ns;
	char *name;
	GBytes *payload;
} LabRecord;

typedef struct {
	GPtrArray *records; /* of LabRecord, in sequence */
	gboolean complete;  /* END is there, nothing damaged and no FAIL before it; nothing after it is read */
	gsize used_bytes;   /* up to the end of the last good record */
	char *damage;	    /* (nullable): "record 7: checksum of the body is wrong" */
} LabRecords;

/** lab_records_read() - all good records up to the first damage. Errors: the file cannot be read, or has no header (LAB_ERROR_UNKNOWN).
 *  Neither complete nor damaged: the guest ended before the end of its job. */
LabRecords *lab_records_read(const char *path, GError **error);
void lab_records_free(LabRecords *records);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabRecords, lab_records_free)
/** lab_records_find() - first record of a type (and name, unless NULL), or NULL */
const LabRecord *lab_records_find(const LabRecords *records, guint type, const char *name);
/** lab_record_value() - value of @key in a text payload, decoded; NULL when absent. Free with g_free(). */
char *lab_record_value(const LabRecord *record, const char *key);
