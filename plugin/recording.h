/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The recording of this boot: what is watched for, the machine, the trace that is written, and whether it is over. One plugin,
 * one machine: QEMU gives its translation callback no pointer of ours.
 */
#ifndef BOOTLAB_RECORDING_H
#define BOOTLAB_RECORDING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "config/config.h"
#include "internals/block_io.h"
#include "internals/charged_clock.h"
#include "internals/virtual_timer.h"
#include "machine.h"
#include "records/charges.h"
#include "records/disk_reads.h"
#include "records/prices.h"
#include "records/writer.h"
#include "registers.h"

/* What became of a modelled disk: requests that it answered, and of these how many at another moment than the model's. */
struct disk_account {
	const char *drive;
	uint64_t answered, late;
};

struct recording {
	pthread_mutex_t lock; /* of all below, for -accel tcg,thread=multi; every callback takes it */
	struct config config;
	struct machine machine;
	struct registers registers;
	struct writer writer;
	struct block_io disks;
	bool devices_settle; /* `disks` is open */
	bool disks_exact; /* and disks are waited for, as they were to be */
	struct disk_reads reads; /* of all disks, where they are exact */
	uint64_t disk_requests; /* doorbells of disks that were rung; counted where disks are exact */
	struct charged_clock clock;
	bool clock_charged, clock_skips; /* `clock` is open, and for which */
	struct charges charges;
	struct prices prices; /* of what leaves a guest of KVM */
	struct virtual_timers timers;
	struct disk_account *disk_accounts; /* one for each modelled disk that works */
	size_t n_disk_accounts;
	bool stopped; /* nothing is recorded any more */
	bool write_error_told;
	const char *state, *resumed; /* folders: where what we know of a machine that is kept goes, and comes from; NULL: nowhere */
};

extern struct recording recording;

/*
 * A file of this name in the folder `state` to write to, or in `resumed` to read from; NULL with errno where it cannot be had, or
 * there is no such folder.
 */
FILE *recording_open_state(const char *name);
FILE *recording_open_resumed(const char *name);

/* Tell the user that a file of the state cannot be written, for the reason `r`: -errno. */
void recording_tell_state_error(const char *name, int r);

/* Tell the user that the trace cannot be written, once. */
void recording_tell_write_error(void);

/* Tell the trace what the clock was charged since the last record, and what was read up to now. */
void recording_report_counts(void);

/* The boot is over, `at` is its last moment: end the trace and the profile. */
void recording_end(struct stamp at);

/*
 * A callback's userdata is a block's length and a probe's index in one pointer: nothing to allocate, and nothing to free
 * when QEMU throws its translations away. A block has at most 512 instructions (TCG_MAX_INSNS).
 */
static inline void *userdata_pack(size_t probe, size_t n_insns)
{
	return (void *)(uintptr_t)(probe << 16 | n_insns);
}

static inline size_t userdata_probe(const void *userdata)
{
	return (uintptr_t)userdata >> 16;
}

static inline size_t userdata_n_insns(const void *userdata)
{
	return (uintptr_t)userdata & 0xffff;
}

#endif
