/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>
#include <string.h>

#include "lab/base/error.h"
#include "lab/base/paths.h"
#include "lab/base/units.h"
#include "lab/run/run.h"
#include "lab/verdict/compare.h"
#include "lab/verdict/decide.h"
#include "runner/command.h"
#include "runner/noise.h"
#include "runner/outcome.h"
#include "runner/print.h"
#include "runner/progress.h"

#define DEFAULT_MAX_BOOTS 20
/* Two have a spread that says little. */
#define MIN_BOOTS 3

static char **kernels, **sets, **sweeps, *clock_name, *by;
static int boots, jobs, max_boots;
static char *connect_uri, *pool;
static gboolean offline, fresh, strict, compare, json, aa, until_decided;

static const GOptionEntry options[] = {
	{"kernel", 'k', 0, G_OPTION_ARG_STRING_ARRAY, &kernels,
	 "in place of the scenario's kernels; repeat for more, the first is the baseline",
	 "KERNEL"},
	{"boots", 'n', 0, G_OPTION_ARG_INT, &boots, "boots of each kernel: seeds 1 to N", "N"},
	{"clock", 0, 0, G_OPTION_ARG_STRING, &clock_name, "exact, tcg or kvm", "CLOCK"},
	{"set", 's', 0, G_OPTION_ARG_STRING_ARRAY, &sets,
	 "set a key of the scenario (steps.xfsrepair.options.bhash=4096), or take it away "
	 "(async-pf=null); repeat for more",
	 "KEY=VALUE"},
	{"sweep", 0, 0, G_OPTION_ARG_STRING_ARRAY, &sweeps,
	 "run every kernel with each of several values of a key (steps.fsmark.dirs=1..8, "
	 "steps.xfsrepair.options.bhash=[null, 101073]); repeat for all combinations",
	 "KEY=VALUES"},
	{"by", 0, 0, G_OPTION_ARG_STRING, &by,
	 "with --compare or --until-decided: compare the values of this key of a sweep, in place of kernels", "KEY"},
	{"jobs", 'j', 0, G_OPTION_ARG_INT, &jobs,
	 "boots at once (default: as many as do not disturb each other)", "N"},
	{"connect", 0, 0, G_OPTION_ARG_STRING, &connect_uri,
	 "libvirt's daemon, in place of its driver inside this program: qemu:///system, "
	 "qemu:///session, or another host's: qemu+ssh://HOST/system",
	 "URI"},
	{"pool", 0, 0, G_OPTION_ARG_STRING, &pool,
	 "storage pool of another host, for the guests' files (default: default)", "NAME"},
	{"offline", 0, 0, G_OPTION_ARG_NONE, &offline, "ask no mirror: take what is in the cache",
	 NULL},
	{"fresh", 0, 0, G_OPTION_ARG_NONE, &fresh, "do not go on with an unfinished run", NULL},
	{"aa", 0, 0, G_OPTION_ARG_NONE, &aa,
	 "the first kernel against itself, with as many seeds again: the noise floor (two "
	 "--kernel: built twice from the same sources)",
	 NULL},
	{"until-decided", 'u', 0, G_OPTION_ARG_NONE, &until_decided,
	 "add boots until each judged metric has a verdict; exits by the verdicts", NULL},
	{"max-boots", 0, 0, G_OPTION_ARG_INT, &max_boots,
	 "with --until-decided: not more than N of each kernel (default 20)", "N"},
	{"strict", 0, 0, G_OPTION_ARG_NONE, &strict,
	 "with clock kvm: no run on a host that is not at rest (governor, turbo, SMT, load, ...)",
	 NULL},
	{"compare", 'c', 0, G_OPTION_ARG_NONE, &compare, "print the table at the end", NULL},
	{"json", 0, 0, G_OPTION_ARG_NONE, &json,
	 "print the run (with --compare: the comparison) as JSON", NULL},
	{NULL},
};

/* --kernel, --boots, --clock and --sweep are short forms of --set. */
static char **overrides(void)
{
	g_autoptr(GPtrArray) all = g_ptr_array_new();

	if (kernels) {
		g_autoptr(GString) list = g_string_new("kernels=[");

		for (char **k = kernels; *k; k++) {
			g_autofree char *quoted = g_strescape(*k, NULL);

			g_string_append_printf(list, "%s\"%s\"", k == kernels ? "" : ", ", quoted);
		}
		g_string_append_c(list, ']');
		g_ptr_array_add(all, g_string_free(g_steal_pointer(&list), FALSE));
	}
	if (boots)
		g_ptr_array_add(all, g_strdup_printf("boots=%d", boots));
	if (clock_name)
		g_ptr_array_add(all, g_strdup_printf("clock=%s", clock_name));
	for (char **s = sets; s && *s; s++)
		g_ptr_array_add(all, g_strdup(*s));
	for (char **s = sweeps; s && *s; s++)
		g_ptr_array_add(all, g_strconcat("sweep.", *s, NULL));
	g_ptr_array_add(all, NULL);
	return (char **)g_ptr_array_free(g_steal_pointer(&all), FALSE);
}

static void print_run(const LabRun *r, gint64 us)
{
	g_autofree char *elapsed = lab_format_elapsed(us);

	printf("run %u in %s", r->id, elapsed);
	if (r->n_failed)
		printf(": %u of %u boots failed; numalab show %u\n", r->n_failed,
		       r->plan->boots->len, r->id);
	else
		printf("; numalab compare %u\n", r->id);
}

static void print_run_json(const LabRun *r, gint64 us)
{
	g_autoptr(JsonBuilder) b = json_builder_new();

	json_builder_begin_object(b);
	json_builder_set_member_name(b, "run");
	json_builder_add_int_value(b, r->id);
	json_builder_set_member_name(b, "directory");
	json_builder_add_string_value(b, r->dir);
	json_builder_set_member_name(b, "boots_ok");
	json_builder_add_int_value(b, r->n_ok);
	json_builder_set_member_name(b, "boots_failed");
	json_builder_add_int_value(b, r->n_failed);
	json_builder_set_member_name(b, "elapsed_us");
	json_builder_add_int_value(b, us);
	json_builder_end_object(b);
	print_json_builder(b);
}

static gboolean print_comparison(const LabRun *r, CommandContext *context, GError **error)
{
	g_autofree char *root = lab_path_store(context->store);
	g_autofree char *id = g_strdup_printf("%u", r->id);
	g_autoptr(LabStore) store = lab_store_open(root, error);
	g_autoptr(LabCompare) table = NULL;
	g_autofree char *text = NULL;

	if (!store)
		return FALSE;
	table = lab_compare(store, (const char *[]){id, NULL}, &(LabCompareOptions){.by = by}, error);
	if (!table)
		return FALSE;
	text = json ? lab_compare_json(table) : lab_compare_text(table, NULL, NULL);
	printf("%s%s", json ? "" : "\n", text);
	return TRUE;
}

/* Of a scenario's kernels the first, for they differ; of kernels that were asked for, all that may be. */
static gboolean choose_same(LabScenario *scenario, GError **error)
{
	if (!kernels && scenario->kernels->len > 1)
		g_ptr_array_set_size(scenario->kernels, 1);
	if (scenario->kernels->len <= 2)
		return TRUE;
	g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
		    "--aa: wanted one kernel, or two of the same sources, found %u",
		    scenario->kernels->len);
	return FALSE;
}

static gboolean print_noise(const LabRun *r, CommandContext *context, GError **error)
{
	g_autofree char *root = lab_path_store(context->store);
	g_autofree char *id = g_strdup_printf("%u", r->id);
	g_autoptr(LabStore) store = lab_store_open(root, error);
	g_autoptr(LabNoise) noise = store ? lab_noise(store, id, NULL, 0, error) : NULL;

	if (!noise)
		return FALSE;
	if (!json)
		putchar('\n');
	noise_print(noise, json);
	return TRUE;
}

typedef struct {
	LabDecide *decide;
	const LabRunOptions *options;
} Looking;

static gboolean on_look(const LabRun *r, guint look, gboolean *go_on, gpointer data, GError **error)
{
	const Looking *looking = data;
	g_autofree char *line = lab_decide_look(looking->decide, r->id, look, go_on, error);

	if (line && looking->options->notify)
		looking->options->notify(
			&(LabRunEvent){.kind = LAB_EVENT_NOTE, .text = line, .eta_us = -1},
			looking->options->data);
	return line != NULL;
}

/* Exit code: a regression is one, whatever else happened; else what became of the boots comes first. */
static int decide(const LabScenario *scenario, const LabRunOptions *o, Progress **progress,
		  CommandContext *context, GError **error)
{
	gint64 started = g_get_monotonic_time();
	g_autofree char *root = lab_path_store(context->store);
	g_autoptr(LabStore) store = lab_store_open(root, error);
	g_autoptr(LabDecide) d =
		store ? lab_decide_new(store, max_boots ? (guint)max_boots : DEFAULT_MAX_BOOTS, by) : NULL;
	g_autofree char *text = NULL;
	g_autoptr(LabRun) r = NULL;
	const guint *looks;
	guint n_looks;
	int code;

	if (!d)
		return COMMAND_FAILED;
	looks = lab_decide_looks(d, &n_looks);
	r = lab_run_looks(scenario, n_looks, looks, on_look, &(Looking){d, o}, o, error);
	g_clear_pointer(progress, progress_free);
	if (!r)
		return COMMAND_FAILED;
	if (!json)
		print_run(r, g_get_monotonic_time() - started);
	if (compare && !print_comparison(r, context, error))
		return COMMAND_FAILED;
	text = json ? lab_decide_json(d) : lab_decide_text(d);
	printf("%s%s", json ? "" : "\n", text);
	code = lab_decide_exit_code(d);
	if (code == 1)
		return code;
	return outcome_exit_code(r, error) ? outcome_exit_code(r, NULL) : code;
}

static gboolean check_options(GError **error)
{
	const char *wrong = boots < 0 ? "boots" : jobs < 0 ? "jobs" : NULL;

	if (wrong)
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "--%s: wanted a number above 0", wrong);
	else if (by && !compare && !until_decided)
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "--by: wanted with --compare or --until-decided");
	else if (max_boots && (max_boots < MIN_BOOTS || !until_decided))
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "--max-boots: wanted %d or more, with --until-decided", MIN_BOOTS);
	else if (until_decided && (aa || boots || (json && compare)))
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "--until-decided chooses the boots, and prints the verdicts: wanted neither "
			    "--boots nor --aa, nor --json with --compare");
	else
		return TRUE;
	return FALSE;
}

/* Before a boot, not after the last. */
static gboolean check_by(const LabScenario *scenario, GError **error)
{
	g_autofree char *keys = g_strjoinv(", ", scenario->sweep);
	gboolean found = FALSE;

	if (!by)
		return TRUE;
	for (char **key = scenario->sweep; *key; key++)
		found |= lab_sweep_is_key(by, *key);
	if (!found)
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "--by: wanted a key that the scenario sweeps (%s), found '%s'",
			    *keys ? keys : "it has none", by);
	else if (scenario->kernels->len != 1)
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "--by compares the values of a key for one kernel, and the scenario has %u; --kernel chooses one",
			    scenario->kernels->len);
	else
		return TRUE;
	return FALSE;
}

static int run(int argc, char **argv, CommandContext *context, GError **error)
{
	g_auto(GStrv) set = NULL;
	g_autoptr(LabScenario) scenario = NULL;
	g_autoptr(Progress) progress = NULL;
	g_autoptr(LabRun) r = NULL;
	gint64 started = g_get_monotonic_time(), us;

	if (!check_options(error))
		return COMMAND_FAILED;
	set = overrides();
	scenario = lab_scenario_find(argv[0], (const char *const *)set, error);
	if (!scenario || !check_by(scenario, error))
		return COMMAND_FAILED;
	if (aa && !choose_same(scenario, error))
		return COMMAND_FAILED;
	progress = progress_new(context->quiet);
	LabRunOptions o = {.store_root = context->store,
			   .cache_root = context->cache,
			   .jobs = (guint)jobs,
			   .connect = connect_uri,
			   .pool = pool ? pool : "default",
			   .offline = offline,
			   .fresh = fresh,
			   .aa = aa,
			   .strict = strict,
			   .notify = progress_run,
			   .data = progress,
			   .cancellable = context->cancellable};

	if (until_decided)
		return decide(scenario, &o, &progress, context, error);
	r = lab_run_scenario(scenario, &o, error);
	g_clear_pointer(&progress, progress_free);
	if (!r)
		return COMMAND_FAILED;
	us = g_get_monotonic_time() - started;
	if (!json)
		print_run(r, us);
	else if (!compare && !aa)
		print_run_json(r, us);
	if (aa && !r->n_failed && !print_noise(r, context, error))
		return COMMAND_FAILED;
	if (compare && !print_comparison(r, context, error))
		return COMMAND_FAILED;
	return outcome_exit_code(r, error);
}

const Command cmd_run = {
	.name = "run",
	.group = COMMAND_GROUP_RUN,
	.order = 10,
	.arguments = "SCENARIO",
	.summary = "Boot every kernel of a scenario with every seed, and keep what they left",
	.description = "SCENARIO is a file, or the name of a shipped scenario (numalab scenario "
		       "list). Kernels and the image "
		       "are fetched and built when the cache lacks them; a file system that "
		       "several boots need is prepared "
		       "once.\n\n"
		       "A run that was interrupted is completed by the same command: only the "
		       "boots that are missing are done. A sweep is one run: kernels, points and seeds are "
		       "interleaved.\n\n"
		       "Exit code: 0 when every boot is ok, else by the worst of them: 3 the lab "
		       "failed, 4 a step failed, "
		       "5 a kernel did not boot or crashed; 2 for an error in the scenario. "
		       "With --until-decided: 1 for a regression, else by the boots, else 4 when a "
		       "metric is not decided. "
		       "--compare changes nothing of that: numalab compare exits by the verdicts.",
	.options = options,
	.run = run,
};
COMMAND_REGISTER(cmd_run);
