/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to lab/measure: addresses of a guest's kernel -> names. */
#pragma once
#include "lab/base/records.h"

typedef struct LabKallsyms LabKallsyms;

/** lab_kallsyms_read() - NULL: the records have none */
LabKallsyms *lab_kallsyms_read(const LabRecords *records);
void lab_kallsyms_free(LabKallsyms *symbols);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabKallsyms, lab_kallsyms_free)

/**
 * lab_kallsyms_find() - the function that @address is in
 * @module: (out): "[xfs]", or "[kernel.kallsyms]"; borrowed, as the name
 * Return: its name, or NULL. Of several at one address the last in kallsyms, as perf 6.1 shows it: of those it is the only one with a length.
 */
const char *lab_kallsyms_find(const LabKallsyms *symbols, guint64 address, const char **module);

/** struct LabKallsymsPart - the kernel's own code ("[kernel.kallsyms]"), or a module's ("[xfs]"); @name: borrowed */
typedef struct {
	const char *name;
	guint64 start, end;
} LabKallsymsPart;

/** lab_kallsyms_parts() - array of LabKallsymsPart, by where they start; free with g_array_unref() */
GArray *lab_kallsyms_parts(const LabKallsyms *symbols);
