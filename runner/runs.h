/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs as commands show them. Strings are newly allocated. */
#pragma once
#include "lab/base/json_writer.h"
#include "lab/store/store.h"

/** runs_time() - "2026-11-30 15:14", local time; "-" for 0 */
char *runs_time(gint64 real_us);
/** runs_took() - "3m04s"; "-" while boots are missing */
char *runs_took(const LabRun *run);
/** runs_kernels() - labels in the order of the columns: "6.1.192, 6.12.95" */
char *runs_kernels(const LabRun *run);
/** runs_json() - members of a run, into an object that the caller began */
void runs_json(LabJsonWriter *writer, const LabRun *run);
