/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The emulated machine's clock and its off switch: what QEMU's plugin interface does not offer.
 *
 * QEMU programs export their internal functions for QEMU's own loadable modules, so dlsym() finds them. That is not a
 * stable interface: each is looked up once, at the start, and what is missing is a refusal or a stated fallback.
 */
#ifndef BOOTLAB_MACHINE_H
#define BOOTLAB_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "records/writer.h"

struct machine {
	int shift; /* one instruction is 2**shift ns; -1: no -icount, host clock */
	int64_t host_start_ns;
	int64_t charged_ns; /* added to the virtual clock so far */
	int64_t skipped_ns; /* the same, and in no stamp */
	int64_t (*icount_get)(void);
	int64_t (*icount_get_raw)(void);
	int64_t (*icount_to_ns)(int64_t instructions);
	void (*shutdown_request)(int cause);
	void *(*get_cpu)(int index);
	void (*cpu_pause)(void *cpu);
	void (*qmp_stop)(void *error);
	bool (*is_running)(void);
	/* Of machine_vcpu(): QEMU's `current_cpu` of the thread that runs the vCPUs, and whom it pointed to the last time. */
	void *const *current_cpu;
	void *latest_cpu;
	unsigned latest_vcpu;
};

/* Returns 0, or -ENOTSUP with one line in `message`. */
int machine_open(char *message, size_t message_size, struct machine *ret);

/* The host clock starts at the first call; the virtual one has always begun at power-on. */
void machine_start(struct machine *machine);

/*
 * Time and instructions before the last `charged` instructions.
 *
 * QEMU charges a whole translation block as it enters it, before our callback runs: in a callback at a block's start,
 * `charged` = the block's length gives the exact value at its first instruction.
 */
struct stamp machine_now(const struct machine *machine, size_t charged);
/* The instructions of machine_now() alone, at a third of the cost. Only with the virtual clock. */
static inline uint64_t machine_instructions(const struct machine *machine, size_t charged)
{
	return (uint64_t)machine->icount_get_raw() - charged;
}

/*
 * The vCPU that the calling thread, always the same, is running. QEMU's own number in a callback is that of the vCPU for which
 * the block was translated; the others share it. Only in a vCPU's callback; needs `get_cpu`.
 */
unsigned machine_vcpu(struct machine *machine);
/* Whether machine_vcpu() can be called. */
bool machine_tells_vcpus(const struct machine *machine);

/*
 * Have the machine stand still behind the block that runs now, until somebody lets it go on. Call from a vCPU's callback that
 * holds neither QEMU's lock nor ours, with the virtual clock. Needs `qmp_stop` and `is_running`.
 */
void machine_pause(const struct machine *machine);

/* Pause every vCPU at once and have QEMU exit with status 0. Call from a vCPU's callback. */
void machine_stop(const struct machine *machine);

#endif
