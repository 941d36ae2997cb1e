/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMALAB_AGENT_SETTINGS_H
#define NUMALAB_AGENT_SETTINGS_H

#include "agent/fault.h"
#include "agent/job.h"

/**
 * settings_apply() - write each setting of the job and read it back
 * @fault: stage "settings", names the setting, its file, and what was wanted and found
 *
 * Return: 0, or -1 at the first that did not take.
 */
int settings_apply(const struct job *job, struct fault *fault);

#endif
