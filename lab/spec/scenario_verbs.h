/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The verbs that steps are written with. Private to lab/spec/scenario_*.c. */
#pragma once
#include "lab/spec/scenario_parts.h"

/**
 * struct lab_steps - what the steps before have done, so that one that cannot work is found before any boot
 * @made:    there is a file system on the scratch device
 * @mounted: it is mounted
 * @unknown: a step of any command ran: nothing is known any more
 */
struct lab_steps {
	LabScenario *scenario;
	gboolean made, mounted, unknown;
};

/** struct lab_step_common - the keys that every step may have */
struct lab_step_common {
	const char *name;
	gboolean measure;
	guint64 timeout_ns;
	guint oom_kills; /* index in lab_oom_kills */
};

/**
 * struct lab_verb
 * @name: of a step that has none; NULL: its command
 * @read: body (a mapping, or what the person wrote in its place) -> argv of @step, and @common; updates @steps
 */
struct lab_verb {
	const char *verb;
	LabStepKind kind;
	const char *name;
	gboolean measure;
	gboolean (*read)(const LabYamlNode *body, struct lab_steps *steps,
			 struct lab_step_common *common, LabStep *step, GError **error);
};

#define LAB_SCRATCH_DEVICE "/dev/scratch"
#define LAB_SCRATCH_DIRECTORY "/mnt/scratch"

/* "fail", the default, and "allowed" */
extern const char *const lab_oom_kills[];

#define LAB_STEP_COMMON_FIELDS                                                                     \
	{"name", LAB_YAML_TEXT, offsetof(struct lab_step_common, name)},                           \
		{"measure", LAB_YAML_BOOL, offsetof(struct lab_step_common, measure)},             \
		{"timeout", LAB_YAML_DURATION, offsetof(struct lab_step_common, timeout_ns)},      \
	{                                                                                          \
		"oom-kills", LAB_YAML_WORD, offsetof(struct lab_step_common, oom_kills),           \
			.words = lab_oom_kills                                                     \
	}

/** Errors that a step cannot work after what went before, at the step */
gboolean lab_steps_need_made(const struct lab_steps *steps, const LabStep *step, GError **error);
gboolean lab_steps_need_mounted(const struct lab_steps *steps, const LabStep *step, GError **error);
gboolean lab_steps_need_unmounted(const struct lab_steps *steps, const LabStep *step,
				  GError **error);

/** lab_argv_add_texts() - @texts: (nullable): of LAB_YAML_TEXTS */
void lab_argv_add_texts(GStrvBuilder *argv, const GPtrArray *texts);

/** Members @read of the table, see struct lab_verb */
gboolean lab_verb_read_fs_mark(const LabYamlNode *body, struct lab_steps *steps,
			       struct lab_step_common *common, LabStep *step, GError **error);
gboolean lab_verb_read_xfs_repair(const LabYamlNode *body, struct lab_steps *steps,
				  struct lab_step_common *common, LabStep *step, GError **error);
gboolean lab_verb_read_numa_touch(const LabYamlNode *body, struct lab_steps *steps,
				  struct lab_step_common *common, LabStep *step, GError **error);
gboolean lab_verb_read_run(const LabYamlNode *body, struct lab_steps *steps,
			   struct lab_step_common *common, LabStep *step, GError **error);

/** lab_verb_find() - NULL when there is none; @text: (nullable) */
const struct lab_verb *lab_verb_find(const char *text);

/** lab_verb_unknown() - set the error of a word that is no verb; return FALSE */
gboolean lab_verb_unknown(const LabOrigin *origin, const char *text, GError **error);
