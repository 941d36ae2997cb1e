/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of one JSON object, as numalab itself keeps them. What has positions to report is YAML (lab/spec). */
#pragma once
#include <json-glib/json-glib.h>

#include "lab/base/error.h"

/**
 * lab_json_read() - the object of a file
 * @code: of the error when it holds no object ("@path: wanted a JSON object, found ..."); one that cannot be read is as
 *	lab_file_read() has it
 *
 * Free with json_object_unref().
 */
JsonObject *lab_json_read(const char *path, LabErrorCode code, GError **error);

/** lab_json_string() - a copy of a member, "" when it is missing */
char *lab_json_string(JsonObject *object, const char *name);
/** lab_json_strings() - copies of a member's strings; none when it is missing. Free with g_strfreev(). */
char **lab_json_strings(JsonObject *object, const char *name);

/** lab_json_text() - the object that @builder has just closed, indented, with newline. Free with
 * g_free(). */
char *lab_json_text(JsonBuilder *builder);
