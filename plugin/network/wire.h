/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The guest's wire: tells bootlab's peer when the guest has sent something, and gives the guest the peer's frames at times of
 * the virtual clock (protocol.h).
 */
#ifndef BOOTLAB_NETWORK_WIRE_H
#define BOOTLAB_NETWORK_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "records/writer.h"

/*
 * Before the guest's first instruction, holding no lock. Says in the trace whether it works here. `answered` takes each mark that
 * the peer makes.
 */
void network_open(void (*answered)(const char *name));

/* Whether a store to `address` in this memory region of QEMU's can be the guest sending a frame; not each that may does. */
bool network_rings(const char *region, uint64_t address);

/* The guest may have sent something. From a vCPU's callback, holding no lock. */
void network_rung(void);

/* Keep a mark for the peer, with the recording's lock held; and tell it, once that is given back. */
void network_keep_mark(const char *name, struct stamp at);
void network_tell_mark(void);

#endif
