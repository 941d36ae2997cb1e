/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guest of kvm_probe: its memory and its code. Used by lab/guest/kvm_probe.c only. */
#pragma once
#include <glib.h>
#include <linux/kvm.h>

#define KVM_GUEST_BYTES (2u << 20) /* one large page, mapped one to one */
/* The guest writes to it at its end, whatever that is: with KVM's own interrupt controller a HLT never leaves KVM. */
#define KVM_GUEST_EXIT_PORT 0xf4

/* Stages as the guest writes them; each means: about to do this. */
enum kvm_guest_stage {
	KVM_GUEST_START,
	KVM_GUEST_LONG_MODE,
	KVM_GUEST_PORT,
	KVM_GUEST_CMPXCHG16B,
	KVM_GUEST_INT3,
	KVM_GUEST_FXSAVE,
	KVM_GUEST_XSAVE,
	KVM_GUEST_XRSTOR,
	KVM_GUEST_RDTSCP,
	KVM_GUEST_TIMER, /* one shot of the local APIC's, while the guest runs */
	KVM_GUEST_HLT,	 /* and another, that wakes it */
	KVM_GUEST_N_STAGES,
};

/* What the guest writes, at KVM_GUEST_REPORT. The offsets are in the guest's code, too. */
typedef struct {
	volatile guint8 stage;
	volatile guint8 done;
	volatile guint8 exception; /* vector + 1 */
	volatile guint8 breakpoint;
	volatile guint8 wrong; /* an instruction ran, but to a wrong result */
	guint8 has_xsave;      /* by the host, as has_rdtscp */
	volatile guint8 ticks; /* interrupts of the timer */
	guint8 has_rdtscp;
} KvmGuestReport;

/** struct KvmGuestFeatures - of the vCPU's CPUID; the guest leaves out the stages of what is not there */
typedef struct {
	gboolean xsave, rdtscp;
} KvmGuestFeatures;

const char *kvm_guest_stage_name(guint stage);

/** kvm_guest_setup() - page tables, GDT, IDT, code and report into @memory (KVM_GUEST_BYTES,
 * zeroed) */
KvmGuestReport *kvm_guest_setup(guint8 *memory, const KvmGuestFeatures *features);

/** kvm_guest_registers() - long mode at the guest's first instruction; @sregs as KVM_GET_SREGS gave
 * it */
void kvm_guest_registers(struct kvm_sregs *sregs, struct kvm_regs *regs,
			 const KvmGuestFeatures *features);
