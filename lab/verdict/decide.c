/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/verdict/decide.h"

#include <string.h>

#include "lab/base/error.h"
#include "lab/base/json_writer.h"
#include "lab/stats/sequential.h"
#include "lab/verdict/compare_internal.h"

struct LabDecide {
	LabStore *store;
	char *by;
	guint max_boots, n_looks;
	guint *boots;	    /* of each look */
	GPtrArray *looks;   /* of LabCompare, so far */
	GArray *decided_at; /* of guint: the look that decided each verdict, G_MAXUINT: none yet */
};

LabDecide *lab_decide_new(LabStore *store, guint max_boots, const char *by)
{
	LabDecide *d = g_new0(LabDecide, 1);

	d->store = store;
	d->by = g_strdup(by);
	d->max_boots = max_boots;
	d->n_looks = lab_sequential_looks(max_boots);
	d->boots = g_new(guint, d->n_looks + 1);
	for (guint i = 0; i < d->n_looks; i++)
		d->boots[i] = lab_sequential_look(max_boots, i, LAB_COMPARE_ALPHA).boots;
	d->looks = g_ptr_array_new_with_free_func((GDestroyNotify)lab_compare_free);
	d->decided_at = g_array_new(FALSE, FALSE, sizeof(guint));
	return d;
}

void lab_decide_free(LabDecide *d)
{
	if (!d)
		return;
	g_free(d->by);
	g_free(d->boots);
	g_ptr_array_unref(d->looks);
	g_array_unref(d->decided_at);
	g_free(d);
}

const guint *lab_decide_looks(const LabDecide *d, guint *n)
{
	*n = d->n_looks;
	return d->boots;
}

static guint decided_at(const LabDecide *d, guint verdict)
{
	return g_array_index(d->decided_at, guint, verdict);
}

static const LabCompare *last_of(const LabDecide *d)
{
	return d->looks->pdata[d->looks->len - 1];
}

/* What decided it, or the last word there is. @compare: (out): where it is from */
static const LabCompareVerdict *verdict_of(const LabDecide *d, guint i, const LabCompare **compare)
{
	guint look = decided_at(d, i);

	*compare = look == G_MAXUINT ? last_of(d) : d->looks->pdata[look];
	return (*compare)->verdicts->pdata[i];
}

static LabCompare *judge(const LabDecide *d, guint run, guint look, GError **error)
{
	g_autofree char *name = g_strdup_printf("%u", run);
	const char *selections[] = {name, NULL};
	LabLook here = lab_sequential_look(d->max_boots, look, LAB_COMPARE_ALPHA);
	const LabCompareOptions options = {.alpha = here.alpha, .by = d->by};
	g_autoptr(LabCompare) compare = lab_compare(d->store, selections, &options, error);

	if (compare && !compare->verdicts->len) {
		g_set_error(
			error, LAB_ERROR, LAB_ERROR_USER,
			"nothing can be decided: wanted two kernels and a metric to judge, found "
			"%u kernel%s",
			compare->columns->len, compare->columns->len == 1 ? "" : "s");
		return NULL;
	}
	return g_steal_pointer(&compare);
}

/* More boots do not bring what no boot has, nor a lab that works. */
static gboolean is_open(const LabCompareVerdict *v)
{
	return !v->judgement.settled && !v->infra && !v->missing;
}

char *lab_decide_look(LabDecide *d, guint run, guint look, gboolean *go_on, GError **error)
{
	LabCompare *compare = judge(d, run, look, error);
	guint n_open = 0, n_decided = 0;

	if (!compare)
		return NULL;
	g_ptr_array_add(d->looks, compare);
	if (!d->decided_at->len)
		for (guint i = 0; i < compare->verdicts->len; i++)
			g_array_append_vals(d->decided_at, &(guint){G_MAXUINT}, 1);
	for (guint i = 0; i < d->decided_at->len; i++) {
		const LabCompareVerdict *v = compare->verdicts->pdata[i];
		guint *at = &g_array_index(d->decided_at, guint, i);

		if (*at == G_MAXUINT && v->judgement.settled)
			*at = d->looks->len - 1;
		n_decided += *at != G_MAXUINT;
		n_open += *at == G_MAXUINT && is_open(v);
	}
	*go_on = n_open && look + 1 < d->n_looks;
	return g_strdup_printf("look %u of %u, %u boots of each kernel: %u of %u metrics decided",
			       look + 1, d->n_looks, d->boots[look], n_decided, d->decided_at->len);
}

char *lab_decide_text(const LabDecide *d)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint i = 0; i < d->decided_at->len; i++) {
		const LabCompare *compare;
		const LabCompareVerdict *v = verdict_of(d, i, &compare);

		lab_compare_verdict_line(compare, v, text);
	}
	g_string_append_printf(
		text,
		"judged %s, at up to %u looks of up to %u boots that share 5 %%: in 95 of 100 "
		"such runs no verdict is wrong\n",
		last_of(d)->judged_by, d->n_looks, d->max_boots);
	return g_string_free(g_steal_pointer(&text), FALSE);
}

char *lab_decide_json(const LabDecide *d)
{
	g_autoptr(LabJsonWriter) w = lab_json_writer_new();

	lab_json_writer_object(w, NULL, LAB_JSON_BLOCK);
	lab_json_writer_uint(w, "looks", d->looks->len);
	lab_json_writer_uint(w, "looks_planned", d->n_looks);
	lab_json_writer_uint(w, "max_boots", d->max_boots);
	lab_json_writer_array(w, "verdicts", LAB_JSON_BLOCK);
	for (guint i = 0; i < d->decided_at->len; i++) {
		const LabCompare *compare;
		const LabCompareVerdict *v = verdict_of(d, i, &compare);
		const LabCompareColumn *column = compare->columns->pdata[v->column];

		lab_json_writer_object(w, NULL, LAB_JSON_LINE);
		lab_json_writer_string(w, "kernel", column->label[0]);
		lab_json_writer_string(w, "name", column->label[1]);
		lab_json_writer_string(w, "metric", v->metric);
		if (compare->points[1])
			lab_json_writer_string(w, "point", compare->points[v->point]);
		lab_json_writer_string(w, "verdict", lab_compare_verdict_name(v));
		lab_json_writer_number(w, "change", v->judgement.change);
		lab_json_writer_number(w, "low", v->judgement.interval.low);
		lab_json_writer_number(w, "high", v->judgement.interval.high);
		lab_json_writer_number(w, "threshold", v->threshold);
		lab_json_writer_number(w, "alpha", v->judgement.alpha);
		lab_json_writer_uint(w, "boots", MIN(v->difference.n[0], v->difference.n[1]));
		lab_json_writer_uint(w, "boots_more", v->boots_more);
		lab_json_writer_end(w);
	}
	lab_json_writer_end(w);
	lab_json_writer_end(w);
	return lab_json_writer_text(w);
}

int lab_decide_exit_code(const LabDecide *d)
{
	gboolean infra = FALSE, unknown = FALSE;

	for (guint i = 0; i < d->decided_at->len; i++) {
		const LabCompare *compare;
		const LabCompareVerdict *v = verdict_of(d, i, &compare);

		if (!v->infra && v->judgement.verdict == LAB_VERDICT_REGRESSION)
			return 1;
		infra |= v->infra;
		unknown |= v->judgement.verdict == LAB_VERDICT_UNKNOWN;
	}
	return infra ? LAB_ERROR_INFRA : unknown ? LAB_ERROR_UNKNOWN : 0;
}
