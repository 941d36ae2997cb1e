/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <json-glib/json-glib.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/base/file.h"
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

void lab_run_refresh(LabRun *run)
{
	run->n_ok = run->n_failed = run->n_missing = 0;
	run->ended_us = 0;
	for (guint i = 0; i < run->plan->boots->len; i++) {
		g_autofree char *dir = lab_run_boot_dir(run, run->plan->boots->pdata[i]);
		g_autoptr(LabBootResult) result = lab_boot_result_read(dir, NULL);

		if (!result)
			run->n_missing++;
		else if (result->outcome == LAB_OUTCOME_OK)
			run->n_ok++;
		else
			run->n_failed++;
		run->ended_us = MAX(run->ended_us, modified_us(dir, "result.json"));
	}
	if (run->n_missing) {
		run->ended_us = 0;
		run->state = run->lock_fd >= 0 || lab_run_is_held(run->dir) ? LAB_RUN_RUNNING
									    : LAB_RUN_PLANNED;
	} else {
		run->state = run->n_failed ? LAB_RUN_FAILED : LAB_RUN_DONE;
	}
}

static gint64 read_started_us(const char *dir)
{
	g_autofree char *path = g_build_filename(dir, "run.json", NULL);
	g_autoptr(JsonParser) parser = json_parser_new_immutable();
	JsonNode *root, *started = NULL;

	if (!json_parser_load_from_file(parser, path, NULL))
		return 0;
	root = json_parser_get_root(parser);
	if (root && JSON_NODE_HOLDS_OBJECT(root))
		started = json_object_get_member(json_node_get_object(root), "started_us");
	return started && json_node_get_value_type(started) == G_TYPE_INT64
		       ? json_node_get_int(started)
		       : 0;
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
	run->started_us = read_started_us(run->dir);
	lab_run_refresh(run);
	return g_steal_pointer(&run);
}
