/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The profile's side of QEMU: puts into each translated block what tells profile/flow.h of the flow through it. */
#ifndef BOOTLAB_INSTRUMENT_H
#define BOOTLAB_INSTRUMENT_H

#include "config/config.h"
#include "machine.h"
#include "qemu_plugin_api.h"
#include "records/trap_counts.h"
#include "records/writer.h"

/*
 * Begin a profile at `path`. `config` and `machine` must outlive it. Returns 0, or a negative errno with one line in `message`.
 */
int instrument_open(const struct config *config, struct machine *machine, const qemu_info_t *info, const char *path,
		    char *message, size_t message_size);
/* From a vCPU's first callback, with the vCPU's registers at hand. */
void instrument_vcpu(unsigned int vcpu);

/*
 * Instrument a block, before anybody else registers callbacks in it. `entry` is the probe that found the kernel's or an
 * image's entry at the block's start, or NULL. `slide` is NULL while unknown.
 */
void instrument_block(struct qemu_plugin_tb *tb, const struct probe *entry, const uint64_t *slide);

/* The clock was charged at the start of a block: `before`, and since then `after`, which is later by that. */
void instrument_charge(struct stamp before, struct stamp after);
/* The clock was charged within the block that runs, by `ns`. */
void instrument_charge_within(uint64_t ns);
/* What runs did something that may leave a guest of KVM, or was the first to touch a page of physical memory. */
void instrument_trap(const struct trap *trap);
void instrument_page(uint64_t page, enum profile_page_use use);
/* A slice ends, at the start of a block or within the one that runs. */
void instrument_cut(const char *name, struct stamp at);
/* Nothing is counted any more. Returns 0, or the first failure of any write as -errno. */
int instrument_close(struct stamp at);

#endif
