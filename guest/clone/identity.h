/* SPDX-License-Identifier: MIT */
/*
 * Who a guest is to be, as the host says it in QEMU's fw_cfg file opt/bootlab/clone, or on a drive of this size alone:
 *
 *   bootlab-clone 1
 *   number 3                 from 1; without this line the guest is no clone, and the rest does not count
 *   seed HEX                 64 digits: what no other clone has, for the kernel's random numbers
 *   time_us US               since 1970, UTC
 *   name NAME                host name
 *   machine-id HEX           32 digits
 *   mac AA:BB:CC:DD:EE:FF    of the first network card
 *   held NAME                the machine is about to be kept at this mark: wait there until the text says something else
 *   end
 *
 * and line feeds up to its size. A key may be missing: then the clone keeps what it had.
 */
#ifndef BOOTLAB_CLONE_IDENTITY_H
#define BOOTLAB_CLONE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { IDENTITY_SIZE = 1024, IDENTITY_SEED = 32, IDENTITY_NAME = 64, IDENTITY_ID = 32, IDENTITY_MAC = 6 };

struct identity {
	int64_t number; /* 0: no clone */
	int64_t time_us; /* 0: not said */
	bool has_seed, has_mac;
	uint8_t seed[IDENTITY_SEED];
	uint8_t mac[IDENTITY_MAC];
	char name[IDENTITY_NAME + 1]; /* empty: not said */
	char machine_id[IDENTITY_ID + 1]; /* empty: not said */
	char held[IDENTITY_NAME + 1]; /* the mark to wait at; empty: none */
};

/* 0, or -EINVAL: the text is no identity, or cut; `line` is the number of the line that is wrong. */
int identity_read(const char *text, size_t size, struct identity *ret, unsigned *line);

#endif
