/* SPDX-License-Identifier: MIT */
/*
 * A 64 KiB firmware image that asks one question: do guests really run here?
 *
 * On some hosts a guest of a few real-mode instructions runs and a kernel still seems to hang, so the probe does what a
 * kernel does first: protected mode, page tables, long mode, touching pages all over 30 MiB. Then it counts for a while, because
 * there is a KVM (kvm_pvm) that interprets guests which were not made for it: measured at one to two million instructions
 * a second. At the end it says so on the first serial port.
 * Memory map: page tables at 0x10000..0x13fff, the image at 4 GiB - 64 KiB and mirrored below 1 MiB.
 */
	.set SERIAL_PORT, 0x3f8
	.set ANSWER, 'K'
	.set STRIDE, 0x10000
	.set LOOPS, 20000000
	.set TOP, 0xffff0000		/* link address of the image */

	.code16
	.section .text
	.globl _start
_start:
	cli
	lgdtl	%cs:(gdt_pointer - _start)
	movl	%cr0, %eax
	orl	$1, %eax
	movl	%eax, %cr0
	ljmpl	$8, $(TOP + protected - _start)

	.code32
protected:
	movw	$16, %ax
	movw	%ax, %ds
	movw	%ax, %es
	movw	%ax, %ss
	/* One PML4 entry, one PDPT entry, 16 2 MiB pages; the top 2 MiB (this code) through a second directory. */
	cld
	movl	$0x10000, %edi
	xorl	%eax, %eax
	movl	$(0x4000 / 4), %ecx
	rep stosl
	movl	$0x11003, 0x10000
	movl	$0x12003, 0x11000
	movl	$0x13003, 0x11018	/* 3..4 GiB */
	movl	$0x12000, %edi
	movl	$0x83, %eax
	movl	$16, %ecx
1:	movl	%eax, (%edi)
	addl	$0x200000, %eax
	addl	$8, %edi
	loop	1b
	movl	$0xffe00083, 0x13ff8	/* last 2 MiB below 4 GiB */
	movl	$0x10000, %eax
	movl	%eax, %cr3
	movl	%cr4, %eax
	orl	$0x20, %eax		/* PAE */
	movl	%eax, %cr4
	movl	$0xc0000080, %ecx	/* EFER */
	rdmsr
	orl	$0x100, %eax		/* LME */
	wrmsr
	movl	%cr0, %eax
	orl	$0x80000000, %eax
	movl	%eax, %cr0
	ljmpl	$24, $(TOP + long_mode - _start)

	.code64
long_mode:
	/* A page in every STRIDE of 2..32 MiB: written, then read back. */
	movq	$0x200000, %rdi
1:	movq	%rdi, (%rdi)
	addq	$STRIDE, %rdi
	cmpq	$0x2000000, %rdi
	jb	1b
	movq	$0x200000, %rdi
2:	cmpq	%rdi, (%rdi)
	jne	fail
	addq	$STRIDE, %rdi
	cmpq	$0x2000000, %rdi
	jb	2b
	movl	$LOOPS, %ecx
3:	decl	%ecx
	jnz	3b
	movw	$SERIAL_PORT, %dx
	movb	$ANSWER, %al
	outb	%al, %dx
fail:	hlt
	jmp	fail

	/* "Accessed" is set in each already: the CPU would set it, and this is ROM, where KVM cannot let it write. */
	.balign	8
gdt:	.quad	0
	.quad	0x00cf9b000000ffff	/*  8: 32-bit code */
	.quad	0x00cf93000000ffff	/* 16: data */
	.quad	0x00af9b000000ffff	/* 24: 64-bit code */
gdt_pointer:
	.word	31
	.long	TOP + gdt - _start

	.code16
	.org	0xfff0
	jmp	_start
	.org	0x10000
