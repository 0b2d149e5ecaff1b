/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where QEMU keeps a vCPU's general registers, to write them, and the byte that says whether the clock may be read: what version 4
 * of its plugin interface does not offer. No QEMU headers.
 *
 * Both are found by what they hold, in an object whose size the allocator tells: eight registers that the interface reads, one
 * behind the other and nowhere else; and one byte in front of them that is 0 at the start and 1 at the end of every block.
 */
#ifndef BOOTLAB_VCPU_STATE_H
#define BOOTLAB_VCPU_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STATE_REGISTERS = 8, STATE_SAMPLES = 64, STATE_MOST_SAMPLES = 1 << 16 };

/* Of all vCPUs alike, as they are objects of one type; each function looks at the vCPU that runs, from its thread. */
struct vcpu_state {
	uint8_t *const *running; /* the object of the vCPU that runs in this thread */
	size_t size;
	size_t registers_at; /* in the object: rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi; 0: not found yet */
	uint8_t *may_be_flag; /* one for each byte in front of the registers: it has been as it must be, so far */
	size_t n_left;	      /* such bytes */
	unsigned samples[2]; /* taken at a block's first and last instruction */
};

/* 0, or -ENOTSUP with one line in `message`. */
int vcpu_state_open(char *message, size_t message_size, struct vcpu_state *ret);
void vcpu_state_deinit(struct vcpu_state *state);

/* Find the registers by their values `now`. 0, or -ENOTSUP with one line in `message`: there is no such place, or several. */
int vcpu_state_find(struct vcpu_state *state, const uint64_t now[STATE_REGISTERS], char *message, size_t message_size);
/* The registers, once they are found. */
uint64_t *vcpu_state_registers(const struct vcpu_state *state);
/* Whether they are where they were found. */
bool vcpu_state_holds(const struct vcpu_state *state, const uint64_t now[STATE_REGISTERS]);

/* Look at the bytes at the first (false) or the last (true) instruction of a block of several. */
void vcpu_state_sample(struct vcpu_state *state, bool last);
/* There have been STATE_SAMPLES of either, and one byte is left; or so many that more would not help. */
bool vcpu_state_is_sampled(const struct vcpu_state *state);
/* The byte, once there have been STATE_SAMPLES of either; NULL with one line in `message`: it is not known, or there are several. */
uint8_t *vcpu_state_clock_flag(const struct vcpu_state *state, char *message, size_t message_size);

#endif
