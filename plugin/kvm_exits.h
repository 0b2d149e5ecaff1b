/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watches for what would leave a guest of KVM for its host, counts it for the profile, and charges the clock for it. */
#ifndef BOOTLAB_KVM_EXITS_H
#define BOOTLAB_KVM_EXITS_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu_plugin_api.h"

/* Before the machine exists: whether a profile is made that may want the counts; how many vCPUs there can be. 0 or -errno. */
int kvm_exits_open(bool profiled, int n_vcpus);
/* From a vCPU's first callback. */
void kvm_exits_vcpu(void);
/* From the first translation, of code at `address`: prove what is needed, and tell the trace. Takes the recording's lock. */
void kvm_exits_start(uint64_t address);
/* With the lock held, behind instrument_block(). */
void kvm_exits_watch(struct qemu_plugin_tb *tb);

#endif
