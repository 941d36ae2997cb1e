/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/spec/placement.h"

void lab_placement_copy(const LabPlacement *from, LabPlacement *to)
{
	*to = *from;
	to->cpus = g_strdup(from->cpus);
	to->emulator = g_strdup(from->emulator);
	to->nodes = g_strdup(from->nodes);
}

void lab_placement_clear(LabPlacement *placement)
{
	g_clear_pointer(&placement->cpus, g_free);
	g_clear_pointer(&placement->emulator, g_free);
	g_clear_pointer(&placement->nodes, g_free);
}

GArray *lab_placement_list(const char *text)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(guint));
	g_auto(GStrv) parts = g_strsplit(text ? text : "", ",", -1);

	for (char **part = parts; *part; part++) {
		guint number = (guint)g_ascii_strtoull(*part, NULL, 10);

		g_array_append_val(list, number);
	}
	return list;
}
