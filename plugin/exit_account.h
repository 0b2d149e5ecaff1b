/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The account of what would leave a guest of KVM for its host: each trap and each first touch of a page, counted and charged. */
#ifndef BOOTLAB_EXIT_ACCOUNT_H
#define BOOTLAB_EXIT_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "qemu_plugin_api.h"
#include "records/trap_counts.h"

/* Whether it is to be counted for the profile, charged to the clock, or both. 0 or -ENOMEM. */
int exit_account_open(bool counts, bool prices_asked, int n_vcpus);
/* While code runs at the physical `address`: prove what is needed. 0, or -ENOTSUP with one line in `message`. */
int exit_account_prove(uint64_t address, char *message, size_t message_size);

/* A trap was taken; pages may lie elsewhere from now on. */
void exit_account_take(const struct trap *trap);
void exit_account_forget_mappings(void);

/*
 * Call `taken` before the instruction with a copy of `site`, and with the vCPU's registers at hand. Kept for ever, as QEMU may
 * run the block until it forgets it, and does not say when: some thousands of them.
 */
void exit_account_watch_site(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_udata_cb_t taken, const void *site, size_t size);

/* A callback for every access to memory. Most of what a boot with a profile takes besides is spent here. */
void exit_account_access(unsigned int vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *userdata);
/* `vcpu` writes to a virtual address, which QEMU tells no such callback of. */
void exit_account_write(unsigned vcpu, uint64_t address);
/* Code is read as it is translated, right ahead of its first run. With the recording's lock held. */
void exit_account_watch_code(struct qemu_plugin_tb *tb, size_t n_insns);

#endif
