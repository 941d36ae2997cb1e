/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/cache.h"

#include <check.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/guest/capabilities.h"

static char *top, *root;

static void setup(void)
{
	top = g_dir_make_tmp("numalab-test-cache-XXXXXX", NULL);
	ck_assert_ptr_nonnull(top);
	root = g_build_filename(top, "cache", NULL);
}

static void teardown(void)
{
	lab_dir_remove(top, NULL);
	g_clear_pointer(&top, g_free);
	g_clear_pointer(&root, g_free);
}

static LabCache *open_cache(void)
{
	g_autoptr(GError) error = NULL;
	LabCache *cache = lab_cache_open(root, &error);

	ck_assert_msg(cache != NULL, "%s", error ? error->message : "no error set");
	return cache;
}

static gboolean make_hello(const char *dir, gpointer data, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "hello", NULL);
	g_autoptr(GDir) open = g_dir_open(dir, 0, NULL);

	ck_assert_ptr_nonnull(open);
	ck_assert_ptr_null(g_dir_read_name(open));
	++*(guint *)data;
	return lab_file_write(path, "hello", -1, error);
}

static gboolean make_failure(const char *dir, gpointer data, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "half", NULL);

	ck_assert(lab_file_write(path, "half", -1, NULL));
	g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "no such thing");
	return FALSE;
}

static guint entries_in(const char *kind)
{
	g_autofree char *dir = g_build_filename(root, kind, NULL);
	g_autoptr(GDir) open = g_dir_open(dir, 0, NULL);
	const char *name;
	guint n = 0;

	while (open && (name = g_dir_read_name(open)))
		n += !g_str_has_suffix(name, ".lock");
	return n;
}

START_TEST(made_once)
{
	g_autoptr(LabCache) cache = open_cache();
	g_autofree char *first = NULL, *second = NULL, *text = NULL, *file = NULL;
	gboolean made = FALSE;
	guint calls = 0;

	ck_assert_ptr_null(lab_cache_lookup(cache, "thing", "k1"));
	first = lab_cache_get(cache, "thing", "k1", make_hello, &calls, &made, NULL);
	ck_assert_ptr_nonnull(first);
	ck_assert(made);
	second = lab_cache_get(cache, "thing", "k1", make_hello, &calls, &made, NULL);
	ck_assert_str_eq(first, second);
	ck_assert(!made);
	ck_assert_uint_eq(calls, 1);
	file = g_build_filename(first, "hello", NULL);
	text = lab_file_read(file, NULL, NULL);
	ck_assert_str_eq(text, "hello");
	ck_assert_uint_eq(entries_in("thing"), 1);
}
END_TEST

START_TEST(failure_leaves_nothing)
{
	g_autoptr(LabCache) cache = open_cache();
	g_autoptr(GError) error = NULL;
	gboolean made = 7;

	ck_assert_ptr_null(lab_cache_get(cache, "thing", "k", make_failure, NULL, &made, &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_USER));
	ck_assert_str_eq(error->message, "no such thing");
	ck_assert_int_eq(made, 7);
	ck_assert_uint_eq(entries_in("thing"), 0);
	ck_assert_ptr_null(lab_cache_lookup(cache, "thing", "k"));
}
END_TEST

/* As make_hello(), and leaves a line in a file outside of the entry. */
static gboolean make_counted(const char *dir, gpointer data, GError **error)
{
	int fd = open(data, O_WRONLY | O_CREAT | O_APPEND, 0644);
	guint calls = 0;

	ck_assert_int_eq(write(fd, "x", 1), 1);
	close(fd);
	return make_hello(dir, &calls, error);
}

START_TEST(race)
{
	enum { N = 12 };
	g_autofree char *log = g_build_filename(top, "log", NULL);
	g_autofree char *lines = NULL;
	int gate[2], ours = 0;
	pid_t pids[N];

	ck_assert_int_eq(pipe(gate), 0);
	for (int i = 0; i < N; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			g_autoptr(LabCache) cache = NULL;
			g_autofree char *path = NULL;
			gboolean made = FALSE;
			char c;

			prctl(PR_SET_PDEATHSIG, SIGKILL);
			close(gate[1]);
			/* All start when the parent closes the gate; opening races, too. */
			if (read(gate[0], &c, 1) != 0)
				_exit(2);
			cache = lab_cache_open(root, NULL);
			path = cache ? lab_cache_get(cache, "thing", "k", make_counted, log, &made,
						     NULL)
				     : NULL;
			if (!path || !g_file_test(path, G_FILE_TEST_IS_DIR))
				_exit(3);
			_exit(made ? 1 : 0);
		}
	}
	close(gate[0]);
	close(gate[1]);
	for (int i = 0; i < N; i++) {
		int status;

		ck_assert_int_eq(waitpid(pids[i], &status, 0), pids[i]);
		ck_assert(WIFEXITED(status));
		ck_assert_int_le(WEXITSTATUS(status), 1);
		ours += WEXITSTATUS(status);
	}
	ck_assert_int_eq(ours, 1);
	lines = lab_file_read(log, NULL, NULL);
	ck_assert_str_eq(lines, "x");
}
END_TEST

static gboolean make_and_die(const char *dir, gpointer data, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "half", NULL);

	lab_file_write(path, "half", -1, NULL);
	raise(SIGKILL);
	return FALSE;
}

static void leave_unfinished(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		g_autoptr(LabCache) cache = open_cache();

		lab_cache_get(cache, "thing", "k", make_and_die, NULL, NULL, NULL);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
}

START_TEST(killed_maker)
{
	g_autoptr(LabCache) cache = open_cache();
	g_autofree char *path = NULL;
	g_auto(GStrv) keys = NULL;
	guint calls = 0;

	leave_unfinished();
	ck_assert_ptr_null(lab_cache_lookup(cache, "thing", "k"));
	keys = lab_cache_list(cache, "thing");
	ck_assert_uint_eq(g_strv_length(keys), 0);
	/* make_hello() checks that it starts from an empty directory */
	path = lab_cache_get(cache, "thing", "k", make_hello, &calls, NULL, NULL);
	ck_assert_ptr_nonnull(path);
	ck_assert_uint_eq(entries_in("thing"), 1);
}
END_TEST

START_TEST(clean)
{
	g_autoptr(LabCache) cache = open_cache();
	g_autofree char *kept = NULL, *busy = NULL;
	g_auto(GStrv) keys = NULL;
	g_autoptr(GError) error = NULL;
	guint calls = 0;
	guint64 freed;
	int lock;

	leave_unfinished();
	kept = lab_cache_get(cache, "thing", "kept", make_hello, &calls, NULL, NULL);
	busy = lab_cache_get(cache, "thing", "busy", make_hello, &calls, NULL, NULL);
	freed = lab_cache_clean(cache, FALSE, TRUE, &error);
	ck_assert_uint_eq(entries_in("thing"), 3);
	ck_assert_uint_eq(lab_cache_clean(cache, FALSE, FALSE, &error), freed);
	ck_assert_ptr_null(error);
	ck_assert_uint_gt(freed, 0);
	ck_assert_uint_eq(entries_in("thing"), 2);
	ck_assert_uint_eq(lab_cache_clean(cache, FALSE, FALSE, NULL), 0);

	keys = lab_cache_list(cache, "thing");
	ck_assert_uint_eq(g_strv_length(keys), 2);
	ck_assert_str_eq(keys[0], "busy");
	ck_assert_str_eq(keys[1], "kept");

	lock = lab_cache_lock(cache, "thing", "busy", NULL);
	ck_assert_int_ge(lock, 0);
	ck_assert_uint_gt(lab_cache_clean(cache, TRUE, FALSE, &error), 0);
	ck_assert_ptr_null(error);
	ck_assert(g_file_test(busy, G_FILE_TEST_IS_DIR));
	ck_assert(!g_file_test(kept, G_FILE_TEST_EXISTS));
	close(lock);
	lab_cache_clean(cache, TRUE, FALSE, &error);
	ck_assert(!g_file_test(busy, G_FILE_TEST_EXISTS));
	/* and it is still a cache */
	g_free(kept);
	kept = lab_cache_get(cache, "thing", "kept", make_hello, &calls, NULL, NULL);
	ck_assert_ptr_nonnull(kept);
}
END_TEST

START_TEST(waits_for_lock_that_was_cleaned)
{
	g_autoptr(LabCache) cache = open_cache();
	g_autofree char *lock_file = g_build_filename(root, "thing", "k.lock", NULL);
	int held = lab_cache_lock(cache, "thing", "k", NULL), fresh;

	ck_assert_int_ge(held, 0);
	ck_assert_int_eq(g_unlink(lock_file), 0);
	/* the old lock no longer counts: this must not block */
	fresh = lab_cache_lock(cache, "thing", "k", NULL);
	ck_assert_int_ge(fresh, 0);
	close(held);
	close(fresh);
}
END_TEST

START_TEST(foreign_directory)
{
	g_autofree char *other = g_build_filename(root, "thesis.tex", NULL);
	g_autofree char *want =
		g_strdup_printf("cache %s cannot be written: it holds other things "
				"('thesis.tex') and no CACHEDIR.TAG (another place: "
				"--cache DIR)",
				root);
	g_autoptr(GError) error = NULL;

	ck_assert(lab_dir_make(root, NULL));
	ck_assert(lab_file_write(other, "x", -1, NULL));
	ck_assert_ptr_null(lab_cache_open(root, &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_INFRA));
	ck_assert_str_eq(error->message, want);
}
END_TEST

/* libvirt's answers are kept in the cache too, and may be the first that is. */
START_TEST(shared_with_guests)
{
	g_autofree char *kept = NULL;
	g_autoptr(LabCache) cache = NULL;

	g_setenv("NUMALAB_CACHE", root, TRUE);
	kept = lab_capabilities_dir(NULL, NULL);
	ck_assert(g_str_has_prefix(kept, root));
	ck_assert(lab_dir_make(kept, NULL));
	cache = open_cache();
}
END_TEST

START_TEST(cannot_be_made)
{
	g_autofree char *file = g_build_filename(top, "file", NULL);
	g_autofree char *below = g_build_filename(file, "cache", NULL);
	g_autofree char *want =
		g_strdup_printf("cache %s cannot be written: cannot create directory "
				"%s: Not a directory (another place: --cache DIR)",
				below, below);
	g_autoptr(GError) error = NULL;

	ck_assert(lab_file_write(file, "x", -1, NULL));
	ck_assert_ptr_null(lab_cache_open(below, &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_INFRA));
	ck_assert_str_eq(error->message, want);
}
END_TEST

/* A small tmpfs on @root in a mount namespace of this (forked) test: nothing can be left mounted.
 */
static gboolean mount_small(const char *options, unsigned long flags)
{
	if (unshare(CLONE_NEWNS) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return FALSE;
	return lab_dir_make(root, NULL) && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("none", root, "tmpfs", flags, options) == 0;
}

START_TEST(read_only)
{
	g_autofree char *want = g_strdup_printf("cache %s cannot be written: Read-only file system "
						"(another place: --cache DIR)",
						root);
	g_autoptr(GError) error = NULL;

	if (!mount_small("size=64k", MS_RDONLY)) {
		puts("skip read_only: cannot mount a tmpfs here");
		return;
	}
	ck_assert_ptr_null(lab_cache_open(root, &error));
	ck_assert_str_eq(error->message, want);
	umount(root);
}
END_TEST

static gboolean make_big(const char *dir, gpointer data, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "big", NULL);
	g_autofree char *zeros = g_malloc0(4 << 20);

	return lab_file_write(path, zeros, 4 << 20, error);
}

START_TEST(disk_full)
{
	g_autoptr(LabCache) cache = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *start =
		g_strdup_printf("the file system of the cache %s is full: cannot write "
				"%s/thing/k.new/big: No space left on device",
				root, root);
	g_autofree char *small = NULL;
	guint calls = 0;

	if (!mount_small("size=3m", 0)) {
		puts("skip disk_full: cannot mount a tmpfs here");
		return;
	}
	cache = open_cache();
	ck_assert_ptr_null(lab_cache_get(cache, "thing", "k", make_big, NULL, NULL, &error));
	ck_assert_msg(g_str_has_prefix(error->message, start), "%s", error->message);
	ck_assert_uint_eq(entries_in("thing"), 0);
	small = lab_cache_get(cache, "thing", "k", make_hello, &calls, NULL, NULL);
	ck_assert_ptr_nonnull(small);
	g_clear_pointer(&cache, lab_cache_free);
	umount(root);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("cache");
	TCase *c = tcase_create("cache");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, made_once);
	tcase_add_test(c, failure_leaves_nothing);
	tcase_add_test(c, race);
	tcase_add_test(c, killed_maker);
	tcase_add_test(c, clean);
	tcase_add_test(c, waits_for_lock_that_was_cleaned);
	tcase_add_test(c, foreign_directory);
	tcase_add_test(c, shared_with_guests);
	tcase_add_test(c, cannot_be_made);
	tcase_add_test(c, read_only);
	tcase_add_test(c, disk_full);
	suite_add_tcase(suite, c);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
