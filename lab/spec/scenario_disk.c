/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guests that boot from a disk of their own. */
#include "lab/spec/scenario_parts.h"

#include "lab/base/suggest.h"

#define DEFAULT_BYTES (8ull << 30)
#define MIN_BYTES (1ull << 30)
#define MAX_BYTES (1ull << 40)

static const char *const boots[] = {[LAB_BOOT_DIRECT] = "direct", [LAB_BOOT_DISK] = "disk", NULL};
static const char *const roots[] = {"ext4", "xfs", NULL};
static const char *const bootloaders[] = {"grub", "none", NULL};
/* QEMU's cache= and aio=, as libvirt's <driver cache= io=> has them. */
static const char *const caches[] = {"writeback",  "none",   "writethrough",
				     "directsync", "unsafe", NULL};
static const char *const ios[] = {"threads", "native", "io_uring", NULL};

struct raw {
	guint root, bootloader, cache, io;
	guint64 bytes;
	const LabYamlNode *more_scratch;
};

static const LabYamlField fields[] = {
	{"root", LAB_YAML_WORD, offsetof(struct raw, root), .words = roots},
	{"bootloader", LAB_YAML_WORD, offsetof(struct raw, bootloader), .words = bootloaders},
	{"size", LAB_YAML_BYTES, offsetof(struct raw, bytes)},
	{"cache", LAB_YAML_WORD, offsetof(struct raw, cache), .words = caches},
	{"io", LAB_YAML_WORD, offsetof(struct raw, io), .words = ios},
	{"more-scratch", LAB_YAML_NODES, offsetof(struct raw, more_scratch)},
	{0},
};

const char *lab_boot_kind_name(LabBootKind boot)
{
	return boots[boot];
}

gboolean lab_boot_kind_parse(const char *text, LabBootKind *boot)
{
	int i = lab_word_index(boots, text);

	if (i >= 0)
		*boot = (LabBootKind)i;
	return i >= 0;
}

static gboolean read_options(const LabYamlNode *node, LabScenario *s, GError **error)
{
	struct raw raw = {.bytes = DEFAULT_BYTES};

	if (node && !lab_yaml_read(node, "disk", fields, &raw, error))
		return FALSE;
	if (raw.bytes < MIN_BYTES || raw.bytes > MAX_BYTES || raw.bytes % MIN_BYTES)
		return lab_yaml_fail(lab_yaml_get(node, "size"), error,
				     "a multiple of 1GiB up to 1TiB");
	s->disk = (LabDisk){.root = roots[raw.root],
			    .bootloader = bootloaders[raw.bootloader],
			    .cache = caches[raw.cache],
			    .io = ios[raw.io],
			    .bytes = raw.bytes};
	/* Linux AIO is asynchronous only without the host's page cache; QEMU refuses it else. */
	if (raw.io == 1 && raw.cache != 1 && raw.cache != 3)
		return lab_yaml_fail(lab_yaml_get(node, "io"), error,
				     "cache none or directsync beside io native");
	return TRUE;
}

static gboolean read_more_scratch(const LabYamlNode *list, LabScenario *s, GError **error)
{
	if (list && list->children->len > LAB_MORE_SCRATCH_MAX)
		return lab_yaml_fail(list, error, "up to %d more scratch disks", LAB_MORE_SCRATCH_MAX);
	for (guint i = 0; list && i < list->children->len; i++) {
		const LabYamlNode *node = list->children->pdata[i];
		guint64 bytes;

		if (!lab_yaml_bytes(node, &bytes, error))
			return FALSE;
		if (!bytes || bytes % LAB_SCRATCH_UNIT || bytes > LAB_SCRATCH_MAX_DISK)
			return lab_yaml_fail(node, error, "a multiple of 2MiB up to 1PiB");
		s->disk.more_scratch_bytes[s->disk.n_more_scratch++] = bytes;
	}
	return TRUE;
}

/* What is made here has keys that an image of the user's decides itself. */
static gboolean check_own_image(const LabYamlNode *disk, const LabScenario *s, GError **error)
{
	static const char *const made[] = {"root", "size"};

	for (guint i = 0; s->image->disk && disk && i < G_N_ELEMENTS(made); i++)
		if (lab_yaml_get(disk, made[i]))
			return lab_yaml_fail(lab_yaml_get(disk, made[i]), error,
					     "no %s of an image that is there already", made[i]);
	return TRUE;
}

gboolean lab_scenario_read_disk(const LabYamlNode *boot, const LabYamlNode *disk,
				const LabYamlNode *image, LabScenario *s, GError **error)
{
	guint word = LAB_BOOT_DIRECT;

	if (boot && !lab_yaml_word(boot, boots, &word, error))
		return FALSE;
	s->boot = (LabBootKind)word;
	if (s->boot == LAB_BOOT_DIRECT) {
		if (s->image->disk)
			return lab_yaml_fail(image, error, "'boot: disk' beside a disk image");
		if (!disk)
			return TRUE;
		lab_error_set_at(error, &disk->key_origin,
				 "wanted 'boot: disk' beside this key, found boot direct");
		return FALSE;
	}
	/* A virtio disk alone makes two boots differ: docs/exact-clock.md. */
	if (s->clock == LAB_CLOCK_EXACT)
		return lab_yaml_fail(boot, error,
				     "boot direct with clock exact (a disk makes boots differ), or "
				     "clock kvm or tcg");
	return read_options(disk, s, error) &&
	       read_more_scratch(disk ? lab_yaml_get(disk, "more-scratch") : NULL, s, error) &&
	       check_own_image(disk, s, error);
}

JsonObject *lab_scenario_disk_json(const LabScenario *s)
{
	JsonObject *o = json_object_new();

	json_object_set_string_member(o, "bootloader", s->disk.bootloader);
	json_object_set_string_member(o, "cache", s->disk.cache);
	json_object_set_string_member(o, "io", s->disk.io);
	if (s->disk.n_more_scratch) {
		JsonArray *more = json_array_new();

		for (guint i = 0; i < s->disk.n_more_scratch; i++)
			json_array_add_int_element(more, (gint64)s->disk.more_scratch_bytes[i]);
		json_object_set_array_member(o, "more_scratch_bytes", more);
	}
	if (s->image->disk)
		return o;
	json_object_set_string_member(o, "root", s->disk.root);
	json_object_set_int_member(o, "size_bytes", (gint64)s->disk.bytes);
	return o;
}
