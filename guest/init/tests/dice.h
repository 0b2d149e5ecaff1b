/* SPDX-License-Identifier: MIT */
/* Numbers for damaging what is read: the same ones every time (xorshift, Marsaglia, J. Stat. Soft. 8 (2003) 14). */
#ifndef BOOTLAB_INIT_TESTS_DICE_H
#define BOOTLAB_INIT_TESTS_DICE_H

#include <stdint.h>

static uint64_t dice_state = 88172645463325252;

static inline unsigned below(unsigned limit)
{
	dice_state ^= dice_state << 13;
	dice_state ^= dice_state >> 7;
	dice_state ^= dice_state << 17;
	return (unsigned)(dice_state % limit);
}

#endif
