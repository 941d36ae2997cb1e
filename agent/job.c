/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "agent/fields.h"
#include "agent/protocol.h"
#include "agent/statement.h"

void *statement_grow(void *array, size_t *count, size_t size)
{
	char *grown = realloc(array, (*count + 1) * size);

	if (!grown)
		abort();
	memset(grown + *count * size, 0, size);
	++*count;
	return grown;
}

char **statement_copy(char **fields, size_t count)
{
	char **copy = calloc(count + 1, sizeof(*copy));

	if (!copy)
		abort();
	if (count)
		memcpy(copy, fields, count * sizeof(*copy));
	return copy;
}

int statement_number(const struct statement *s, size_t field, uint64_t *value, struct fault *fault)
{
	if (field_number(s->fields[field], value))
		return BAD(s, fault, "%s: wanted a number, found '%s'", s->fields[0],
			   s->fields[field]);
	return 0;
}

struct job_step *statement_step(const struct statement *s, struct job *job, struct fault *fault)
{
	for (size_t i = 0; i < job->n_steps; i++)
		if (!strcmp(job->steps[i].name, s->fields[1]))
			return &job->steps[i];
	fault_set(fault, "setup", "job line %u: %s: no step '%s' before", s->line, s->fields[0],
		  s->fields[1]);
	return NULL;
}

static int need_node(const struct statement *s, struct job *job, struct job_node **node,
		     struct fault *fault)
{
	uint64_t id;

	if (statement_number(s, 1, &id, fault))
		return -1;
	if (id >= JOB_NODES_MAX)
		return BAD(s, fault, "node %llu: the largest possible is %u",
			   (unsigned long long)id, JOB_NODES_MAX - 1);
	*node = &job->nodes[id];
	return 0;
}

static int parse_release(const struct statement *s, struct job *job, struct fault *fault)
{
	job->release = s->fields[1];
	return 0;
}

static int parse_build_id(const struct statement *s, struct job *job, struct fault *fault)
{
	job->build_id = s->fields[1];
	return 0;
}

static int parse_kind(const struct statement *s, struct job *job, struct fault *fault)
{
	static const char *const names[] = {
		[JOB_KIND_VNUMA] = "vnuma",
		[JOB_KIND_FAKE] = "fake",
		[JOB_KIND_ANY] = "any",
	};

	for (unsigned kind = JOB_KIND_VNUMA; kind <= JOB_KIND_ANY; kind++) {
		if (!strcmp(s->fields[1], names[kind])) {
			job->kind = (enum job_kind)kind;
			return 0;
		}
	}
	return BAD(s, fault, "kind: wanted vnuma, fake or any, found '%s'", s->fields[1]);
}

static int parse_node(const struct statement *s, struct job *job, struct fault *fault)
{
	struct job_node *node;

	if (need_node(s, job, &node, fault))
		return -1;
	if (node->present)
		return BAD(s, fault, "node %s is given twice", s->fields[1]);
	if (id_set_parse(s->fields[2], &node->cpus))
		return BAD(s, fault, "node %s: wanted a list of CPUs, found '%s'", s->fields[1],
			   s->fields[2]);
	if (statement_number(s, 3, &node->bytes, fault))
		return -1;
	node->present = true;
	job->n_nodes++;
	return 0;
}

static int parse_distance(const struct statement *s, struct job *job, struct fault *fault)
{
	struct job_node *node;
	size_t count = s->n_fields - 2;

	if (need_node(s, job, &node, fault))
		return -1;
	if (node->n_distances)
		return BAD(s, fault, "distances of node %s are given twice", s->fields[1]);
	if (count > JOB_NODES_MAX)
		return BAD(s, fault, "%zu distances: the most possible is %u", count,
			   JOB_NODES_MAX);
	for (size_t i = 0; i < count; i++) {
		uint64_t distance;

		if (statement_number(s, i + 2, &distance, fault))
			return -1;
		if (distance > 255)
			return BAD(s, fault, "a distance is at most 255, found %s",
				   s->fields[i + 2]);
		node->distances[i] = (unsigned)distance;
	}
	node->n_distances = count;
	return 0;
}

static int parse_numa_balancing(const struct statement *s, struct job *job, struct fault *fault)
{
	uint64_t value;

	if (statement_number(s, 1, &value, fault))
		return -1;
	if (value > 1)
		return BAD(s, fault, "numa-balancing: wanted 0 or 1, found %s", s->fields[1]);
	job->numa_balancing = (int)value;
	return 0;
}

static int parse_kvm_features(const struct statement *s, struct job *job, struct fault *fault)
{
	return statement_number(s, 1, &job->kvm_mask, fault) || statement_number(s, 2, &job->kvm_value, fault)
		       ? -1
		       : 0;
}

static int parse_async_pf_msr(const struct statement *s, struct job *job, struct fault *fault)
{
	return statement_number(s, 1, &job->async_pf_mask, fault) ||
			       statement_number(s, 2, &job->async_pf_value, fault)
		       ? -1
		       : 0;
}

static int parse_module(const struct statement *s, struct job *job, struct fault *fault)
{
	job->modules = statement_grow(job->modules, &job->n_modules, sizeof(*job->modules));
	job->modules[job->n_modules - 1] =
		(struct job_module){.path = s->fields[1], .wanted = s->n_fields > 2};
	if (s->n_fields > 2 && strcmp(s->fields[2], "wanted"))
		return BAD(s, fault, "module: wanted 'wanted' or nothing, found '%s'",
			   s->fields[2]);
	return 0;
}

static int parse_image_type(const struct statement *s, struct job *job, struct fault *fault)
{
	job->image_type = s->fields[1];
	return 0;
}

static int parse_image_bytes(const struct statement *s, struct job *job, struct fault *fault)
{
	return statement_number(s, 1, &job->image_bytes, fault);
}

static int parse_scratch_bytes(const struct statement *s, struct job *job, struct fault *fault)
{
	return statement_number(s, 1, &job->scratch_bytes, fault);
}

static int parse_more_scratch(const struct statement *s, struct job *job, struct fault *fault)
{
	return statement_number(s, 1, &job->more_scratch, fault);
}

static int parse_files_bytes(const struct statement *s, struct job *job, struct fault *fault)
{
	return statement_number(s, 1, &job->files_bytes, fault);
}

static int parse_results_bytes(const struct statement *s, struct job *job, struct fault *fault)
{
	return statement_number(s, 1, &job->results_bytes, fault);
}

static int parse_settle_ns(const struct statement *s, struct job *job, struct fault *fault)
{
	return statement_number(s, 1, &job->settle_ns, fault);
}

static int parse_setting(const struct statement *s, struct job *job, struct fault *fault)
{
	struct job_setting *setting;

	job->settings = statement_grow(job->settings, &job->n_settings, sizeof(*job->settings));
	setting = &job->settings[job->n_settings - 1];
	setting->name = s->fields[1];
	setting->value = s->fields[2];
	setting->n_paths = s->n_fields - 3;
	setting->paths = statement_copy(s->fields + 3, setting->n_paths);
	return 0;
}

static const struct step_kind {
	const char *name;
	enum job_step_kind kind;
	size_t min_args, max_args;
} step_kinds[] = {
	{"exec", JOB_STEP_EXEC, 1, SIZE_MAX},
	{"mkdir", JOB_STEP_MKDIR, 1, SIZE_MAX},
	{"mount", JOB_STEP_MOUNT, 4, 4},
	{"umount", JOB_STEP_UMOUNT, 1, 1},
	{"drop_caches", JOB_STEP_DROP_CACHES, 0, 0},
	{"numa_touch", JOB_STEP_NUMA_TOUCH, 4, 4},
};

static bool step_name_valid(const char *name)
{
	size_t bytes = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789._-");

	return bytes && bytes < 64 && !name[bytes];
}

static int parse_touch(const struct statement *s, struct job_touch *touch, struct fault *fault)
{
	if (statement_number(s, 5, &touch->threads, fault) || statement_number(s, 6, &touch->bytes, fault) ||
	    statement_number(s, 7, &touch->duration_ns, fault) ||
	    statement_number(s, 8, &touch->touches, fault))
		return -1;
	if (!touch->threads || touch->threads > ID_SET_MAX)
		return BAD(s, fault, "numa_touch: wanted 1 to %u threads, found %s", ID_SET_MAX,
			   s->fields[5]);
	if (!touch->bytes)
		return BAD(s, fault, "numa_touch: no memory to touch");
	if (!touch->duration_ns && !touch->touches)
		return BAD(s, fault, "numa_touch: wanted a duration or a number of touches");
	return 0;
}

static int parse_step(const struct statement *s, struct job *job, struct fault *fault)
{
	const struct step_kind *kind = NULL;
	size_t n_args = s->n_fields - 5;
	struct job_step *step;
	uint64_t measure, timeout_ns;

	if (!step_name_valid(s->fields[1]))
		return BAD(s, fault, "step name '%s': wanted 1 to 63 of a-z 0-9 . _ -",
			   s->fields[1]);
	for (size_t i = 0; i < job->n_steps; i++)
		if (!strcmp(job->steps[i].name, s->fields[1]))
			return BAD(s, fault, "step '%s' is given twice", s->fields[1]);
	if (statement_number(s, 2, &measure, fault) || statement_number(s, 3, &timeout_ns, fault))
		return -1;
	if (measure > 1)
		return BAD(s, fault, "step: wanted 0 or 1 for measure, found %s", s->fields[2]);
	for (size_t i = 0; i < sizeof(step_kinds) / sizeof(step_kinds[0]); i++)
		if (!strcmp(s->fields[4], step_kinds[i].name))
			kind = &step_kinds[i];
	if (!kind)
		return BAD(s, fault, "unknown kind of step '%s'", s->fields[4]);
	if (n_args < kind->min_args || n_args > kind->max_args)
		return BAD(s, fault, "step %s: wrong number of arguments (%zu)", kind->name,
			   n_args);

	struct job_touch touch = {0};

	if (kind->kind == JOB_STEP_NUMA_TOUCH && parse_touch(s, &touch, fault))
		return -1;
	job->steps = statement_grow(job->steps, &job->n_steps, sizeof(*job->steps));
	step = &job->steps[job->n_steps - 1];
	*step = (struct job_step){
		.name = s->fields[1],
		.measure = measure,
		.timeout_ns = timeout_ns,
		.kind = kind->kind,
		.kind_name = kind->name,
		.args = statement_copy(s->fields + 5, n_args),
		.n_args = n_args,
		.touch = touch,
	};
	return 0;
}

static int parse_oom_kills_allowed(const struct statement *s, struct job *job, struct fault *fault)
{
	struct job_step *step = statement_step(s, job, fault);

	if (step)
		step->oom_kills_allowed = true;
	return step ? 0 : -1;
}

static const struct statement_kind {
	const char *keyword;
	size_t min_fields, max_fields; /* without the keyword */
	bool repeats;
	int (*parse)(const struct statement *s, struct job *job, struct fault *fault);
} statement_kinds[] = {
	{"release", 1, 1, false, parse_release},
	{"build-id", 1, 1, false, parse_build_id},
	{"kind", 1, 1, false, parse_kind},
	{"node", 3, 3, true, parse_node},
	{"distance", 2, SIZE_MAX, true, parse_distance},
	{"numa-balancing", 1, 1, false, parse_numa_balancing},
	{"kvm-features", 2, 2, false, parse_kvm_features},
	{"async-pf-msr", 2, 2, false, parse_async_pf_msr},
	{"module", 1, 2, true, parse_module},
	{"image-bytes", 1, 1, false, parse_image_bytes},
	{"image-type", 1, 1, false, parse_image_type},
	{"scratch-bytes", 1, 1, false, parse_scratch_bytes},
	{"files-bytes", 1, 1, false, parse_files_bytes},
	{"results-bytes", 1, 1, false, parse_results_bytes},
	{"setting", 3, SIZE_MAX, true, parse_setting},
	{"more-scratch", 1, 1, false, parse_more_scratch},
	{"settle-ns", 1, 1, false, parse_settle_ns},
	{"step", 4, SIZE_MAX, true, parse_step},
	{"oom-kills-allowed", 1, 1, true, parse_oom_kills_allowed},
	{"profile", 5, 5, true, job_parse_profile},
	{"stat", 2, SIZE_MAX, true, job_parse_stat},
	{"hist", 3, 3, true, job_parse_hist},
	{"series", 3, SIZE_MAX, true, job_parse_series},
};

static int parse_statement(const struct statement *s, struct job *job, struct fault *fault)
{
	for (unsigned i = 0; i < sizeof(statement_kinds) / sizeof(statement_kinds[0]); i++) {
		const struct statement_kind *kind = &statement_kinds[i];
		size_t count = s->n_fields - 1;

		if (strcmp(s->fields[0], kind->keyword))
			continue;
		if (count < kind->min_fields || count > kind->max_fields)
			return BAD(s, fault, "%s: wrong number of fields (%zu)", kind->keyword,
				   count);
		if (!kind->repeats && (job->seen & 1u << i))
			return BAD(s, fault, "%s is given twice", kind->keyword);
		job->seen |= 1u << i;
		return kind->parse(s, job, fault);
	}
	return BAD(s, fault, "unknown statement '%s'", s->fields[0]);
}

/* Cut @line at its blanks and decode the pieces. Return: 0 or -1. */
static int split(char *line, struct statement *s, struct fault *fault)
{
	s->n_fields = 0;
	for (char *field = line, *next; field; field = next) {
		next = strchr(field, ' ');
		if (next)
			*next++ = '\0';
		if (field_decode(field))
			return BAD(s, fault, "field %zu is not percent-encoded as it must be",
				   s->n_fields + 1);
		s->fields = statement_grow(s->fields, &s->n_fields, sizeof(*s->fields));
		s->fields[s->n_fields - 1] = field;
	}
	return 0;
}

static bool sizes_differ(const struct job *job)
{
	const uint64_t bytes[] = {job->results_bytes, job->image_bytes, job->scratch_bytes,
				  job->files_bytes};

	for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
		for (size_t j = 0; j < i; j++)
			if (bytes[i] && bytes[i] == bytes[j])
				return false;
	return true;
}

/* What no single line shows. @line is the one of "end". */
static int check_whole(const struct job *job, unsigned line, struct fault *fault)
{
	struct statement s = {.line = line};

	if (!job->release)
		return BAD(&s, fault, "no release was given");
	if (job->kind == JOB_KIND_NONE)
		return BAD(&s, fault, "no kind was given");
	if (!job->results_bytes)
		return BAD(&s, fault, "no results-bytes was given");
	if (job->image_bytes && !job->image_type)
		return BAD(&s, fault, "image-bytes without image-type");
	if (!sizes_differ(job))
		return BAD(&s, fault, "two devices of the same size can not be told apart");
	if (job->kind != JOB_KIND_ANY && !job->n_nodes)
		return BAD(&s, fault, "no node was given");
	for (unsigned i = 0; i < JOB_NODES_MAX; i++) {
		const struct job_node *node = &job->nodes[i];

		if (node->present != (i < job->n_nodes))
			return BAD(&s, fault, "nodes must be numbered 0 to %zu", job->n_nodes - 1);
		if (node->n_distances && node->n_distances != job->n_nodes)
			return BAD(&s, fault, "node %u has %zu distances, but there are %zu nodes",
				   i, node->n_distances, job->n_nodes);
	}
	return 0;
}

static int parse_lines(char *text, struct job *job, struct statement *s, struct fault *fault)
{
	for (char *line = text, *next; line && *line; line = next) {
		s->line++;
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (s->line == 1) {
			if (strcmp(line, AGENT_JOB_MAGIC))
				return BAD(s, fault, "wanted '" AGENT_JOB_MAGIC "'");
			continue;
		}
		if (!strcmp(line, "end")) {
			if (next && *next) {
				s->line++;
				return BAD(s, fault, "text behind the end");
			}
			return check_whole(job, s->line, fault);
		}
		if (split(line, s, fault) || parse_statement(s, job, fault))
			return -1;
	}
	s->line++;
	return BAD(s, fault, "the job has no end: it was cut");
}

int job_parse(char *text, struct job *job, struct fault *fault)
{
	struct statement s = {0};
	int result;

	memset(job, 0, sizeof(*job));
	job->numa_balancing = -1;
	result = parse_lines(text, job, &s, fault);
	free(s.fields);
	return result;
}

void job_free(struct job *job)
{
	for (size_t i = 0; i < job->n_settings; i++)
		free(job->settings[i].paths);
	for (size_t i = 0; i < job->n_steps; i++) {
		free(job->steps[i].args);
		free(job->steps[i].collect.events);
		free(job->steps[i].collect.hists);
		free(job->steps[i].collect.counters);
	}
	free(job->settings);
	free(job->steps);
	free(job->modules);
	memset(job, 0, sizeof(*job));
}
