/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Watches x86-64's instructions that may leave a guest of KVM, and those that move pages, for kvm_exits.c. */
#ifndef BOOTLAB_X86_EXITS_H
#define BOOTLAB_X86_EXITS_H

#include "qemu_plugin_api.h"

/* From a vCPU's first callback. */
void x86_exits_vcpu(void);
/* With the lock held. */
void x86_exits_watch(struct qemu_plugin_insn *insn);

#endif
