/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to lab/guest: what a boot left -> what it says about whom. A pure function. */
#pragma once
#include "lab/base/records.h"
#include "lab/guest/watch.h"

/** struct LabOutcomeFacts - all borrowed */
typedef struct {
	const LabWatchReport *watch;
	const LabRecords *records; /* (nullable): no header */
	const char *console;
	gsize console_length;
	const char *qemu_log; /* "" */
	guint64 host_oom_kills; /* within the guest's control group */
} LabOutcomeFacts;

/**
 * lab_outcome_decide() - fill outcome, stage, message and evidence of @result
 *
 * In this order: a crash of the kernel, wherever its words are found, is KERNEL. All records and an
 * END among them is OK. A FAIL record is STEP when a step failed, else INFRA. QEMU gone is INFRA. A
 * deadline missed, or a guest that ended without any of these, is KERNEL before the first step,
 * STEP within one.
 */
void lab_outcome_decide(const LabOutcomeFacts *facts, LabBootResult *result);
