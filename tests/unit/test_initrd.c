/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/initrd.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <utime.h>

#include "lab/base/digest.h"
#include "lab/base/error.h"
#include "tests/unit/made_kernel.h"

#define RELEASE "6.1.0-made"

static char *top, *folder, *agent;
static LabCache *cache;

static void put_module(const char *relative, const char *modinfo, const char *exports,
		       const char *needs)
{
	g_autofree char *path = g_build_filename(folder, "modules", relative, NULL);

	made_module(path, modinfo, exports, needs);
}

/*
 * xfs needs libcrc32c by a symbol, which wants crc32c by a soft dependency, which two modules offer; erofs wants something that is not
 * there; overlay is built in; nd_pmem and nfit need libnvdimm; nfit wants one more after itself.
 */
static void put_modules(void)
{
	g_autofree char *builtin = g_build_filename(folder, "modules", "modules.builtin", NULL);

	put_module("kernel/fs/xfs/xfs.ko", "alias=fs-xfs", NULL, "libcrc32c");
	put_module("kernel/lib/libcrc32c.ko", "softdep=pre:~crc32c", "libcrc32c", NULL);
	put_module("kernel/crypto/crc32c_generic.ko", "alias=crc32c", NULL, NULL);
	put_module("kernel/arch/crc32c-intel.ko", "alias=crc32c", NULL, NULL);
	put_module("kernel/fs/erofs/erofs.ko", "alias=fs-erofs softdep=pre:~not_there", NULL, NULL);
	put_module("kernel/drivers/libnvdimm.ko", "alias=x", "nvdimm", NULL);
	put_module("kernel/drivers/nd_pmem.ko", "alias=x", NULL, "nvdimm");
	put_module("kernel/drivers/nfit.ko", "softdep=post:~late", NULL, "nvdimm");
	put_module("kernel/drivers/late.ko", "alias=x", NULL, NULL);
	made_write(builtin, "kernel/fs/overlayfs/overlay.ko\n");
}

static void setup(void)
{
	g_autofree char *root = NULL, *boot = NULL, *config = NULL;

	top = g_dir_make_tmp("numalab-test-initrd-XXXXXX", NULL);
	folder = g_build_filename(top, "k", NULL);
	agent = g_build_filename(top, "agent", NULL);
	root = g_build_filename(top, "cache", NULL);
	boot = g_build_filename(folder, "vmlinuz", NULL);
	config = g_build_filename(folder, "config", NULL);
	cache = lab_cache_open(root, NULL);
	ck_assert_ptr_nonnull(cache);
	made_bzimage_file(boot, RELEASE, TRUE);
	made_write(config, "CONFIG_SQUASHFS=y\nCONFIG_EXT4_FS=m\n");
	made_write(agent, "#!the agent\n");
}

static void teardown(void)
{
	lab_dir_remove(top, NULL);
	g_clear_pointer(&top, g_free);
	g_clear_pointer(&folder, g_free);
	g_clear_pointer(&agent, g_free);
	g_clear_pointer(&cache, lab_cache_free);
}

static LabKernel *get(void)
{
	LabKernelSpec spec = {.kind = LAB_KERNEL_DIR, .text = (char *)"dir:k", .path = folder};
	g_autoptr(GError) error = NULL;
	LabKernel *kernel = lab_kernel_get(cache, &spec, FALSE, NULL, NULL, NULL, &error);

	ck_assert_msg(kernel != NULL, "%s", error ? error->message : "");
	return kernel;
}

/* @order: names without directory and ending */
static const struct {
	const char *wanted[6];
	const char *order;
} orders[] = {
	{{"libnvdimm"}, "libnvdimm"},
	{{"nd_pmem"}, "libnvdimm nd_pmem"},
	{{"nd-pmem"}, "libnvdimm nd_pmem"},
	{{"nfit", "nd_pmem"}, "libnvdimm nfit late nd_pmem"},
	{{"xfs"}, "crc32c-intel crc32c_generic libcrc32c xfs"},
	{{"fs-xfs", "xfs"}, "crc32c-intel crc32c_generic libcrc32c xfs"},
	{{"overlay"}, ""},
	{{"erofs", "overlay"}, "erofs"},
	/* the config knows what no list names */
	{{"squashfs"}, ""},
	{{NULL}, ""},
	{{"nfit", "nd_pmem", "erofs", "overlay", "xfs"},
	 "libnvdimm nfit late nd_pmem erofs crc32c-intel crc32c_generic libcrc32c xfs"},
};

static char *names_of(char **paths)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (; *paths; paths++) {
		ck_assert(g_str_has_prefix(*paths, "/numalab/modules/"));
		ck_assert(g_str_has_suffix(*paths, ".ko"));
		g_string_append_printf(text, "%s%.*s", text->len ? " " : "",
				       (int)(strlen(*paths) - strlen("/numalab/modules/.ko")),
				       *paths + strlen("/numalab/modules/"));
	}
	return g_string_free(g_steal_pointer(&text), FALSE);
}

START_TEST(order)
{
	g_autoptr(LabKernel) kernel = NULL;
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) paths = NULL;
	g_autofree char *names = NULL;

	put_modules();
	kernel = get();
	paths = lab_initrd_modules(kernel, orders[_i].wanted, &error);
	ck_assert_msg(paths != NULL, "%s", error ? error->message : "");
	names = names_of(paths);
	ck_assert_str_eq(names, orders[_i].order);
}
END_TEST

static const struct {
	const char *wanted[3];
	const char *message;
} unknown[] = {
	{{"xfs", "btrfs"}, "dir:k (6.1.0-made) has no module 'btrfs', built in or not"},
	{{"ext4"}, "dir:k (6.1.0-made) has no module 'ext4', built in or not"},
	{{"crc32c_intl"},
	 "dir:k (6.1.0-made) has no module 'crc32c_intl', built in or not (did you mean "
	 "'crc32c_intel'?)"},
	{{""}, "dir:k (6.1.0-made) has no module '', built in or not"},
};

START_TEST(unknown_module)
{
	g_autoptr(LabKernel) kernel = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *path = g_build_filename(top, "initrd", NULL);
	char *digest = (char *)"untouched";

	put_modules();
	kernel = get();
	ck_assert_ptr_null(lab_initrd_modules(kernel, unknown[_i].wanted, &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_KERNEL));
	ck_assert_str_eq(error->message, unknown[_i].message);
	ck_assert(!lab_initrd_write(cache, kernel, agent, unknown[_i].wanted, "job", path, &digest,
				    NULL));
	ck_assert(!g_file_test(path, G_FILE_TEST_EXISTS));
	ck_assert_str_eq(digest, "untouched");
}
END_TEST

START_TEST(kernel_without_modules)
{
	static const char *const wanted[] = {"squashfs", NULL};
	g_autoptr(LabKernel) kernel = get();
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) paths = lab_initrd_modules(kernel, wanted, &error);

	ck_assert_msg(paths != NULL, "%s", error ? error->message : "");
	ck_assert_ptr_null(paths[0]);
}
END_TEST

/* ---- the file ------------------------------------------------------------------------------------ */

/* As the kernel does: archive after archive; one line each file: "path type/mode size uid:gid mtime ino digits-of-content". */
static char *listing(const char *path)
{
	gsize length, at = 0;
	g_autofree char *data = lab_file_read(path, &length, NULL);
	g_autoptr(GString) text = g_string_new(NULL);

	ck_assert_ptr_nonnull(data);
	while (at < length) {
		struct archive *a = archive_read_new();
		struct archive_entry *entry;
		int rc;

		archive_read_support_format_cpio(a);
		ck_assert_int_eq(archive_read_open_memory(a, data + at, length - at), ARCHIVE_OK);
		while ((rc = archive_read_next_header(a, &entry)) == ARCHIVE_OK) {
			gsize n = (gsize)archive_entry_size(entry);
			g_autofree char *content = g_malloc0(n + 1);
			g_autofree char *digest = NULL;

			ck_assert_int_eq(archive_read_data(a, content, n), (la_ssize_t)n);
			digest = lab_digest_data(content, (gssize)n);
			g_string_append_printf(
				text, "%s %o %s %d:%d %d %d\n", archive_entry_pathname(entry),
				archive_entry_mode(entry), n ? digest : "-",
				(int)archive_entry_uid(entry), (int)archive_entry_gid(entry),
				(int)archive_entry_mtime(entry), (int)archive_entry_ino(entry));
		}
		ck_assert_int_eq(rc, ARCHIVE_EOF);
		at += (gsize)archive_filter_bytes(a, -1);
		archive_read_free(a);
		while (at < length && !data[at])
			at++;
		g_string_append(text, "--\n");
	}
	return g_string_free(g_steal_pointer(&text), FALSE);
}

static const char *const wanted[] = {"xfs", "overlay", NULL};

START_TEST(content)
{
	g_autoptr(LabKernel) kernel = NULL;
	g_autofree char *path = g_build_filename(top, "initrd", NULL);
	g_autofree char *digest = NULL, *of_file = NULL, *got = NULL, *want = NULL;
	g_autoptr(GError) error = NULL;
	static const char *const modules[] = {"kernel/arch/crc32c-intel.ko",
					      "kernel/crypto/crc32c_generic.ko",
					      "kernel/lib/libcrc32c.ko", "kernel/fs/xfs/xfs.ko"};
	char *digests[G_N_ELEMENTS(modules)];
	g_autofree char *agent_digest = lab_digest_file(agent, NULL),
			*job_digest = lab_digest_data("the job\n", -1);

	put_modules();
	kernel = get();
	ck_assert_msg(
		lab_initrd_write(cache, kernel, agent, wanted, "the job\n", path, &digest, &error),
		"%s", error ? error->message : "");
	of_file = lab_digest_file(path, NULL);
	ck_assert_str_eq(digest, of_file);
	/* modules are as the package had them, not as they are kept */
	for (guint i = 0; i < G_N_ELEMENTS(modules); i++) {
		g_autofree char *source = g_build_filename(folder, "modules", modules[i], NULL);

		digests[i] = lab_digest_file(source, NULL);
		ck_assert_ptr_nonnull(digests[i]);
	}
	want = g_strdup_printf("dev 40755 - 0:0 0 1\n"
			       "dev/console 20600 - 0:0 0 2\n"
			       "init 100755 %s 0:0 0 3\n"
			       "numalab 40755 - 0:0 0 4\n"
			       "numalab/modules 40755 - 0:0 0 5\n"
			       "numalab/modules/crc32c-intel.ko 100644 %s 0:0 0 6\n"
			       "numalab/modules/crc32c_generic.ko 100644 %s 0:0 0 7\n"
			       "numalab/modules/libcrc32c.ko 100644 %s 0:0 0 8\n"
			       "numalab/modules/xfs.ko 100644 %s 0:0 0 9\n"
			       "--\n"
			       "numalab/job 100644 %s 0:0 0 1\n"
			       "--\n",
			       agent_digest, digests[0], digests[1], digests[2], digests[3],
			       job_digest);
	got = listing(path);
	ck_assert_str_eq(got, want);
	for (guint i = 0; i < G_N_ELEMENTS(modules); i++)
		g_free(digests[i]);
}
END_TEST

/* From another cache, folder, time and owner's umask: the same bytes. */
START_TEST(reproducible)
{
	g_autofree char *a = g_build_filename(top, "a", NULL),
			*b = g_build_filename(top, "b", NULL);
	g_autofree char *c = g_build_filename(top, "c", NULL),
			*other_root = g_build_filename(top, "cache2", NULL);
	g_autofree char *da = NULL, *db = NULL, *dc = NULL,
			*moved = g_build_filename(top, "k2", NULL);
	g_autoptr(LabKernel) kernel = NULL, again = NULL;

	put_modules();
	kernel = get();
	ck_assert(lab_initrd_write(cache, kernel, agent, wanted, "job\n", a, &da, NULL));
	/* once more, from the cached base */
	ck_assert(lab_initrd_write(cache, kernel, agent, wanted, "job\n", b, &db, NULL));
	ck_assert_str_eq(da, db);

	umask(077);
	ck_assert_int_eq(rename(folder, moved), 0);
	g_free(folder);
	folder = g_strdup(moved);
	lab_cache_free(cache);
	cache = lab_cache_open(other_root, NULL);
	ck_assert_int_eq(utime(agent, &(struct utimbuf){1000000000, 1000000000}), 0);
	again = get();
	ck_assert_str_ne(again->dir, kernel->dir);
	ck_assert(lab_initrd_write(cache, again, agent, wanted, "job\n", c, &dc, NULL));
	ck_assert_str_eq(da, dc);
}
END_TEST

START_TEST(what_decides_it)
{
	g_autofree char *path = g_build_filename(top, "initrd", NULL);
	g_autofree char *first = NULL, *other_job = NULL, *other_agent = NULL, *fewer = NULL;
	g_autoptr(LabKernel) kernel = NULL;
	g_auto(GStrv) bases = NULL;

	put_modules();
	kernel = get();
	ck_assert(lab_initrd_write(cache, kernel, agent, wanted, "job\n", path, &first, NULL));
	ck_assert(
		lab_initrd_write(cache, kernel, agent, wanted, "job 2\n", path, &other_job, NULL));
	ck_assert(lab_initrd_write(cache, kernel, agent, wanted + 1, "job\n", path, &fewer, NULL));
	made_write(agent, "#!another agent\n");
	ck_assert(
		lab_initrd_write(cache, kernel, agent, wanted, "job\n", path, &other_agent, NULL));
	ck_assert_str_ne(first, other_job);
	ck_assert_str_ne(first, fewer);
	ck_assert_str_ne(first, other_agent);
	/* a job is no base */
	bases = lab_cache_list(cache, "initrd");
	ck_assert_uint_eq(g_strv_length(bases), 3);
}
END_TEST

START_TEST(no_agent)
{
	g_autofree char *path = g_build_filename(top, "initrd", NULL),
			*missing = g_build_filename(top, "none", NULL);
	g_autoptr(LabKernel) kernel = get();
	g_autoptr(GError) error = NULL;

	ck_assert(!lab_initrd_write(cache, kernel, missing, wanted + 2, "job", path, NULL, &error));
	ck_assert_msg(strstr(error->message, missing) != NULL, "%s", error->message);
	ck_assert(!g_file_test(path, G_FILE_TEST_EXISTS));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("initrd");
	TCase *c = tcase_create("initrd");
	SRunner *runner;
	int failed;

	tcase_set_timeout(c, 60);
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, order, 0, G_N_ELEMENTS(orders));
	tcase_add_loop_test(c, unknown_module, 0, G_N_ELEMENTS(unknown));
	tcase_add_test(c, kernel_without_modules);
	tcase_add_test(c, content);
	tcase_add_test(c, reproducible);
	tcase_add_test(c, what_decides_it);
	tcase_add_test(c, no_agent);
	suite_add_tcase(suite, c);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
