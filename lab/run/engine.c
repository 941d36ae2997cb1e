/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/run/engine.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lab/base/error.h"
#include "lab/base/paths.h"
#include "lab/base/process.h"

typedef struct Engine Engine;

typedef struct {
	Engine *engine;
	guint index;
	GSubprocess *child;
	GDataInputStream *lines;
	char *stage;
	guint pending; /* async operations that still hold this slot */
} Slot;

struct Engine {
	const LabEngineBoot *boots;
	guint n_boots, at_once;
	guint next, running, ended;
	const LabRunOptions *options;
	LabEngineDone done;
	gpointer data;
	GMainLoop *loop;
	GCancellable *lines_cancellable;
	GPtrArray *slots; /* running, of Slot */
	gint64 started_us;
	gboolean stopping;
	GError *error;
};

static void report(Engine *e)
{
	g_autoptr(GString) text = g_string_new(NULL);
	gint64 eta = -1;

	for (guint i = 0; i < e->slots->len; i++) {
		Slot *s = g_ptr_array_index(e->slots, i);

		g_string_append_printf(text, "%s%s  %s", text->len ? ", " : "",
				       e->boots[s->index].label, s->stage ? s->stage : "start");
	}
	if (e->ended)
		eta = (g_get_monotonic_time() - e->started_us) / e->ended * (e->n_boots - e->ended);
	LabRunEvent event = {.kind = LAB_EVENT_BOOTS,
			     .text = text->str,
			     .done = e->ended,
			     .total = e->n_boots,
			     .fraction = (double)e->ended / e->n_boots,
			     .eta_us = eta};
	if (e->options->notify)
		e->options->notify(&event, e->options->data);
}

static void stop(Engine *e)
{
	e->stopping = TRUE;
	for (guint i = 0; i < e->slots->len; i++)
		g_subprocess_send_signal(((Slot *)g_ptr_array_index(e->slots, i))->child, SIGTERM);
}

static void start_more(Engine *e);

/* What a boot's process, now ended, had written to stderr. */
static char *said(Slot *s)
{
	char buffer[4096];
	gsize n = 0;

	g_input_stream_read_all(g_subprocess_get_stderr_pipe(s->child), buffer, sizeof buffer - 1,
				&n, NULL, NULL);
	buffer[n] = 0;
	return g_strdup(g_strchomp(buffer));
}

static void release(Slot *s)
{
	Engine *e = s->engine;
	g_autofree char *text = NULL;

	if (--s->pending)
		return;
	text = said(s);
	g_ptr_array_remove(e->slots, s);
	e->running--;
	e->ended++;
	if (!e->stopping && e->done && !e->done(s->index, text, e->data, &e->error))
		stop(e);
	g_clear_object(&s->child);
	g_clear_object(&s->lines);
	g_free(s->stage);
	g_free(s);
	start_more(e);
	report(e);
	if (!e->running)
		g_main_loop_quit(e->loop);
}

static void on_child_exit(GObject *source, GAsyncResult *result, gpointer data)
{
	g_subprocess_wait_finish(G_SUBPROCESS(source), result, NULL);
	release(data);
}

/* "stage NAME STEP N" */
static void on_line(GObject *source, GAsyncResult *result, gpointer data)
{
	Slot *s = data;
	g_autofree char *line =
		g_data_input_stream_read_line_finish_utf8(s->lines, result, NULL, NULL);

	if (!line) {
		release(s);
		return;
	}
	if (g_str_has_prefix(line, "stage ")) {
		g_auto(GStrv) words = g_strsplit(line + strlen("stage "), " ", 2);

		g_free(s->stage);
		s->stage = g_strdup(words[0]);
		report(s->engine);
	}
	g_data_input_stream_read_line_async(s->lines, G_PRIORITY_DEFAULT, NULL, on_line, s);
}

static gboolean start_one(Engine *e, guint index, GError **error)
{
	g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new(
		G_SUBPROCESS_FLAGS_STDOUT_PIPE | G_SUBPROCESS_FLAGS_STDERR_PIPE);
	g_autofree char *self = lab_path_self();
	const char *argv[] = {self, "boot", e->boots[index].dir, NULL};
	GSubprocess *child;
	Slot *s;

	g_subprocess_launcher_set_child_setup(launcher, lab_process_child_setup, NULL, NULL);
	child = g_subprocess_launcher_spawnv(launcher, argv, error);
	if (!child)
		return FALSE;
	s = g_new0(Slot, 1);
	s->engine = e;
	s->index = index;
	s->child = child;
	s->lines = g_data_input_stream_new(g_subprocess_get_stdout_pipe(child));
	s->pending = 2;
	g_ptr_array_add(e->slots, s);
	e->running++;
	g_subprocess_wait_async(child, NULL, on_child_exit, s);
	g_data_input_stream_read_line_async(s->lines, G_PRIORITY_DEFAULT, NULL, on_line, s);
	return TRUE;
}

static void start_more(Engine *e)
{
	while (!e->stopping && e->next < e->n_boots && e->running < e->at_once)
		if (!start_one(e, e->next++, &e->error))
			stop(e);
}

static gboolean on_cancelled(GCancellable *cancellable, gpointer data)
{
	stop(data);
	return G_SOURCE_REMOVE;
}

gboolean lab_engine_run(const LabEngineBoot *boots, guint n_boots, guint at_once,
			const LabRunOptions *options, LabEngineDone done, gpointer data,
			GError **error)
{
	g_autoptr(GMainContext) context = g_main_context_new();
	g_autoptr(GMainLoop) loop = g_main_loop_new(context, FALSE);
	g_autoptr(GPtrArray) slots = g_ptr_array_new();
	g_autoptr(GSource) cancel = NULL;
	Engine e = {.boots = boots,
		    .n_boots = n_boots,
		    .at_once = MAX(at_once, 1),
		    .options = options,
		    .done = done,
		    .data = data,
		    .loop = loop,
		    .slots = slots,
		    .started_us = g_get_monotonic_time()};

	if (!n_boots)
		return TRUE;
	g_main_context_push_thread_default(context);
	if (options->cancellable) {
		cancel = g_cancellable_source_new(options->cancellable);
		g_source_set_callback(cancel, G_SOURCE_FUNC(on_cancelled), &e, NULL);
		g_source_attach(cancel, context);
	}
	start_more(&e);
	report(&e);
	if (e.running)
		g_main_loop_run(loop);
	if (cancel)
		g_source_destroy(cancel);
	g_main_context_pop_thread_default(context);

	if (e.error) {
		g_propagate_error(error, e.error);
		return FALSE;
	}
	if (options->cancellable && g_cancellable_is_cancelled(options->cancellable)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INTERRUPTED, "interrupted");
		return FALSE;
	}
	return TRUE;
}

guint lab_engine_at_once(LabClock clock, guint64 guest_bytes, guint n_cpus, guint64 free_bytes)
{
	guint64 fit = guest_bytes ? free_bytes / guest_bytes : n_cpus;

	/* Only instruction-counted guests cannot disturb each other. */
	if (clock != LAB_CLOCK_EXACT)
		return 1;
	return CLAMP(n_cpus, 1, MAX((guint)MIN(fit, 4096), 1));
}
