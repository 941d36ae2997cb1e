/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/spec/image.h"
#include "lab/spec/kernel.h"

#include <string.h>

#include "tests/unit/spec_cases.h"

#define WANTED                                                                                     \
	"wanted debian:SUITE, debian:SUITE/PACKAGE, debian:SUITE/PACKAGE=VERSION or dir:PATH, "    \
	"found "

static const struct {
	const char *text;
	LabKernelKind kind;
	const char *suite, *package, *version, *path;
} good[] = {
	{"debian:bookworm", LAB_KERNEL_DEBIAN, "bookworm", NULL, NULL, NULL},
	{"debian:bookworm-backports", LAB_KERNEL_DEBIAN, "bookworm-backports", NULL, NULL, NULL},
	{"debian:sid/linux-image-6.16.3+deb14-amd64", LAB_KERNEL_DEBIAN, "sid",
	 "linux-image-6.16.3+deb14-amd64", NULL, NULL},
	{"debian:bookworm/linux-image-6.1.0-57-amd64=6.1.192-1", LAB_KERNEL_DEBIAN, "bookworm",
	 "linux-image-6.1.0-57-amd64", "6.1.192-1", NULL},
	{"debian:trixie/linux-image-amd64=1:6.12~rc1+1", LAB_KERNEL_DEBIAN, "trixie",
	 "linux-image-amd64", "1:6.12~rc1+1", NULL},
	{"dir:/usr/src/linux", LAB_KERNEL_DIR, NULL, NULL, NULL, "/usr/src/linux"},
	{"dir:build/../linux", LAB_KERNEL_DIR, NULL, NULL, NULL, "/base/linux"},
	{"dir:.", LAB_KERNEL_DIR, NULL, NULL, NULL, "/base"},
	{"dir:/with a blank", LAB_KERNEL_DIR, NULL, NULL, NULL, "/with a blank"},
};

static const struct spec_case bad[] = {
	{"empty", "", WANTED "''"},
	{"no kind", "linux", WANTED "'linux'"},
	{"bare suite", "bookworm", WANTED "'bookworm' (did you mean 'debian:bookworm'?)"},
	{"bare path", "/usr/src/linux",
	 WANTED "'/usr/src/linux' (did you mean 'dir:/usr/src/linux'?)"},
	{"other kind", "git:v6.1", WANTED "'git:v6.1'"},
	{"no suite", "debian:", WANTED "'debian:'"},
	{"suite with a path", "debian:../x", WANTED "'debian:../x'"},
	{"upper case suite", "debian:Bookworm", WANTED "'debian:Bookworm'"},
	{"suite like an option", "debian:-o", WANTED "'debian:-o'"},
	{"no package", "debian:sid/", WANTED "'debian:sid/'"},
	{"package like an option", "debian:sid/-oDir=x", WANTED "'debian:sid/-oDir=x'"},
	{"package with a path", "debian:sid/a/b", WANTED "'debian:sid/a/b'"},
	{"package with a blank", "debian:sid/linux image", WANTED "'debian:sid/linux image'"},
	{"no version", "debian:sid/linux-image-amd64=", WANTED "'debian:sid/linux-image-amd64='"},
	{"version of letters", "debian:sid/linux-image-amd64=latest",
	 WANTED "'debian:sid/linux-image-amd64=latest'"},
	{"version with a command", "debian:sid/linux-image-amd64=6;rm",
	 WANTED "'debian:sid/linux-image-amd64=6;rm'"},
	{"version without package", "debian:sid=6.1", WANTED "'debian:sid=6.1'"},
	{"no path", "dir:", WANTED "'dir:'"},
	{"bytes that are no UTF-8", "dir:a\xff\xe2", WANTED "'dir:a\\xff\\xe2'"},
};

START_TEST(good_words)
{
	LabOrigin origin = {"s.yaml", 3, 10};
	g_autoptr(GError) error = NULL;
	g_autoptr(LabKernelSpec) spec =
		lab_kernel_spec_parse(good[_i].text, &origin, "/base", &error);
	g_autoptr(LabKernelSpec) copy = NULL;

	ck_assert_msg(spec != NULL, "%s: %s", good[_i].text,
		      error ? error->message : "no error set");
	copy = lab_kernel_spec_copy(spec);
	g_clear_pointer(&spec, lab_kernel_spec_free);
	ck_assert_str_eq(copy->text, good[_i].text);
	ck_assert_int_eq(copy->kind, good[_i].kind);
	ck_assert_pstr_eq(copy->suite, good[_i].suite);
	ck_assert_pstr_eq(copy->package, good[_i].package);
	ck_assert_pstr_eq(copy->version, good[_i].version);
	ck_assert_pstr_eq(copy->path, good[_i].path);
	ck_assert_str_eq(copy->origin.path, "s.yaml");
	ck_assert_uint_eq(copy->origin.line, 3);
}
END_TEST

START_TEST(bad_words)
{
	const struct spec_case *c = &bad[_i];
	LabOrigin origin = {"s.yaml", 3, 10};
	g_autoptr(GError) error = NULL, placed = NULL;
	g_autoptr(LabKernelSpec) spec = NULL;
	g_autofree char *with_place = g_strconcat("s.yaml:3:10: ", c->error, NULL);

	spec = lab_kernel_spec_parse(c->text, NULL, NULL, &error);
	spec_check_error(c, spec, error);
	ck_assert_ptr_null(lab_kernel_spec_parse(c->text, &origin, "/base", &placed));
	ck_assert_str_eq(placed->message, with_place);
}
END_TEST

START_TEST(relative_to_nothing_is_here)
{
	g_autoptr(LabKernelSpec) spec = lab_kernel_spec_parse("dir:x", NULL, NULL, NULL);
	g_autofree char *here = g_canonicalize_filename("x", NULL);

	ck_assert_ptr_nonnull(spec);
	ck_assert_str_eq(spec->path, here);
	ck_assert_ptr_null(spec->origin.path);
}
END_TEST

/* ---- images ---- */

static const struct spec_case image_errors[] = {
	{"no suite", "packages: [a1]\n",
	 "t.yaml:1:1: wanted the key 'suite' of an image recipe, found none"},
	{"no packages", "suite: sid\n",
	 "t.yaml:1:1: wanted the key 'packages' of an image recipe, found none"},
	{"empty packages", "suite: sid\npackages: []\n",
	 "t.yaml:2:11: wanted packages, found a list"},
	{"unknown key", "suite: sid\npackage: [a1]\n",
	 "t.yaml:2:1: wanted a key of an image recipe, found 'package' (did you mean 'packages'?)"},
	{"bad suite", "suite: sid/updates\npackages: [a1]\n",
	 "t.yaml:1:8: wanted a Debian suite like bookworm, found 'sid/updates'"},
	{"bad package", "suite: sid\npackages: [a1, Perf]\n",
	 "t.yaml:2:16: wanted the name of a Debian package, found 'Perf'"},
	{"package like an option", "suite: sid\npackages:\n  - --hook=x\n",
	 "t.yaml:3:5: wanted the name of a Debian package, found '--hook=x'"},
	{"package twice", "suite: sid\npackages: [b1, a1, b1]\n",
	 "t.yaml:2:20: wanted each package once, found 'b1'"},
	{"relative pattern", "suite: sid\npackages: [a1]\nexclude: [usr/*]\n",
	 "t.yaml:3:11: wanted a pattern that starts with '/', found 'usr/*'"},
	{"pattern of two lines", "suite: sid\npackages: [a1]\nexclude: [\"/usr\\n/x\"]\n",
	 "t.yaml:3:11: wanted a pattern that starts with '/', found '/usr\\n/x'"},
	{"pattern twice", "suite: sid\npackages: [a1]\nexclude: [/a, /a]\n",
	 "t.yaml:3:15: wanted each pattern once, found '/a'"},
};

START_TEST(image_errors_are_exact)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabImageRecipe) recipe = NULL;

	spec_write("t.yaml", image_errors[_i].text);
	recipe = lab_image_recipe_load("t.yaml", &error);
	spec_check_error(&image_errors[_i], recipe, error);
}
END_TEST

START_TEST(image_recipe)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(LabImageRecipe) r = NULL, other = NULL;

	spec_write("t.yaml",
		   "suite: bookworm\npackages: [xfsprogs,\n  fsmark]\nexclude: [/b, /a]\n");
	r = lab_image_recipe_load("t.yaml", &error);
	ck_assert_msg(r != NULL, "%s", error ? error->message : "no error set");
	ck_assert_str_eq(r->name, "t");
	ck_assert_str_eq(r->packages[0], "fsmark");
	ck_assert_str_eq(r->packages[1], "xfsprogs");
	ck_assert_uint_eq(r->package_origins[0].line, 3);
	ck_assert_uint_eq(r->package_origins[1].column, 12);
	ck_assert_uint_eq(r->suite_origin.column, 8);
	ck_assert_str_eq(r->canonical,
			 "{\"exclude\":[\"/a\",\"/"
			 "b\"],\"packages\":[\"fsmark\",\"xfsprogs\"],\"suite\":\"bookworm\"}");
	spec_write("u.yaml", "name: u2\nabout: same\nexclude: [/a, /b]\npackages: [fsmark, "
			     "xfsprogs]\nsuite: bookworm\n");
	other = lab_image_recipe_load("u.yaml", &error);
	ck_assert_msg(other != NULL, "%s", error ? error->message : "no error set");
	ck_assert_str_eq(other->name, "u2");
	ck_assert_str_eq(other->digest, r->digest);
}
END_TEST

START_TEST(shipped_images_load)
{
	g_autoptr(GDir) dir = g_dir_open(TEST_TREE "/images", 0, NULL);
	const char *entry;
	guint n = 0;

	ck_assert_ptr_nonnull(dir);
	for (; (entry = g_dir_read_name(dir)); n++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *path = g_build_filename(TEST_TREE, "images", entry, NULL);
		g_autoptr(LabImageRecipe) r = lab_image_recipe_load(path, &error);

		ck_assert_msg(r != NULL, "%s", error ? error->message : "no error set");
	}
	ck_assert_uint_ge(n, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kernel_spec");
	TCase *tc = tcase_create("kernel_spec");

	tcase_add_unchecked_fixture(tc, spec_setup, spec_teardown);
	tcase_add_loop_test(tc, good_words, 0, G_N_ELEMENTS(good));
	tcase_add_loop_test(tc, bad_words, 0, G_N_ELEMENTS(bad));
	tcase_add_test(tc, relative_to_nothing_is_here);
	tcase_add_loop_test(tc, image_errors_are_exact, 0, G_N_ELEMENTS(image_errors));
	tcase_add_test(tc, image_recipe);
	tcase_add_test(tc, shipped_images_load);
	suite_add_tcase(suite, tc);
	return spec_run(suite);
}
