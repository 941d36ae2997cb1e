/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/build/kernel_config.h"

#include <stdio.h>
#include <string.h>

#include "lab/base/file.h"

/* In @text (a .config): 'y', 'm', 'n' */
static char option_in(const char *text, const char *option)
{
	g_autofree char *start = g_strdup_printf("CONFIG_%s=", option);
	gsize length = strlen(start);

	for (const char *at = text; (at = strstr(at, start)); at += length)
		if ((at == text || at[-1] == '\n') && (at[length] == 'y' || at[length] == 'm'))
			return at[length];
	return 'n';
}

char lab_kernel_config(const LabKernel *kernel, const char *option)
{
	g_autofree char *text =
		kernel->config_path ? lab_file_read(kernel->config_path, NULL, NULL) : NULL;

	return text ? option_in(text, option) : '?';
}

gboolean lab_kernel_uses_async_pf(const LabKernel *kernel)
{
	guint major = 0, minor = 0;

	sscanf(kernel->release, "%u.%u", &major, &minor);
	return (major > 5 || (major == 5 && minor >= 8)) &&
	       lab_kernel_config(kernel, "KVM_GUEST") == 'y';
}

guint lab_kernel_hz(const LabKernel *kernel)
{
	g_autofree char *text =
		kernel->config_path ? lab_file_read(kernel->config_path, NULL, NULL) : NULL;
	const char *at = text ? strstr(text, "\nCONFIG_HZ=") : NULL;

	return at ? (guint)MIN(g_ascii_strtoull(at + strlen("\nCONFIG_HZ="), NULL, 10), 10000) : 0;
}

/* Options that one thing needs. A leading '=': must be built in, because no module is loaded yet,
 * or it can be none. */
typedef struct {
	const char *why;
	const char *options[10];
} Group;

enum { EVERY_BOOT, NODES, FAKE_NUMA, BALANCING, NVDIMM, IMAGE, SCRATCH, N_GROUPS };

static const Group groups[N_GROUPS] = {
	[EVERY_BOOT] = {"every boot",
			{"=64BIT", "=BLK_DEV_INITRD", "=BINFMT_ELF", "=SERIAL_8250_CONSOLE",
			 "=DEVTMPFS", "=TMPFS", "=PROC_FS", "=SYSFS"}},
	[NODES] = {"a topology", {"=SMP", "=NUMA", "=ACPI_NUMA"}},
	[FAKE_NUMA] = {"'kind: fake'", {"=NUMA_EMU"}},
	[BALANCING] = {"numa_balancing", {"=NUMA_BALANCING"}},
	[NVDIMM] = {"an NVDIMM", {"LIBNVDIMM", "ACPI_NFIT", "BLK_DEV_PMEM"}},
	[IMAGE] = {"an image", {"EROFS_FS", "OVERLAY_FS"}},
	[SCRATCH] = {"an XFS on the scratch device", {"XFS_FS"}},
};

static gboolean is_there(const char *text, const char *option)
{
	char value = option_in(text, option + (*option == '='));

	return value == 'y' ||
	       (value == 'm' && *option != '=' && option_in(text, "MODULES") == 'y');
}

/* Appends "CONFIG_A, CONFIG_B, which WHY needs" when something is missing. */
static void check_group(const char *text, const Group *group, GString *missing)
{
	guint n = 0;

	for (const char *const *o = group->options; *o; o++) {
		if (is_there(text, *o))
			continue;
		g_string_append_printf(missing, "%sCONFIG_%s",
				       n	      ? ", "
				       : missing->len ? "; "
						      : "",
				       *o + (**o == '='));
		/* a module where none will do */
		if (option_in(text, *o + (**o == '=')) == 'm')
			g_string_append(missing, "=y");
		n++;
	}
	if (n)
		g_string_append_printf(missing, ", which %s needs", group->why);
}

gboolean lab_kernel_check(const LabKernel *kernel, const LabKernelNeeds *needs,
			  const LabOrigin *origin, GError **error)
{
	const gboolean wanted[N_GROUPS] = {
		[EVERY_BOOT] = TRUE,
		[NODES] = TRUE,
		[FAKE_NUMA] = needs->fake_numa,
		[BALANCING] = needs->numa_balancing,
		[NVDIMM] = needs->nvdimm,
		[IMAGE] = needs->image_erofs,
		[SCRATCH] = needs->scratch_xfs,
	};
	g_autoptr(GString) missing = g_string_new(NULL);
	g_autofree char *text = NULL;

	if (!kernel->config_path)
		return TRUE;
	text = lab_file_read(kernel->config_path, NULL, error);
	if (!text)
		return FALSE;
	for (guint i = 0; i < N_GROUPS; i++)
		if (wanted[i])
			check_group(text, &groups[i], missing);
	if (!missing->len)
		return TRUE;
	lab_error_set_at(error, origin, "%s (%s) lacks %s", kernel->text, kernel->release,
			 missing->str);
	return FALSE;
}
