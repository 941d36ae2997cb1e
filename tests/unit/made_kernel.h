/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small kernels for tests, made by the assembler and the linker: what is read from them is what such tools really write. */
#pragma once
#include <archive.h>
#include <archive_entry.h>
#include <check.h>
#include <glib.h>
#include <string.h>

#include "lab/base/file.h"
#include "lab/base/process.h"

#define MADE_BUILD_ID "0102030405060708090a0b0c0d0e0f1011121314"
#define MADE_SETUP_SECTORS 2

static inline void made_write(const char *path, const char *text)
{
	g_autofree char *dir = g_path_get_dirname(path);

	ck_assert(lab_dir_make(dir, NULL));
	ck_assert(lab_file_write(path, text, -1, NULL));
}

static inline void made_assemble(const char *path, const char *text)
{
	const char *const argv[] = {"as", "--64", "-o", path, "-", NULL};
	LabProcessOptions options = {.input = text};
	g_autoptr(GError) error = NULL;
	g_autofree char *dir = g_path_get_dirname(path);

	ck_assert(lab_dir_make(dir, NULL));
	ck_assert_msg(lab_process_check(argv, &options, NULL, &error), "%s",
		      error ? error->message : "");
}

/* An ELF file with a kernel's notes and banner. */
static inline void made_vmlinux(const char *path, const char *release, gboolean pvh)
{
	static const char notes[] =
		".section .note.id,\"a\",@note\n.balign 4\n.long 4, 20, 3\n.asciz \"GNU\"\n"
		".byte 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20\n"
		".section .note.xen,\"a\",@note\n.balign 4\n.long 4, 4, %d\n.asciz \"Xen\"\n"
		".long 0x1000000\n"
		".section .rodata\n.asciz \"Linux version %%s (%%s)\"\n"
		".asciz \"Linux version %s (who@where) #1 SMP\\n\"\n"
		".text\n.globl _start\n_start: hlt\n.fill 3000, 1, 0x90\n";
	g_autofree char *object = g_strconcat(path, ".o", NULL);
	g_autofree char *text = g_strdup_printf(notes, pvh ? 18 : 17, release);
	const char *const argv[] = {"ld", "--build-id=none", "-o", path, object, NULL};
	g_autoptr(GError) error = NULL;

	made_assemble(object, text);
	ck_assert_msg(lab_process_check(argv, NULL, NULL, &error), "%s",
		      error ? error->message : "");
}

/*
 * @modinfo: "key=value" words separated by blanks ("~" for a
 * blank within one); @exports, @needs: (nullable): a symbol
 */
static inline void made_module(const char *path, const char *modinfo, const char *exports,
			       const char *needs)
{
	g_autoptr(GString) text = g_string_new(".section .modinfo,\"a\"\n.asciz \"license=GPL\"\n");
	g_auto(GStrv) words = g_strsplit(modinfo, " ", -1);

	for (char **w = words; *w; w++)
		g_string_append_printf(text, ".asciz \"%s\"\n", g_strdelimit(*w, "~", ' '));
	g_string_append(text, ".section .gnu.linkonce.this_module,\"aw\"\n.fill 64\n.text\nnop\n");
	if (exports)
		g_string_append_printf(
			text,
			".globl %s\n%s: nop\n.section __ksymtab_strings,\"a\"\n.asciz \"%s\"\n",
			exports, exports, exports);
	if (needs)
		g_string_append_printf(text, ".data\n.quad %s\n", needs);
	made_assemble(path, text->str);
}

/* @data through a filter of libarchive ("gzip", "xz", ...), or "none". */
static inline GByteArray *made_compressed(const char *filter, const void *data, gsize length)
{
	gsize room = 2 * length + 65536, used = 0;
	g_autofree guint8 *out = g_malloc(room);
	struct archive *a;
	struct archive_entry *entry;

	if (!strcmp(filter, "none"))
		return g_byte_array_append(g_byte_array_new(), data, (guint)length);
	a = archive_write_new();
	entry = archive_entry_new();
	archive_write_set_format_raw(a);
	ck_assert_int_eq(archive_write_add_filter_by_name(a, filter), ARCHIVE_OK);
	archive_write_set_bytes_per_block(a, 0);
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_pathname(entry, "data");
	ck_assert_int_eq(archive_write_open_memory(a, out, room, &used), ARCHIVE_OK);
	ck_assert_int_eq(archive_write_header(a, entry), ARCHIVE_OK);
	ck_assert_int_eq(archive_write_data(a, data, length), (la_ssize_t)length);
	ck_assert_int_eq(archive_write_close(a), ARCHIVE_OK);
	archive_entry_free(entry);
	archive_write_free(a);
	return g_byte_array_append(g_byte_array_new(), out, (guint)used);
}

static inline void made_put32(GByteArray *bytes, gsize at, guint32 value)
{
	for (int i = 0; i < 4; i++)
		bytes->data[at + i] = (guint8)(value >> 8 * i);
}

static inline void made_append32(GByteArray *bytes, guint32 value)
{
	g_byte_array_append(bytes, (const guint8 *)"\0\0\0\0", 4);
	made_put32(bytes, bytes->len - 4, value);
}

/* A bzImage around @payload, which is taken over, with some bytes more at its end, as a real one has. */
static inline GByteArray *made_bzimage(GByteArray *payload, const char *release)
{
	GByteArray *image = g_byte_array_new();
	const gsize setup = (MADE_SETUP_SECTORS + 1) * 512, head = 96;
	g_autofree char *version = g_strdup_printf("%s (who@where) #1 SMP", release);

	g_byte_array_set_size(image, (guint)(setup + head));
	memset(image->data, 0, image->len);
	image->data[0x1f1] = MADE_SETUP_SECTORS;
	memcpy(image->data + 0x202, "HdrS", 4);
	image->data[0x206] = 0x0f;
	image->data[0x207] = 0x02;
	image->data[0x20e] = 0x00; /* version string at 0x200 + 0x100 */
	image->data[0x20f] = 0x01;
	memcpy(image->data + 0x300, version, strlen(version) + 1);
	made_put32(image, 0x248, (guint32)head);
	made_put32(image, 0x24c, payload->len);
	g_byte_array_append(image, payload->data, payload->len);
	g_byte_array_append(image, (const guint8 *)"tail", 4);
	g_byte_array_unref(payload);
	return image;
}

/* A bzImage file as most kernels have it: xz, and its size after it. Its vmlinux is left beside it as ".vmlinux". */
static inline void made_bzimage_file(const char *path, const char *release, gboolean pvh)
{
	g_autofree char *dir = g_path_get_dirname(path);
	g_autofree char *vmlinux = g_build_filename(dir, ".vmlinux", NULL);
	g_autofree char *data = NULL;
	g_autoptr(GByteArray) image = NULL;
	GByteArray *payload;
	gsize length;

	ck_assert(lab_dir_make(dir, NULL));
	made_vmlinux(vmlinux, release, pvh);
	data = lab_file_read(vmlinux, &length, NULL);
	payload = made_compressed("xz", data, length);
	made_append32(payload, (guint32)length);
	image = made_bzimage(payload, release);
	ck_assert(lab_file_write(path, image->data, image->len, NULL));
}
