// SPDX-License-Identifier: GPL-2.0-or-later
/* job.json: everything that decides a boot. */
#include "lab/guest/boot.h"

#include "lab/base/digest.h"
#include "lab/base/error.h"
#include "lab/base/file.h"
#include "lab/base/json.h"
#include "lab/guest/domain.h"
#include "lab/guest/fields.h"

#define FIELD(member, type) LAB_FIELD(LabBootJob, member, type)

static const LabField fields[] = {
	FIELD(id, LAB_FIELD_STRING),
	FIELD(connect, LAB_FIELD_NULLABLE),
	FIELD(pool, LAB_FIELD_NULLABLE),
	FIELD(disk_path, LAB_FIELD_NULLABLE),
	FIELD(disk_digest, LAB_FIELD_NULLABLE),
	FIELD(disk_bootloader, LAB_FIELD_NULLABLE),
	FIELD(disk_cache, LAB_FIELD_NULLABLE),
	FIELD(disk_io, LAB_FIELD_NULLABLE),
	FIELD(disk_root, LAB_FIELD_NULLABLE),
	FIELD(more_scratch, LAB_FIELD_NULLABLE),
	FIELD(agent_job_path, LAB_FIELD_NULLABLE),
	FIELD(agent_job_digest, LAB_FIELD_NULLABLE),
	FIELD(cpu_model, LAB_FIELD_NULLABLE),
	FIELD(pmu, LAB_FIELD_BOOL),
	FIELD(invtsc, LAB_FIELD_BOOL),
	{"pin_cpus", LAB_FIELD_NULLABLE, offsetof(LabBootJob, pin.cpus)},
	{"pin_emulator", LAB_FIELD_NULLABLE, offsetof(LabBootJob, pin.emulator)},
	{"pin_nodes", LAB_FIELD_NULLABLE, offsetof(LabBootJob, pin.nodes)},
	{"pin_hugepage_bytes", LAB_FIELD_UINT64, offsetof(LabBootJob, pin.hugepage_bytes)},
	FIELD(memory_high_bytes, LAB_FIELD_UINT64),
	FIELD(memory_max_bytes, LAB_FIELD_UINT64),
	FIELD(seed, LAB_FIELD_UINT64),
	FIELD(kernel_path, LAB_FIELD_STRING),
	FIELD(kernel_digest, LAB_FIELD_STRING),
	FIELD(kernel_release, LAB_FIELD_STRING),
	FIELD(kernel_label, LAB_FIELD_NULLABLE),
	FIELD(kernel_text, LAB_FIELD_NULLABLE),
	FIELD(kernel_build_id, LAB_FIELD_NULLABLE),
	FIELD(initrd_path, LAB_FIELD_STRING),
	FIELD(initrd_digest, LAB_FIELD_STRING),
	FIELD(cmdline_extra, LAB_FIELD_NULLABLE),
	FIELD(console_quiet, LAB_FIELD_BOOL),
	FIELD(image_path, LAB_FIELD_NULLABLE),
	FIELD(image_digest, LAB_FIELD_NULLABLE),
	FIELD(image_type, LAB_FIELD_NULLABLE),
	FIELD(image_bytes, LAB_FIELD_UINT64),
	FIELD(scratch_path, LAB_FIELD_NULLABLE),
	FIELD(scratch_digest, LAB_FIELD_NULLABLE),
	FIELD(scratch_bytes, LAB_FIELD_UINT64),
	FIELD(scratch_keep, LAB_FIELD_BOOL),
	FIELD(files_path, LAB_FIELD_NULLABLE),
	FIELD(files_digest, LAB_FIELD_NULLABLE),
	FIELD(files_bytes, LAB_FIELD_UINT64),
	FIELD(results_bytes, LAB_FIELD_UINT64),
	FIELD(n_steps, LAB_FIELD_UINT),
	FIELD(emulator, LAB_FIELD_STRING),
	FIELD(emulator_version, LAB_FIELD_STRING),
};

#define DEADLINE(member) LAB_FIELD(LabDeadlines, member, LAB_FIELD_UINT64)

static const LabField deadline_fields[] = {
	DEADLINE(first_output_ns),
	DEADLINE(agent_ns),
	DEADLINE(step_ns),
	DEADLINE(power_off_ns),
};

void lab_boot_job_free(LabBootJob *job)
{
	if (!job)
		return;
	g_clear_pointer(&job->topology, lab_topology_free);
	lab_fields_clear(fields, G_N_ELEMENTS(fields), job);
	g_free(job);
}

gboolean lab_boot_job_write(const LabBootJob *job, const char *dir, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "job.json", NULL);
	g_autoptr(JsonBuilder) b = json_builder_new();
	g_autofree char *text = NULL;

	json_builder_begin_object(b);
	json_builder_set_member_name(b, "topology");
	json_builder_add_string_value(b, job->topology->canonical);
	json_builder_set_member_name(b, "clock");
	json_builder_add_string_value(b, lab_clock_name(job->clock));
	json_builder_set_member_name(b, "boot");
	json_builder_add_string_value(b, lab_boot_kind_name(job->boot));
	json_builder_set_member_name(b, "async_pf");
	json_builder_add_string_value(b, lab_async_pf_name(job->async_pf));
	lab_fields_write(b, fields, G_N_ELEMENTS(fields), job);
	json_builder_set_member_name(b, "deadlines");
	json_builder_begin_object(b);
	lab_fields_write(b, deadline_fields, G_N_ELEMENTS(deadline_fields), &job->deadlines);
	json_builder_end_object(b);
	json_builder_end_object(b);
	text = lab_json_text(b);
	return lab_file_write(path, text, -1, error);
}

static gboolean read_text(JsonObject *object, const char *member, const char **text, GError **error)
{
	JsonNode *node = json_object_get_member(object, member);

	if (node && json_node_get_value_type(node) == G_TYPE_STRING) {
		*text = json_node_get_string(node);
		return TRUE;
	}
	g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "wanted '%s' with a string", member);
	return FALSE;
}

static LabBootJob *from_json(JsonObject *object, GError **error)
{
	g_autoptr(LabBootJob) job = g_new0(LabBootJob, 1);
	JsonNode *deadlines = json_object_get_member(object, "deadlines");
	const char *text;

	if (!read_text(object, "clock", &text, error))
		return NULL;
	if (!lab_clock_parse(text, &job->clock)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "wanted 'clock' with exact, tcg or kvm, found '%s'", text);
		return NULL;
	}
	if (!read_text(object, "boot", &text, error))
		return NULL;
	if (!lab_boot_kind_parse(text, &job->boot)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "wanted 'boot' with direct or disk, found '%s'", text);
		return NULL;
	}
	if (!read_text(object, "async_pf", &text, error))
		return NULL;
	if (!lab_async_pf_parse(text, &job->async_pf)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "wanted 'async_pf' with default, on, off or int-only, found '%s'",
			    text);
		return NULL;
	}
	if (!deadlines || !JSON_NODE_HOLDS_OBJECT(deadlines)) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "wanted 'deadlines' with an object");
		return NULL;
	}
	if (!lab_fields_read(json_node_get_object(deadlines), deadline_fields,
			     G_N_ELEMENTS(deadline_fields), &job->deadlines, error) ||
	    !lab_fields_read(object, fields, G_N_ELEMENTS(fields), job, error) ||
	    !read_text(object, "topology", &text, error))
		return NULL;
	job->topology = lab_topology_from_canonical(text, error);
	return job->topology ? g_steal_pointer(&job) : NULL;
}

LabBootJob *lab_boot_job_read(const char *dir, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "job.json", NULL);
	g_autoptr(JsonObject) object = lab_json_read(path, LAB_ERROR_USER, error);
	LabBootJob *job;

	if (!object)
		return NULL;
	job = from_json(object, error);
	if (!job)
		g_prefix_error(error, "%s: ", path);
	return job;
}

/* What the guest can see or be driven by, in a fixed order. Paths, labels and deadlines are none of
 * it. */
char *lab_boot_job_digest(const LabBootJob *job)
{
	g_autofree char *args = lab_domain_kernel_args(job);
	g_autoptr(GString) s = g_string_new("numalab-boot 4\n");
	const struct {
		const char *name, *value;
	} texts[] = {
		{"topology", job->topology->canonical},
		{"clock", lab_clock_name(job->clock)},
		{"cpu-model", job->cpu_model},
		{"async-pf", lab_async_pf_name(job->async_pf)},
		{"pin-cpus", job->pin.cpus},
		{"pin-emulator", job->pin.emulator},
		{"pin-nodes", job->pin.nodes},
		{"kernel", job->kernel_digest},
		{"initrd", job->initrd_digest},
		{"arguments", args},
		{"image", job->image_path ? job->image_digest : NULL},
		{"scratch", job->scratch_digest},
		{"files", job->files_digest},
		{"emulator", job->emulator_version},
	};
	const struct {
		const char *name;
		guint64 value;
	} numbers[] = {
		{"seed", job->seed},
		{"pmu", job->pmu},
		{"invtsc", job->invtsc},
		{"pin-hugepage-bytes", job->pin.hugepage_bytes},
		{"memory-high", job->memory_high_bytes},
		{"memory-max", job->memory_max_bytes},
		{"image-bytes", job->image_path ? job->image_bytes : 0},
		{"scratch-bytes", job->scratch_bytes},
		{"scratch-kept", job->scratch_keep},
		{"files-bytes", job->files_bytes},
		{"results-bytes", job->results_bytes},
	};

	for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
		g_string_append_printf(s, "%s %s\n", texts[i].name,
				       texts[i].value ? texts[i].value : "-");
	for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++)
		g_string_append_printf(s, "%s %" G_GUINT64_FORMAT "\n", numbers[i].name,
				       numbers[i].value);
	if (job->boot == LAB_BOOT_DISK)
		g_string_append_printf(
			s,
			"disk %s\nbootloader %s\ncache %s\nio %s\nagent-job %s\nmore-scratch %s\n",
			job->disk_digest, job->disk_bootloader, job->disk_cache, job->disk_io,
			job->agent_job_digest, job->more_scratch ? job->more_scratch : "-");
	return lab_digest_data(s->str, (gssize)s->len);
}
