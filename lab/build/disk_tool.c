/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/disk_tool.h"

#include <string.h>
#include <unistd.h>

#include "lab/base/digest.h"
#include "lab/base/file.h"
#include "lab/base/paths.h"
#include "lab/base/private_dir.h"
#include "lab/base/process.h"
#include "lab/build/decompress.h"
#include "lab/build/module_order.h"

#define PROGRAM "numalab-disk"
/* The kernel that libguestfs's guest runs: it must have virtio and the file systems, and is here for the demo anyway. The host's own
 * kernel plays no part: there may be none in /boot, or none that users may read. */
#define KERNEL "debian:bookworm"
#define KIND "disk-tool"
#define GUEST_KIND "guestfs"
/** Enters every key: a new number where the same modules would be laid out otherwise. */
#define LAYOUT "numalab disk tool 1\n"
#define MAX_MODULE_BYTES ((gsize)256 << 20)
/* A kernel's installation takes 2 minutes on a busy host without KVM. */
#define TIMEOUT_US (3600ull * G_USEC_PER_SEC)

static const char *const modules[] = {"virtio_pci", "virtio_scsi", "virtio_blk", "virtio_console",
				      "virtio_rng", "sd_mod",	   "ext4",	 "xfs",
				      "btrfs",	    "vfat",	   "nls_cp437",	 "nls_ascii",
				      "loop",	    "dm_mod",	   NULL};

void lab_disk_said_clear(LabDiskSaid *said)
{
	g_clear_pointer(&said->root, g_free);
	g_clear_pointer(&said->parts, g_ptr_array_unref);
}

void lab_disk_said_part(LabDiskSaid *said, const char *name, gint64 since_us)
{
	if (!said->parts)
		said->parts = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(said->parts, g_strdup_printf("%s %" G_GINT64_FORMAT, name,
						     (g_get_monotonic_time() - since_us) / 1000));
}

LabDiskTool *lab_disk_tool_new(LabCache *cache, gboolean tcg, gboolean offline,
			       LabProgress progress, gpointer data)
{
	LabDiskTool *tool = g_new0(LabDiskTool, 1);

	*tool = (LabDiskTool){cache, tcg, offline, progress, data, NULL, NULL};
	return tool;
}

void lab_disk_tool_free(LabDiskTool *tool)
{
	if (!tool)
		return;
	g_free(tool->guest_dir);
	g_strfreev(tool->environment);
	g_free(tool);
}

void lab_disk_tool_say(LabDiskTool *tool, const char *format, ...)
{
	g_autofree char *text = NULL;
	va_list ap;

	if (!tool->progress)
		return;
	va_start(ap, format);
	text = g_strdup_vprintf(format, ap);
	va_end(ap);
	tool->progress(text, -1, tool->data);
}

/* ---- the kernel of libguestfs's guest ---------------------------------------------------------- */

static gboolean put_module(const char *file, const char *to, GError **error)
{
	g_autofree char *name = g_path_get_basename(file), *path = NULL, *stored = NULL;
	g_autoptr(GBytes) module = NULL;
	char *end = strstr(name, ".ko");
	gsize length;

	if (end)
		end[3] = 0;
	path = g_build_filename(to, "kernel", name, NULL);
	stored = lab_file_read(file, &length, error);
	module = stored ? lab_decompress(stored, length, file, MAX_MODULE_BYTES, error) : NULL;
	return module && lab_file_write(path, g_bytes_get_data(module, NULL),
					(gssize)g_bytes_get_size(module), error);
}

/* Its loader takes modules that are not compressed, and only as a whole lib/modules/RELEASE. */
static gboolean make_modules(const char *dir, gpointer data, GError **error)
{
	static const char *const lists[] = {"modules.builtin", "modules.builtin.modinfo",
					    "modules.order"};
	const LabKernel *kernel = data;
	g_autofree char *to = g_build_filename(dir, "lib", "modules", kernel->release, NULL);
	g_autofree char *below = g_build_filename(to, "kernel", NULL);
	const char *const depmod[] = {"depmod", "-b", dir, kernel->release, NULL};
	g_auto(GStrv) files = lab_module_order(kernel, modules, error);

	if (!files || !lab_dir_make(below, error))
		return FALSE;
	for (char **file = files; *file; file++)
		if (!put_module(*file, to, error))
			return FALSE;
	for (gsize i = 0; i < G_N_ELEMENTS(lists); i++) {
		g_autofree char *from = g_build_filename(kernel->modules_path, lists[i], NULL);
		g_autofree char *copy = g_build_filename(to, lists[i], NULL);

		if (g_file_test(from, G_FILE_TEST_EXISTS) && !lab_file_copy(from, copy, error))
			return FALSE;
	}
	return lab_process_check(depmod, NULL, NULL, error);
}

/* supermin, which makes the guest, looks at it even when it is told of another place. */
static gboolean check_host(GError **error)
{
	if (g_file_test("/lib/modules", G_FILE_TEST_IS_DIR))
		return TRUE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_INFRA,
		    "libguestfs does not work without a directory /lib/modules; 'mkdir "
		    "/lib/modules' (as root) makes it");
	return FALSE;
}

static gboolean find_guest(LabDiskTool *tool, GError **error)
{
	g_autoptr(LabKernelSpec) spec = lab_kernel_spec_parse(KERNEL, NULL, NULL, error);
	g_autoptr(LabKernel) kernel = NULL;
	g_autofree char *list = NULL, *text = NULL, *key = NULL, *dir = NULL, *root = NULL;

	if (tool->guest_dir)
		return TRUE;
	if (!check_host(error))
		return FALSE;
	kernel = spec ? lab_kernel_get(tool->cache, spec, tool->offline, tool->progress, tool->data,
				       NULL, error)
		      : NULL;
	if (!kernel)
		return FALSE;
	list = g_strjoinv(" ", (char **)modules);
	text = g_strdup_printf(LAYOUT "%s\n%s\n", kernel->digest, list);
	key = lab_digest_data(text, -1);
	dir = lab_cache_get(tool->cache, KIND, key, make_modules, kernel, NULL, error);
	root = lab_cache_path(tool->cache, GUEST_KIND, key);
	if (!dir || !lab_dir_make(root, error))
		return FALSE;
	tool->environment = g_new0(char *, 4);
	tool->environment[0] = g_strdup_printf("SUPERMIN_KERNEL=%s", kernel->boot_path);
	tool->environment[1] = g_strdup_printf("SUPERMIN_KERNEL_VERSION=%s", kernel->release);
	tool->environment[2] =
		g_strdup_printf("SUPERMIN_MODULES=%s/lib/modules/%s", dir, kernel->release);
	tool->guest_dir = g_steal_pointer(&root);
	return TRUE;
}

/* ---- one request -------------------------------------------------------------------------------- */

typedef struct {
	LabDiskTool *tool;
	const char *what;
	LabDiskSaid *said;
	char *sockets; /* (nullable): directory of libguestfs's */
} Follow;

static void on_line(const char *line, gpointer data)
{
	Follow *f = data;

	if (g_str_has_prefix(line, "stage "))
		lab_disk_tool_say(f->tool, "%s: %s", f->what, line + strlen("stage "));
	else if (g_str_has_prefix(line, "part ") && f->said) {
		if (!f->said->parts)
			f->said->parts = g_ptr_array_new_with_free_func(g_free);
		g_ptr_array_add(f->said->parts, g_strdup(line + strlen("part ")));
	} else if (g_str_has_prefix(line, "root ") && f->said) {
		g_free(f->said->root);
		f->said->root = g_strdup(line + strlen("root "));
	} else if (g_str_has_prefix(line, "sockets /tmp/libguestfs")) {
		g_free(f->sockets);
		f->sockets = g_strdup(line + strlen("sockets "));
	}
}

static gboolean start(Follow *f, const char *request, GError **error)
{
	g_autofree char *program = lab_path_helper(PROGRAM);
	const char *const argv[] = {program, request, NULL};
	LabProcessOptions options = {.environment = (const char *const *)f->tool->environment,
				     .timeout_us = TIMEOUT_US,
				     .line = on_line,
				     .line_data = f};
	g_auto(LabProcessResult) result = {0};

	if (!lab_process_run(argv, &options, &result, error))
		return FALSE;
	if (result.exit_status == 0)
		return TRUE;
	g_strstrip(result.err);
	for (char *c = result.err; *c; c++)
		if (g_ascii_iscntrl(*c))
			*c = ' ';
	g_set_error(error, LAB_ERROR, result.exit_status == 2 ? LAB_ERROR_USER : LAB_ERROR_INFRA,
		    "%s: %s", f->what, *result.err ? result.err : "numalab-disk was killed");
	return FALSE;
}

gboolean lab_disk_tool_run(LabDiskTool *tool, JsonObject *request, const char *what,
			   LabDiskSaid *said, GError **error)
{
	g_autoptr(JsonNode) node = json_node_init_object(json_node_alloc(), request);
	g_autofree char *temporary = NULL, *path = NULL, *text = NULL;
	Follow follow = {tool, what, said, NULL};
	gboolean ok;
	int lock;

	json_object_unref(request);
	if (!find_guest(tool, error) || !(temporary = lab_private_dir_new(&lock, error)))
		return FALSE;
	json_object_set_string_member(request, "cache", tool->guest_dir);
	json_object_set_string_member(request, "temporary", temporary);
	json_object_set_boolean_member(request, "tcg", tool->tcg);
	path = g_build_filename(temporary, "request.json", NULL);
	text = json_to_string(node, TRUE);
	ok = lab_file_write(path, text, -1, error) && start(&follow, path, error);
	/* Gone with a program that came to its end. */
	if (!ok && follow.sockets)
		lab_dir_remove(follow.sockets, NULL);
	g_free(follow.sockets);
	lab_private_dir_remove(temporary, lock);
	return ok;
}
