/* SPDX-License-Identifier: MIT */
/* The NOP that no compiler emits, with a mark's name in two registers (README.md): the QEMU plugin stamps it exactly. */
#ifndef BOOTLAB_MARK_H
#define BOOTLAB_MARK_H

enum { MARK_NAME_MAX = 64 };

/* The jump ends QEMU's translation block, so that the NOP starts one: only there is the virtual clock exact. */
static inline void mark_announce(const char *name, long size)
{
#if defined(__x86_64__)
	__asm__ volatile("jmp 1f\n1:\n\t.byte 0x0f, 0x1f, 0x84, 0x00, 0xb0, 0x07, 0x1a, 0xb5"
			 :
			 : "D"(name), "S"(size)
			 : "memory");
#elif defined(__aarch64__)
	register const char *x0 __asm__("x0") = name;
	register long x1 __asm__("x1") = size;

	/* movz xzr, #0xb07, lsl #16 */
	__asm__ volatile("b 1f\n1:\n\t.inst 0xd2a160ff" : : "r"(x0), "r"(x1) : "memory");
#elif defined(__arm__)
	register const char *r0 __asm__("r0") = name;
	register long r1 __asm__("r1") = size;

#ifdef __thumb__
	/* orr.w r11, r11, r11 */
	__asm__ volatile("b 1f\n1:\n\t.inst.w 0xea4b0b0b" : : "r"(r0), "r"(r1) : "memory");
#else
	/* bic r11, r11, #0, rotated by 14 */
	__asm__ volatile("b 1f\n1:\n\t.inst 0xe3cbb700" : : "r"(r0), "r"(r1) : "memory");
#endif
#elif defined(__riscv) && __riscv_xlen == 64
	register const char *a0 __asm__("a0") = name;
	register long a1 __asm__("a1") = size;

	/* slti zero, zero, 0xb07 (sign-extended): a hint, of those that the architecture leaves for custom use */
	__asm__ volatile("j 1f\n1:\n\t.4byte 0xb0702013" : : "r"(a0), "r"(a1) : "memory");
#else
	/* No NOP is agreed on, the line on the console is the mark. */
	(void)name, (void)size;
#endif
}

#endif
