/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/kernel.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lab/base/error.h"
#include "lab/build/decompress.h"
#include "tests/unit/made_kernel.h"

#define RELEASE "6.1.0-made"

static char *top, *folder;
static LabCache *cache;

static void setup(void)
{
	g_autofree char *root = NULL;

	top = g_dir_make_tmp("numalab-test-kernel-XXXXXX", NULL);
	folder = g_build_filename(top, "k", NULL);
	root = g_build_filename(top, "cache", NULL);
	cache = lab_cache_open(root, NULL);
	ck_assert_ptr_nonnull(cache);
}

static void teardown(void)
{
	lab_dir_remove(top, NULL);
	g_clear_pointer(&top, g_free);
	g_clear_pointer(&folder, g_free);
	g_clear_pointer(&cache, lab_cache_free);
}

static char *in_folder(const char *relative)
{
	return g_build_filename(folder, relative, NULL);
}

static void put(const char *relative, const char *text)
{
	g_autofree char *path = in_folder(relative);

	made_write(path, text);
}

static void put_bzimage(const char *relative, const char *release, gboolean pvh)
{
	g_autofree char *path = in_folder(relative);

	made_bzimage_file(path, release, pvh);
}

static void put_module(const char *relative)
{
	g_autofree char *path = in_folder(relative);

	made_module(path, "name=x", NULL, NULL);
}

static LabKernel *get(GError **error)
{
	LabKernelSpec spec = {.kind = LAB_KERNEL_DIR,
			      .text = (char *)"dir:k",
			      .path = folder,
			      .origin = {"s.yaml", 3, 7}};

	return lab_kernel_get(cache, &spec, FALSE, NULL, NULL, NULL, error);
}

static LabKernel *get_good(void)
{
	g_autoptr(GError) error = NULL;
	LabKernel *kernel = get(&error);

	ck_assert_msg(kernel != NULL, "%s", error ? error->message : "");
	return kernel;
}

static char *read_in(const char *dir, const char *relative, gsize *length)
{
	g_autofree char *path = g_build_filename(dir, relative, NULL);

	return lab_file_read(path, length, NULL);
}

/* ---- a folder ------------------------------------------------------------------------------------ */

static void put_good_folder(void)
{
	g_autofree char *link = in_folder("lib/modules/" RELEASE "/build");

	put_bzimage("vmlinuz", RELEASE, TRUE);
	put("config", "CONFIG_NUMA=y\n");
	put_module("lib/modules/" RELEASE "/kernel/a.ko");
	put("lib/modules/" RELEASE "/modules.builtin", "kernel/b.ko\n");
	put("lib/modules/" RELEASE "/modules.dep", "not made by depmod\n");
	put("lib/modules/" RELEASE "/README", "x\n");
	ck_assert_int_eq(symlink("/", link), 0);
}

START_TEST(good_folder)
{
	g_autoptr(LabKernel) kernel = NULL;
	g_autofree char *module = NULL, *stored = NULL, *dep = NULL, *readme = NULL,
			*vmlinux = NULL, *boot = NULL;
	g_autofree char *link = NULL;
	g_autoptr(GBytes) plain = NULL;
	gsize module_bytes, stored_bytes, n, m;

	put_good_folder();
	kernel = get_good();
	ck_assert_str_eq(kernel->text, "dir:k");
	ck_assert_str_eq(kernel->release, RELEASE);
	ck_assert_str_eq(kernel->label, RELEASE);
	ck_assert_str_eq(kernel->version, "");
	ck_assert_str_eq(kernel->build_id, MADE_BUILD_ID);
	ck_assert_uint_eq(strlen(kernel->digest), 64);
	ck_assert(kernel->pvh);
	ck_assert(g_str_has_suffix(kernel->boot_path, "/vmlinux"));
	ck_assert_uint_gt(kernel->bytes, 0);

	vmlinux = read_in(folder, ".vmlinux", &n);
	boot = lab_file_read(kernel->boot_path, &m, NULL);
	ck_assert_uint_eq(n, m);
	ck_assert_mem_eq(vmlinux, boot, n);

	/* the module is there, compressed, and the same inside; depmod found it; nothing else came along */
	module = read_in(folder, "lib/modules/" RELEASE "/kernel/a.ko", &module_bytes);
	stored = read_in(kernel->modules_path, "kernel/a.ko.zst", &stored_bytes);
	ck_assert_ptr_nonnull(stored);
	plain = lab_decompress(stored, stored_bytes, "a", 1 << 20, NULL);
	ck_assert_uint_eq(g_bytes_get_size(plain), module_bytes);
	ck_assert_mem_eq(g_bytes_get_data(plain, NULL), module, module_bytes);
	dep = read_in(kernel->modules_path, "modules.dep", NULL);
	ck_assert_str_eq(dep, "kernel/a.ko.zst:\n");
	readme = g_build_filename(kernel->modules_path, "README", NULL);
	link = g_build_filename(kernel->modules_path, "build", NULL);
	ck_assert(!g_file_test(readme, G_FILE_TEST_EXISTS));
	ck_assert(!g_file_test(link, G_FILE_TEST_IS_SYMLINK));
	/* and the folder is as it was */
	ck_assert_ptr_nonnull(module);
}
END_TEST

START_TEST(digest_is_of_the_content)
{
	g_autoptr(LabKernel) first = NULL, again = NULL, other = NULL, back = NULL;
	g_auto(GStrv) keys = NULL;

	put_good_folder();
	first = get_good();
	again = get_good();
	ck_assert_str_eq(first->digest, again->digest);
	ck_assert_str_eq(first->dir, again->dir);
	put("config", "CONFIG_NUMA=n\n");
	other = get_good();
	ck_assert_str_ne(first->digest, other->digest);
	put("config", "CONFIG_NUMA=y\n");
	back = get_good();
	ck_assert_str_eq(first->digest, back->digest);
	ck_assert_str_eq(first->dir, back->dir);
	keys = lab_cache_list(cache, "kernel");
	ck_assert_uint_eq(g_strv_length(keys), 2);
}
END_TEST

static void make_old(const char *relative, time_t mtime)
{
	g_autofree char *path = in_folder(relative);
	struct timespec times[2] = {{mtime, 0}, {mtime, 0}};

	ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

START_TEST(old_files_are_read_once)
{
	g_autoptr(LabKernel) first = NULL, again = NULL, other = NULL;
	g_autofree char *path = in_folder("config");

	put_bzimage("vmlinuz", RELEASE, TRUE);
	put("config", "CONFIG_NUMA=y\n");
	make_old("vmlinuz", 1700000000);
	make_old("config", 1700000000);
	first = get_good();
	/* Same size and times, another content: not seen, which shows that it was not read. */
	ck_assert(g_file_set_contents_full(path, "CONFIG_NUMA=n\n", -1, G_FILE_SET_CONTENTS_NONE,
					   0644, NULL));
	make_old("config", 1700000000);
	again = get_good();
	ck_assert_str_eq(first->digest, again->digest);
	make_old("config", 1700000001);
	other = get_good();
	ck_assert_str_ne(first->digest, other->digest);
}
END_TEST

START_TEST(folder_without_pvh)
{
	g_autoptr(LabKernel) kernel = NULL;
	g_autofree char *image = NULL, *boot = NULL;
	gsize n, m;

	put_bzimage("boot/vmlinuz-3.19.8", "3.19.8", FALSE);
	kernel = get_good();
	ck_assert(!kernel->pvh);
	ck_assert(g_str_has_suffix(kernel->boot_path, "/bzImage"));
	ck_assert_str_eq(kernel->release, "3.19.8");
	ck_assert_str_eq(kernel->build_id, MADE_BUILD_ID);
	ck_assert_ptr_null(kernel->config_path);
	image = read_in(folder, "boot/vmlinuz-3.19.8", &n);
	boot = lab_file_read(kernel->boot_path, &m, NULL);
	ck_assert_uint_eq(n, m);
	ck_assert_mem_eq(image, boot, n);
}
END_TEST

START_TEST(folder_with_vmlinux)
{
	g_autofree char *path = in_folder("vmlinux");
	g_autoptr(LabKernel) kernel = NULL;

	ck_assert(lab_dir_make(folder, NULL));
	made_vmlinux(path, RELEASE, TRUE);
	kernel = get_good();
	ck_assert(kernel->pvh);
	ck_assert_str_eq(kernel->release, RELEASE);
}
END_TEST

/* ---- what is wrong with it ----------------------------------------------------------------------- */

static void nothing(void)
{
}

static void a_file(void)
{
	ck_assert(lab_file_write(folder, "x", -1, NULL));
}

static void no_kernel(void)
{
	put("config", "CONFIG_NUMA=y\n");
}

static void unbuilt_tree(void)
{
	put(".config", "CONFIG_NUMA=y\n");
	put("include/config/auto.conf", "");
}

static void text_as_kernel(void)
{
	put("vmlinuz", "#!/bin/sh\nrm -rf /\n");
}

static void truncated(void)
{
	g_autofree char *path = in_folder("vmlinuz");

	put_bzimage("vmlinuz", RELEASE, TRUE);
	ck_assert_int_eq(truncate(path, 1700), 0);
}

static void two_kernels(void)
{
	put("vmlinuz-1", "x");
	put("vmlinuz-2", "x");
}

static void two_modules(void)
{
	put_bzimage("vmlinuz", RELEASE, TRUE);
	put_module("lib/modules/6.1.0/kernel/a.ko");
	put_module("lib/modules/6.2.0/kernel/a.ko");
}

static void other_modules(void)
{
	put_bzimage("vmlinuz", RELEASE, TRUE);
	put_module("lib/modules/6.2.0/kernel/a.ko");
}

static void plain_vmlinux(void)
{
	g_autofree char *path = in_folder("vmlinux");

	ck_assert(lab_dir_make(folder, NULL));
	made_vmlinux(path, RELEASE, FALSE);
}

static void half_built_tree(void)
{
	put(".config", "CONFIG_MODULES=y\n");
	put("include/config/auto.conf", "");
	put_bzimage("arch/x86/boot/bzImage", RELEASE, TRUE);
	put("modules.order", "fs/xfs/xfs.o\n");
}

/* @message: without "s.yaml:3:7: "; DIR stands for the folder; two orders of directory entries are possible for some */
static const struct {
	void (*make)(void);
	const char *message, *or_message;
} bad[] = {
	{nothing, "DIR: no such directory"},
	{a_file, "DIR: wanted a directory with a kernel, found a file"},
	{no_kernel,
	 "DIR: wanted a kernel (vmlinuz, bzImage or vmlinux; or a build tree), found none"},
	{unbuilt_tree,
	 "DIR: wanted a kernel (arch/x86/boot/bzImage of a tree that was built), found none"},
	{text_as_kernel, "DIR/vmlinuz: not a Linux bzImage (no 'HdrS' at 0x202)"},
	{truncated, "DIR/vmlinuz: the bzImage is truncated: its header speaks of "},
	{two_kernels,
	 "DIR/vmlinuz-1 and DIR/vmlinuz-2: wanted one kernel in the directory, found several",
	 "DIR/vmlinuz-2 and DIR/vmlinuz-1: wanted one kernel in the directory, found several"},
	{two_modules,
	 "DIR/lib/modules/6.1.0 and DIR/lib/modules/6.2.0: wanted the modules of one kernel",
	 "DIR/lib/modules/6.2.0 and DIR/lib/modules/6.1.0: wanted the modules of one kernel"},
	{other_modules, "DIR/vmlinuz is 6.1.0-made, but its modules are of 6.2.0"},
	{plain_vmlinux,
	 "DIR/vmlinux: has no PVH entry (CONFIG_PVH), so that its bzImage is needed"},
	{half_built_tree,
	 "DIR/modules.order names fs/xfs/xfs.ko, which is not built (make modules)"},
};

static gboolean is_message(const char *got, const char *want)
{
	g_auto(GStrv) parts = want ? g_strsplit(want, "DIR", -1) : NULL;
	g_autofree char *text = parts ? g_strjoinv(folder, parts) : NULL;
	g_autofree char *whole = text ? g_strconcat("s.yaml:3:7: ", text, NULL) : NULL;

	return whole && g_str_has_prefix(got, whole);
}

START_TEST(bad_folder)
{
	g_autoptr(GError) error = NULL;
	g_auto(GStrv) keys = NULL;

	bad[_i].make();
	ck_assert_ptr_null(get(&error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_USER));
	ck_assert_msg(is_message(error->message, bad[_i].message) ||
			      is_message(error->message, bad[_i].or_message),
		      "%s", error->message);
	keys = lab_cache_list(cache, "kernel");
	ck_assert_uint_eq(g_strv_length(keys), 0);
}
END_TEST

/* ---- a build tree -------------------------------------------------------------------------------- */

static const char *const orders[] = {
	"kernel/fs/xfs/xfs.ko\nkernel/kernel/torture.ko\n",  /* to 5.2 */
	"fs/xfs/xfs.ko\nkernel/torture.ko\nfs/xfs/xfs.ko\n", /* then */
	"fs/xfs/xfs.o\nkernel/torture.o\n",		     /* from 6.2 */
};

START_TEST(build_tree)
{
	g_autoptr(LabKernel) kernel = NULL;
	g_autofree char *dep = NULL, *order = NULL, *builtin = NULL;

	put(".config", "CONFIG_MODULES=y\n");
	put("include/config/auto.conf", "");
	put("vmlinux", "full of debug information, not read\n");
	put_bzimage("arch/x86/boot/bzImage", RELEASE, TRUE);
	put_module("fs/xfs/xfs.ko");
	put_module("kernel/torture.ko");
	put_module("fs/xfs/stale.ko");
	put("modules.builtin", "kernel/fs/ext4/ext4.ko\n");
	put("modules.order", orders[_i]);
	kernel = get_good();
	ck_assert(kernel->pvh);
	ck_assert_ptr_nonnull(kernel->config_path);
	order = read_in(kernel->modules_path, "modules.order", NULL);
	ck_assert_str_eq(order, "kernel/fs/xfs/xfs.ko\nkernel/kernel/torture.ko\n");
	dep = read_in(kernel->modules_path, "modules.dep", NULL);
	ck_assert_str_eq(dep, "kernel/fs/xfs/xfs.ko.zst:\nkernel/kernel/torture.ko.zst:\n");
	builtin = read_in(kernel->modules_path, "modules.builtin", NULL);
	ck_assert_str_eq(builtin, "kernel/fs/ext4/ext4.ko\n");
}
END_TEST

/* The module of @relative in the cache, decompressed. */
static GBytes *stored_module(const LabKernel *kernel, const char *relative)
{
	gsize length;
	g_autofree char *stored = read_in(kernel->modules_path, relative, &length);

	ck_assert_ptr_nonnull(stored);
	return lab_decompress(stored, length, relative, 1 << 20, NULL);
}

START_TEST(debug_information_is_stripped)
{
	static const char module[] =
		".section .debug_info,\"\",@progbits\n.ascii \"DEBUG-SECRET\"\n.fill 5000\n"
		".section .modinfo,\"a\"\n.asciz \"license=GPL\"\n.text\nnop\n";
	static const char signature[] = "~Module signature appended~\n";
	g_autofree char *plain = in_folder("modules/kernel/plain.ko"),
			*sealed = in_folder("modules/kernel/sealed.ko");
	g_autofree char *data = NULL;
	g_autoptr(GString) with_signature = NULL;
	g_autoptr(GBytes) a = NULL, b = NULL;
	g_autoptr(LabKernel) kernel = NULL;
	gsize length;

	put_bzimage("vmlinuz", RELEASE, TRUE);
	made_assemble(plain, module);
	data = lab_file_read(plain, &length, NULL);
	with_signature = g_string_new_len(data, (gssize)length);
	g_string_append(with_signature, signature);
	ck_assert(lab_file_write(sealed, with_signature->str, (gssize)with_signature->len, NULL));
	kernel = get_good();
	a = stored_module(kernel, "kernel/plain.ko.zst");
	ck_assert_uint_lt(g_bytes_get_size(a), length - 5000);
	ck_assert_ptr_null(
		memmem(g_bytes_get_data(a, NULL), g_bytes_get_size(a), "DEBUG-SECRET", 12));
	b = stored_module(kernel, "kernel/sealed.ko.zst");
	ck_assert_uint_eq(g_bytes_get_size(b), with_signature->len);
	ck_assert_mem_eq(g_bytes_get_data(b, NULL), with_signature->str, with_signature->len);
}
END_TEST

/* ---- in the cache -------------------------------------------------------------------------------- */

START_TEST(list_and_open)
{
	g_autoptr(LabKernel) new = NULL, old = NULL, opened = NULL;
	g_autoptr(GPtrArray) kernels = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *want =
		g_strdup_printf("no kernel 'zzzzzz' in the cache %s", lab_cache_root(cache));
	g_autofree char *path = in_folder("vmlinuz");
	g_autofree char *start = NULL;

	put_bzimage("vmlinuz", "6.10.0", TRUE);
	new = get_good();
	put_bzimage("vmlinuz", "6.9.0", TRUE);
	old = get_good();
	kernels = lab_kernel_list(cache, NULL);
	ck_assert_uint_eq(kernels->len, 2);
	ck_assert_str_eq(((LabKernel *)kernels->pdata[0])->release, "6.9.0");
	ck_assert_str_eq(((LabKernel *)kernels->pdata[1])->release, "6.10.0");

	start = g_strndup(new->digest, 10);
	opened = lab_kernel_open(cache, start, NULL);
	ck_assert_ptr_nonnull(opened);
	ck_assert_str_eq(opened->digest, new->digest);
	ck_assert_str_eq(opened->build_id, new->build_id);
	ck_assert_str_eq(opened->boot_path, new->boot_path);
	ck_assert(opened->pvh);

	ck_assert_ptr_null(lab_kernel_open(cache, "zzzzzz", &error));
	ck_assert_str_eq(error->message, want);
	g_clear_error(&error);
	ck_assert_ptr_null(lab_kernel_open(cache, "ab", &error));
	ck_assert_str_eq(error->message,
			 "wanted at least 6 digits of a kernel's digest, found 'ab'");
}
END_TEST

START_TEST(debian_offline)
{
	LabKernelSpec spec = {
		.kind = LAB_KERNEL_DEBIAN, .text = (char *)"debian:sid", .suite = (char *)"sid"};
	g_autofree char *want =
		g_strdup_printf("debian:sid is not in the cache %s, and without the network it "
				"cannot be fetched",
				lab_cache_root(cache));
	g_autoptr(GError) error = NULL;
	gboolean fetched = 7;

	ck_assert_ptr_null(lab_kernel_get(cache, &spec, TRUE, NULL, NULL, &fetched, &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_INFRA));
	ck_assert_str_eq(error->message, want);
	ck_assert_int_eq(fetched, 7);
}
END_TEST

/* ---- config -------------------------------------------------------------------------------------- */

#define BASE                                                                                       \
	"CONFIG_64BIT=y\nCONFIG_BLK_DEV_INITRD=y\nCONFIG_BINFMT_ELF=y\nCONFIG_SERIAL_8250_"        \
	"CONSOLE=y\n"                                                                              \
	"CONFIG_DEVTMPFS=y\nCONFIG_TMPFS=y\nCONFIG_PROC_FS=y\nCONFIG_SYSFS=y\nCONFIG_SMP="         \
	"y\nCONFIG_NUMA=y\n"                                                                       \
	"CONFIG_ACPI_NUMA=y\n"

static const LabKernelNeeds fake = {.fake_numa = TRUE};
static const LabKernelNeeds all = {TRUE, TRUE, TRUE, TRUE, TRUE};
static const LabKernelNeeds none;

/* @message NULL: passes */
static const struct {
	const char *config;
	const LabKernelNeeds *needs;
	const char *message;
} checks[] = {
	{BASE, &none, NULL},
	{BASE "# CONFIG_NUMA_EMU is not set\n", &none, NULL},
	{BASE "# CONFIG_NUMA_EMU is not set\n", &fake, "CONFIG_NUMA_EMU, which 'kind: fake' needs"},
	{BASE "CONFIG_NUMA_EMU=y\n", &fake, NULL},
	/* the name of another option's end or start is not it */
	{BASE "CONFIG_NUMA_EMU_MORE=y\nCONFIG_X_CONFIG_NUMA_EMU=y\n", &fake,
	 "CONFIG_NUMA_EMU, which 'kind: fake' needs"},
	{BASE "CONFIG_MODULES=y\nCONFIG_NUMA_EMU=y\nCONFIG_NUMA_BALANCING=y\nCONFIG_LIBNVDIMM="
	      "m\nCONFIG_ACPI_NFIT=m\n"
	      "CONFIG_BLK_DEV_PMEM=m\nCONFIG_EROFS_FS=m\nCONFIG_OVERLAY_FS=m\nCONFIG_XFS_FS=m\n",
	 &all, NULL},
	/* modules cannot be had from a kernel that loads none */
	{BASE "CONFIG_NUMA_EMU=y\nCONFIG_NUMA_BALANCING=y\nCONFIG_LIBNVDIMM=y\nCONFIG_ACPI_NFIT=y\n"
	      "CONFIG_BLK_DEV_PMEM=y\nCONFIG_EROFS_FS=y\nCONFIG_OVERLAY_FS=y\nCONFIG_XFS_FS=m\n",
	 &all, "CONFIG_XFS_FS=y, which an XFS on the scratch device needs"},
	{BASE, &all,
	 "CONFIG_NUMA_EMU, which 'kind: fake' needs; CONFIG_NUMA_BALANCING, which numa_balancing "
	 "needs; "
	 "CONFIG_LIBNVDIMM, CONFIG_ACPI_NFIT, CONFIG_BLK_DEV_PMEM, which an NVDIMM needs; "
	 "CONFIG_EROFS_FS, CONFIG_OVERLAY_FS, which an image needs; "
	 "CONFIG_XFS_FS, which an XFS on the scratch device needs"},
	{"CONFIG_64BIT=y\nCONFIG_BLK_DEV_INITRD=y\nCONFIG_BINFMT_ELF=y\nCONFIG_SERIAL_8250_CONSOLE="
	 "m\n"
	 "CONFIG_DEVTMPFS=y\nCONFIG_TMPFS=y\nCONFIG_PROC_FS=y\nCONFIG_SYSFS=y\nCONFIG_SMP="
	 "y\nCONFIG_MODULES=y\n",
	 &none,
	 "CONFIG_SERIAL_8250_CONSOLE=y, which every boot needs; CONFIG_NUMA, CONFIG_ACPI_NUMA, "
	 "which a topology needs"},
};

START_TEST(check)
{
	g_autofree char *config = in_folder("config");
	LabKernel kernel = {.text = (char *)"debian:bookworm",
			    .release = (char *)"6.1.0-57-amd64",
			    .config_path = config};
	LabOrigin origin = {"s.yaml", 4, 2};
	g_autoptr(GError) error = NULL;
	g_autofree char *want = NULL;

	put("config", checks[_i].config);
	if (!checks[_i].message) {
		ck_assert_msg(lab_kernel_check(&kernel, checks[_i].needs, &origin, &error), "%s",
			      error ? error->message : "");
		return;
	}
	want = g_strconcat("s.yaml:4:2: debian:bookworm (6.1.0-57-amd64) lacks ",
			   checks[_i].message, NULL);
	ck_assert(!lab_kernel_check(&kernel, checks[_i].needs, &origin, &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_USER));
	ck_assert_str_eq(error->message, want);
}
END_TEST

START_TEST(check_without_config)
{
	LabKernel kernel = {.text = (char *)"dir:k", .release = (char *)RELEASE};

	ck_assert(lab_kernel_check(&kernel, &all, NULL, NULL));
}
END_TEST

static const struct {
	const char *release, *config; /* config NULL: not known */
	gboolean uses;
} async_pfs[] = {
	{"6.1.0-57-amd64", "CONFIG_KVM_GUEST=y\n", TRUE},
	{"5.8.0", "CONFIG_KVM_GUEST=y\n", TRUE},
	{"5.7.19", "CONFIG_KVM_GUEST=y\n", FALSE},
	{"3.19.8", "CONFIG_KVM_GUEST=y\n", FALSE},
	{"10.0.1", "CONFIG_KVM_GUEST=y\n", TRUE},
	{"6.1.0", "# CONFIG_KVM_GUEST is not set\n", FALSE},
	{"6.1.0", NULL, FALSE},
};

START_TEST(async_pf)
{
	g_autofree char *config = in_folder("config");
	LabKernel kernel = {.release = (char *)async_pfs[_i].release,
			    .config_path = async_pfs[_i].config ? config : NULL};

	put("config", async_pfs[_i].config ? async_pfs[_i].config : "");
	ck_assert_int_eq(lab_kernel_uses_async_pf(&kernel), async_pfs[_i].uses);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kernel");
	TCase *c = tcase_create("kernel");
	SRunner *runner;
	int failed;

	tcase_set_timeout(c, 60);
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, good_folder);
	tcase_add_test(c, digest_is_of_the_content);
	tcase_add_test(c, old_files_are_read_once);
	tcase_add_test(c, folder_without_pvh);
	tcase_add_test(c, folder_with_vmlinux);
	tcase_add_loop_test(c, bad_folder, 0, G_N_ELEMENTS(bad));
	tcase_add_loop_test(c, build_tree, 0, G_N_ELEMENTS(orders));
	tcase_add_test(c, debug_information_is_stripped);
	tcase_add_test(c, list_and_open);
	tcase_add_test(c, debian_offline);
	tcase_add_loop_test(c, check, 0, G_N_ELEMENTS(checks));
	tcase_add_test(c, check_without_config);
	tcase_add_loop_test(c, async_pf, 0, G_N_ELEMENTS(async_pfs));
	suite_add_tcase(suite, c);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
