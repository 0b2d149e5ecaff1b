/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lets the only vCPU go on at once behind x86's PAUSE. No QEMU headers.
 *
 * QEMU lets other vCPUs run there: it leaves its loop over blocks for that over vCPUs, which takes it longer than a spin loop's
 * own instructions, and a kernel that calibrates a timer spins for tens of millions of rounds. With one vCPU nobody waits. So
 * we have it leave the block alone, as at the end of any other: it looks for interrupts then, and its budget of instructions ends
 * at the next timer's deadline, whichever loop it is in. Whoever sets an earlier deadline has it leave both. So under -icount the
 * guest executes the same, at the same time.
 *
 * QEMU calls its helpers through a table, and we put another function into it.
 */
#ifndef BOOTLAB_QUICK_PAUSE_H
#define BOOTLAB_QUICK_PAUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Before QEMU translates anything, with -icount and one vCPU. 0, or -ENOTSUP with one line in `message`: all is left as it was. */
int quick_pause_open(char *message, size_t message_size);

/*
 * Whether it still takes quick_pause_expect() to prove that the vCPU, when it gets to the helper, is to go on behind the PAUSE.
 * Until then QEMU's own helper does the work.
 */
bool quick_pause_asks(void);
/* The PAUSE that the vCPU executes next ends at `address`. From a vCPU's callback. */
void quick_pause_expect(uint64_t address);
/*
 * The next PAUSE is for QEMU's own helper, which also ends what the instruction before it began: that interrupts wait, the resume
 * flag. The first always is. From a vCPU's callback.
 */
void quick_pause_leave_next(void);

/* How many PAUSEs went which way. */
struct quick_pause_counts {
	uint64_t ours, qemus;
};
struct quick_pause_counts quick_pause_counts(void);

#endif
