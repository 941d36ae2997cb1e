/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "lab/base/error.h"
#include "lab/base/paths.h"
#include "lab/verdict/verify.h"
#include "runner/command.h"
#include "runner/print.h"
#include "runner/progress.h"

static int jobs;
static int repeats = 1;
static char *connect_uri, *pool;
static gboolean offline, json;

static const GOptionEntry options[] = {
	{"jobs", 'j', 0, G_OPTION_ARG_INT, &jobs, "boots at once (default: the CPUs)", "N"},
	{"repeat", 'r', 0, G_OPTION_ARG_INT, &repeats, "boot each N times (default 1)", "N"},
	{"connect", 0, 0, G_OPTION_ARG_STRING, &connect_uri,
	 "libvirt's daemon, in place of its driver inside this program: qemu:///system, "
	 "qemu:///session, or another host's: qemu+ssh://HOST/system",
	 "URI"},
	{"pool", 0, 0, G_OPTION_ARG_STRING, &pool,
	 "storage pool of another host, for the guests' files (default: default)", "NAME"},
	{"offline", 0, 0, G_OPTION_ARG_NONE, &offline, "ask no mirror: take what is in the cache",
	 NULL},
	{"json", 0, 0, G_OPTION_ARG_NONE, &json, "print JSON", NULL},
	{NULL},
};

static guint count_identical(const GPtrArray *again)
{
	guint n = 0;

	for (guint i = 0; i < again->len; i++)
		n += ((LabAgain *)g_ptr_array_index(again, i))->identical;
	return n;
}

static void print_again(const LabRun *run, const GPtrArray *again)
{
	guint n = count_identical(again);

	for (guint i = 0; i < again->len; i++) {
		const LabAgain *a = g_ptr_array_index(again, i);
		g_autofree char *where = print_clean(a->where);

		if (!a->identical)
			printf("%s differs: %s\n", a->boot_id, where);
	}
	printf("run %u: %u of %u boots identical\n", run->id, n, again->len);
}

static void print_again_json(const LabRun *run, const GPtrArray *again)
{
	g_autoptr(JsonBuilder) b = json_builder_new();

	json_builder_begin_object(b);
	json_builder_set_member_name(b, "run");
	json_builder_add_int_value(b, run->id);
	json_builder_set_member_name(b, "identical");
	json_builder_add_int_value(b, count_identical(again));
	json_builder_set_member_name(b, "compared");
	json_builder_add_int_value(b, again->len);
	json_builder_set_member_name(b, "boots");
	json_builder_begin_array(b);
	for (guint i = 0; i < again->len; i++) {
		const LabAgain *a = g_ptr_array_index(again, i);

		json_builder_begin_object(b);
		json_builder_set_member_name(b, "boot");
		json_builder_add_string_value(b, a->boot_id);
		json_builder_set_member_name(b, "identical");
		json_builder_add_boolean_value(b, a->identical);
		json_builder_set_member_name(b, "digest");
		json_builder_add_string_value(b, a->digest);
		json_builder_set_member_name(b, "first_difference");
		json_builder_add_string_value(b, a->where);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
	json_builder_end_object(b);
	print_json_builder(b);
}

static char *first_difference(const char *then, const char *now, GError **error)
{
	g_autoptr(LabVerify) v = lab_verify_dirs(then, now, error);

	return v ? g_strdup(v->where ? v->where : "") : NULL;
}

static int run(int argc, char **argv, CommandContext *context, GError **error)
{
	g_autofree char *root = lab_path_store(context->store);
	g_autoptr(LabStore) store = NULL;
	g_autoptr(LabRun) r = NULL;
	g_autoptr(Progress) progress = NULL;
	g_autoptr(GPtrArray) again = NULL;

	if (jobs < 0 || repeats < 1) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "--%s: wanted a number above 0",
			    jobs < 0 ? "jobs" : "repeat");
		return COMMAND_FAILED;
	}
	store = lab_store_open(root, error);
	r = store ? lab_store_find_run(store, argv[0], error) : NULL;
	if (!r)
		return COMMAND_FAILED;
	if (strcmp(r->plan->clock, "exact")) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "run %u has clock '%s': only boots with clock 'exact' can be verified",
			    r->id, r->plan->clock);
		return COMMAND_FAILED;
	}
	progress = progress_new(context->quiet);
	LabRunOptions o = {.store_root = context->store,
			   .cache_root = context->cache,
			   .jobs = (guint)jobs,
			   .connect = connect_uri,
			   .pool = pool ? pool : "default",
			   .offline = offline,
			   .notify = progress_run,
			   .data = progress,
			   .cancellable = context->cancellable};

	again = lab_run_again(r, argc > 1 ? (const char *const *)argv + 1 : NULL, (guint)repeats,
			      first_difference, &o, error);
	g_clear_pointer(&progress, progress_free);
	if (!again)
		return COMMAND_FAILED;
	if (json)
		print_again_json(r, again);
	else
		print_again(r, again);
	return count_identical(again) == again->len ? 0 : LAB_ERROR_INFRA;
}

const Command cmd_verify = {
	.name = "verify",
	.group = COMMAND_GROUP_RUN,
	.order = 20,
	.arguments = "RUN [BOOT...]",
	.summary = "Boot a run's boots again and compare every byte that they left",
	.description =
		"RUN is a number, 'latest' or 'latest~1'. Kernels, image and prepared file system "
		"are fetched and built "
		"again when the cache lacks them, and must be those of the run; so must what is in "
		"the scenario's files now. Of a boot that "
		"differs, the first "
		"difference is shown: record, file, line and both values.\n\n"
		"Exit code: 0 when all are identical, 3 when one differs or could not be repeated.",
	.options = options,
	.run = run,
};
COMMAND_REGISTER(cmd_verify);
