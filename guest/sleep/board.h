/* SPDX-License-Identifier: MIT */
/*
 * What bootlab-sleep does else on a board, whose SPL takes the image up (patches/u-boot/hibernation-image.patch): the note names what
 * the card boots, and nobody leaves random bytes.
 */
#ifndef BOOTLAB_SLEEP_BOARD_H
#define BOOTLAB_SLEEP_BOARD_H

#include <stdbool.h>
#include <string.h>

#include "note.h"
#include "shared/files.h"

#ifdef __arm__
#ifndef DEVICE_TREE
#define DEVICE_TREE "/sys/firmware/devicetree/base"
#endif

enum { ON_BOARD = 1, CARD_DIGITS = 64, NAMED_MAX = KERNEL_MAX + CARD_DIGITS + sizeof "\ncard " };

/* Behind the name of a kernel the generation of the card that it came from, as its device tree says it: one line of the note more. */
static inline void board_name_card(char ret[NAMED_MAX])
{
	static const char LINE[] = "\ncard ";
	size_t end = strlen(ret);

	memcpy(ret + end, LINE, sizeof LINE);
	if (file_read(DEVICE_TREE "/chosen/bootlab,card", ret + end + sizeof LINE - 1, CARD_DIGITS) == CARD_DIGITS)
		end += sizeof LINE - 1 + CARD_DIGITS;
	ret[end] = '\0';
}
#else
enum { ON_BOARD = 0, NAMED_MAX = KERNEL_MAX };

static inline void board_name_card(char ret[NAMED_MAX])
{
	(void)ret;
}
#endif

#endif
