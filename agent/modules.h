/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef NUMALAB_AGENT_MODULES_H
#define NUMALAB_AGENT_MODULES_H

#include "agent/fault.h"
#include "agent/job.h"

/**
 * modules_load() - load the job's modules in its order
 * @fault: stage "setup", names the first module that failed and why
 *
 * A module that is there already (or is built in under that name) is fine, and so is a driver without
 * a device, unless it is wanted itself. After a failure the others are still tried: the drivers of the results device may be among them. Return: 0 or -1.
 */
int modules_load(const struct job *job, struct fault *fault);

/**
 * modules_probe() - where the root file system has them: by modprobe, with its dependencies and its configuration
 * @fault: stage "setup", names the first module that failed
 */
int modules_probe(const struct job *job, struct fault *fault);

#endif
