/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Private to lab/guest: waits for a guest to end, by events, with a deadline for each stage on the
 * monotonic clock. */
#pragma once
#include "lab/guest/boot.h"
#include "lab/guest/progress.h"

typedef enum {
	LAB_STAGE_START,	/* QEMU runs, nothing came from the guest */
	LAB_STAGE_FIRST_OUTPUT, /* the console has bytes */
	LAB_STAGE_AGENT,	/* PID 1 runs */
	LAB_STAGE_VERIFIED,	/* the machine is the one asked for */
	LAB_STAGE_STEP,		/* in a step, or between two */
	LAB_STAGE_POWER_OFF,	/* the agent has done all it will */
	LAB_STAGE_DONE,		/* QEMU is gone */
} LabStage;

/**
 * enum LabWatchEnd
 * @LAB_WATCH_SHUTDOWN:  the guest powered off or reset itself
 * @LAB_WATCH_GONE:      QEMU ended without a word from the guest
 * @LAB_WATCH_PAUSED:    QEMU stopped the guest's CPUs, and is still there: KVM's "internal error"
 * @LAB_WATCH_LOST:      libvirt's daemon, and with it the guest
 * @LAB_WATCH_DEADLINE:  a stage took too long; the guest still runs
 * @LAB_WATCH_CANCELLED: the guest still runs
 */
typedef enum {
	LAB_WATCH_SHUTDOWN,
	LAB_WATCH_GONE,
	LAB_WATCH_PAUSED,
	LAB_WATCH_LOST,
	LAB_WATCH_DEADLINE,
	LAB_WATCH_CANCELLED,
} LabWatchEnd;

/* struct LabWatchReport - @stage: the last one reached before the end */
typedef struct {
	LabWatchEnd end;
	LabStage stage;
	guint step;					/* from 1; 0: none yet */
	char step_name[64];				/* "" */
	guint64 limit_ns;				/* DEADLINE: what was allowed */
	gint64 first_output_us, agent_us, steps_end_us; /* g_get_monotonic_time(), 0: never */
} LabWatchReport;

typedef struct LabWatch LabWatch;

/**
 * lab_watch_new() - before the guest is started
 * @dir: holds console.log and progress.log, both there and empty
 * @cancellable: (nullable)
 */
LabWatch *lab_watch_new(const LabBootJob *job, const char *dir, LabBootProgress progress,
			gpointer data, GCancellable *cancellable, GError **error);

/** lab_watch_stopped() - from any thread: libvirt says that the guest has stopped; @detail:
 * virDomainEventStoppedDetailType */
void lab_watch_stopped(LabWatch *watch, int detail);

/** lab_watch_paused() - from any thread: the guest's CPUs were stopped, and nobody here did that */
void lab_watch_paused(LabWatch *watch);

/** lab_watch_lost() - from any thread: the connection to libvirt's daemon has ended */
void lab_watch_lost(LabWatch *watch);

/** lab_watch_run() - blocks until one of LabWatchEnd; the first deadline counts from now */
void lab_watch_run(LabWatch *watch, LabWatchReport *report);
void lab_watch_free(LabWatch *watch);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabWatch, lab_watch_free)

/** lab_watch_limit_ns() - host time that a guest may spend in @stage, nanoseconds */
guint64 lab_watch_limit_ns(const LabBootJob *job, LabStage stage);

/** lab_stage_name() - as in LabBootResult; @step_name: for LAB_STAGE_STEP */
const char *lab_stage_name(LabStage stage, const char *step_name);
