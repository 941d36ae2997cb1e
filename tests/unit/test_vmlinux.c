/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/vmlinux.h"

#include <check.h>
#include <stdlib.h>

#include "lab/base/error.h"
#include "lab/build/decompress.h"
#include "tests/unit/made_kernel.h"

static char *top;
static char *vmlinux;
static gsize vmlinux_bytes;

static void setup(void)
{
	g_autofree char *path = NULL;

	top = g_dir_make_tmp("numalab-test-vmlinux-XXXXXX", NULL);
	path = g_build_filename(top, "vmlinux", NULL);
	made_vmlinux(path, "6.1.0-made", TRUE);
	vmlinux = lab_file_read(path, &vmlinux_bytes, NULL);
	ck_assert_ptr_nonnull(vmlinux);
}

static void teardown(void)
{
	lab_dir_remove(top, NULL);
	g_clear_pointer(&top, g_free);
	g_clear_pointer(&vmlinux, g_free);
}

/* The legacy lz4 of `lz4 -l`, which kernels have: blocks with their size, here of literals only. */
static GByteArray *legacy_lz4(const char *data, gsize length)
{
	GByteArray *out =
		g_byte_array_append(g_byte_array_new(), (const guint8 *)"\x02\x21\x4c\x18", 4);
	g_autoptr(GByteArray) block = g_byte_array_new();
	gsize rest = length - 15;

	g_byte_array_append(block, (const guint8 *)"\xf0", 1);
	for (; rest >= 255; rest -= 255)
		g_byte_array_append(block, (const guint8 *)"\xff", 1);
	g_byte_array_append(block, &(guint8){(guint8)rest}, 1);
	g_byte_array_append(block, (const guint8 *)data, (guint)length);
	made_append32(out, block->len);
	g_byte_array_append(out, block->data, block->len);
	return out;
}

/* The payload that a kernel built with this compression has. */
static GByteArray *payload_of(const char *filter)
{
	GByteArray *payload = !strcmp(filter, "legacy lz4")
				      ? legacy_lz4(vmlinux, vmlinux_bytes)
				      : made_compressed(filter, vmlinux, vmlinux_bytes);

	/* gzip ends with it by itself; scripts/Makefile.lib adds it to the others */
	if (strcmp(filter, "gzip") && strcmp(filter, "none"))
		made_append32(payload, (guint32)vmlinux_bytes);
	return payload;
}

static const char *const filters[] = {"none", "gzip", "bzip2", "xz",
				      "lzma", "zstd", "lz4",   "legacy lz4"};

START_TEST(extract)
{
	g_autoptr(GByteArray) image = made_bzimage(payload_of(filters[_i]), "6.1.0-made");
	g_autoptr(GError) error = NULL;
	g_autoptr(GBytes) got = lab_bzimage_extract(image->data, image->len, "bzImage", &error);
	g_auto(LabBzImage) header = {0};
	gsize n;
	const char *bytes;

	ck_assert_msg(got != NULL, "%s: %s", filters[_i], error ? error->message : "");
	bytes = g_bytes_get_data(got, &n);
	/* without compression the payload has no size after it, and may be longer than the file in it */
	ck_assert_uint_eq(n, vmlinux_bytes);
	ck_assert_mem_eq(bytes, vmlinux, vmlinux_bytes);
	ck_assert(lab_bzimage_parse(image->data, image->len, "bzImage", &header, NULL));
	ck_assert_str_eq(header.release, "6.1.0-made");
	ck_assert_uint_eq(header.payload_offset, (MADE_SETUP_SECTORS + 1) * 512 + 96);
}
END_TEST

START_TEST(truncated)
{
	g_autoptr(GByteArray) image = made_bzimage(payload_of(filters[_i]), "6.1.0-made");
	gsize end = image->len - 4; /* of the payload */

	for (gsize n = 0; n < end; n++) {
		g_autofree guint8 *copy = g_memdup2(image->data, n);
		g_autoptr(GError) error = NULL;
		LabBzImage header = {1, 2, NULL};

		ck_assert(!lab_bzimage_parse(copy, n, "bzImage", &header, &error));
		ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_USER));
		ck_assert(g_str_has_prefix(error->message, "bzImage: "));
		ck_assert_uint_eq(header.payload_offset, 1);
		ck_assert_uint_eq(header.payload_bytes, 2);
		ck_assert_ptr_null(header.release);
	}
}
END_TEST

/* Bytes of the compressed kernel lost or changed: the length is checked at the end, if nothing else notices. */
START_TEST(damaged)
{
	g_autoptr(GByteArray) image = NULL;
	GByteArray *payload;

	if (!strcmp(filters[_i], "none"))
		return;
	payload = payload_of(filters[_i]);
	/* 40 bytes out of the middle */
	g_byte_array_remove_range(payload, payload->len / 2, 40);
	image = made_bzimage(payload, "6.1.0-made");
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(lab_bzimage_extract(image->data, image->len, "bzImage", &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_USER));
	ck_assert(g_str_has_prefix(error->message, "bzImage: "));
}
END_TEST

typedef void (*Spoil)(GByteArray *image);

static void no_magic(GByteArray *image)
{
	image->data[0x203] = 'x';
}

static void old_protocol(GByteArray *image)
{
	image->data[0x206] = 7;
}

static void no_payload(GByteArray *image)
{
	made_put32(image, 0x24c, 0);
}

static void far_payload(GByteArray *image)
{
	made_put32(image, 0x248, 0xfffffff0);
}

static void not_elf(GByteArray *image)
{
	image->data[(MADE_SETUP_SECTORS + 1) * 512 + 96 + 1] = 'x';
}

static void lzo(GByteArray *image)
{
	memcpy(image->data + (MADE_SETUP_SECTORS + 1) * 512 + 96, "\x89LZO\0\r\n", 7);
}

static const struct {
	Spoil spoil;
	const char *message;
} bad[] = {
	{no_magic, "b: not a Linux bzImage (no 'HdrS' at 0x202)"},
	{old_protocol, "b: the bzImage is older than boot protocol 2.08 (Linux 2.6.26)"},
	{no_payload, "b: the bzImage has no payload"},
	{far_payload, "b: the bzImage is truncated: its header speaks of "},
	{not_elf, "b: the bzImage's payload is no ELF file"},
	{lzo, "b: cannot be decompressed (lzo): no decoder for it"},
};

START_TEST(bad_image)
{
	g_autoptr(GByteArray) image = made_bzimage(payload_of("none"), "6.1.0-made");
	g_autoptr(GError) error = NULL;

	bad[_i].spoil(image);
	ck_assert_ptr_null(lab_bzimage_extract(image->data, image->len, "b", &error));
	ck_assert(g_error_matches(error, LAB_ERROR, LAB_ERROR_USER));
	ck_assert_msg(g_str_has_prefix(error->message, bad[_i].message), "%s", error->message);
}
END_TEST

START_TEST(wrong_size)
{
	GByteArray *payload = made_compressed("xz", vmlinux, vmlinux_bytes);
	g_autofree char *want =
		g_strdup_printf("b: the kernel within should have %u bytes, decompressing gave %u",
				(guint)vmlinux_bytes + 1, (guint)vmlinux_bytes);
	g_autoptr(GByteArray) image = NULL;
	g_autoptr(GError) error = NULL;

	made_append32(payload, (guint32)vmlinux_bytes + 1);
	image = made_bzimage(payload, "6.1.0-made");
	ck_assert_ptr_null(lab_bzimage_extract(image->data, image->len, "b", &error));
	ck_assert_str_eq(error->message, want);
}
END_TEST

START_TEST(decompressed_too_long)
{
	g_autoptr(GByteArray) packed = made_compressed("zstd", vmlinux, vmlinux_bytes);
	g_autoptr(GError) error = NULL;

	ck_assert_ptr_null(
		lab_decompress(packed->data, packed->len, "x", vmlinux_bytes - 1, &error));
	ck_assert_str_eq(error->message,
			 "x: cannot be decompressed (zstd): it is longer than it can be");
}
END_TEST

START_TEST(notes)
{
	g_auto(LabVmlinux) with = {0}, without = {0};
	g_autofree char *path = g_build_filename(top, "plain", NULL);
	g_autofree char *plain = NULL;
	g_autoptr(GError) error = NULL;
	gsize length;

	ck_assert(lab_vmlinux_read(vmlinux, vmlinux_bytes, "v", &with, NULL));
	ck_assert(with.pvh);
	ck_assert_str_eq(with.build_id, MADE_BUILD_ID);
	ck_assert_str_eq(with.release, "6.1.0-made");

	made_vmlinux(path, "3.19.8", FALSE);
	plain = lab_file_read(path, &length, NULL);
	ck_assert(lab_vmlinux_read(plain, length, "v", &without, NULL));
	ck_assert(!without.pvh);
	ck_assert_str_eq(without.build_id, MADE_BUILD_ID);
	ck_assert_str_eq(without.release, "3.19.8");

	ck_assert(!lab_vmlinux_read("hello", 5, "v", &with, &error));
	ck_assert_str_eq(error->message, "v: not an ELF file");
}
END_TEST

START_TEST(truncated_vmlinux)
{
	/* no crash, no read beyond the end (seen by ASan), and outputs that can be cleared */
	for (gsize n = 0; n < vmlinux_bytes; n += n < 1024 ? 1 : 61) {
		g_autofree char *copy = g_memdup2(vmlinux, n);
		g_auto(LabVmlinux) found = {0};
		g_autoptr(GError) error = NULL;

		if (lab_vmlinux_read(copy, n, "v", &found, &error))
			ck_assert_ptr_nonnull(found.build_id);
		else
			ck_assert(found.build_id == NULL && error != NULL);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("vmlinux");
	TCase *c = tcase_create("vmlinux");
	SRunner *runner;
	int failed;

	tcase_set_timeout(c, 60);
	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_loop_test(c, extract, 0, G_N_ELEMENTS(filters));
	tcase_add_loop_test(c, truncated, 0, G_N_ELEMENTS(filters));
	tcase_add_loop_test(c, damaged, 0, G_N_ELEMENTS(filters));
	tcase_add_loop_test(c, bad_image, 0, G_N_ELEMENTS(bad));
	tcase_add_test(c, wrong_size);
	tcase_add_test(c, decompressed_too_long);
	tcase_add_test(c, notes);
	tcase_add_test(c, truncated_vmlinux);
	suite_add_tcase(suite, c);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
