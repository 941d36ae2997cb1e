/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lab/guest/kvm_guest.h"

#include <string.h>

/* Guest-physical addresses; those of the report, the operands and the stack are in the code below,
 * too. */
#define PML4 0x1000
#define PDPT 0x2000
#define PAGE_DIRECTORY 0x3000
#define GDT 0x4000
#define TSS 0x4800
#define IDT 0x5000
#define REPORT 0x6000
#define OPERANDS 0x7000
#define APIC_DIRECTORY 0xb000
#define STACK_TOP 0xf000
#define CODE 0x10000

#define CODE_SELECTOR 0x08
#define DATA_SELECTOR 0x10
#define TSS_SELECTOR 0x18

#define APIC 0xfee00000u
#define VECTORS 48
#define TIMER_VECTOR 32
#define STUB_BYTES 16

/* clang-format off */
asm(".pushsection .rodata\n"
    ".balign 16\n"
    "kvm_guest_code:\n"
    "	movb	$1, 0x6000\n"		/* long mode */
    "	mov	$0x5a, %al\n"
    "	movb	$2, 0x6000\n"		/* port output */
    "	out	%al, $0x80\n"
    "	movb	$3, 0x6000\n"		/* cmpxchg16b */
    "	mov	$1, %rax\n"
    "	mov	$2, %rdx\n"
    "	mov	$3, %rbx\n"
    "	mov	$4, %rcx\n"
    "	lock cmpxchg16b 0x7000\n"
    "	jnz	kvm_guest_wrong\n"
    "	cmpq	$3, 0x7000\n"
    "	jne	kvm_guest_wrong\n"
    "	movb	$4, 0x6000\n"		/* int3 */
    "	int3\n"
    "	cmpb	$1, 0x6003\n"
    "	jne	kvm_guest_wrong\n"
    "	movb	$5, 0x6000\n"		/* fxsave */
    "	fxsave	0x8000\n"
    "	fxrstor	0x8000\n"
    "	cmpb	$0, 0x6005\n"
    "	je	1f\n"
    "	movb	$6, 0x6000\n"		/* xsave */
    "	xor	%ecx, %ecx\n"
    "	xor	%edx, %edx\n"
    "	mov	$3, %eax\n"		/* XCR0: x87 and SSE */
    "	xsetbv\n"
    "	xsave	0x9000\n"
    "	movb	$7, 0x6000\n"		/* xrstor */
    "	xrstor	0x9000\n"
    "1:	cmpb	$0, 0x6007\n"
    "	je	2f\n"
    "	movb	$8, 0x6000\n"		/* rdtscp */
    "	mov	$0xc0000103, %ecx\n"	/* IA32_TSC_AUX: what it returns in ECX */
    "	mov	$0x5a, %eax\n"
    "	xor	%edx, %edx\n"
    "	wrmsr\n"
    "	rdtscp\n"
    "	cmp	$0x5a, %ecx\n"
    "	jne	kvm_guest_wrong\n"
    "	shl	$32, %rdx\n"
    "	lea	(%rdx,%rax), %rdi\n"
    "	rdtscp\n"
    "	shl	$32, %rdx\n"
    "	or	%rdx, %rax\n"
    "	cmp	%rdi, %rax\n"
    "	jb	kvm_guest_wrong\n"
    "2:	movb	$9, 0x6000\n"		/* timer interrupt */
    "	mov	$0xfee00000, %esi\n"
    "	movl	$0x12f, 0xf0(%rsi)\n"	/* on; the spurious interrupt is 47 */
    "	movl	$0xb, 0x3e0(%rsi)\n"	/* a count is a cycle of the bus: KVM's has 1 GHz */
    "	movl	$32, 0x320(%rsi)\n"	/* one shot, vector 32 */
    "	movl	$100000, 0x380(%rsi)\n"
    "	sti\n"
    "3:	pause\n"
    "	cmpb	$1, 0x6006\n"
    "	jne	3b\n"
    "	cli\n"
    "	movb	$10, 0x6000\n"		/* hlt */
    "	movl	$100000, 0x380(%rsi)\n"
    "4:	sti\n"
    "	hlt\n"
    "	cli\n"
    "	cmpb	$2, 0x6006\n"
    "	jne	4b\n"
    "	movb	$1, 0x6001\n"
    "kvm_guest_exit:\n"
    "	out	%al, $0xf4\n"
    "	jmp	kvm_guest_exit\n"
    "kvm_guest_wrong:\n"
    "	movb	$1, 0x6004\n"
    "	jmp	kvm_guest_exit\n"
    "kvm_guest_timer:\n"
    "	incb	0x6006\n"
    "	movl	$0, 0xb0(%rsi)\n"	/* end of interrupt */
    "	iretq\n"
    "kvm_guest_breakpoint:\n"
    "	movb	$1, 0x6003\n"
    "	iretq\n"
    "kvm_guest_exception:\n"
    "	pop	%rax\n"
    "	inc	%al\n"
    "	movb	%al, 0x6002\n"
    "	jmp	kvm_guest_exit\n"
    ".balign 16\n"
    "kvm_guest_stubs:\n"
    ".set vector, 0\n"
    ".rept 48\n"
    ".balign 16\n"
    "	pushq	$vector\n"
    "	jmp	kvm_guest_exception\n"
    ".set vector, vector + 1\n"
    ".endr\n"
    ".balign 16\n"
    "kvm_guest_end:\n"
    ".popsection\n");
/* clang-format on */

extern const guint8 kvm_guest_code[], kvm_guest_breakpoint[], kvm_guest_timer[], kvm_guest_stubs[],
	kvm_guest_end[];

G_STATIC_ASSERT(G_STRUCT_OFFSET(KvmGuestReport, done) == 1);
G_STATIC_ASSERT(G_STRUCT_OFFSET(KvmGuestReport, exception) == 2);
G_STATIC_ASSERT(G_STRUCT_OFFSET(KvmGuestReport, breakpoint) == 3);
G_STATIC_ASSERT(G_STRUCT_OFFSET(KvmGuestReport, wrong) == 4);
G_STATIC_ASSERT(G_STRUCT_OFFSET(KvmGuestReport, has_xsave) == 5);
G_STATIC_ASSERT(G_STRUCT_OFFSET(KvmGuestReport, ticks) == 6);
G_STATIC_ASSERT(G_STRUCT_OFFSET(KvmGuestReport, has_rdtscp) == 7);
G_STATIC_ASSERT(KVM_GUEST_RDTSCP == 8 && KVM_GUEST_TIMER == 9 && KVM_GUEST_HLT == 10);

const char *kvm_guest_stage_name(guint stage)
{
	static const char *const names[KVM_GUEST_N_STAGES] = {
		"start", "long mode", "port output", "cmpxchg16b",	"int3", "fxsave",
		"xsave", "xrstor",    "rdtscp",	     "timer interrupt", "hlt",
	};

	return stage < KVM_GUEST_N_STAGES ? names[stage] : "nowhere";
}

static void put64(guint8 *memory, gsize at, guint64 value)
{
	memcpy(memory + at, &value, sizeof value);
}

/* A 64-bit interrupt gate, Intel SDM volume 3, "64-Bit Mode IDT". */
static void put_gate(guint8 *memory, guint vector, guint64 handler)
{
	guint64 low = (handler & 0xffff) | (guint64)CODE_SELECTOR << 16 |
		      G_GUINT64_CONSTANT(0x8e) << 40 | (handler >> 16 & 0xffff) << 48;

	put64(memory, IDT + vector * 16, low);
	put64(memory, IDT + vector * 16 + 8, handler >> 32);
}

static guint64 address_of(const guint8 *code)
{
	return CODE + (guint64)(code - kvm_guest_code);
}

KvmGuestReport *kvm_guest_setup(guint8 *memory, const KvmGuestFeatures *features)
{
	KvmGuestReport *report = (KvmGuestReport *)(memory + REPORT);

	put64(memory, PML4, PDPT | 0x3); /* present, writable */
	put64(memory, PDPT, PAGE_DIRECTORY | 0x3);
	put64(memory, PAGE_DIRECTORY, 0 | 0x83); /* and large */
	put64(memory, PDPT + (APIC >> 30) * 8, APIC_DIRECTORY | 0x3);
	put64(memory, APIC_DIRECTORY + (APIC >> 21 & 511) * 8, APIC | 0x9b); /* and not cached */
	put64(memory, GDT + CODE_SELECTOR, G_GUINT64_CONSTANT(0x00af9b000000ffff));
	put64(memory, GDT + DATA_SELECTOR, G_GUINT64_CONSTANT(0x00cf93000000ffff));
	put64(memory, GDT + TSS_SELECTOR, G_GUINT64_CONSTANT(0x0000890048000067));
	memcpy(memory + CODE, kvm_guest_code, (gsize)(kvm_guest_end - kvm_guest_code));
	for (guint v = 0; v < VECTORS; v++)
		put_gate(memory, v, address_of(kvm_guest_stubs) + v * STUB_BYTES);
	put_gate(memory, 3, address_of(kvm_guest_breakpoint));
	put_gate(memory, TIMER_VECTOR, address_of(kvm_guest_timer));
	put64(memory, OPERANDS, 1);
	put64(memory, OPERANDS + 8, 2);
	report->has_xsave = features->xsave ? 1 : 0;
	report->has_rdtscp = features->rdtscp ? 1 : 0;
	return report;
}

void kvm_guest_registers(struct kvm_sregs *sregs, struct kvm_regs *regs,
			 const KvmGuestFeatures *features)
{
	struct kvm_segment data = {
		.limit = 0xffffffff,
		.selector = DATA_SELECTOR,
		.type = 3,
		.present = 1,
		.db = 1,
		.s = 1,
		.g = 1,
	};

	sregs->ds = sregs->es = sregs->fs = sregs->gs = sregs->ss = data;
	sregs->cs = data;
	sregs->cs.selector = CODE_SELECTOR;
	sregs->cs.type = 11;
	sregs->cs.db = 0;
	sregs->cs.l = 1;
	sregs->tr = (struct kvm_segment){
		.base = TSS, .limit = 0x67, .selector = TSS_SELECTOR, .type = 11, .present = 1};
	sregs->gdt.base = GDT;
	sregs->gdt.limit = TSS_SELECTOR + 15;
	sregs->idt.base = IDT;
	sregs->idt.limit = VECTORS * 16 - 1;
	sregs->cr0 = 0x80010033; /* PG, WP, NE, ET, MP, PE */
	sregs->cr3 = PML4;
	sregs->cr4 = 0x620 | (features->xsave ? 1 << 18 : 0); /* PAE, OSFXSR, OSXMMEXCPT; OSXSAVE */
	sregs->efer = 0x500;				      /* LME, LMA */
	memset(regs, 0, sizeof *regs);
	regs->rip = CODE;
	regs->rsp = STACK_TOP;
	regs->rflags = 2;
}
