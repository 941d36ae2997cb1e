/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The agent's lines on the second serial port (agent/protocol.h): for display and deadlines only.
 */
#pragma once
#include <glib.h>

typedef enum {
	LAB_PROGRESS_AGENT, /* PID 1 runs */
	LAB_PROGRESS_START,
	LAB_PROGRESS_VERIFIED,
	LAB_PROGRESS_STEP,
	LAB_PROGRESS_STEP_END,
	LAB_PROGRESS_END,
	LAB_PROGRESS_FAIL,
} LabProgressWord;

typedef struct {
	LabProgressWord word;
	guint step, n_steps; /* STEP, STEP_END: from 1 */
	char name[64];	     /* STEP, STEP_END: [a-z0-9._-], cut */
} LabProgressLine;

/**
 * lab_progress_parse() - one line, without its newline
 *
 * Return: FALSE for a line that fails its CRC, is not formed as the protocol has it, or has an
 * unknown word; @line is then untouched.
 */
gboolean lab_progress_parse(const char *text, gsize length, LabProgressLine *line);
