/* SPDX-License-Identifier: MIT OR GPL-2.0-or-later */
/* Loops of exactly 2 instructions a round, in functions of their own. */
#include <linux/linkage.h>

.macro SPIN name
SYM_FUNC_START(\name)
1:	dec	%rdi
	jnz	1b
	RET
SYM_FUNC_END(\name)
.endm

SPIN ground_truth_spin_in_init
SPIN ground_truth_spin_in_thread
