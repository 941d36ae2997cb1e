/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The job of the agent: scenario and kernel -> the text of agent/protocol.h. */
#pragma once
#include "lab/spec/scenario.h"

typedef struct {
	const LabScenario *scenario;
	const char *release, *build_id; /* of the kernel; build_id may be "" */
	gboolean uses_async_pf; /* where they are offered: lab_kernel_uses_async_pf() */
	const char *const *modules;	/* NULL-terminated, load order, paths in the initrd */
	guint64 image_bytes, scratch_bytes, files_bytes, results_bytes; /* 0: none */
	const char *image_type;
	const GPtrArray *const
		*phases; /* n_phases arrays of LabStep, one after the other (prepare, steps) */
	guint n_phases;
	gboolean only_prepares; /* none of the scenario's steps is among them */
} LabAgentJob;

/** lab_agent_job_text() - free with g_free() */
char *lab_agent_job_text(const LabAgentJob *job);
