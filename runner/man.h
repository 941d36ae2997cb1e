/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parts of the man pages that the records know, as mdoc(7): NAME to DESCRIPTION. docs/man/build
 * adds the rest. */
#pragma once
#include "runner/command.h"

/** man_overview() - numalab(1). Free with g_free(). */
char *man_overview(void);
/** man_command() - numalab-VERB(1) with the verbs that it has. Free with g_free(). */
char *man_command(const Command *command);
