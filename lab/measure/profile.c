/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/measure/profile.h"

#include <string.h>

#include "agent/protocol.h"
#include "lab/base/error.h"
#include "lab/base/units.h"
#include "lab/measure/kallsyms.h"
#include "lab/measure/perf_records.h"

#define UNKNOWN "[unknown]"
/* Kernel's half of the address space, and what stands in a chain for "what follows is of ..." (PERF_CONTEXT_). */
#define KERNEL_START 0xffff800000000000ull
#define CONTEXT_MAX ((guint64)-4095)
#define FRAMES_MAX 512u

typedef struct {
	guint64 start, end, offset;
	char *object;
} Mapping;

typedef struct {
	LabProfile *profile;
	LabKallsyms *symbols;  /* (nullable) */
	GHashTable *comms;     /* tid -> char*, of profile->comms */
	GHashTable *processes; /* pid -> GPtrArray of Mapping */
	GHashTable *chains; /* key: the pointers of comm and frames, as bytes -> LabProfileChain */
} Reader;

void lab_profile_free(LabProfile *profile)
{
	if (!profile)
		return;
	g_free(profile->step);
	g_free(profile->asked);
	g_free(profile->event);
	g_free(profile->why_not);
	g_clear_pointer(&profile->chains, g_ptr_array_unref);
	g_clear_pointer(&profile->frames, g_hash_table_unref);
	g_clear_pointer(&profile->comms, g_hash_table_unref);
	g_free(profile);
}

static void chain_free(gpointer data)
{
	LabProfileChain *chain = data;

	g_free(chain->frames);
	g_free(chain);
}

static guint frame_hash(gconstpointer key)
{
	const LabProfileFrame *frame = key;

	return g_str_hash(frame->symbol) * 31 + g_str_hash(frame->object);
}

static gboolean frame_equal(gconstpointer left, gconstpointer right)
{
	const LabProfileFrame *a = left, *b = right;

	return !strcmp(a->symbol, b->symbol) && !strcmp(a->object, b->object) &&
	       a->is_kernel == b->is_kernel;
}

static void frame_free(gpointer data)
{
	LabProfileFrame *frame = data;

	g_free(frame->symbol);
	g_free(frame->object);
	g_free(frame);
}

static const LabProfileFrame *intern_frame(LabProfile *p, const char *symbol, const char *object,
					   gboolean is_kernel)
{
	const LabProfileFrame wanted = {(char *)symbol, (char *)object, is_kernel};
	LabProfileFrame *frame = g_hash_table_lookup(p->frames, &wanted);

	if (frame)
		return frame;
	frame = g_new(LabProfileFrame, 1);
	*frame = (LabProfileFrame){g_strdup(symbol), g_strdup(object), is_kernel};
	g_hash_table_add(p->frames, frame);
	return frame;
}

static const char *intern_comm(LabProfile *p, const char *comm)
{
	char *known = g_hash_table_lookup(p->comms, comm);

	if (known)
		return known;
	known = g_strdup(comm);
	g_hash_table_add(p->comms, known);
	return known;
}

/* ---- addresses ---------------------------------------------------------------------------------- */

static void mapping_free(gpointer data)
{
	Mapping *mapping = data;

	g_free(mapping->object);
	g_free(mapping);
}

static const LabProfileFrame *kernel_frame(Reader *r, guint64 address)
{
	const char *object = "[kernel.kallsyms]";
	const char *name = r->symbols ? lab_kallsyms_find(r->symbols, address, &object) : NULL;
	g_autofree char *hex = NULL;

	if (!name)
		hex = g_strdup_printf("0x%016" G_GINT64_MODIFIER "x", address);
	return intern_frame(r->profile, name ? name : hex, object, TRUE);
}

static const LabProfileFrame *user_frame(Reader *r, guint32 pid, guint64 address)
{
	GPtrArray *mappings = g_hash_table_lookup(r->processes, GUINT_TO_POINTER(pid));
	const Mapping *found = NULL;
	g_autofree char *hex = NULL;

	for (guint i = mappings ? mappings->len : 0; i-- && !found;) {
		const Mapping *mapping = mappings->pdata[i];

		if (address >= mapping->start && address < mapping->end)
			found = mapping;
	}
	hex = g_strdup_printf("0x%016" G_GINT64_MODIFIER "x",
			      found ? address - found->start + found->offset : address);
	return intern_frame(r->profile, hex, found ? found->object : UNKNOWN, FALSE);
}

static const LabProfileFrame *frame_of(Reader *r, guint32 pid, guint64 address)
{
	return address >= KERNEL_START ? kernel_frame(r, address) : user_frame(r, pid, address);
}

/* ---- records ------------------------------------------------------------------------------------ */

/* Printable ASCII: a guest may call a process what it likes. */
static char *clean(char *text)
{
	for (char *c = text; *c; c++)
		if (!g_ascii_isgraph(*c))
			*c = '_';
	return text;
}

static void on_comm(Reader *r, const LabPerfRecord *record)
{
	g_autofree char *text = clean(lab_perf_string(record, 16));

	g_hash_table_insert(r->comms, GUINT_TO_POINTER(lab_perf_u32(record, 12)),
			    (gpointer)intern_comm(r->profile, text));
	/* PERF_RECORD_MISC_COMM_EXEC: another program, with none of the mappings of before. */
	if (record->misc & 1u << 13)
		g_hash_table_remove(r->processes, GUINT_TO_POINTER(lab_perf_u32(record, 8)));
}

static GPtrArray *mappings_of(Reader *r, guint32 pid)
{
	GPtrArray *mappings = g_hash_table_lookup(r->processes, GUINT_TO_POINTER(pid));

	if (mappings)
		return mappings;
	mappings = g_ptr_array_new_with_free_func(mapping_free);
	g_hash_table_insert(r->processes, GUINT_TO_POINTER(pid), mappings);
	return mappings;
}

static void add_mapping(GPtrArray *mappings, guint64 start, guint64 end, guint64 offset,
			const char *object)
{
	Mapping *mapping = g_new(Mapping, 1);

	*mapping = (Mapping){start, end, offset, g_strdup(object)};
	g_ptr_array_add(mappings, mapping);
}

static void on_mmap(Reader *r, const LabPerfRecord *record)
{
	guint64 start = lab_perf_u64(record, 16), length = lab_perf_u64(record, 24);
	g_autofree char *path = lab_perf_string(record, 72);
	g_autofree char *name = g_path_get_basename(path);

	if (start >= KERNEL_START || length > KERNEL_START - start)
		return;
	add_mapping(mappings_of(r, lab_perf_u32(record, 8)), start, start + length,
		    lab_perf_u64(record, 32), clean(name));
}

static void on_fork(Reader *r, const LabPerfRecord *record)
{
	guint32 pid = lab_perf_u32(record, 8), parent = lab_perf_u32(record, 12);
	guint32 tid = lab_perf_u32(record, 16), parent_tid = lab_perf_u32(record, 20);
	gpointer comm = g_hash_table_lookup(r->comms, GUINT_TO_POINTER(parent_tid));
	GPtrArray *from = g_hash_table_lookup(r->processes, GUINT_TO_POINTER(parent));
	GPtrArray *to;

	if (comm)
		g_hash_table_insert(r->comms, GUINT_TO_POINTER(tid), comm);
	if (pid == parent || !from)
		return;
	g_hash_table_remove(r->processes, GUINT_TO_POINTER(pid));
	to = mappings_of(r, pid);
	for (guint i = 0; i < from->len; i++) {
		const Mapping *m = from->pdata[i];

		add_mapping(to, m->start, m->end, m->offset, m->object);
	}
}

static const char *comm_of(Reader *r, guint32 tid)
{
	const char *comm = g_hash_table_lookup(r->comms, GUINT_TO_POINTER(tid));
	g_autofree char *number = NULL;

	if (comm)
		return comm;
	number = tid ? g_strdup_printf(":%u", tid) : g_strdup("swapper");
	return intern_comm(r->profile, number);
}

/* The chain starts with the sample's own address, behind a mark of whose it is. */
static guint frames_of(Reader *r, const LabPerfSample *sample, const LabProfileFrame **frames)
{
	guint n = 0;

	for (guint64 i = 0; i < sample->n_ips && n < FRAMES_MAX; i++) {
		guint64 address;

		memcpy(&address, sample->ips + 8 * i, sizeof address);
		address = GUINT64_FROM_LE(address);
		if (address < CONTEXT_MAX)
			frames[n++] = frame_of(r, sample->pid, address);
	}
	if (!n)
		frames[n++] = frame_of(r, sample->pid, sample->ip);
	return n;
}

static void on_sample(Reader *r, const LabPerfRecord *record)
{
	const LabProfileFrame *frames[FRAMES_MAX];
	const void *key[FRAMES_MAX + 1];
	LabProfileChain *chain;
	LabPerfSample sample;
	g_autoptr(GBytes) bytes = NULL;
	guint n;

	if (!lab_perf_sample(record, &sample)) {
		r->profile->n_bad++;
		return;
	}
	n = frames_of(r, &sample, frames);
	key[0] = comm_of(r, sample.tid);
	memcpy(key + 1, frames, n * sizeof *frames);
	bytes = g_bytes_new(key, (n + 1) * sizeof *key);
	chain = g_hash_table_lookup(r->chains, bytes);
	if (!chain) {
		chain = g_new0(LabProfileChain, 1);
		chain->comm = key[0];
		chain->n_frames = n;
		chain->frames = g_memdup2(frames, n * sizeof *frames);
		g_hash_table_insert(r->chains, g_bytes_ref(bytes), chain);
		g_ptr_array_add(r->profile->chains, chain);
	}
	chain->n_samples++;
	chain->weight += sample.period;
	r->profile->n_samples++;
	r->profile->weight += sample.period;
}

static void on_record(Reader *r, const LabPerfRecord *record)
{
	switch (record->type) {
	case LAB_PERF_COMM:
		on_comm(r, record);
		break;
	case LAB_PERF_MMAP2:
		on_mmap(r, record);
		break;
	case LAB_PERF_FORK:
		on_fork(r, record);
		break;
	case LAB_PERF_SAMPLE:
		on_sample(r, record);
		break;
	case LAB_PERF_LOST:
		r->profile->n_lost += lab_perf_u64(record, 16);
		break;
	case LAB_PERF_LOST_SAMPLES:
		r->profile->n_lost += lab_perf_u64(record, 8);
		break;
	}
}

/* ---- all of it ---------------------------------------------------------------------------------- */

static int by_weight(gconstpointer left, gconstpointer right)
{
	const LabProfileChain *a = *(LabProfileChain *const *)left,
			      *b = *(LabProfileChain *const *)right;
	int order;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	if ((order = strcmp(a->comm, b->comm)))
		return order;
	for (guint i = 0; i < MIN(a->n_frames, b->n_frames); i++)
		if ((order = strcmp(a->frames[i]->symbol, b->frames[i]->symbol)))
			return order;
	return (int)a->n_frames - (int)b->n_frames;
}

char **lab_profile_steps(const LabRecords *records)
{
	g_autoptr(GStrvBuilder) steps = g_strv_builder_new();

	for (guint i = 0; i < records->records->len; i++) {
		const LabRecord *record = records->records->pdata[i];

		if (record->type == AGENT_REC_PROFILE_END)
			g_strv_builder_add(steps, record->name);
	}
	return g_strv_builder_end(steps);
}

static LabProfile *profile_new(const LabRecord *end)
{
	LabProfile *p = g_new0(LabProfile, 1);
	g_autofree char *truncated = lab_record_value(end, "truncated");

	p->step = g_strdup(end->name);
	p->asked = lab_record_value(end, "asked");
	p->event = lab_record_value(end, "event");
	p->why_not = lab_record_value(end, "not-supported");
	p->truncated = !g_strcmp0(truncated, "1");
	if (p->event)
		clean(p->event);
	p->chains = g_ptr_array_new_with_free_func(chain_free);
	p->frames = g_hash_table_new_full(frame_hash, frame_equal, frame_free, NULL);
	p->comms = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	return p;
}

LabProfile *lab_profile_read(const LabRecords *records, const char *step, GError **error)
{
	const LabRecord *end = lab_records_find(records, AGENT_REC_PROFILE_END, step);
	g_autoptr(GArray) all = NULL;
	Reader r;

	if (!end) {
		g_set_error(error, LAB_ERROR, LAB_ERROR_UNKNOWN, "step %s was not sampled", step);
		return NULL;
	}
	r = (Reader){.profile = profile_new(end),
		     .symbols = lab_kallsyms_read(records),
		     .comms = g_hash_table_new(NULL, NULL),
		     .processes = g_hash_table_new_full(NULL, NULL, NULL,
							(GDestroyNotify)g_ptr_array_unref),
		     .chains = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
						     (GDestroyNotify)g_bytes_unref, NULL)};
	r.profile->has_symbols = r.symbols != NULL;
	all = lab_perf_records(records, step, &r.profile->n_bad);
	for (guint i = 0; i < all->len; i++)
		on_record(&r, &g_array_index(all, LabPerfRecord, i));
	g_ptr_array_sort(r.profile->chains, by_weight);
	lab_kallsyms_free(r.symbols);
	g_hash_table_unref(r.comms);
	g_hash_table_unref(r.processes);
	g_hash_table_unref(r.chains);
	return r.profile;
}
