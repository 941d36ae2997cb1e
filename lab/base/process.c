/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/base/process.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/base/error.h"

void lab_process_result_clear(LabProcessResult *result)
{
	g_clear_pointer(&result->out, g_free);
	g_clear_pointer(&result->err, g_free);
}

void lab_process_child_setup(gpointer unused)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

typedef struct {
	GSubprocess *child;
	GMainLoop *loop;
	gboolean timed_out, interrupted;
	gboolean done;
	GBytes *out, *err;
	GError *error;
	const LabProcessOptions *options;
	guint pending; /* of stdout's end, stderr's end and the child's */
	GDataInputStream *lines;
	GOutputStream *said;
} Wait;

static GCancellable *interrupt;

void lab_process_set_cancellable(GCancellable *cancellable)
{
	g_set_object(&interrupt, cancellable);
}

static void kill_group(Wait *w)
{
	const char *id = g_subprocess_get_identifier(w->child);

	if (id)
		kill(-(pid_t)g_ascii_strtoll(id, NULL, 10), SIGKILL);
}

static gboolean on_timeout(gpointer data)
{
	Wait *w = data;

	w->timed_out = TRUE;
	kill_group(w);
	return G_SOURCE_REMOVE;
}

static gboolean on_interrupt(GCancellable *cancellable, gpointer data)
{
	Wait *w = data;

	w->interrupted = TRUE;
	kill_group(w);
	return G_SOURCE_REMOVE;
}

static void on_done(GObject *source, GAsyncResult *result, gpointer data)
{
	Wait *w = data;

	g_subprocess_communicate_finish(w->child, result, &w->out, &w->err, &w->error);
	w->done = TRUE;
	g_main_loop_quit(w->loop);
}

/* ---- with its lines as they come ---- */

static void one_done(Wait *w)
{
	if (--w->pending)
		return;
	w->err = g_memory_output_stream_steal_as_bytes(G_MEMORY_OUTPUT_STREAM(w->said));
	g_clear_object(&w->lines);
	g_clear_object(&w->said);
	w->done = TRUE;
	g_main_loop_quit(w->loop);
}

static void on_line(GObject *source, GAsyncResult *result, gpointer data)
{
	Wait *w = data;
	g_autofree char *line = g_data_input_stream_read_line_finish(w->lines, result, NULL, NULL);

	if (!line) {
		one_done(w);
		return;
	}
	w->options->line(line, w->options->line_data);
	g_data_input_stream_read_line_async(w->lines, G_PRIORITY_DEFAULT, NULL, on_line, w);
}

static void on_said(GObject *source, GAsyncResult *result, gpointer data)
{
	g_output_stream_splice_finish(G_OUTPUT_STREAM(source), result, NULL);
	one_done(data);
}

static void on_ended(GObject *source, GAsyncResult *result, gpointer data)
{
	g_subprocess_wait_finish(G_SUBPROCESS(source), result, NULL);
	one_done(data);
}

static void follow_lines(Wait *w)
{
	w->pending = 3;
	w->lines = g_data_input_stream_new(g_subprocess_get_stdout_pipe(w->child));
	w->said = g_memory_output_stream_new_resizable();
	g_data_input_stream_read_line_async(w->lines, G_PRIORITY_DEFAULT, NULL, on_line, w);
	g_output_stream_splice_async(w->said, g_subprocess_get_stderr_pipe(w->child),
				     G_OUTPUT_STREAM_SPLICE_CLOSE_TARGET, G_PRIORITY_DEFAULT, NULL,
				     on_said, w);
	g_subprocess_wait_async(w->child, NULL, on_ended, w);
}

static char *to_string(GBytes *bytes, gsize *length)
{
	gsize n = 0;
	const char *data = bytes ? g_bytes_get_data(bytes, &n) : NULL;
	char *text = g_malloc(n + 1);

	if (n)
		memcpy(text, data, n);
	text[n] = 0;
	if (length)
		*length = n;
	return text;
}

gboolean lab_process_run(const char *const *argv, const LabProcessOptions *options,
			 LabProcessResult *result, GError **error)
{
	static const LabProcessOptions none;
	const LabProcessOptions *o = options ? options : &none;
	g_autoptr(GMainContext) context = g_main_context_new();
	g_autoptr(GMainLoop) loop = g_main_loop_new(context, FALSE);
	g_autoptr(GSubprocessLauncher) launcher = g_subprocess_launcher_new(
		G_SUBPROCESS_FLAGS_STDERR_PIPE |
		(o->stdout_path ? 0 : G_SUBPROCESS_FLAGS_STDOUT_PIPE) |
		(o->input ? G_SUBPROCESS_FLAGS_STDIN_PIPE : 0));
	g_autoptr(GBytes) input = o->input ? g_bytes_new_static(o->input, strlen(o->input)) : NULL;
	g_autoptr(GError) local = NULL;
	Wait w = {.loop = loop, .options = o};

	g_subprocess_launcher_setenv(launcher, "LC_ALL", "C", TRUE);
	for (const char *const *e = o->environment; e && *e; e++) {
		g_auto(GStrv) pair = g_strsplit(*e, "=", 2);

		g_subprocess_launcher_setenv(launcher, pair[0], pair[1], TRUE);
	}
	if (o->cwd)
		g_subprocess_launcher_set_cwd(launcher, o->cwd);
	if (o->stdout_path)
		g_subprocess_launcher_set_stdout_file_path(launcher, o->stdout_path);
	g_subprocess_launcher_set_child_setup(launcher, lab_process_child_setup, NULL, NULL);

	g_main_context_push_thread_default(context);
	w.child = g_subprocess_launcher_spawnv(launcher, argv, &local);
	if (w.child) {
		g_autoptr(GSource) timer = NULL;
		g_autoptr(GSource) stop = NULL;

		if (interrupt) {
			stop = g_cancellable_source_new(interrupt);
			g_source_set_callback(stop, G_SOURCE_FUNC(on_interrupt), &w, NULL);
			g_source_attach(stop, context);
		}
		if (o->timeout_us) {
			timer = g_timeout_source_new((guint)MIN(o->timeout_us / 1000, G_MAXUINT));
			g_source_set_callback(timer, on_timeout, &w, NULL);
			g_source_attach(timer, context);
		}
		if (o->line)
			follow_lines(&w);
		else
			g_subprocess_communicate_async(w.child, input, NULL, on_done, &w);
		while (!w.done)
			g_main_loop_run(loop);
		if (timer)
			g_source_destroy(timer);
		if (stop)
			g_source_destroy(stop);
		g_subprocess_wait(w.child, NULL, NULL);
	}
	g_main_context_pop_thread_default(context);

	if (!w.child) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "cannot start %s: %s", argv[0],
			    local->message);
		return FALSE;
	}
	g_autoptr(GBytes) out = w.out, err = w.err;
	g_autoptr(GSubprocess) child = w.child;

	if (w.interrupted) {
		g_clear_error(&w.error);
		g_set_error(error, LAB_ERROR, LAB_ERROR_INTERRUPTED, "interrupted; %s was ended",
			    argv[0]);
		return FALSE;
	}
	if (w.timed_out) {
		g_clear_error(&w.error);
		g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
			    "%s did not end within %" G_GUINT64_FORMAT " s and was killed", argv[0],
			    o->timeout_us / 1000000);
		return FALSE;
	}
	if (w.error) {
		/* A child that closes stdin early (EPIPE) still ends with a status. */
		g_clear_error(&w.error);
	}
	result->exit_status = g_subprocess_get_if_exited(child) ? g_subprocess_get_exit_status(child) : -1;
	result->signal = g_subprocess_get_if_signaled(child) ? g_subprocess_get_term_sig(child) : 0;
	result->out = o->stdout_path ? NULL : to_string(out, &result->out_length);
	result->err = to_string(err, NULL);
	return TRUE;
}

/* The last three lines of what a child said on stderr, in one line. */
static char *last_lines(const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	g_autoptr(GPtrArray) kept = g_ptr_array_new();

	for (guint n = g_strv_length(lines); n > 0 && kept->len < 3; n--)
		if (*g_strstrip(lines[n - 1]))
			g_ptr_array_insert(kept, 0, lines[n - 1]);
	g_ptr_array_add(kept, NULL);
	return g_strjoinv("; ", (char **)kept->pdata);
}

gboolean lab_process_check(const char *const *argv, const LabProcessOptions *options, char **out,
			   GError **error)
{
	g_auto(LabProcessResult) result = {0};
	g_autofree char *last = NULL;

	if (!lab_process_run(argv, options, &result, error))
		return FALSE;
	if (result.exit_status == 0) {
		if (out)
			*out = g_steal_pointer(&result.out);
		return TRUE;
	}
	last = last_lines(result.err);
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "%s failed (%s %d): %s", argv[0],
		    result.signal ? "signal" : "exit",
		    result.signal ? result.signal : result.exit_status, last);
	return FALSE;
}
