/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A directory of the host -> its digest, and the image that a guest gets. */
#include "lab/build/files.h"

#include <check.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utime.h>

#include "lab/base/file.h"
#include "lab/base/process.h"

#define MIB (1024 * 1024)

static const LabOrigin origin = {"t.yaml", 6, 8};
static char *top, *dir;
static LabCache *cache;

static char *in_dir(const char *path)
{
	return g_build_filename(dir, path, NULL);
}

static void put(const char *path, const char *text, mode_t mode)
{
	g_autofree char *full = in_dir(path);
	g_autofree char *parent = g_path_get_dirname(full);

	ck_assert_int_eq(g_mkdir_with_parents(parent, 0755), 0);
	ck_assert(g_file_set_contents(full, text, -1, NULL));
	ck_assert_int_eq(chmod(full, mode), 0);
}

static void put_link(const char *path, const char *target)
{
	g_autofree char *full = in_dir(path);

	ck_assert_int_eq(symlink(target, full), 0);
}

static void take(const char *path)
{
	g_autofree char *full = in_dir(path);

	ck_assert_int_eq(remove(full), 0);
}

static void setup(void)
{
	g_autofree char *root = NULL;

	umask(022);
	top = g_dir_make_tmp("numalab-test-files-XXXXXX", NULL);
	dir = g_build_filename(top, "files", NULL);
	root = g_build_filename(top, "cache", NULL);
	cache = lab_cache_open(root, NULL);
	ck_assert_ptr_nonnull(cache);
	put("b/tool", "#!/bin/sh\n", 0755);
	put("hello", "hello\n", 0644);
	put_link("to-hello", "hello");
	put_link("nowhere", "/not/there");
}

static void teardown(void)
{
	lab_dir_remove(top, NULL);
	g_clear_pointer(&top, g_free);
	g_clear_pointer(&dir, g_free);
	g_clear_pointer(&cache, lab_cache_free);
}

static char *digest(void)
{
	g_autoptr(GError) error = NULL;
	char *text = lab_files_digest(dir, &origin, &error);

	ck_assert_msg(text != NULL, "%s", error ? error->message : "no error set");
	return text;
}

static void change(int which)
{
	g_autofree char *hello = in_dir("hello"), *tool = in_dir("b/tool"), *b = in_dir("b");
	g_autofree char *moved = in_dir("c"), *same = g_build_filename(top, "same", NULL);

	switch (which) {
	case 0:
		put("hello", "hallo\n", 0644);
		break;
	case 1:
		ck_assert_int_eq(chmod(tool, 0644), 0);
		break;
	case 2:
		ck_assert_int_eq(chmod(b, 0700), 0);
		break;
	case 3:
		ck_assert_int_eq(rename(b, moved), 0);
		break;
	case 4:
		take("to-hello");
		put_link("to-hello", "hello2");
		break;
	case 5:
		take("to-hello");
		put("to-hello", "hello", 0777);
		break;
	case 6:
		take("nowhere");
		break;
	case 7:
		ck_assert_int_eq(g_mkdir(moved, 0755), 0);
		break;
	/* what follows changes nothing */
	case 8:
		ck_assert_int_eq(utime(hello, &(struct utimbuf){1000000000, 1000000000}), 0);
		break;
	case 9:
		take("hello");
		put("hello", "hello\n", 0644);
		break;
	case 10:
		ck_assert_int_eq(rename(dir, same), 0);
		g_free(dir);
		dir = g_steal_pointer(&same);
		break;
	case 11:
		ck_assert_int_eq(symlink(dir, same), 0);
		g_free(dir);
		dir = g_steal_pointer(&same);
		break;
	}
}

/* Paths, modes, contents and targets decide; times, the order of making and the place do not. */
START_TEST(what_decides_the_digest)
{
	g_autofree char *before = digest(), *after = NULL;

	change(_i);
	after = digest();
	ck_assert_int_eq(strcmp(before, after) != 0, _i < 8);
}
END_TEST

/* A link's name and its target are told apart. */
START_TEST(a_name_is_no_target)
{
	g_autofree char *one = NULL, *other = NULL;

	put_link("x", "y");
	one = digest();
	take("x");
	put_link("y", "x");
	other = digest();
	ck_assert_str_ne(one, other);
}
END_TEST

static void put_socket(void)
{
	g_autofree char *path = in_dir("b/s");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	g_strlcpy(address.sun_path, path, sizeof(address.sun_path));
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
}

static void point_to(const char *path)
{
	g_free(dir);
	dir = g_build_filename(top, path, NULL);
}

static void spoil(int which)
{
	g_autofree char *path = NULL;

	switch (which) {
	case 0:
		point_to("none");
		break;
	case 1:
		point_to("files/hello");
		break;
	case 2:
		point_to("empty");
		ck_assert_int_eq(g_mkdir(dir, 0755), 0);
		break;
	case 3:
		put_socket();
		break;
	case 4:
		path = in_dir("b/p\nq");
		ck_assert_int_eq(mkfifo(path, 0644), 0);
		break;
	case 5:
		point_to("files/hello/x");
		break;
	}
}

static const char *const spoilt[] = {
	"t.yaml:6:8: wanted a directory, found none (No such file or directory): %s/none",
	"t.yaml:6:8: wanted a directory, found something else: %s/files/hello",
	"t.yaml:6:8: wanted a directory with files, found an empty one: %s/empty",
	"t.yaml:6:8: wanted files, directories and links, found a socket: %s/files/b/s",
	"t.yaml:6:8: wanted files, directories and links, found a pipe: %s/files/b/p?q",
	"t.yaml:6:8: wanted a directory, found none (Not a directory): %s/files/hello/x",
};

static void check_refused(const char *wanted)
{
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) keys = NULL;
	gboolean made = TRUE;

	ck_assert_ptr_null(lab_files_get(cache, dir, &origin, NULL, 0, &made, &error));
	ck_assert_str_eq(error->message, wanted);
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_USER));
	ck_assert(made);
	keys = lab_cache_list(cache, "files");
	ck_assert_ptr_null(keys[0]);
}

START_TEST(refuses)
{
	g_auto(GStrv) parts = g_strsplit(spoilt[_i], "%s", 2);
	g_autofree char *wanted = g_strconcat(parts[0], top, parts[1], NULL);

	spoil(_i);
	check_refused(wanted);
}
END_TEST

/* A file that cannot be read, a directory that cannot be listed; by another user, as root reads everything. */
START_TEST(refuses_what_cannot_be_read)
{
	const char *what = _i ? "b" : "hello";
	g_autofree char *path = in_dir(what);
	g_autofree char *wanted =
		g_strdup_printf("t.yaml:6:8: cannot read %s: Permission denied", path);

	ck_assert_int_eq(chmod(top, 0755), 0);
	ck_assert_int_eq(chmod(path, 0), 0);
	if (getuid() == 0)
		ck_assert_int_eq(seteuid(65534), 0);
	check_refused(wanted);
	ck_assert_int_eq(seteuid(getuid()), 0);
	ck_assert_int_eq(chmod(path, 0755), 0);
}
END_TEST

static LabFiles *get(const guint64 *taken, guint n_taken, gboolean want_made)
{
	g_autoptr(GError) error = NULL;
	gboolean made = !want_made;
	LabFiles *files = lab_files_get(cache, dir, &origin, taken, n_taken, &made, &error);

	ck_assert_msg(files != NULL, "%s", error ? error->message : "no error set");
	ck_assert_int_eq(made, want_made);
	return files;
}

START_TEST(packed_once)
{
	g_autoptr(LabFiles) first = get(NULL, 0, TRUE), again = get(NULL, 0, FALSE);
	g_autoptr(LabFiles) other = NULL;

	ck_assert_str_eq(first->path, again->path);
	ck_assert_str_eq(first->digest, again->digest);
	ck_assert_uint_eq(first->bytes, 2 * MIB);
	put("hello", "hallo\n", 0644);
	other = get(NULL, 0, TRUE);
	ck_assert_str_ne(first->digest, other->digest);
}
END_TEST

/* From another place, day, umask, order of making, and cache: the same bytes. */
START_TEST(reproducible)
{
	g_autoptr(LabFiles) one = get(NULL, 0, TRUE), other = NULL;
	g_autofree char *root = g_build_filename(top, "cache2", NULL);
	g_autofree char *b = NULL, *hello = NULL;

	umask(077);
	point_to("elsewhere");
	ck_assert_int_eq(g_mkdir(dir, 0755), 0);
	b = in_dir("b");
	hello = in_dir("hello");
	put_link("nowhere", "/not/there");
	put("hello", "hello\n", 0644);
	put_link("to-hello", "hello");
	put("b/tool", "#!/bin/sh\n", 0755);
	ck_assert_int_eq(chmod(dir, 0755) | chmod(b, 0755), 0);
	ck_assert_int_eq(utime(hello, &(struct utimbuf){1000000000, 1000000000}), 0);
	lab_cache_free(cache);
	cache = lab_cache_open(root, NULL);
	other = get(NULL, 0, TRUE);
	ck_assert_str_ne(one->path, other->path);
	ck_assert_str_eq(one->digest, other->digest);
}
END_TEST

/* The agent knows its devices by their sizes. */
START_TEST(another_size)
{
	const guint64 taken[] = {4 * MIB, 2 * MIB};
	g_autoptr(LabFiles) small = get(NULL, 0, TRUE), longer = get(taken, 1, FALSE);
	g_autoptr(LabFiles) longest = get(taken, 2, TRUE), again = get(taken, 2, FALSE);
	struct stat st;

	ck_assert_str_eq(small->path, longer->path);
	ck_assert_uint_eq(longest->bytes, 6 * MIB);
	ck_assert_str_ne(small->digest, longest->digest);
	ck_assert_str_eq(longest->path, again->path);
	ck_assert_int_eq(stat(longest->path, &st), 0);
	ck_assert_uint_eq((guint64)st.st_size, longest->bytes);
}
END_TEST

START_TEST(holds_what_was_there)
{
	g_autoptr(LabFiles) files = get(NULL, 0, TRUE);
	g_autofree char *to = g_build_filename(top, "out", NULL);
	g_autofree char *extract = g_strconcat("--extract=", to, NULL);
	const char *const argv[] = {"fsck.erofs", extract, files->path, NULL};
	g_autoptr(GError) error = NULL;
	g_autofree char *before = digest(), *after = NULL, *hello = NULL;
	struct stat st;

	ck_assert_msg(lab_process_check(argv, NULL, NULL, &error), "%s",
		      error ? error->message : "no error set");
	point_to("out");
	after = digest();
	ck_assert_str_eq(before, after);
	hello = in_dir("hello");
	ck_assert_int_eq(stat(hello, &st), 0);
	ck_assert_int_eq(st.st_mtime, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("files");
	TCase *c = tcase_create("files");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(c, 60);
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, what_decides_the_digest, 0, 12);
	tcase_add_test(c, a_name_is_no_target);
	tcase_add_loop_test(c, refuses, 0, G_N_ELEMENTS(spoilt));
	tcase_add_loop_test(c, refuses_what_cannot_be_read, 0, 2);
	tcase_add_test(c, packed_once);
	tcase_add_test(c, reproducible);
	tcase_add_test(c, another_size);
	tcase_add_test(c, holds_what_was_there);
	suite_add_tcase(suite, c);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
