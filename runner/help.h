/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Help from the records: for people (text) and for man(1) (mdoc). */
#pragma once
#include "runner/command.h"

#define HELP_WIDTH 80

/** help_overview() - all verbs by group. Free with g_free(). */
char *help_overview(void);

/**
 * help_command() - usage, description, options
 * @parent: (nullable): of a verb's verb
 */
char *help_command(const Command *parent, const Command *command);

/** help_usage() - "numalab kernel show [OPTIONS] KERNEL..." without newline */
char *help_usage(const Command *parent, const Command *command);

/** help_has_options() - whether there is any that is not hidden; @options may be NULL */
gboolean help_has_options(const GOptionEntry *options);
