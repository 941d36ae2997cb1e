/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does /dev/kvm run a kernel? One that merely opens may be a software KVM on which stock kernels
 * hang, or stop with an internal error, at cmpxchg16b, xrstor or int3. So a guest of our own, a
 * few hundred bytes long, is entered in long mode through the ioctls of the kernel's
 * Documentation/virt/kvm/api.rst, executes them, and has itself interrupted by a timer. All of it happens in a child process that can
 * be abandoned.
 */
#pragma once
#include <gio/gio.h>

#define LAB_KVM_DEVICE "/dev/kvm"
#define LAB_KVM_GUEST_MS                                                                           \
	2000 /* for the guest to end; it takes well under a millisecond where KVM works */
#define LAB_KVM_PROBE_MS 5000 /* for the child to end */

typedef enum {
	LAB_KVM_WORKS,
	LAB_KVM_ABSENT,	 /* no such device */
	LAB_KVM_REFUSED, /* it cannot be opened */
	LAB_KVM_BROKEN,	 /* it opens, but a guest does not run */
} LabKvmState;

/**
 * struct LabKvmProbe - what was found
 * @stage: the last one reached: "open", "create-vm", "create-irqchip", "memory", "create-vcpu",
 * "registers", then of the guest: "start", "long mode", "port output", "cmpxchg16b", "int3",
 * "fxsave", "xsave", "xrstor", "rdtscp", "timer interrupt", "hlt"
 * @message: one line, without @stage: "the guest did not go on within 2 s",
 * "KVM_EXIT_INTERNAL_ERROR, suberror 1", "exception 6", ...
 */
typedef struct {
	LabKvmState state;
	char *stage;
	char *message;
} LabKvmProbe;

void lab_kvm_probe_free(LabKvmProbe *probe);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LabKvmProbe, lab_kvm_probe_free)

/** lab_kvm_state_name() - "works", "absent", "refused", "broken" */
const char *lab_kvm_state_name(LabKvmState state);

/** lab_kvm_probe_text() - for people: "/dev/kvm opens but runs no guest: at cmpxchg16b: ...". Free with g_free(). */
char *lab_kvm_probe_text(const LabKvmProbe *probe);

/**
 * lab_kvm_probe() - start @argv and read its report
 * @argv: NULL-terminated: a program that calls lab_kvm_probe_here() and prints
 * lab_kvm_probe_report()
 *
 * Blocks for at most LAB_KVM_PROBE_MS, even when the child cannot be killed (it is left to its fate
 * then). A child that says nothing in time, or dies, is a broken KVM and no error. Errors:
 * LAB_ERROR_INFRA: the child cannot be started, or its report is none.
 */
LabKvmProbe *lab_kvm_probe(const char *const *argv, GError **error);

/**
 * lab_kvm_probe_here() - in this process, which should end soon after
 * @device: LAB_KVM_DEVICE; another one for tests
 *
 * A thread that executes the guest is left behind when the guest does not end within
 * LAB_KVM_GUEST_MS.
 */
LabKvmProbe *lab_kvm_probe_here(const char *device);

/** lab_kvm_probe_report() - one line "STATE\tSTAGE\tMESSAGE\n" for lab_kvm_probe(). Free with
 * g_free(). */
char *lab_kvm_probe_report(const LabKvmProbe *probe);
