/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run that boots until each judged metric has a verdict, or the budget ends (numalab run --until-decided). The error rate stays: looks
 * share alpha (lab/stats/sequential.h). A verdict that was given at a look stays, whatever later boots say.
 */
#pragma once
#include "lab/verdict/compare.h"

typedef struct LabDecide LabDecide;

/**
 * lab_decide_new()
 * @store:     borrowed
 * @max_boots: of each kernel; 3 or more
 */
LabDecide *lab_decide_new(LabStore *store, guint max_boots, const char *by);
void lab_decide_free(LabDecide *decide);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabDecide, lab_decide_free)

/** lab_decide_looks() - boots of each kernel at each look; borrowed. @n: (out) */
const guint *lab_decide_looks(const LabDecide *decide, guint *n);

/**
 * lab_decide_look() - judge the run's boots
 * @look:  from 0
 * @go_on: (out): a metric is not decided, more boots could help, and there is a look to come
 *
 * Return: a line for people: "look 2 of 5, 5 boots of each kernel: 1 of 2 metrics decided"; free with g_free(). Errors: those of
 * lab_compare(); LAB_ERROR_USER: one kernel alone cannot be judged.
 */
char *lab_decide_look(LabDecide *decide, guint run, guint look, gboolean *go_on, GError **error);

/** lab_decide_text() - each metric's verdict, with the look that gave it; free with g_free() */
char *lab_decide_text(const LabDecide *decide);

/** lab_decide_json() - free with g_free() */
char *lab_decide_json(const LabDecide *decide);

/** lab_decide_exit_code() - as lab_compare_exit_code() */
int lab_decide_exit_code(const LabDecide *decide);
