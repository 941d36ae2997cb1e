// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <libvirt/libvirt.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/base/error.h"

/*
 * The agent ends a step by the guest's clock. The host's limit is for guests that cannot do even
 * that; it only has to be longer than any guest takes that can: an exact one may need tens of host
 * seconds for a second of its own.
 */
#define EXACT_HOST_PER_GUEST 30
#define TCG_HOST_PER_GUEST 3
#define STEP_EXTRA_NS (60 * G_GUINT64_CONSTANT(1000000000))
/* All CPUs of an emulated guest share one or two of the host: 64 of them take minutes to come up. */
#define AGENT_EXTRA_PER_CPU_NS (5 * G_GUINT64_CONSTANT(1000000000))
#define CHUNK 4096

struct LabWatch {
	const LabBootJob *job;
	LabBootProgress progress;
	gpointer data;
	GMainContext *context;
	GPtrArray *sources; /* of GSource */
	GSource *timer;
	int inotify;
	int console_watch, progress_watch;
	int console_fd, progress_fd;
	GString *pending; /* of progress.log, no newline yet */
	LabWatchReport report;
	gboolean ended;
};

/* a * factor + extra, or the largest number there is */
static guint64 scale(guint64 a, guint64 factor, guint64 extra)
{
	guint64 product, sum;

	return g_uint64_checked_mul(&product, a, factor) &&
			       g_uint64_checked_add(&sum, product, extra)
		       ? sum
		       : G_MAXUINT64;
}

guint64 lab_watch_limit_ns(const LabBootJob *job, LabStage stage)
{
	const LabDeadlines *d = &job->deadlines;

	switch (stage) {
	case LAB_STAGE_START:
		return d->first_output_ns;
	case LAB_STAGE_FIRST_OUTPUT:
	case LAB_STAGE_AGENT:
		return scale(d->agent_ns, 1, job->topology->n_cpus * AGENT_EXTRA_PER_CPU_NS);
	case LAB_STAGE_VERIFIED:
	case LAB_STAGE_STEP:
		return scale(d->step_ns,
			     job->clock == LAB_CLOCK_EXACT ? EXACT_HOST_PER_GUEST
							   : TCG_HOST_PER_GUEST,
			     STEP_EXTRA_NS);
	default:
		return d->power_off_ns;
	}
}

const char *lab_stage_name(LabStage stage, const char *step_name)
{
	static const char *const names[] = {
		[LAB_STAGE_START] = "start",	     [LAB_STAGE_FIRST_OUTPUT] = "first-output",
		[LAB_STAGE_AGENT] = "agent",	     [LAB_STAGE_VERIFIED] = "verified",
		[LAB_STAGE_POWER_OFF] = "power-off", [LAB_STAGE_DONE] = "done",
	};

	return stage == LAB_STAGE_STEP ? step_name : names[stage];
}

static void end(LabWatch *watch, LabWatchEnd how)
{
	if (watch->ended)
		return;
	watch->ended = TRUE;
	watch->report.end = how;
}

/* A new stage, or a new step, has the whole of its time before it. */
static void set_deadline(LabWatch *watch, LabStage stage)
{
	guint64 limit_ns = lab_watch_limit_ns(watch->job, stage);

	watch->report.stage = stage;
	watch->report.limit_ns = limit_ns;
	g_source_set_ready_time(watch->timer,
				g_get_monotonic_time() +
					(gint64)MIN(limit_ns / 1000, (guint64)G_MAXINT64 / 2));
}

static void enter(LabWatch *watch, LabStage stage)
{
	set_deadline(watch, stage);
	if (watch->progress)
		watch->progress(lab_stage_name(stage, watch->report.step_name), watch->report.step,
				watch->job->n_steps, watch->data);
}

static gboolean on_timer(gpointer data)
{
	end(data, LAB_WATCH_DEADLINE);
	return G_SOURCE_CONTINUE;
}

static gboolean on_cancelled(GCancellable *cancellable, gpointer data)
{
	end(data, LAB_WATCH_CANCELLED);
	return G_SOURCE_REMOVE;
}

static void on_line(LabWatch *watch, const LabProgressLine *line)
{
	gint64 now = g_get_monotonic_time();
	LabWatchReport *r = &watch->report;

	/* A guest that has gone wrong may send lines in any order: time is only given for going
	 * forward. */
	switch (line->word) {
	case LAB_PROGRESS_AGENT:
	case LAB_PROGRESS_START:
		if (r->stage >= LAB_STAGE_AGENT)
			return;
		r->agent_us = now;
		enter(watch, LAB_STAGE_AGENT);
		break;
	case LAB_PROGRESS_VERIFIED:
		if (r->stage < LAB_STAGE_VERIFIED)
			enter(watch, LAB_STAGE_VERIFIED);
		break;
	case LAB_PROGRESS_STEP_END:
		if (r->stage == LAB_STAGE_STEP && line->step == r->step)
			set_deadline(watch, LAB_STAGE_STEP);
		break;
	case LAB_PROGRESS_STEP:
		if (r->stage > LAB_STAGE_STEP || line->step <= r->step)
			return;
		r->step = line->step;
		g_strlcpy(r->step_name, line->name, sizeof r->step_name);
		enter(watch, LAB_STAGE_STEP);
		break;
	case LAB_PROGRESS_END:
	case LAB_PROGRESS_FAIL:
		if (r->stage >= LAB_STAGE_POWER_OFF)
			return;
		r->steps_end_us = now;
		enter(watch, LAB_STAGE_POWER_OFF);
		break;
	}
}

/* All that is new in progress.log, line by line. */
static void read_progress(LabWatch *watch)
{
	char buffer[CHUNK];
	gssize n;

	while ((n = read(watch->progress_fd, buffer, sizeof buffer)) > 0) {
		char *newline;

		g_string_append_len(watch->pending, buffer, n);
		while ((newline = memchr(watch->pending->str, '\n', watch->pending->len))) {
			gsize length = (gsize)(newline - watch->pending->str);
			LabProgressLine line;

			if (lab_progress_parse(watch->pending->str, length, &line))
				on_line(watch, &line);
			g_string_erase(watch->pending, 0, (gssize)length + 1);
		}
		/* No line of the agent is that long: garbage of a guest gone wrong. */
		if (watch->pending->len > CHUNK)
			g_string_truncate(watch->pending, 0);
	}
}

static void on_console(LabWatch *watch)
{
	struct stat st;

	/* libvirt truncates the file when it opens it, which counts as a change. */
	if (fstat(watch->console_fd, &st) == 0 && st.st_size == 0)
		return;
	if (watch->report.stage == LAB_STAGE_START) {
		watch->report.first_output_us = g_get_monotonic_time();
		enter(watch, LAB_STAGE_FIRST_OUTPUT);
	}
	/* QEMU writes byte by byte: to be woken for each would take the guest's CPU time. */
	inotify_rm_watch(watch->inotify, watch->console_watch);
	watch->console_watch = -1;
}

static gboolean on_inotify(gint fd, GIOCondition condition, gpointer data)
{
	char buffer[CHUNK] __attribute__((aligned(__alignof__(struct inotify_event))));
	LabWatch *watch = data;
	gboolean progress = FALSE;
	gssize n;

	while ((n = read(fd, buffer, sizeof buffer)) > 0)
		for (const char *p = buffer; p < buffer + n;) {
			const struct inotify_event *event = (const struct inotify_event *)p;

			if (event->wd == watch->console_watch && event->mask & IN_MODIFY)
				on_console(watch);
			progress |=
				event->wd == watch->progress_watch || event->mask & IN_Q_OVERFLOW;
			p += sizeof *event + event->len;
		}
	if (progress)
		read_progress(watch);
	return G_SOURCE_CONTINUE;
}

static void attach(LabWatch *watch, GSource *source, GSourceFunc callback)
{
	g_source_set_callback(source, callback, watch, NULL);
	g_source_attach(source, watch->context);
	g_ptr_array_add(watch->sources, source);
}

static gboolean open_files(LabWatch *watch, const char *dir, GError **error)
{
	g_autofree char *console = g_build_filename(dir, "console.log", NULL);
	g_autofree char *progress = g_build_filename(dir, "progress.log", NULL);

	watch->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (watch->inotify >= 0) {
		watch->console_watch = inotify_add_watch(watch->inotify, console, IN_MODIFY);
		watch->progress_watch = inotify_add_watch(watch->inotify, progress, IN_MODIFY);
		watch->console_fd = open(console, O_RDONLY | O_CLOEXEC);
		watch->progress_fd = open(progress, O_RDONLY | O_CLOEXEC);
	}
	if (watch->inotify >= 0 && watch->console_watch >= 0 && watch->progress_watch >= 0 &&
	    watch->console_fd >= 0 && watch->progress_fd >= 0)
		return TRUE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA, "cannot watch %s: %s%s", console,
		    g_strerror(errno),
		    errno == EMFILE || errno == ENOSPC
			    ? " (see sysctl fs.inotify.max_user_instances and max_user_watches)"
			    : "");
	return FALSE;
}

LabWatch *lab_watch_new(const LabBootJob *job, const char *dir, LabBootProgress progress,
			gpointer data, GCancellable *cancellable, GError **error)
{
	g_autoptr(LabWatch) watch = g_new0(LabWatch, 1);

	watch->job = job;
	watch->progress = progress;
	watch->data = data;
	watch->inotify = watch->console_fd = watch->progress_fd = -1;
	watch->context = g_main_context_new();
	watch->sources = g_ptr_array_new_with_free_func((GDestroyNotify)g_source_unref);
	watch->pending = g_string_new(NULL);
	if (!open_files(watch, dir, error))
		return NULL;
	attach(watch, g_unix_fd_source_new(watch->inotify, G_IO_IN), G_SOURCE_FUNC(on_inotify));
	/* Has a ready time only once lab_watch_run() has set it. */
	watch->timer = g_timeout_source_new(G_MAXUINT);
	g_source_set_ready_time(watch->timer, -1);
	attach(watch, watch->timer, on_timer);
	if (cancellable)
		attach(watch, g_cancellable_source_new(cancellable), G_SOURCE_FUNC(on_cancelled));
	return g_steal_pointer(&watch);
}

typedef struct {
	LabWatch *watch;
	LabWatchEnd end;
} Stopped;

static gboolean on_stopped(gpointer data)
{
	Stopped *stopped = data;

	/* The last lines may have come without their event being seen yet. */
	read_progress(stopped->watch);
	end(stopped->watch, stopped->end);
	return G_SOURCE_REMOVE;
}

static void tell(LabWatch *watch, LabWatchEnd how)
{
	Stopped *stopped = g_new(Stopped, 1);
	g_autoptr(GSource) source = g_idle_source_new();

	*stopped = (Stopped){watch, how};
	g_source_set_callback(source, on_stopped, stopped, g_free);
	g_source_attach(source, watch->context);
}

void lab_watch_stopped(LabWatch *watch, int detail)
{
	tell(watch,
	     detail == VIR_DOMAIN_EVENT_STOPPED_SHUTDOWN ? LAB_WATCH_SHUTDOWN : LAB_WATCH_GONE);
}

void lab_watch_paused(LabWatch *watch)
{
	tell(watch, LAB_WATCH_PAUSED);
}

void lab_watch_lost(LabWatch *watch)
{
	tell(watch, LAB_WATCH_LOST);
}

void lab_watch_run(LabWatch *watch, LabWatchReport *report)
{
	enter(watch, LAB_STAGE_START);
	while (!watch->ended)
		g_main_context_iteration(watch->context, TRUE);
	*report = watch->report;
}

void lab_watch_free(LabWatch *watch)
{
	if (!watch)
		return;
	for (guint i = 0; i < watch->sources->len; i++)
		g_source_destroy(g_ptr_array_index(watch->sources, i));
	g_ptr_array_unref(watch->sources);
	g_main_context_unref(watch->context);
	if (watch->inotify >= 0)
		close(watch->inotify);
	if (watch->console_fd >= 0)
		close(watch->console_fd);
	if (watch->progress_fd >= 0)
		close(watch->progress_fd);
	g_string_free(watch->pending, TRUE);
	g_free(watch);
}
