/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is inside of a kernel's boot file: bzImage (Documentation/arch/x86/boot.rst) and vmlinux
 * (ELF notes).
 */
#pragma once
#include <glib.h>

/** struct LabBzImage - the header of a bzImage */
typedef struct {
	gsize payload_offset; /* in the file */
	gsize payload_bytes; /* compressed, with the 4 bytes of size that all but gzip have at the end */
	char *release;	     /* first word of the version string; "" when it has none */
} LabBzImage;

void lab_bzimage_clear(LabBzImage *image);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LabBzImage, lab_bzimage_clear)

/** lab_bzimage_is() - does @data start as a Linux bzImage does? */
gboolean lab_bzimage_is(const void *data, gsize length);

/**
 * lab_bzimage_parse() - read the header of a bzImage in memory
 * @what: for the error: a path
 *
 * Errors: LAB_ERROR_USER "WHAT: ...": no bzImage, boot protocol before 2.08 (Linux 2.6.26),
 * truncated.
 */
gboolean lab_bzimage_parse(const void *data, gsize length, const char *what, LabBzImage *image,
			   GError **error);

/**
 * lab_bzimage_extract() - the uncompressed ELF vmlinux within
 *
 * Free with g_bytes_unref(). Errors: LAB_ERROR_USER: as lab_bzimage_parse(), lab_decompress(); a
 * size that is not the one recorded; no ELF within.
 */
GBytes *lab_bzimage_extract(const void *data, gsize length, const char *what, GError **error);

/** struct LabVmlinux - what a vmlinux says of itself */
typedef struct {
	char *build_id; /* hex, of its NT_GNU_BUILD_ID note; "" */
	gboolean pvh;	/* has a XEN_ELFNOTE_PHYS32_ENTRY note: QEMU enters it directly */
	char *release;	/* of its banner "Linux version RELEASE ("; "" */
} LabVmlinux;

void lab_vmlinux_clear(LabVmlinux *vmlinux);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LabVmlinux, lab_vmlinux_clear)

/** lab_vmlinux_is() - an ELF file? */
gboolean lab_vmlinux_is(const void *data, gsize length);

/** lab_vmlinux_read() - of an ELF file in memory. Errors: LAB_ERROR_USER "WHAT: ...". */
gboolean lab_vmlinux_read(const void *data, gsize length, const char *what, LabVmlinux *vmlinux,
			  GError **error);
