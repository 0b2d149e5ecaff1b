/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watches arm64's instructions that may leave a guest of KVM, those that move pages and those that clear them, for kvm_exits.c. */
#ifndef BOOTLAB_ARM64_EXITS_H
#define BOOTLAB_ARM64_EXITS_H

#include "qemu_plugin_api.h"

/* Before the machine exists. 0 or -errno. */
int arm64_exits_open(int n_vcpus);
/* From a vCPU's first callback. */
void arm64_exits_vcpu(void);
/* With the lock held. */
void arm64_exits_watch(struct qemu_plugin_insn *insn);

#endif
