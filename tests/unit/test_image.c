/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <check.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lab/base/digest.h"
#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/build/image.h"
#include "lab/build/image_make.h"
#include "lab/build/image_tree.h"

static char *top, *tree;
static LabCache *cache;

static void setup(void)
{
	g_autofree char *root = NULL;

	top = g_dir_make_tmp("numalab-test-image-XXXXXX", NULL);
	tree = g_build_filename(top, "tree", NULL);
	root = g_build_filename(top, "cache", NULL);
	ck_assert_int_eq(g_mkdir(tree, 0700), 0);
	cache = lab_cache_open(root, NULL);
	ck_assert_ptr_nonnull(cache);
}

static void teardown(void)
{
	lab_dir_remove(top, NULL);
	g_clear_pointer(&top, g_free);
	g_clear_pointer(&tree, g_free);
	g_clear_pointer(&cache, lab_cache_free);
}

static char *in_tree(const char *path)
{
	return g_build_filename(tree, path, NULL);
}

static void put(const char *path, mode_t mode)
{
	g_autofree char *full = in_tree(path);
	g_autofree char *dir = g_path_get_dirname(full);

	ck_assert_int_eq(g_mkdir_with_parents(dir, 0755), 0);
	ck_assert(g_file_set_contents(full, path, -1, NULL));
	ck_assert_int_eq(chmod(full, mode), 0);
}

static gboolean is_there(const char *path)
{
	g_autofree char *full = in_tree(path);
	struct stat st;

	return lstat(full, &st) == 0;
}

static mode_t mode_of(const char *path)
{
	g_autofree char *full = in_tree(path);
	struct stat st;

	ck_assert_msg(lstat(full, &st) == 0, "%s", path);
	return st.st_mode & 07777;
}

START_TEST(leaves_out)
{
	static const char *const exclude[] = {"/usr/share/doc/*", "/usr/bin/py*",
					      "/usr/share/*/gone", NULL};
	static const struct {
		const char *path;
		gboolean kept;
	} cases[] = {
		{"usr/bin/xfs_repair", TRUE},
		{"usr/share/doc/a/b/copyright", FALSE},
		{"usr/share/docs", TRUE},
		{"usr/bin/python3", FALSE},
		{"usr/sbin/python3", TRUE},
		{"usr/share/a/b/c/gone", FALSE},
		{"usr/share/a/b/c/gone2", TRUE},
		{"etc/passwd", TRUE},
		{"etc/passwd-", FALSE},
		{"etc/shadow", FALSE},
		{"etc/hostname", FALSE},
		{"etc/hostname.d/x", TRUE},
		{"etc/resolv.conf", FALSE},
		{"etc/machine-id", FALSE},
		{"etc/apt/sources.list.d/0000x.sources", FALSE},
		{"etc/apt/apt.conf.d/x", TRUE},
		{"var/log/dpkg.log", FALSE},
		{"var/log/apt/term.log", FALSE},
		{"var/cache/ldconfig/aux-cache", FALSE},
		{"var/lib/apt/extended_states", FALSE},
		{"var/lib/dpkg/status", TRUE},
		{"var/lib/dpkg/status-old", FALSE},
		{"usr/lib/python3/x/__pycache__/x.pyc", FALSE},
		{"usr/lib/python3/x/x.py", TRUE},
		{"run/lock/x", FALSE},
		{"tmp/x", FALSE},
		{"dev/null", FALSE},
	};
	static const char *const made[] = {"dev", "proc", "sys",	   "run",    "tmp",
					   "mnt", "root", "usr/share/doc", "var/log"};
	g_autoptr(GError) error = NULL;

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
		put(cases[i].path, 0644);
	ck_assert_msg(lab_image_tree_clean(tree, exclude, &error), "%s",
		      error ? error->message : "");
	for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
		ck_assert_msg(is_there(cases[i].path) == cases[i].kept, "%s", cases[i].path);
	for (guint i = 0; i < G_N_ELEMENTS(made); i++)
		ck_assert_msg(is_there(made[i]), "%s", made[i]);
}
END_TEST

START_TEST(sets_modes)
{
	static const struct {
		const char *path;
		mode_t before, after;
	} cases[] = {
		{"usr/bin/su", 04755, 0755}, {"usr/bin/wall", 02755, 0755},
		{"usr/bin/x", 0755, 0755},   {"etc/secret", 0000, 0400},
		{"etc/group", 0644, 0644},   {"usr/bin/both", 06711, 0711},
	};
	static const char *const exclude[] = {NULL};
	g_autofree char *dir = in_tree("var/local");
	mode_t mask = umask(077);

	for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
		put(cases[i].path, cases[i].before);
	ck_assert_int_eq(g_mkdir_with_parents(dir, 0755), 0);
	ck_assert_int_eq(chmod(dir, 02775), 0);
	ck_assert(lab_image_tree_clean(tree, exclude, NULL));
	umask(mask);
	for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
		ck_assert_msg(mode_of(cases[i].path) == cases[i].after, "%s: %o", cases[i].path,
			      mode_of(cases[i].path));
	ck_assert_uint_eq(mode_of("var/local"), 0775);
	ck_assert_uint_eq(mode_of("tmp"), 01777);
	ck_assert_uint_eq(mode_of("mnt"), 0755);
	ck_assert_uint_eq(mode_of("root"), 0700);
	ck_assert_uint_eq(mode_of(""), 0755);
}
END_TEST

/* Neither a removal nor a change of mode leaves the tree by a link. */
START_TEST(follows_no_link)
{
	static const char *const exclude[] = {"/usr/share/doc/*", "/usr/share/doc", NULL};
	g_autofree char *outside = g_build_filename(top, "outside", NULL);
	g_autofree char *file = g_build_filename(outside, "file", NULL);
	g_autofree char *share = in_tree("usr/share");
	g_autofree char *doc = in_tree("usr/share/doc");
	g_autofree char *other = in_tree("usr/share/other");
	g_autofree char *pipe = in_tree("usr/share/pipe");
	struct stat st;

	ck_assert_int_eq(g_mkdir(outside, 0755), 0);
	ck_assert(g_file_set_contents(file, "x", -1, NULL));
	ck_assert_int_eq(chmod(file, 04755), 0);
	ck_assert_int_eq(g_mkdir_with_parents(share, 0755), 0);
	ck_assert_int_eq(symlink(outside, doc), 0);
	ck_assert_int_eq(symlink(file, other), 0);
	ck_assert_int_eq(mkfifo(pipe, 0644), 0);
	ck_assert(lab_image_tree_clean(tree, exclude, NULL));
	ck_assert(!is_there("usr/share/doc"));
	ck_assert(is_there("usr/share/other"));
	ck_assert(!is_there("usr/share/pipe"));
	ck_assert_int_eq(stat(file, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 04755);
}
END_TEST

START_TEST(no_tree)
{
	static const char *const exclude[] = {NULL};
	g_autofree char *absent = in_tree("absent");
	g_autoptr(GError) error = NULL;

	ck_assert(!lab_image_tree_clean(absent, exclude, &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_INFRA));
	ck_assert_ptr_nonnull(strstr(error->message, absent));
}
END_TEST

/* ---- the cache ------------------------------------------------------------------------------- */

typedef struct {
	const char *name, *digest;
	gint64 made_s;
} Entry;

static gboolean make_entry(const char *dir, gpointer data, GError **error)
{
	const Entry *entry = data;
	g_autofree char *path = g_build_filename(dir, "image.json", NULL);
	g_autofree char *text = g_strdup_printf(
		"{\"name\": \"%s\", \"suite\": \"bookworm\", \"digest\": \"%s\", \"type\": "
		"\"erofs\", "
		"\"recipe_digest\": \"r\", \"bytes\": 4194304, \"made_s\": %" G_GINT64_FORMAT "}",
		entry->name, entry->digest, entry->made_s);

	return lab_file_write(path, text, -1, error);
}

static char *add_entry(const Entry *entry)
{
	char *key = lab_digest_data(entry->digest, -1);
	g_autofree char *dir =
		lab_cache_get(cache, "images", key, make_entry, (gpointer)entry, NULL, NULL);

	ck_assert_ptr_nonnull(dir);
	return key;
}

START_TEST(opens_images)
{
	static const Entry entries[] = {
		{"xfs", "aaaaaa1100", 100}, {"xfs", "aaaaaa2200", 300},	 {"xfs", "bbbbbb3300", 200},
		{"net", "cccccc4400", 50},  {"aaaaaa", "dddddd5500", 1},
	};
	static const struct {
		const char *name, *digest, *message;
	} cases[] = {
		{"xfs", "aaaaaa2200", NULL},
		{"net", "cccccc4400", NULL},
		{"bbbbbb", "bbbbbb3300", NULL},
		{"aaaaaa1", "aaaaaa1100", NULL},
		{"aaaaaa", "dddddd5500", NULL}, /* a name goes before a digest */
		{"cccccc4400", "cccccc4400", NULL},
		{"ccccc", NULL, "no image 'ccccc' in the cache"},
		{"", NULL, "no image '' in the cache"},
		{"ffffff", NULL, "no image 'ffffff' in the cache"},
	};
	g_autoptr(GPtrArray) images = NULL;

	for (guint i = 0; i < G_N_ELEMENTS(entries); i++)
		g_free(add_entry(&entries[i]));
	images = lab_image_list(cache, NULL);
	ck_assert_uint_eq(images->len, G_N_ELEMENTS(entries));
	ck_assert_str_eq(((LabImage *)images->pdata[1])->name, "net");
	ck_assert_str_eq(((LabImage *)images->pdata[2])->digest, "aaaaaa2200");
	for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autoptr(GError) error = NULL;
		g_autoptr(LabImage) image = lab_image_open(cache, cases[i].name, &error);

		if (cases[i].digest) {
			ck_assert_msg(image != NULL, "%s", error ? error->message : "");
			ck_assert_str_eq(image->digest, cases[i].digest);
			ck_assert_uint_eq(image->bytes, 4194304);
			ck_assert(g_str_has_suffix(image->path, "/root.erofs"));
		} else {
			ck_assert_ptr_null(image);
			ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_USER));
			ck_assert(g_str_has_prefix(error->message, cases[i].message));
		}
	}
}
END_TEST

START_TEST(ambiguous_digest)
{
	static const Entry entries[] = {{"xfs", "aaaaaa1100", 100}, {"net", "aaaaaa2200", 300}};
	g_autoptr(GError) error = NULL;

	g_free(add_entry(&entries[0]));
	g_free(add_entry(&entries[1]));
	ck_assert_ptr_null(lab_image_open(cache, "aaaaaa", &error));
	ck_assert_str_eq(error->message,
			 "'aaaaaa' is the start of several images: aaaaaa2200 (net) and "
			 "aaaaaa1100 (xfs)");
}
END_TEST

static LabImageRecipe *recipe_of(const char *text)
{
	g_autofree char *path = g_build_filename(top, "tiny.yaml", NULL);
	g_autoptr(GError) error = NULL;
	LabImageRecipe *recipe;

	ck_assert(g_file_set_contents(path, text, -1, NULL));
	recipe = lab_image_recipe_load(path, &error);
	ck_assert_msg(recipe != NULL, "%s", error ? error->message : "");
	return recipe;
}

/* Without the network: what the recipe meant last, however long ago; nothing else. */
START_TEST(offline)
{
	static const Entry entry = {"other-name", "aaaaaa1100", 100};
	g_autoptr(LabImageRecipe) recipe = recipe_of("suite: bookworm\npackages: [busybox]\n");
	g_autoptr(LabImageRecipe) changed = recipe_of("suite: bookworm\npackages: [bash]\n");
	g_autoptr(GError) error = NULL;
	g_autoptr(LabImage) image = lab_image_get(cache, recipe, TRUE, NULL, NULL, NULL, &error);
	g_autofree char *key = add_entry(&entry);
	g_autofree char *text = g_strconcat(LAB_IMAGE_LAYOUT, recipe->digest, NULL);
	g_autofree char *pointer = lab_digest_data(text, -1);
	g_autofree char *path = lab_cache_path(cache, "image-recipe", pointer);
	g_autofree char *dir = g_path_get_dirname(path);
	gboolean made = TRUE;

	ck_assert_ptr_null(image);
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_INFRA));
	ck_assert(g_str_has_prefix(error->message, "image tiny is not in the cache"));
	g_clear_error(&error);
	ck_assert(lab_dir_make(dir, NULL) && lab_file_write(path, key, -1, NULL));
	image = lab_image_get(cache, recipe, TRUE, NULL, NULL, &made, &error);
	ck_assert_msg(image != NULL, "%s", error ? error->message : "");
	ck_assert(!made);
	ck_assert_str_eq(image->digest, "aaaaaa1100");
	ck_assert_str_eq(image->name, "tiny");
	ck_assert_ptr_null(lab_image_get(cache, changed, TRUE, NULL, NULL, &made, NULL));
}
END_TEST

START_TEST(damaged_description)
{
	static const Entry entry = {"xfs", "aaaaaa1100", 100};
	g_autofree char *key = add_entry(&entry);
	g_autofree char *dir = lab_cache_lookup(cache, "images", key);
	g_autofree char *path = g_build_filename(dir, "image.json", NULL);
	g_autoptr(GError) error = NULL;

	ck_assert(g_file_set_contents(path, "[]", -1, NULL));
	ck_assert_ptr_null(lab_image_open(cache, "xfs", &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_INFRA));
	ck_assert(g_str_has_prefix(error->message, path));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("image");
	TCase *tcase = tcase_create("image");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, leaves_out);
	tcase_add_test(tcase, sets_modes);
	tcase_add_test(tcase, follows_no_link);
	tcase_add_test(tcase, no_tree);
	tcase_add_test(tcase, opens_images);
	tcase_add_test(tcase, ambiguous_digest);
	tcase_add_test(tcase, offline);
	tcase_add_test(tcase, damaged_description);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
