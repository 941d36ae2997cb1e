/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Progress, on stderr. On a terminal one line that is redrawn; elsewhere plain lines: one when the
 * stage changes, and at most one every PROGRESS_LINE_S in between. May be fed from any thread.
 */
#pragma once
#include "lab/build/kernel.h"
#include "lab/run/run.h"

#define PROGRESS_LINE_S 10

typedef struct _Progress Progress;

/** progress_new() - @quiet: nothing is shown but notes of failed boots. One at a time in a process.
 */
Progress *progress_new(gboolean quiet);
/** progress_free() - the line is removed, the cursor shown again */
void progress_free(Progress *progress);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Progress, progress_free)

/** progress_stage() - what is being done; @fraction 0..1, or < 0 when unknown */
void progress_stage(Progress *progress, const char *what, double fraction);
/** progress_boots() - @done of @total; @eta_us until the end, microseconds, or < 0 */
void progress_boots(Progress *progress, guint done, guint total, const char *what, gint64 eta_us);
/** progress_note() - a line that stays */
void progress_note(Progress *progress, const char *text);
/** progress_clear() - remove the line, before something else is printed; the next call draws it
 * again */
void progress_clear(Progress *progress);

/** progress_lab() - a LabProgress; @progress: a Progress */
void progress_lab(const char *what, double fraction, gpointer progress);
/** progress_run() - a LabRunNotify; @progress: a Progress */
void progress_run(const LabRunEvent *event, gpointer progress);
