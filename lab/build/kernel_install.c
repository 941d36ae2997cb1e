/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/kernel_source.h"

#include <string.h>

#include "lab/base/digest.h"
#include "lab/base/file.h"
#include "lab/build/decompress.h"
#include "lab/build/modules.h"
#include "lab/build/vmlinux.h"

void lab_kernel_source_clear(LabKernelSource *source)
{
	g_clear_pointer(&source->boot, g_free);
	g_clear_pointer(&source->config, g_free);
	g_clear_pointer(&source->modules, g_ptr_array_unref);
	g_clear_pointer(&source->modules_release, g_free);
	g_clear_pointer(&source->version, g_free);
	g_clear_pointer(&source->boot_digest, g_free);
	g_clear_pointer(&source->config_digest, g_free);
	g_clear_pointer(&source->modules_digest, g_free);
	g_clear_pointer(&source->packages, json_array_unref);
}

/* What the boot file turned out to be. */
typedef struct {
	const char *name; /* in the entry: "vmlinux", "bzImage" */
	char *digest;
	char *release;
	LabVmlinux vmlinux;
} Boot;

static void boot_clear(Boot *boot)
{
	g_clear_pointer(&boot->digest, g_free);
	g_clear_pointer(&boot->release, g_free);
	lab_vmlinux_clear(&boot->vmlinux);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Boot, boot_clear)

static gboolean write_boot(Boot *boot, const char *dir, const void *data, gsize length,
			   GError **error)
{
	g_autofree char *path = g_build_filename(dir, boot->name, NULL);

	boot->digest = lab_digest_data(data, (gssize)length);
	return lab_file_write(path, data, (gssize)length, error);
}

/* Compressed in a way that nobody here can undo: boots all the same, but not by PVH, and its build
 * id stays unknown. */
static gboolean is_opaque(const void *data, const LabBzImage *image)
{
	const char *name = lab_compression_name((const guint8 *)data + image->payload_offset,
						image->payload_bytes);

	return name && !strcmp(name, "lzo");
}

static gboolean install_bzimage(const char *path, const void *data, gsize length, const char *dir,
				Boot *boot, GError **error)
{
	g_auto(LabBzImage) image = {0};
	g_autoptr(GBytes) vmlinux = NULL;
	const void *elf;
	gsize n;

	if (!lab_bzimage_parse(data, length, path, &image, error))
		return FALSE;
	boot->release = g_steal_pointer(&image.release);
	boot->name = "bzImage";
	if (is_opaque(data, &image)) {
		boot->vmlinux.build_id = g_strdup("");
		return write_boot(boot, dir, data, length, error);
	}
	vmlinux = lab_bzimage_extract(data, length, path, error);
	if (!vmlinux)
		return FALSE;
	elf = g_bytes_get_data(vmlinux, &n);
	if (!lab_vmlinux_read(elf, n, path, &boot->vmlinux, error))
		return FALSE;
	if (!*boot->release) {
		g_free(boot->release);
		boot->release = g_strdup(boot->vmlinux.release);
	}
	if (!boot->vmlinux.pvh)
		return write_boot(boot, dir, data, length, error);
	boot->name = "vmlinux";
	return write_boot(boot, dir, elf, n, error);
}

/* The digest that was recorded when the parts were looked at, if any, must be that of what was read
 * now. */
static gboolean check_unchanged(const char *path, const char *before, const char *now,
				GError **error)
{
	if (!before || !strcmp(before, now))
		return TRUE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "%s changed while it was read", path);
	return FALSE;
}

static gboolean install_boot(const LabKernelSource *source, const char *dir, Boot *boot,
			     GError **error)
{
	const char *path = source->boot;
	gsize length;
	/* read, not mapped: a build may write to it */
	g_autofree char *data = lab_file_read(path, &length, error);
	g_autofree char *digest = data ? lab_digest_data(data, (gssize)length) : NULL;

	if (!data || !check_unchanged(path, source->boot_digest, digest, error))
		return FALSE;
	if (!lab_vmlinux_is(data, length))
		return install_bzimage(path, data, length, dir, boot, error);
	if (!lab_vmlinux_read(data, length, path, &boot->vmlinux, error))
		return FALSE;
	if (!boot->vmlinux.pvh) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "%s: has no PVH entry (CONFIG_PVH), so that its bzImage is needed",
			    path);
		return FALSE;
	}
	boot->name = "vmlinux";
	boot->release = g_strdup(boot->vmlinux.release);
	return write_boot(boot, dir, data, length, error);
}

/* "5:6.12.95-1~bpo12+1" -> "6.12.95" */
static char *upstream(const char *version)
{
	const char *colon = strchr(version, ':');
	const char *start = colon ? colon + 1 : version;
	const char *dash = strrchr(start, '-');

	return dash ? g_strndup(start, (gsize)(dash - start)) : g_strdup(start);
}

static char *kernel_digest(const Boot *boot, const char *config_digest, const char *modules_digest)
{
	g_autofree char *text = g_strdup_printf("boot %s\nconfig %s\nmodules %s\n", boot->digest,
						config_digest, modules_digest);

	return lab_digest_data(text, -1);
}

/* Not of all of @dir: what it was unpacked from may still be there. */
static guint64 bytes_on_disk(const char *dir, const Boot *boot)
{
	const char *const parts[] = {boot->name, "config", "modules"};
	guint64 bytes = 0;

	for (guint i = 0; i < G_N_ELEMENTS(parts); i++) {
		g_autofree char *path = g_build_filename(dir, parts[i], NULL);

		bytes += lab_dir_bytes(path);
	}
	return bytes;
}

static void add_string(JsonObject *object, const char *name, const char *value)
{
	json_object_set_string_member(object, name, value);
}

static gboolean write_record(const LabKernelSource *source, const Boot *boot, const char *text,
			     const char *digest, const char *dir, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "kernel.json", NULL);
	g_autofree char *label =
		*source->version ? upstream(source->version) : g_strdup(boot->release);
	g_autofree char *json = NULL;
	g_autoptr(JsonNode) root = json_node_new(JSON_NODE_OBJECT);
	JsonObject *object = json_object_new();

	json_node_take_object(root, object);
	add_string(object, "digest", digest);
	add_string(object, "text", text);
	add_string(object, "release", boot->release);
	add_string(object, "version", source->version);
	add_string(object, "label", label);
	add_string(object, "build_id", boot->vmlinux.build_id);
	add_string(object, "boot", boot->name);
	json_object_set_boolean_member(object, "pvh", boot->vmlinux.pvh);
	json_object_set_boolean_member(object, "config", source->config != NULL);
	json_object_set_int_member(object, "bytes", (gint64)bytes_on_disk(dir, boot));
	if (source->packages)
		json_object_set_array_member(object, "packages", json_array_ref(source->packages));
	json = json_to_string(root, TRUE);
	return lab_file_write(path, json, -1, error);
}

static gboolean check_release(const LabKernelSource *source, const Boot *boot, GError **error)
{
	if (!*boot->release) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "%s: has no version in it: not a kernel?", source->boot);
		return FALSE;
	}
	if (!source->modules_release || !strcmp(source->modules_release, boot->release))
		return TRUE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "%s is %s, but its modules are of %s",
		    source->boot, boot->release, source->modules_release);
	return FALSE;
}

gboolean lab_kernel_install(const LabKernelSource *source, const char *text, const char *dir,
			    GError **error)
{
	g_autofree char *modules = g_build_filename(dir, "modules", NULL);
	g_autofree char *config = g_build_filename(dir, "config", NULL);
	g_autofree char *config_digest = NULL, *modules_digest = NULL, *digest = NULL;
	g_auto(Boot) boot = {0};

	if (!install_boot(source, dir, &boot, error) || !check_release(source, &boot, error))
		return FALSE;
	if (source->config && !lab_file_copy(source->config, config, error))
		return FALSE;
	config_digest = source->config ? lab_digest_file(config, error) : g_strdup("none");
	if (!config_digest ||
	    (source->config &&
	     !check_unchanged(source->config, source->config_digest, config_digest, error)))
		return FALSE;
	if (!lab_modules_install(source->modules, source->movable, modules, boot.release,
				 &modules_digest, error) ||
	    !check_unchanged("a module", source->modules_digest, modules_digest, error))
		return FALSE;
	digest = kernel_digest(&boot, config_digest, modules_digest);
	return write_record(source, &boot, text, digest, dir, error);
}
