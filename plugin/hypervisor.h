/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shows the guest the hypervisor KVM: its CPUID leaves, and kvmclock's pages.
 *
 * Under -icount the time stamp counter is the virtual clock in ns, so a page of kvmclock that never changes is right for ever.
 * What cannot be shown ends QEMU with a line on stderr: a guest that has seen half a hypervisor is no boot of either kind.
 */
#ifndef BOOTLAB_HYPERVISOR_H
#define BOOTLAB_HYPERVISOR_H

#include "qemu_plugin_api.h"

/* From a vCPU's first callback. */
void hypervisor_vcpu(void);
/* At each translation. */
void hypervisor_watch(struct qemu_plugin_tb *tb);

#endif
