/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The job as the agent sees it; protocol.h says what each statement means. */
#ifndef NUMALAB_AGENT_JOB_H
#define NUMALAB_AGENT_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/fault.h"
#include "agent/kernel_text.h"

#define JOB_NODES_MAX 64u

enum job_kind { JOB_KIND_NONE, JOB_KIND_VNUMA, JOB_KIND_FAKE, JOB_KIND_ANY };

enum job_step_kind {
	JOB_STEP_EXEC,
	JOB_STEP_MKDIR,
	JOB_STEP_MOUNT,
	JOB_STEP_UMOUNT,
	JOB_STEP_DROP_CACHES,
	JOB_STEP_NUMA_TOUCH,
};

struct job_node {
	bool present;
	struct id_set cpus;
	uint64_t bytes;
	size_t n_distances; /* 0: no row was given */
	unsigned distances[JOB_NODES_MAX];
};

struct job_module {
	char *path;
	bool wanted; /* itself, not only by another */
};

struct job_setting {
	char *name;
	char *value;
	char **paths; /* ends with NULL */
	size_t n_paths;
};

struct job_touch {
	uint64_t threads;
	uint64_t bytes;
	uint64_t duration_ns; /* 0: until @touches */
	uint64_t touches;     /* 0: until @duration_ns */
};

struct job_hist {
	char *event;   /* "migrate:mm_migrate_pages" */
	char *trigger; /* "keys=reason" */
};

/* What is to be collected while a step runs. */
struct job_collect {
	char *profile_event; /* NULL: no profile */
	uint64_t frequency;  /* samples a second on each CPU */
	uint64_t ring_bytes; /* of each CPU; a power of 2 */
	uint64_t profile_bytes; /* the profile is cut there */
	char **events;	     /* to be counted */
	size_t n_events;
	struct job_hist *hists;
	size_t n_hists;
	char **counters; /* to be looked at every @interval_ns */
	size_t n_counters;
	uint64_t interval_ns;
};

struct job_step {
	char *name;
	bool measure;
	uint64_t timeout_ns; /* 0: none */
	bool oom_kills_allowed;
	enum job_step_kind kind;
	const char *kind_name;
	char **args; /* ends with NULL */
	size_t n_args;
	struct job_touch touch; /* of JOB_STEP_NUMA_TOUCH */
	struct job_collect collect;
};

struct job {
	char *release;
	char *build_id; /* NULL: not checked */
	enum job_kind kind;
	struct job_node nodes[JOB_NODES_MAX];
	size_t n_nodes;	    /* how many are present; numbered 0 to n_nodes - 1 */
	int numa_balancing; /* -1: not checked */
	uint64_t kvm_mask;  /* 0: not checked */
	uint64_t kvm_value;
	uint64_t async_pf_mask; /* 0: not checked */
	uint64_t async_pf_value;
	uint64_t image_bytes; /* 0: the initrd is the root */
	char *image_type;
	uint64_t scratch_bytes; /* 0: none */
	uint64_t more_scratch;	/* how many more scratch disks there are */
	uint64_t files_bytes;	/* 0: none */
	uint64_t results_bytes;
	uint64_t settle_ns;
	struct job_module *modules;
	size_t n_modules;
	struct job_setting *settings;
	size_t n_settings;
	struct job_step *steps;
	size_t n_steps;
	unsigned seen; /* statements read so far that may come only once */
};

/**
 * job_parse() - read a job
 * @text: the job; it is changed, and @job points into it, so it must live as long
 * @job: (out): free with job_free(), also after an error
 * @fault: stage "setup"; the message starts with "job line N: "
 *
 * What was read before an error stays in @job, so that a job with an error behind its results-bytes
 * line can still be reported. Return: 0 or -1.
 */
int job_parse(char *text, struct job *job, struct fault *fault);

void job_free(struct job *job);

#endif
