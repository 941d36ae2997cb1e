/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "lab/base/error.h"
#include "lab/base/paths.h"
#include "runner/command.h"
#include "runner/doctor.h"
#include "runner/print.h"

static gboolean json;
static char *kvm_probe;

static const GOptionEntry options[] = {
	{"json", 0, 0, G_OPTION_ARG_NONE, &json, "print JSON", NULL},
	{"kvm-probe", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_FILENAME, &kvm_probe,
	 "try one KVM device in this process", "FILE"},
	{NULL},
};

static gboolean kvm_works(const Doctor *doctor)
{
	return doctor->tcg && doctor->kvm->state == LAB_KVM_WORKS;
}

static void print_clock(const char *name, gboolean possible, const char *why)
{
	printf("  %-8s%s%-4s%s%s\n", name, print_colour(possible ? PRINT_GOOD : PRINT_BAD),
	       possible ? "yes" : "no", print_colour(PRINT_PLAIN), why);
}

static void print_checks(const Doctor *doctor)
{
	g_autoptr(PrintTable) table = print_table_new("", "CHECK", "FOUND", "WANTED", NULL);

	for (guint i = 0; i < doctor->checks->len; i++) {
		const DoctorCheck *c = doctor->checks->pdata[i];

		print_table_add(table, c->state == DOCTOR_OK ? "ok" : doctor_state_name(c->state),
				c->name, c->found, c->wanted, NULL);
	}
	print_table(table);
}

static void print_people(const Doctor *doctor)
{
	g_autofree char *kvm = lab_kvm_probe_text(doctor->kvm);
	gboolean headed = FALSE;

	printf("clocks possible here:\n");
	print_clock("exact", doctor->exact, doctor->exact_why);
	print_clock("tcg", doctor->tcg, doctor->tcg_why);
	print_clock("kvm", kvm_works(doctor), kvm);
	printf("\n");
	print_checks(doctor);
	for (guint i = 0; i < doctor->checks->len; i++) {
		const DoctorCheck *c = doctor->checks->pdata[i];

		if (!c->fix)
			continue;
		printf("%s  %s: %s\n",
		       headed ? "" : "\nto mend it (as root where it needs to be):\n", c->name,
		       c->fix);
		headed = TRUE;
	}
}

static void add_clock(JsonBuilder *b, const char *name, gboolean possible, const char *why)
{
	json_builder_set_member_name(b, name);
	json_builder_begin_object(b);
	json_builder_set_member_name(b, "possible");
	json_builder_add_boolean_value(b, possible);
	json_builder_set_member_name(b, "why");
	json_builder_add_string_value(b, why);
	json_builder_end_object(b);
}

static void add_member(JsonBuilder *b, const char *name, const char *value)
{
	json_builder_set_member_name(b, name);
	if (value)
		json_builder_add_string_value(b, value);
	else
		json_builder_add_null_value(b);
}

static void print_program(const Doctor *doctor)
{
	g_autoptr(JsonBuilder) b = json_builder_new();
	g_autofree char *kvm = lab_kvm_probe_text(doctor->kvm);

	json_builder_begin_object(b);
	add_member(b, "version", NUMALAB_VERSION);
	json_builder_set_member_name(b, "clocks");
	json_builder_begin_object(b);
	add_clock(b, "exact", doctor->exact, doctor->exact_why);
	add_clock(b, "tcg", doctor->tcg, doctor->tcg_why);
	add_clock(b, "kvm", kvm_works(doctor), kvm);
	json_builder_end_object(b);
	json_builder_set_member_name(b, "kvm_device");
	json_builder_begin_object(b);
	add_member(b, "state", lab_kvm_state_name(doctor->kvm->state));
	add_member(b, "stage", doctor->kvm->stage);
	add_member(b, "message", doctor->kvm->message);
	json_builder_end_object(b);
	json_builder_set_member_name(b, "checks");
	json_builder_begin_array(b);
	for (guint i = 0; i < doctor->checks->len; i++) {
		const DoctorCheck *c = doctor->checks->pdata[i];

		json_builder_begin_object(b);
		add_member(b, "section", c->section);
		add_member(b, "name", c->name);
		add_member(b, "state", doctor_state_name(c->state));
		add_member(b, "found", c->found);
		add_member(b, "wanted", c->wanted);
		add_member(b, "fix", c->fix);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
	json_builder_end_object(b);
	print_json_builder(b);
}

static int run(int argc, char **argv, CommandContext *context, GError **error)
{
	g_autofree char *store = lab_path_store(context->store);
	g_autofree char *cache = lab_path_cache(context->cache);
	g_autoptr(Doctor) doctor = NULL;

	if (kvm_probe) {
		g_autoptr(LabKvmProbe) probe = lab_kvm_probe_here(kvm_probe);
		g_autofree char *report = lab_kvm_probe_report(probe);

		fputs(report, stdout);
		return 0;
	}
	doctor = doctor_examine(store, cache, error);
	if (!doctor || g_cancellable_set_error_if_cancelled(context->cancellable, error))
		return COMMAND_FAILED;
	if (json)
		print_program(doctor);
	else
		print_people(doctor);
	return doctor->exact ? 0 : LAB_ERROR_INFRA;
}

const Command cmd_doctor = {
	.name = "doctor",
	.group = COMMAND_GROUP_LAB,
	.order = 10,
	.summary = "Say which clocks are possible here, what is missing, and how to get it",
	.description = "Looks at QEMU, libvirt, the tools that build images, the room in store and "
		       "cache, and "
		       "the rights of this user. A KVM device is not believed because it opens: a "
		       "small guest "
		       "is run on it in a child process, for at most 5 s. Where it works, what "
		       "disturbs times under KVM is shown, too.\n\n"
		       "Exit code 0: the exact clock is possible; 3: it is not.",
	.options = options,
	.run = run,
};
COMMAND_REGISTER(cmd_doctor);
