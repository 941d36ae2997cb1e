/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/base/json_writer.h"
#include "lab/verdict/profiles.h"

static void add_callers(LabJsonWriter *w, const LabCallNode *node)
{
	if (!node->children)
		return;
	lab_json_writer_array(w, "callers", LAB_JSON_BLOCK);
	for (guint i = 0; i < node->children->len; i++) {
		const LabCallNode *child = node->children->pdata[i];

		lab_json_writer_object(w, NULL, LAB_JSON_BLOCK);
		lab_json_writer_string(w, "symbol", child->symbol);
		lab_json_writer_number(w, "share_pct", child->share);
		add_callers(w, child);
		lab_json_writer_end(w);
	}
	lab_json_writer_end(w);
}

static void add_row(LabJsonWriter *w, const LabProfileRow *row, guint n_boots)
{
	lab_json_writer_object(w, NULL, LAB_JSON_BLOCK);
	lab_json_writer_string(w, "command", row->comm);
	lab_json_writer_string(w, "object", row->object);
	lab_json_writer_string(w, "symbol", row->symbol);
	lab_json_writer_number(w, "share_pct", row->summary.amean);
	lab_json_writer_number(w, "stddev_points", row->summary.stddev);
	lab_json_writer_array(w, "boots_pct", LAB_JSON_LINE);
	for (guint i = 0; i < n_boots; i++)
		lab_json_writer_number(w, NULL, row->shares[i]);
	lab_json_writer_end(w);
	add_callers(w, row->root);
	lab_json_writer_end(w);
}

static void add_profiles(LabJsonWriter *w, const LabProfiles *p)
{
	lab_json_writer_object(w, NULL, LAB_JSON_BLOCK);
	lab_json_writer_uint(w, "run", p->run);
	lab_json_writer_string(w, "kernel", p->label[0]);
	lab_json_writer_string(w, "name", p->label[1]);
	lab_json_writer_string(w, "step", p->step);
	lab_json_writer_string(w, "event", p->event);
	lab_json_writer_string(w, "fault_entry", p->fault_entry);
	lab_json_writer_uint(w, "samples", p->n_samples);
	lab_json_writer_array(w, "seeds", LAB_JSON_LINE);
	for (guint i = 0; i < p->seeds->len; i++)
		lab_json_writer_uint(w, NULL, g_array_index(p->seeds, guint64, i));
	lab_json_writer_end(w);
	lab_json_writer_array(w, "notes", LAB_JSON_BLOCK);
	for (char **note = p->notes; *note; note++)
		lab_json_writer_string(w, NULL, *note);
	lab_json_writer_end(w);
	lab_json_writer_array(w, "rows", LAB_JSON_BLOCK);
	for (guint i = 0; i < p->rows->len; i++)
		add_row(w, p->rows->pdata[i], p->boots->len);
	lab_json_writer_end(w);
	lab_json_writer_end(w);
}

char *lab_profiles_json(const GPtrArray *all)
{
	g_autoptr(LabJsonWriter) w = lab_json_writer_new();

	lab_json_writer_array(w, NULL, LAB_JSON_BLOCK);
	for (guint i = 0; i < all->len; i++)
		add_profiles(w, all->pdata[i]);
	lab_json_writer_end(w);
	return lab_json_writer_text(w);
}
