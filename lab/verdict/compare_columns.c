/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Selections of runs and kernels -> columns. */
#include <string.h>

#include "lab/base/digest.h"
#include "lab/base/error.h"
#include "lab/verdict/compare_internal.h"

#define DIGEST_START 6 /* digits of a digest that a person must type at least */

static const LabPlanBoot *boot_of(const LabPlan *plan, const char *digest)
{
	for (guint i = 0; i < plan->boots->len; i++) {
		const LabPlanBoot *boot = plan->boots->pdata[i];

		if (strcmp(boot->kernel_digest, digest) == 0)
			return boot;
	}
	return NULL;
}

/* "debian:bookworm/linux-image=1" -> "bookworm", "dir:/src/linux-next/" -> "linux-next" */
static char *short_name(const char *text)
{
	if (g_str_has_prefix(text, "debian:")) {
		const char *suite = text + strlen("debian:");

		return g_strndup(suite, strcspn(suite, "/"));
	}
	return g_path_get_basename(g_str_has_prefix(text, "dir:") ? text + strlen("dir:") : text);
}

static gboolean matches(const LabPlanBoot *boot, const char *kernel)
{
	g_autofree char *name = short_name(boot->kernel_text);

	return strcmp(kernel, boot->kernel_label) == 0 || strcmp(kernel, boot->kernel_text) == 0 ||
	       strcmp(kernel, name) == 0 ||
	       (strlen(kernel) >= DIGEST_START && g_str_has_prefix(boot->kernel_digest, kernel));
}

static void no_kernel(const LabRun *run, const char *kernel, guint found, GError **error)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (char **digest = run->plan->kernels; *digest; digest++) {
		const LabPlanBoot *boot = boot_of(run->plan, *digest);

		if (boot)
			g_string_append_printf(text, "%s%s (%s, %.*s)", text->len ? ", " : "",
					       boot->kernel_label, boot->kernel_text,
					       LAB_DIGEST_SHORT, *digest);
	}
	g_set_error(error, LAB_ERROR, LAB_ERROR_USER, "run %u has %s kernel '%s': it has %s",
		    run->id, found ? "more than one" : "no", kernel, text->str);
}

static int by_seed(gconstpointer a, gconstpointer b)
{
	const LabCompareBoot *x = *(LabCompareBoot *const *)a, *y = *(LabCompareBoot *const *)b;

	if (x->seed != y->seed)
		return x->seed < y->seed ? -1 : 1;
	if (x->point != y->point)
		return x->point < y->point ? -1 : 1;
	return strcmp(x->id, y->id);
}

static void free_boot(gpointer data)
{
	LabCompareBoot *boot = data;

	g_free(boot->id);
	g_free(boot->outcome);
	g_free(boot->message);
	g_free(boot->digest);
	g_free(boot);
}

static void free_column(gpointer data)
{
	LabCompareColumn *column = data;

	g_free(column->label[0]);
	g_free(column->label[1]);
	g_free(column->kernel_digest);
	g_free(column->kernel_text);
	g_free(column->origin);
	g_ptr_array_unref(column->boots);
	g_array_unref(column->partner);
	g_array_unref(column->again);
	g_free(column);
}

/* What a selection takes of a run, and where it goes. */
typedef struct {
	GPtrArray *columns, *points; /* points: of char*, labels */
	const LabCompareRun *from;
	gboolean *kept;		      /* of the run's points */
	const char *by; /* (nullable): name of a key */
} Selection;

static guint point_index(GPtrArray *points, const LabPlan *plan, guint point, const char *by)
{
	g_autofree char *label = lab_plan_point_label(plan, point, by);

	for (guint i = 0; i < points->len; i++)
		if (strcmp(points->pdata[i], label) == 0)
			return i;
	g_ptr_array_add(points, g_steal_pointer(&label));
	return points->len - 1;
}

static void add_boot(const Selection *s, LabCompareColumn *column, const LabBootSamples *from)
{
	LabCompareBoot *boot = g_new0(LabCompareBoot, 1);

	boot->run = column->run;
	boot->id = g_strdup(from->boot->id);
	boot->point = point_index(s->points, s->from->run->plan, from->boot->point, s->by);
	boot->seed = from->boot->seed;
	boot->outcome = g_strdup(from->outcome);
	boot->message = g_strdup(from->message);
	boot->digest = g_strdup(from->digest);
	g_ptr_array_add(column->boots, boot);
	column->n_boots++;
	column->n_ok += from->samples != NULL;
}

/* @value: (nullable): of the key that columns are made by */
static void add_column(const Selection *s, const LabPlanBoot *kernel, const char *value)
{
	LabCompareColumn *column = g_new0(LabCompareColumn, 1);
	const LabRun *run = s->from->run;

	column->run = run->id;
	column->label[0] = g_strdup(kernel->kernel_label);
	column->label[1] = value ? g_strdup_printf("%s=%s", s->by, value) : short_name(kernel->kernel_text);
	column->kernel_digest = g_strdup(kernel->kernel_digest);
	column->kernel_text = g_strdup(kernel->kernel_text);
	column->origin = g_strdup_printf("run %u", column->run);
	column->boots = g_ptr_array_new_with_free_func(free_boot);
	column->partner = g_array_new(FALSE, FALSE, sizeof(int));
	column->again = g_array_new(FALSE, FALSE, sizeof(gboolean));
	for (guint i = 0; i < s->from->boots->len; i++) {
		const LabBootSamples *boot = s->from->boots->pdata[i];

		if (strcmp(boot->boot->kernel_digest, kernel->kernel_digest) == 0 && s->kept[boot->boot->point] &&
		    (!value || lab_compare_has_value(run->plan, boot->boot->point, s->by, value)))
			add_boot(s, column, boot);
	}
	g_ptr_array_sort(column->boots, by_seed);
	g_ptr_array_add(s->columns, column);
}

/* Points in the order of the scenario, not of the boots. */
static void add_points(const Selection *s)
{
	const LabPlan *plan = s->from->run->plan;

	for (guint i = 0; i < lab_plan_n_points(plan); i++)
		if (s->kept[i])
			point_index(s->points, plan, i, s->by);
}

static LabCompareRun *get_run(LabStore *store, const char *name, GPtrArray *runs, GError **error)
{
	g_autoptr(LabRun) run = lab_store_find_run(store, name, error);
	g_autoptr(GPtrArray) boots = NULL;
	LabCompareRun *entry;

	for (guint i = 0; run && i < runs->len; i++) {
		entry = runs->pdata[i];
		if (entry->run->id == run->id)
			return entry;
	}
	boots = run ? lab_run_boots(run, error) : NULL;
	if (!boots)
		return NULL;
	entry = g_new(LabCompareRun, 1);
	entry->run = g_steal_pointer(&run);
	entry->boots = g_steal_pointer(&boots);
	g_ptr_array_add(runs, entry);
	return entry;
}

static void add_values(const Selection *s, const LabPlanBoot *kernel, char **values)
{
	for (char **value = values; *value; value++)
		add_column(s, kernel, *value);
}

/* @kernel NULL: all; @values: (nullable): columns of one kernel, by them */
static gboolean add_kernels(const Selection *s, const char *kernel, char **values, GError **error)
{
	const LabRun *run = s->from->run;
	const LabPlanBoot *found = NULL;
	guint n = 0;

	for (char **digest = run->plan->kernels; *digest; digest++) {
		const LabPlanBoot *boot = boot_of(run->plan, *digest);

		if (!boot || (kernel && !matches(boot, kernel)))
			continue;
		found = boot;
		n++;
		if (!kernel && !values)
			add_column(s, boot, NULL);
	}
	if (kernel && n != 1) {
		no_kernel(run, kernel, n, error);
		return FALSE;
	}
	if (values && n != 1) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_USER,
			    "run %u has %u kernels: the values of a key are compared for one, %u:KERNEL", run->id, n,
			    run->id);
		return FALSE;
	}
	if (values)
		add_values(s, found, values);
	else if (kernel)
		add_column(s, found, NULL);
	return TRUE;
}

static gboolean same_labels(const LabCompareColumn *a, const LabCompareColumn *b)
{
	return strcmp(a->label[0], b->label[0]) == 0 && strcmp(a->label[1], b->label[1]) == 0;
}

/* Two columns that would read the same get what tells them apart: the run, or the kernel's digest.
 */
static void tell_apart(GPtrArray *columns)
{
	g_autofree gboolean *runs = g_new0(gboolean, columns->len);
	g_autofree gboolean *digests = g_new0(gboolean, columns->len);

	for (guint i = 0; i < columns->len; i++)
		for (guint j = 0; j < columns->len; j++) {
			const LabCompareColumn *a = columns->pdata[i], *b = columns->pdata[j];

			if (i == j || !same_labels(a, b))
				continue;
			runs[i] |= a->run != b->run;
			digests[i] |=
				a->run == b->run && strcmp(a->kernel_digest, b->kernel_digest) != 0;
		}
	for (guint i = 0; i < columns->len; i++) {
		LabCompareColumn *column = columns->pdata[i];
		g_autoptr(GString) name = g_string_new(column->label[1]);

		if (runs[i])
			g_string_append_printf(name, "-run%u", column->run);
		if (digests[i])
			g_string_append_printf(name, "-%.*s", DIGEST_START, column->kernel_digest);
		g_free(column->label[1]);
		column->label[1] = g_string_free(g_steal_pointer(&name), FALSE);
	}
}

/* "RUN:KERNEL@KEY=VALUE,KEY=VALUE"; a kernel's name may have an '@', but no '=' behind it. */
static void take_apart(const char *selection, char **run, char **kernel, char **conditions)
{
	const char *at = strrchr(selection, '@');
	g_autofree char *rest = NULL;
	char *colon;

	if (at && !strchr(at, '='))
		at = NULL;
	*conditions = at ? g_strdup(at + 1) : NULL;
	rest = at ? g_strndup(selection, (gsize)(at - selection)) : g_strdup(selection);
	colon = strchr(rest, ':');
	*kernel = colon ? g_strdup(colon + 1) : NULL;
	if (colon)
		*colon = 0;
	*run = g_steal_pointer(&rest);
}

static gboolean add_selection(Selection *s, LabStore *store, const char *selection, const char *by, GPtrArray *runs,
			      GError **error)
{
	g_autofree char *run = NULL, *kernel = NULL, *conditions = NULL;
	g_auto(GStrv) values = NULL;
	g_autofree gboolean *kept = NULL;

	take_apart(selection, &run, &kernel, &conditions);
	s->from = get_run(store, run, runs, error);
	kept = s->from ? lab_compare_keep(s->from->run, conditions, error) : NULL;
	if (!kept)
		return FALSE;
	s->kept = kept;
	if (by) {
		values = lab_compare_values(s->from->run, by, kept, &s->by, error);
		if (!values)
			return FALSE;
	}
	add_points(s);
	return add_kernels(s, kernel, values, error);
}

gboolean lab_compare_columns(LabCompare *compare, LabStore *store, const char *const *selections, const char *by,
			     GPtrArray *runs, GError **error)
{
	g_autoptr(GPtrArray) columns = g_ptr_array_new_with_free_func(free_column);
	g_autoptr(GPtrArray) points = g_ptr_array_new_with_free_func(g_free);
	Selection s = {.columns = columns, .points = points};

	for (const char *const *selection = selections; *selection; selection++)
		if (!add_selection(&s, store, *selection, by, runs, error))
			return FALSE;
	tell_apart(columns);
	g_ptr_array_add(points, NULL);
	compare->columns = g_steal_pointer(&columns);
	compare->points = g_strdupv((char **)points->pdata);
	compare->by = g_strdup(s.by);
	return TRUE;
}
