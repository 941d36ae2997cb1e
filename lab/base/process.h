/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one place where children are started: argv as an array and never through a shell, stdin from
 * /dev/null, LC_ALL=C, own process group, SIGKILL when the parent dies.
 */
#pragma once
#include <gio/gio.h>

/** struct LabProcessResult - how a child ended, and what it said */
typedef struct {
	int exit_status; /* of exit(), or -1 */
	int signal;	 /* that ended it, or 0 */
	char *out;	 /* stdout, NUL-terminated; NULL when sent to a file */
	gsize out_length;
	char *err; /* stderr, NUL-terminated */
} LabProcessResult;

void lab_process_result_clear(LabProcessResult *result);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LabProcessResult, lab_process_result_clear)

/** struct LabProcessOptions - all optional; zero-initialise */
typedef struct {
	const char *cwd;
	const char *stdout_path;	 /* created or truncated; else captured */
	const char *const *environment; /* NULL-terminated "K=V", added to the parent's */
	guint64 timeout_us;		 /* 0: none; at the end the group gets SIGKILL, error INFRA */
	const char *input;		 /* stdin; NULL: /dev/null */
	/* (nullable): called for each line of stdout as it comes, which is not kept then; not with stdout_path or input */
	void (*line)(const char *line, gpointer data);
	gpointer line_data;
} LabProcessOptions;

/**
 * lab_process_run() - run to the end and collect
 * @options: (nullable)
 * @error: a child that cannot be started, or ran out of time: LAB_ERROR_INFRA naming argv[0].
 *         A child that fails is no error here: look at @result.
 */
gboolean lab_process_run(const char *const *argv, const LabProcessOptions *options,
			 LabProcessResult *result, GError **error);

/**
 * lab_process_check() - as lab_process_run(), but exit status other than 0 is LAB_ERROR_INFRA
 *                       ("apt-get download failed (exit 100): <last lines of stderr>")
 * @out: (out) (optional): stdout; free with g_free()
 */
gboolean lab_process_check(const char *const *argv, const LabProcessOptions *options, char **out,
			   GError **error);

/** lab_process_child_setup() - GSpawnChildSetupFunc with the rules above (group, death signal), for GSubprocessLauncher */
void lab_process_child_setup(gpointer unused);

/**
 * lab_process_set_cancellable() - end all children, of all threads, when it is cancelled: lab_process_run() then fails with
 *                                 LAB_ERROR_INTERRUPTED, at once for later children too
 * @cancellable: (nullable): kept; for the whole process, by its main(), before threads are started
 */
void lab_process_set_cancellable(GCancellable *cancellable);
