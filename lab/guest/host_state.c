// SPDX-License-Identifier: GPL-2.0-or-later
#include "lab/guest/host_state.h"

#include <string.h>

#include "lab/base/file.h"
#include "lab/base/json.h"
#include "lab/guest/fields.h"

#define CPU "/sys/devices/system/cpu"
#define MM "/sys/kernel/mm"

#define FIELD(member) LAB_FIELD(LabHostState, member, LAB_FIELD_NULLABLE)

static const LabField fields[] = {
	FIELD(kernel_release), FIELD(microcode),    FIELD(governors),	  FIELD(turbo), FIELD(smt),
	FIELD(load),	       FIELD(other_guests), FIELD(swap_used_kib), FIELD(thp),	FIELD(ksm),
};

void lab_host_state_free(LabHostState *state)
{
	if (!state)
		return;
	lab_fields_clear(fields, G_N_ELEMENTS(fields), state);
	g_free(state);
}

gboolean lab_host_state_write(const LabHostState *state, const char *dir, GError **error)
{
	g_autofree char *path = g_build_filename(dir, LAB_HOST_STATE_FILE, NULL);
	g_autoptr(JsonBuilder) b = json_builder_new();
	g_autofree char *text = NULL;

	json_builder_begin_object(b);
	lab_fields_write(b, fields, G_N_ELEMENTS(fields), state);
	json_builder_end_object(b);
	text = lab_json_text(b);
	return lab_file_write(path, text, -1, error);
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A file without blanks around it; NULL when it cannot be read. Free with g_free(). */
static char *text_of(const char *root, const char *file)
{
	g_autofree char *path = g_strconcat(root, file, NULL);
	char *text = NULL;

	return g_file_get_contents(path, &text, NULL, NULL) ? g_strstrip(text) : NULL;
}

/* "on" where the file says @on, "off" where it says @off; NULL: no file, or another word. */
static char *switch_of(const char *root, const char *file, const char *on, const char *off)
{
	g_autofree char *text = text_of(root, file);

	return !g_strcmp0(text, on)    ? g_strdup("on")
	       : !g_strcmp0(text, off) ? g_strdup("off")
				       : NULL;
}

/* The first run of bytes of @text that are not in @ends; NULL for none */
static char *first_word(const char *text, const char *ends)
{
	gsize length = text ? strcspn(text, ends) : 0;

	return length ? g_strndup(text, length) : NULL;
}

/* "always [madvise] never" is madvise. */
static char *chosen(const char *root, const char *file)
{
	g_autofree char *text = text_of(root, file);
	const char *at = text ? strchr(text, '[') : NULL;

	return at ? first_word(at + 1, "]") : NULL;
}

static char *read_microcode(const char *root)
{
	g_autofree char *text = text_of(root, "/proc/cpuinfo");
	const char *at = text ? strstr(text, "\nmicrocode") : NULL;

	at = at ? strchr(at, ':') : NULL;
	return at ? first_word(at + 1 + strspn(at + 1, " "), "\n") : NULL;
}

static int by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static char *read_governors(const char *root)
{
	g_autofree char *path = g_strconcat(root, CPU, NULL);
	g_autoptr(GDir) cpus = g_dir_open(path, 0, NULL);
	g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);
	const char *name;

	while (cpus && (name = g_dir_read_name(cpus))) {
		g_autofree char *file =
			g_build_filename(CPU, name, "cpufreq", "scaling_governor", NULL);
		g_autofree char *governor = strncmp(name, "cpu", 3) || !g_ascii_isdigit(name[3])
						    ? NULL
						    : text_of(root, file);

		if (governor &&
		    !g_ptr_array_find_with_equal_func(found, governor, g_str_equal, NULL))
			g_ptr_array_add(found, g_steal_pointer(&governor));
	}
	if (!found->len)
		return NULL;
	g_ptr_array_sort(found, by_text);
	g_ptr_array_add(found, NULL);
	return g_strjoinv(" ", (char **)found->pdata);
}

static char *read_turbo(const char *root)
{
	char *turbo = switch_of(root, CPU "/intel_pstate/no_turbo", "0", "1");

	return turbo ? turbo : switch_of(root, CPU "/cpufreq/boost", "1", "0");
}

static char *read_load(const char *root)
{
	g_autofree char *text = text_of(root, "/proc/loadavg");

	return first_word(text, " ");
}

/* By the name of the program, which Linux cuts at 15 bytes ("qemu-system-x86", "qemu-kvm"). */
static char *read_other_guests(const char *root)
{
	g_autofree char *path = g_strconcat(root, "/proc", NULL);
	g_autoptr(GDir) processes = g_dir_open(path, 0, NULL);
	const char *name;
	guint n = 0;

	if (!processes)
		return NULL;
	while ((name = g_dir_read_name(processes))) {
		g_autofree char *file = g_build_filename("/proc", name, "comm", NULL);
		g_autofree char *comm = g_ascii_isdigit(*name) ? text_of(root, file) : NULL;

		n += comm && (g_str_has_prefix(comm, "qemu-system") || !strcmp(comm, "qemu-kvm"));
	}
	return g_strdup_printf("%u", n);
}

/* A line of headings, then one for each area: name, type, size, used, priority. */
static char *read_swap(const char *root)
{
	g_autofree char *text = text_of(root, "/proc/swaps");
	g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);
	guint64 used = 0;

	if (!text)
		return NULL;
	for (guint i = 1; i < g_strv_length(lines); i++) {
		g_auto(GStrv) words = g_strsplit_set(lines[i], " \t", -1);
		guint field = 0;

		for (char **word = words; *word; word++)
			if (**word && ++field == 4)
				used += g_ascii_strtoull(*word, NULL, 10);
	}
	return g_strdup_printf("%" G_GUINT64_FORMAT, used);
}

LabHostState *lab_host_state_read(const char *root)
{
	LabHostState *state = g_new0(LabHostState, 1);

	state->kernel_release = text_of(root, "/proc/sys/kernel/osrelease");
	state->microcode = read_microcode(root);
	state->governors = read_governors(root);
	state->turbo = read_turbo(root);
	state->smt = switch_of(root, CPU "/smt/active", "1", "0");
	state->load = read_load(root);
	state->other_guests = read_other_guests(root);
	state->swap_used_kib = read_swap(root);
	state->thp = chosen(root, MM "/transparent_hugepage/enabled");
	state->ksm = text_of(root, MM "/ksm/run");
	return state;
}

/* ---- judging --------------------------------------------------------------------------------- */

static void finding_free(gpointer data)
{
	LabHostFinding *finding = data;

	g_free(finding->found);
	g_free(finding);
}

static void add(GPtrArray *findings, const char *rule, const char *found, const char *wanted,
		const char *fix)
{
	LabHostFinding *finding = g_new0(LabHostFinding, 1);

	*finding = (LabHostFinding){rule, g_strdup(found), wanted, fix};
	g_ptr_array_add(findings, finding);
}

/* "1.07" in hundredths */
static guint64 hundredths(const char *load)
{
	g_auto(GStrv) parts = g_strsplit(load, ".", 2);

	return g_ascii_strtoull(parts[0], NULL, 10) * 100 +
	       (parts[1] ? g_ascii_strtoull(parts[1], NULL, 10) : 0);
}

static gboolean is_other(const char *found, const char *wanted)
{
	return found && strcmp(found, wanted);
}

GPtrArray *lab_host_state_judge(const LabHostState *s, gboolean swap_is_wanted)
{
	GPtrArray *findings = g_ptr_array_new_with_free_func(finding_free);

	if (is_other(s->governors, "performance"))
		add(findings, "governor", s->governors, "performance",
		    "cpupower frequency-set -g performance");
	if (is_other(s->turbo, "off"))
		add(findings, "turbo", s->turbo, "off",
		    "echo 1 > " CPU "/intel_pstate/no_turbo, or echo 0 > " CPU "/cpufreq/boost");
	if (is_other(s->smt, "off"))
		add(findings, "SMT", s->smt, "off", "echo off > " CPU "/smt/control");
	if (s->load && hundredths(s->load) > LAB_HOST_LOAD_MAX_PCT)
		add(findings, "load average", s->load, "0.50 or less",
		    "end other work, and wait a minute");
	if (is_other(s->other_guests, "0"))
		add(findings, "other guests", s->other_guests, "none", "shut them down");
	if (is_other(s->swap_used_kib, "0") && !swap_is_wanted)
		add(findings, "KiB of swap in use", s->swap_used_kib, "0", "swapoff -a");
	if (is_other(s->ksm, "0") && strcmp(s->ksm, "2"))
		add(findings, "KSM", "running", "stopped", "echo 2 > " MM "/ksm/run");
	return findings;
}
