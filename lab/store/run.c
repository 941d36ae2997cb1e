/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/base/json.h"
#include "lab/base/json_writer.h"
#include "lab/guest/boot.h"
#include "lab/store/internal.h"

const char *lab_run_state_name(LabRunState state)
{
	static const char *const names[] = {"planned", "running", "done", "failed"};

	return names[state];
}

void lab_run_unlock(LabRun *run)
{
	if (run->lock_fd >= 0)
		close(run->lock_fd);
	run->lock_fd = -1;
}

void lab_run_free(LabRun *run)
{
	if (!run)
		return;
	lab_run_unlock(run);
	g_free(run->dir);
	lab_plan_free(run->plan);
	g_free(run);
}

char *lab_run_boot_dir(const LabRun *run, const LabPlanBoot *boot)
{
	return g_build_filename(run->dir, "boots", boot->id, NULL);
}

/*
 * A lock of the open file (F_OFD_SETLK): held until the last descriptor of it is closed, so to the
 * death of its process, and unlike one of flock() it can be asked for without being taken, so that
 * looking at a run never keeps another process from resuming it.
 */
static int open_lock(const char *dir, int flags)
{
	g_autofree char *path = g_build_filename(dir, "lock", NULL);

	return open(path, flags | O_CLOEXEC, 0644);
}

gboolean lab_run_lock(LabRun *run)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = open_lock(run->dir, O_RDWR | O_CREAT);

	if (fd < 0)
		return FALSE;
	if (fcntl(fd, F_OFD_SETLK, &lock) < 0) {
		int saved = errno;

		close(fd);
		errno = saved;
		return FALSE;
	}
	/* For people; nothing reads it. */
	if (ftruncate(fd, 0) < 0 || dprintf(fd, "%d\n", (int)getpid()) < 0)
		g_debug("%s: %s", run->dir, g_strerror(errno));
	run->lock_fd = fd;
	return TRUE;
}

gboolean lab_run_is_held(const char *dir)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = open_lock(dir, O_RDONLY);
	gboolean held;

	if (fd < 0)
		return FALSE;
	held = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
	close(fd);
	return held;
}

static gint64 modified_us(const char *dir, const char *name)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	struct stat st;

	if (stat(path, &st) < 0)
		return 0;
	return (gint64)st.st_mtim.tv_sec * G_USEC_PER_SEC + st.st_mtim.tv_nsec / 1000;
}

/* A time of run.json; 0 when it is not there. */
static gint64 recorded_us(const char *dir, const char *name)
{
	g_autofree char *path = g_build_filename(dir, "run.json", NULL);
	g_autoptr(JsonObject) object = lab_json_read(path, LAB_ERROR_INFRA, NULL);
	JsonNode *time = object ? json_object_get_member(object, name) : NULL;

	return time && json_node_get_value_type(time) == G_TYPE_INT64 ? json_node_get_int(time) : 0;
}

gboolean lab_run_record_times(const LabRun *run, GError **error)
{
	g_autofree char *path = g_build_filename(run->dir, "run.json", NULL);
	g_autoptr(GDateTime) started =
		g_date_time_new_from_unix_utc(run->started_us / G_USEC_PER_SEC);
	g_autofree char *date = g_date_time_format_iso8601(started);
	g_autoptr(LabJsonWriter) w = lab_json_writer_new();
	g_autofree char *text = NULL;

	lab_json_writer_object(w, NULL, LAB_JSON_BLOCK);
	lab_json_writer_uint(w, "id", run->id);
	lab_json_writer_string(w, "started", date);
	lab_json_writer_uint(w, "started_us", (guint64)run->started_us);
	lab_json_writer_uint(w, "ended_us", (guint64)run->ended_us);
	lab_json_writer_end(w);
	text = lab_json_writer_text(w);
	return lab_file_write(path, text, -1, error);
}

void lab_run_refresh(LabRun *run)
{
	gint64 newest_us = 0;

	run->n_ok = run->n_failed = run->n_missing = 0;
	for (guint i = 0; i < run->plan->boots->len; i++) {
		g_autofree char *dir = lab_run_boot_dir(run, run->plan->boots->pdata[i]);
		g_autoptr(LabBootResult) result = lab_boot_result_read(dir, NULL);

		if (!result)
			run->n_missing++;
		else if (result->outcome == LAB_OUTCOME_OK)
			run->n_ok++;
		else
			run->n_failed++;
		newest_us = MAX(newest_us, modified_us(dir, "result.json"));
	}
	if (run->n_missing) {
		run->ended_us = 0;
		run->state = run->lock_fd >= 0 || lab_run_is_held(run->dir) ? LAB_RUN_RUNNING
									    : LAB_RUN_PLANNED;
		return;
	}
	/* A copy of a run has new times of modification. */
	run->ended_us = recorded_us(run->dir, "ended_us");
	if (!run->ended_us)
		run->ended_us = newest_us;
	run->state = run->n_failed ? LAB_RUN_FAILED : LAB_RUN_DONE;
}

LabRun *lab_run_open(const char *runs_dir, guint id, GError **error)
{
	g_autoptr(LabRun) run = g_new0(LabRun, 1);
	g_autofree char *name = g_strdup_printf("%u", id);
	g_autofree char *path = g_build_filename(runs_dir, name, "plan.json", NULL);
	g_autofree char *json = lab_file_read(path, NULL, error);

	run->lock_fd = -1;
	if (!json)
		return NULL;
	run->id = id;
	run->dir = g_build_filename(runs_dir, name, NULL);
	run->plan = lab_plan_from_json(json, error);
	if (!run->plan) {
		g_prefix_error(error, "%s: ", path);
		return NULL;
	}
	run->started_us = recorded_us(run->dir, "started_us");
	lab_run_refresh(run);
	return g_steal_pointer(&run);
}
