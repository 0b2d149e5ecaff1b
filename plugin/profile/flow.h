/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Updates each task's shadow stack when execution goes from one block of code to the next. The caller says when code of another function runs, or
 * after a call or return, and at which exact instruction count.
 */
#ifndef BOOTLAB_FLOW_H
#define BOOTLAB_FLOW_H

#include <stdint.h>

#include "profile.h"

/* `block` begins on `vcpu`, at `instructions`; `mark` is what the block before left behind. */
void flow_enter(struct profile *profile, struct vcpu *vcpu, const struct block *block, uint64_t mark, uint64_t instructions);
/* The child of a process begins with the user frames that its parent has, as its memory does. */
void flow_copy_user_frames(struct profile *profile, const struct task *parent, struct task *child);

#endif
