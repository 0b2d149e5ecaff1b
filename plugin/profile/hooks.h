/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernel functions whose arguments tell what happens: task switches and wakes, processes, drivers, devices. */
#ifndef BOOTLAB_HOOKS_H
#define BOOTLAB_HOOKS_H

#include "profile.h"

enum { HOOK_ARGUMENTS = 5 };

/*
 * The vCPU is at the first instruction of a hooked function, flow_enter() has been called for it; `arguments` are the
 * first ones of that function.
 */
void hooks_reached(struct profile *profile, struct vcpu *vcpu, enum hook_kind kind, const uint64_t arguments[HOOK_ARGUMENTS]);

#endif
