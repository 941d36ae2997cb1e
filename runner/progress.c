/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "runner/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lab/base/units.h"
#include "runner/interrupt.h"
#include "runner/print.h"

#define BAR_CELLS 14
#define SHOW_CURSOR "\033[?25h"
#define HIDE_CURSOR "\033[?25l"

struct _Progress {
	GMutex lock;
	GCond changed;
	GThread *ticker; /* redraws the elapsed time; terminal only */
	gboolean terminal, quiet, ending, drawn;
	char *what;
	double fraction;
	guint done, total; /* total 0: a stage */
	gint64 eta_us;	   /* at since_eta_us */
	gint64 since_us;   /* of the stage */
	gint64 since_eta_us;
	gint64 line_us; /* of the last plain line */
};

static guint terminal_width(void)
{
	struct winsize size;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

static void append_bar(GString *s, double fraction)
{
	guint full = (guint)(CLAMP(fraction, 0, 1) * BAR_CELLS + 0.5);

	g_string_append(s, " [");
	for (guint i = 0; i < BAR_CELLS; i++)
		g_string_append_c(s, i < full ? '#' : '-');
	g_string_append_c(s, ']');
}

/* "boots [####----------] 2/6  6.12.95 seed 2  xfsrepair  1m12s left", "fetching linux-image [##--]
 * 17%  8s" */
static char *line_text(const Progress *p, gint64 now_us)
{
	g_autoptr(GString) s = g_string_new(p->total ? "boots" : p->what);

	if (p->total) {
		append_bar(s, (double)p->done / p->total);
		g_string_append_printf(s, " %u/%u", p->done, p->total);
		if (*p->what)
			g_string_append_printf(s, "  %s", p->what);
	} else if (p->fraction >= 0) {
		append_bar(s, p->fraction);
		g_string_append_printf(s, " %d%%", (int)(CLAMP(p->fraction, 0, 1) * 100));
	}
	if (p->eta_us >= 0) {
		gint64 left = MAX(0, p->eta_us - (now_us - p->since_eta_us));
		g_autofree char *text = lab_format_elapsed(left);

		g_string_append_printf(s, "  %s left", text);
	} else {
		g_autofree char *text = lab_format_elapsed(now_us - p->since_us);

		g_string_append_printf(s, "  %s", text);
	}
	return print_clean(g_strdelimit(s->str, "\n\t", ' '));
}

static void erase(Progress *p)
{
	if (p->drawn)
		fputs("\r\033[K" SHOW_CURSOR, stderr);
	p->drawn = FALSE;
	interrupt_restore_on_kill(NULL);
}

static void draw(Progress *p)
{
	g_autofree char *line = NULL;
	g_autofree char *cut = NULL;

	if (p->quiet || !p->what)
		return;
	line = line_text(p, g_get_monotonic_time());
	if (!p->terminal) {
		fprintf(stderr, "%s\n", line);
		p->line_us = g_get_monotonic_time();
		return;
	}
	cut = g_utf8_substring(line, 0, MIN(g_utf8_strlen(line, -1), (glong)terminal_width() - 1));
	interrupt_restore_on_kill("\r\033[K" SHOW_CURSOR);
	fprintf(stderr, "%s\r%s\033[K", p->drawn ? "" : HIDE_CURSOR, cut);
	p->drawn = TRUE;
}

static gpointer tick(gpointer data)
{
	Progress *p = data;
	gint64 next = g_get_monotonic_time() + G_TIME_SPAN_SECOND;

	g_mutex_lock(&p->lock);
	while (!p->ending) {
		if (g_cond_wait_until(&p->changed, &p->lock, next))
			continue;
		if (p->drawn)
			draw(p);
		next = g_get_monotonic_time() + G_TIME_SPAN_SECOND;
	}
	g_mutex_unlock(&p->lock);
	return NULL;
}

Progress *progress_new(gboolean quiet)
{
	Progress *p = g_new0(Progress, 1);

	g_mutex_init(&p->lock);
	g_cond_init(&p->changed);
	p->quiet = quiet;
	p->terminal = isatty(STDERR_FILENO) && g_strcmp0(g_getenv("TERM"), "dumb");
	p->fraction = p->eta_us = -1;
	if (p->terminal && !quiet)
		p->ticker = g_thread_new("progress", tick, p);
	return p;
}

void progress_free(Progress *p)
{
	if (!p)
		return;
	g_mutex_lock(&p->lock);
	p->ending = TRUE;
	erase(p);
	g_cond_signal(&p->changed);
	g_mutex_unlock(&p->lock);
	if (p->ticker)
		g_thread_join(p->ticker);
	g_mutex_clear(&p->lock);
	g_cond_clear(&p->changed);
	g_free(p->what);
	g_free(p);
}

/* Whether a plain line is due: a new stage at once, the rest at most every PROGRESS_LINE_S. */
static gboolean due(const Progress *p, gboolean new_stage)
{
	return p->terminal || new_stage ||
	       g_get_monotonic_time() - p->line_us >= PROGRESS_LINE_S * G_TIME_SPAN_SECOND;
}

static void update(Progress *p, const char *what, double fraction, guint done, guint total,
		   gint64 eta_us)
{
	gboolean new_stage;

	g_mutex_lock(&p->lock);
	new_stage = total ? !p->what || !p->total || p->done != done
			  : p->total || g_strcmp0(p->what, what);
	if (total ? !p->total : new_stage)
		p->since_us = g_get_monotonic_time();
	p->since_eta_us = g_get_monotonic_time();
	g_free(p->what);
	p->what = g_strdup(what);
	p->fraction = fraction;
	p->done = done;
	p->total = total;
	p->eta_us = eta_us;
	if (due(p, new_stage))
		draw(p);
	g_mutex_unlock(&p->lock);
}

void progress_stage(Progress *progress, const char *what, double fraction)
{
	update(progress, what, fraction, 0, 0, -1);
}

void progress_boots(Progress *progress, guint done, guint total, const char *what, gint64 eta_us)
{
	update(progress, what ? what : "", -1, done, MAX(total, 1), eta_us);
}

static void stay(Progress *p, const char *text)
{
	g_autofree char *clean = print_clean(text);
	gboolean redraw;

	g_mutex_lock(&p->lock);
	redraw = p->drawn;
	erase(p);
	fprintf(stderr, "%s\n", clean);
	if (redraw)
		draw(p);
	g_mutex_unlock(&p->lock);
}

void progress_note(Progress *progress, const char *text)
{
	if (!progress->quiet)
		stay(progress, text);
}

void progress_clear(Progress *progress)
{
	g_mutex_lock(&progress->lock);
	erase(progress);
	g_mutex_unlock(&progress->lock);
}

void progress_lab(const char *what, double fraction, gpointer progress)
{
	progress_stage(progress, what, fraction);
}

void progress_run(const LabRunEvent *event, gpointer progress)
{
	switch (event->kind) {
	case LAB_EVENT_NOTE:
		progress_note(progress, event->text);
		break;
	case LAB_EVENT_STAGE:
		progress_stage(progress, event->text, event->fraction);
		break;
	case LAB_EVENT_BOOTS:
		progress_boots(progress, event->done, event->total, event->text, event->eta_us);
		break;
	case LAB_EVENT_BOOT_FAILED:
		stay(progress, event->text);
		break;
	}
}
