// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/spec/scenario.h"

static const char *const names[] = {[LAB_CLOCK_EXACT] = "exact", [LAB_CLOCK_TCG] = "tcg"};

const char *lab_clock_name(LabClock clock)
{
	return names[clock];
}

gboolean lab_clock_parse(const char *text, LabClock *clock)
{
	for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
		if (!g_strcmp0(text, names[i])) {
			*clock = (LabClock)i;
			return TRUE;
		}
	return FALSE;
}
