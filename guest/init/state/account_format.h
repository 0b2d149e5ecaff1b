/* SPDX-License-Identifier: MIT */
/*
 * The account that bootlab-init keeps of a boot, version 1. Reader: bootlab/importers/init_account.py.
 *
 * Little-endian. A struct account_header; then `names_size` bytes, the names of the units in order, a NUL behind each, padded
 * with NUL to a multiple of 8; then `n_records` struct account_record, oldest first.
 *
 * Times are CLOCK_BOOTTIME, ns. `bootlab-ctl account` prints it; `bootlab-ctl account --console` writes it to the console in
 * lines `bootlab: account BASE64`, the last one `bootlab: account end`.
 */
#ifndef BOOTLAB_INIT_ACCOUNT_FORMAT_H
#define BOOTLAB_INIT_ACCOUNT_FORMAT_H

#include <stdint.h>

#define ACCOUNT_MAGIC "BLINIT1"

struct account_header {
	char magic[8];
	uint32_t n_units, n_records;
	uint32_t names_size;
	uint32_t lost;	  /* records that there was no room for */
	int64_t begun_ns; /* when PID 1 was executed, as far as it knows */
	int64_t goal_ns;  /* when the goal, or without one the last unit, was ready; 0: not yet */
	int64_t written_ns;
};

enum account_kind {
	ACCOUNT_WAITING = 1, /* it is to be started */
	ACCOUNT_ELIGIBLE,    /* all that it waits for is there; detail: 1 if it is of the goal */
	ACCOUNT_SPAWN,	     /* pid; detail: phase */
	ACCOUNT_EXEC,	     /* pid: its program is executed */
	ACCOUNT_READY,	     /* value: units starting at this moment, without this one */
	ACCOUNT_EXIT,	     /* pid; detail: exit status, or 128 + signal; value: cpu us | memory KiB << 32 */
	ACCOUNT_FAILED,
	ACCOUNT_STOPPING,
	ACCOUNT_DOWN,
	ACCOUNT_BLOCKED, /* it will not be started: what it needs has failed */
	ACCOUNT_GOAL,	 /* unit: the last of the goal, or of all */
	ACCOUNT_RELOAD,	 /* it reads its configuration anew; pid and detail: of its main process, and the signal for it */
};

struct account_record {
	int64_t t_ns;
	uint64_t value;
	uint32_t pid;
	uint16_t unit; /* index of its name */
	uint8_t kind, detail;
};

#endif
