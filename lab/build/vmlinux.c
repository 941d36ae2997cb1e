/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/vmlinux.h"

#include <elf.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>

#include "lab/base/error.h"
#include "lab/build/decompress.h"

/* Offsets in the setup header, Documentation/arch/x86/boot.rst. */
#define SETUP_SECTS 0x1f1
#define BOOT_MAGIC 0x202
#define BOOT_PROTOCOL 0x206
#define KERNEL_VERSION 0x20e
#define PAYLOAD_OFFSET 0x248
#define PAYLOAD_LENGTH 0x24c
#define HEADER_END 0x250
#define SECTOR 512

#define XEN_ELFNOTE_PHYS32_ENTRY 18
#define MAX_VMLINUX_BYTES ((gsize)1 << 30)

void lab_bzimage_clear(LabBzImage *image)
{
	g_clear_pointer(&image->release, g_free);
}

void lab_vmlinux_clear(LabVmlinux *vmlinux)
{
	g_clear_pointer(&vmlinux->build_id, g_free);
	g_clear_pointer(&vmlinux->release, g_free);
}

static guint32 le32(const guint8 *p)
{
	return p[0] | p[1] << 8 | p[2] << 16 | (guint32)p[3] << 24;
}

static guint16 le16(const guint8 *p)
{
	return (guint16)(p[0] | p[1] << 8);
}

static gboolean fail(GError **error, const char *what, const char *why)
{
	g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "%s: %s", what, why);
	return FALSE;
}

gboolean lab_bzimage_is(const void *data, gsize length)
{
	return length >= BOOT_MAGIC + 4 && !memcmp((const guint8 *)data + BOOT_MAGIC, "HdrS", 4);
}

/* "6.1.0-57-amd64 (debian-kernel@lists.debian.org) #1 SMP ...": the first word; "" where it cannot
 * be one */
static char *first_word(const guint8 *data, gsize length, gsize at)
{
	gsize end = at;

	while (end < length && end - at < 256 && data[end] > ' ' && data[end] < 0x7f)
		end++;
	return end < length && data[end] == ' ' ? g_strndup((const char *)data + at, end - at)
						: g_strdup("");
}

gboolean lab_bzimage_parse(const void *data, gsize length, const char *what, LabBzImage *image,
			   GError **error)
{
	const guint8 *p = data;
	gsize setup_bytes, version_at, offset, payload_bytes;

	if (!lab_bzimage_is(data, length))
		return fail(error, what, "not a Linux bzImage (no 'HdrS' at 0x202)");
	if (length < HEADER_END)
		return fail(error, what, "the bzImage is truncated in its header");
	if (le16(p + BOOT_PROTOCOL) < 0x208)
		return fail(error, what,
			    "the bzImage is older than boot protocol 2.08 (Linux 2.6.26)");
	setup_bytes = ((p[SETUP_SECTS] ? p[SETUP_SECTS] : 4) + 1u) * SECTOR;
	offset = setup_bytes + le32(p + PAYLOAD_OFFSET);
	payload_bytes = le32(p + PAYLOAD_LENGTH);
	if (payload_bytes == 0)
		return fail(error, what, "the bzImage has no payload");
	if (offset > length || payload_bytes > length - offset) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "%s: the bzImage is truncated: its header speaks of %" G_GSIZE_FORMAT
			    " bytes, it has %" G_GSIZE_FORMAT,
			    what, offset + payload_bytes, length);
		return FALSE;
	}
	version_at = le16(p + KERNEL_VERSION);
	image->payload_offset = offset;
	image->payload_bytes = payload_bytes;
	image->release = version_at ? first_word(p, length, version_at + SECTOR) : g_strdup("");
	return TRUE;
}

GBytes *lab_bzimage_extract(const void *data, gsize length, const char *what, GError **error)
{
	g_auto(LabBzImage) image = {0};
	g_autoptr(GBytes) vmlinux = NULL;
	const guint8 *payload;
	gsize bytes, n, recorded;
	const char *name;

	if (!lab_bzimage_parse(data, length, what, &image, error))
		return NULL;
	payload = (const guint8 *)data + image.payload_offset;
	bytes = image.payload_bytes;
	name = lab_compression_name(payload, bytes);
	/* gzip has the size at its end by itself; to the others the kernel's build adds it. */
	recorded = bytes > 4 ? le32(payload + bytes - 4) : 0;
	if (name && strcmp(name, "gzip") && bytes > 4)
		bytes -= 4;
	vmlinux = lab_decompress(payload, bytes, what, MAX_VMLINUX_BYTES, error);
	if (!vmlinux)
		return NULL;
	n = g_bytes_get_size(vmlinux);
	if (name && n != recorded) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "%s: the kernel within should have %" G_GSIZE_FORMAT
			    " bytes, decompressing gave %" G_GSIZE_FORMAT,
			    what, recorded, n);
		return NULL;
	}
	if (!lab_vmlinux_is(g_bytes_get_data(vmlinux, NULL), n)) {
		fail(error, what, "the bzImage's payload is no ELF file");
		return NULL;
	}
	return g_steal_pointer(&vmlinux);
}

gboolean lab_vmlinux_is(const void *data, gsize length)
{
	return length >= SELFMAG && !memcmp(data, ELFMAG, SELFMAG);
}

static char *to_hex(const guint8 *bytes, gsize n)
{
	GString *text = g_string_sized_new(2 * n);

	for (gsize i = 0; i < n; i++)
		g_string_append_printf(text, "%02x", bytes[i]);
	return g_string_free(text, FALSE);
}

/* The notes of one PT_NOTE segment. */
static void read_notes(Elf_Data *segment, LabVmlinux *found)
{
	const char *bytes = segment->d_buf;
	size_t at = 0, name_at, desc_at;
	GElf_Nhdr note;

	while ((at = gelf_getnote(segment, at, &note, &name_at, &desc_at)) > 0) {
		if (note.n_namesz == 4 && !memcmp(bytes + name_at, "GNU", 4) &&
		    note.n_type == NT_GNU_BUILD_ID && !found->build_id)
			found->build_id = to_hex((const guint8 *)bytes + desc_at, note.n_descsz);
		if (note.n_namesz == 4 && !memcmp(bytes + name_at, "Xen", 4) &&
		    note.n_type == XEN_ELFNOTE_PHYS32_ENTRY)
			found->pvh = TRUE;
	}
}

/* The banner is in .rodata, "Linux version RELEASE (builder@host) ..."; printf formats ("Linux
 * version %s") are not it. */
static char *find_release(const guint8 *data, gsize length)
{
	static const char banner[] = "Linux version ";
	const gsize n = sizeof(banner) - 1;
	const guint8 *at = data, *end = data + length;

	while ((at = memmem(at, (gsize)(end - at), banner, n))) {
		at += n;
		if (at < end && g_ascii_isdigit((char)*at))
			return first_word(data, length, (gsize)(at - data));
	}
	return g_strdup("");
}

gboolean lab_vmlinux_read(const void *data, gsize length, const char *what, LabVmlinux *vmlinux,
			  GError **error)
{
	LabVmlinux found = {0};
	size_t n_headers = 0;
	Elf *elf;

	if (!lab_vmlinux_is(data, length))
		return fail(error, what, "not an ELF file");
	elf_version(EV_CURRENT);
	/* libelf reads only, but has no const */
	elf = elf_memory((char *)data, length);
	if (!elf || elf_getphdrnum(elf, &n_headers) < 0) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "%s: not a whole ELF file: %s", what,
			    elf_errmsg(-1));
		elf_end(elf);
		return FALSE;
	}
	for (size_t i = 0; i < n_headers; i++) {
		GElf_Phdr header;
		Elf_Data *segment;

		if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_NOTE)
			continue;
		segment = elf_getdata_rawchunk(elf, (int64_t)header.p_offset, header.p_filesz,
					       header.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		if (segment && segment->d_buf)
			read_notes(segment, &found);
	}
	elf_end(elf);
	vmlinux->build_id = found.build_id ? found.build_id : g_strdup("");
	vmlinux->pvh = found.pvh;
	vmlinux->release = find_release(data, length);
	return TRUE;
}
