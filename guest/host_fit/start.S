/* SPDX-License-Identifier: MIT */
/*
 * How the program that times this host's exits begins: from reset to main() in long mode, and its exceptions.
 *
 * It is a firmware image of 64 KiB, so that nothing runs ahead of it. It copies itself to 1 MiB, where it was linked to.
 * Page tables are at 0x10000..0x15fff: all 4 GiB, each page where it is; the stack is below them.
 */
	.set TOP, 0xffff0000		/* where the image lies at reset */
	.set BASE, 0x100000		/* where it is linked to */
	.set TABLES, 0x10000

	.code16
	.section .start, "ax"
	.globl _start
_start:
	cli
	lgdtl	%cs:(gdt_pointer - _start)
	movl	%cr0, %eax
	orl	$1, %eax
	andl	$0x9fffffff, %eax	/* caches on */
	movl	%eax, %cr0
	ljmpl	$8, $(TOP + protected - _start)

	.code32
protected:
	movw	$16, %ax
	movw	%ax, %ds
	movw	%ax, %es
	movw	%ax, %ss
	cld
	movl	$TOP, %esi
	movl	$BASE, %edi
	movl	$(0x10000 / 4), %ecx
	rep movsl
	movl	$TABLES, %edi
	xorl	%eax, %eax
	movl	$(0x6000 / 4), %ecx
	rep stosl
	/* One entry of the top table, four of the next, and 2048 pages of 2 MiB. */
	movl	$(TABLES + 0x1003), TABLES
	movl	$(TABLES + 0x1000), %edi
	movl	$(TABLES + 0x2003), %eax
	movl	$4, %ecx
1:	movl	%eax, (%edi)
	addl	$0x1000, %eax
	addl	$8, %edi
	loop	1b
	movl	$(TABLES + 0x2000), %edi
	movl	$0x83, %eax
	movl	$2048, %ecx
2:	movl	%eax, (%edi)
	addl	$0x200000, %eax
	addl	$8, %edi
	loop	2b
	movl	$TABLES, %eax
	movl	%eax, %cr3
	movl	%cr4, %eax
	orl	$0x620, %eax		/* PAE; SSE, which compilers use to copy */
	movl	%eax, %cr4
	movl	$0xc0000080, %ecx	/* EFER */
	rdmsr
	orl	$0x100, %eax		/* LME */
	wrmsr
	movl	%cr0, %eax
	andl	$0xfffffffb, %eax	/* no emulated FPU */
	orl	$0x80000002, %eax
	movl	%eax, %cr0
	ljmpl	$24, $long_mode

	.code64
long_mode:
	movl	$TABLES, %esp
	/* Interrupt gates: exceptions 0 to 31, the timer's vector 32, and every other. */
	leaq	idt(%rip), %rdi
	leaq	exceptions(%rip), %rsi
	movl	$32, %ecx
1:	movq	%rsi, %rax
	call	write_gate
	addq	$16, %rsi
	loop	1b
	leaq	on_timer(%rip), %rsi
	movl	$224, %ecx
2:	movq	%rsi, %rax
	call	write_gate
	loop	2b
	lidt	idt_pointer(%rip)
	call	main
3:	cli
	hlt
	jmp	3b

write_gate:
	movw	%ax, (%rdi)
	movw	$24, 2(%rdi)
	movw	$0x8e00, 4(%rdi)
	shrq	$16, %rax
	movw	%ax, 6(%rdi)
	shrq	$16, %rax
	movl	%eax, 8(%rdi)
	movl	$0, 12(%rdi)
	addq	$16, %rdi
	ret

	/* Sixteen bytes each: how many of them push an error code is in the mask of faulted. */
	.balign	16
exceptions:
	.set	number, 0
	.rept	32
	.balign	16
	pushq	$number
	jmp	faulted
	.set	number, number + 1
	.endr
	/* What was tried is lacking here: go on where `recover` says. Without one, it is a defect of this program: end. */
	.balign	16
faulted:
	popq	%r11			/* the number */
	movl	$0x60227d00, %r10d	/* 8, 10 to 14, 17, 21, 29, 30: the ones with an error code */
	btl	%r11d, %r10d
	jnc	1f
	addq	$8, %rsp
1:	movq	recover(%rip), %r10
	testq	%r10, %r10
	jz	2f
	movq	%r10, (%rsp)
	movl	$1, faults(%rip)
	iretq
2:	movw	$0x501, %dx		/* QEMU's debug exit */
	movb	$1, %al
	outb	%al, %dx
	jmp	2b

	.balign	16
on_timer:
	pushq	%rax
	movl	$0xfee000b0, %eax	/* end of interrupt */
	movl	$0, (%rax)
	popq	%rax
	iretq

	.balign	8
gdt:	.quad	0
	.quad	0x00cf9b000000ffff	/*  8: 32-bit code */
	.quad	0x00cf93000000ffff	/* 16: data */
	.quad	0x00af9b000000ffff	/* 24: 64-bit code */
gdt_pointer:
	.word	31
	.long	TOP + gdt - _start
idt_pointer:
	.word	4095
	.quad	idt

	.section .reset, "ax"
	.code16
	jmp	_start

	.bss
	.balign	16
idt:	.skip	4096
	.globl	recover, faults
recover:
	.quad	0
faults:
	.long	0
