/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What to watch for, as the config file (trace_format.h) says it, and where a probe can fire. No QEMU headers. */
#ifndef BOOTLAB_CONFIG_H
#define BOOTLAB_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "disks/figures.h"
#include "profile_format.h"
#include "trace_format.h"

enum arch { ARCH_NONE, ARCH_X86_64, ARCH_AARCH64, ARCH_ARMV7, ARCH_RISCV64 };

/* An hour: more is a mistake, and a clock of 63 bits holds millions of these. */
#define CHARGE_MAX_NS (UINT64_C(3600) * 1000000000)

enum probe_kind { PROBE_MARK, PROBE_ENTRY, PROBE_IMAGE, PROBE_MOVED, PROBE_CALLS, PROBE_CHARGE };

struct code {
	uint8_t bytes[TRACE_CODE_MAX];
	bool any[TRACE_CODE_MAX]; /* a `??` in the file */
	size_t size;
};

struct probe {
	enum probe_kind kind;
	char name[TRACE_NAME_MAX + 1];
	uint64_t address;
	struct code code;
	uint64_t from_low, from_high; /* both 0: called from anywhere */
	char after[TRACE_NAME_MAX + 1]; /* the mark behind which it counts; empty: from power-on */
	uint64_t ns; /* of PROBE_CHARGE: what each execution takes besides */
};

/* A mark at a time, whatever the guest does then. */
struct timed_mark {
	char name[TRACE_NAME_MAX + 1];
	uint64_t t_ns;
};

/* A mark that was made before the machine goes on from where it was kept. */
struct past_mark {
	char name[TRACE_NAME_MAX + 1];
};

/* A key that is pressed and let go behind a mark. */
struct key_press {
	char key[TRACE_NAME_MAX + 1]; /* QEMU's; empty: none is */
	char after[TRACE_NAME_MAX + 1];
	uint64_t t_ns; /* since that mark */
};

/* What a trap takes besides; the first that fits decides. */
struct price {
	char name[TRACE_NAME_MAX + 1];
	enum profile_trap_kind kind;
	uint64_t low, high; /* numbers, both included */
	uint32_t changes; /* 0: any */
	uint16_t state; /* 0: any */
	uint64_t ns;
};

/* What the first access to a piece of memory takes besides. */
struct touch_price {
	char name[TRACE_NAME_MAX + 1];
	uint64_t low, high; /* `high` is behind it */
	unsigned bits; /* the piece has 2**bits bytes */
	uint64_t ns;
};

/* A disk that takes the time of a modelled one. */
struct modelled_disk {
	char drive[TRACE_NAME_MAX + 1]; /* QEMU's name of it */
	enum disk_kind kind;
	int64_t figures[DISK_FIGURES];
	bool keeps_writes; /* what is written to it is written down */
};

/* A part of the screen in pixels; all of it where `width` is 0. */
struct screen_region {
	uint32_t x, y, width, height;
};

/* Colours of a frame are counted up to here. */
enum { SCREEN_COLOURS_MAX = 256 };

enum screen_kind {
	SCREEN_PAINTED, /* a frame of enough colours stays */
	SCREEN_PICTURED, /* the region is as in a picture */
	SCREEN_ANSWERS, /* the region changes */
	SCREEN_IDLE, /* the region stays, and processor and disks have nothing to do */
};

/* A mark that is seen on the screen. */
struct screen_mark {
	enum screen_kind kind;
	char name[TRACE_NAME_MAX + 1];
	char after[TRACE_NAME_MAX + 1]; /* the mark behind which it is looked for; empty: from power-on */
	struct screen_region region;
	uint64_t stays_ns;
	unsigned colours, busy_per_mille;
	char *picture; /* path; NULL until its line was read */
};

struct screen_key {
	char name[TRACE_NAME_MAX + 1]; /* QEMU's */
	uint64_t t_ns; /* since the mark that it comes behind */
	bool down;
};

/* What is typed behind a mark; a mark itself at its last key. */
struct screen_typing {
	char name[TRACE_NAME_MAX + 1];
	char after[TRACE_NAME_MAX + 1];
	struct screen_key *keys;
	size_t n_keys;
};

enum hook_kind {
	HOOK_SWITCH,
	HOOK_WAKE,
	HOOK_FORK,
	HOOK_EXEC,
	HOOK_COMMAND,
	HOOK_COMM,
	HOOK_EXIT,
	HOOK_INITCALL,
	HOOK_CONSOLE_INITCALLS,
	HOOK_PROBE,
	HOOK_DEFER,
	HOOK_MODULE,
	HOOK_UNMAP_MODULE,
	HOOK_BLOCK_ISSUE,
	HOOK_BLOCK_DONE,
	HOOK_MAP,
	HOOK_MAP_SPECIAL,
	HOOK_OPEN,
	HOOK_LOOKUP,
	HOOK_RELOCATE,
	HOOK_KINDS,
};

struct hook {
	enum hook_kind kind;
	uint64_t address;
};

struct offset {
	char name[TRACE_NAME_MAX + 1];
	uint64_t value;
};

struct object {
	char name[TRACE_NAME_MAX + 1];
	char *path;
};

/* A program that firmware loads, by its entry's first bytes. */
struct program {
	char name[TRACE_NAME_MAX + 1];
	uint64_t before, size; /* its bytes ahead of its entry, and all of them */
	uint64_t entry; /* modulo 4 KiB */
	bool loads; /* it brings along code that is in no program */
	struct code code;
};

struct config {
	enum arch arch;
	struct probe *probes;
	size_t n_probes;
	char user_name[TRACE_NAME_MAX + 1]; /* empty: do not look for the first user instruction */
	char user_after[TRACE_NAME_MAX + 1];
	bool guest_marks;
	uint16_t uart_port; /* 0: do not watch the console */
	char stop[TRACE_NAME_MAX + 1]; /* empty: never */
	char pause[TRACE_NAME_MAX + 1]; /* empty: never */
	char skip_at[TRACE_NAME_MAX + 1]; /* the mark at which `skip_ns` are left out of all stamps; empty: never */
	uint64_t skip_ns;
	char asleep_after[TRACE_NAME_MAX + 1]; /* the mark behind which the clock of a suspended machine goes on; empty: never */
	struct key_press press;
	bool exact_disks;
	struct modelled_disk *modelled_disks;
	size_t n_modelled_disks;
	int network_fd; /* a socket to the peer (network/protocol.h); -1: there is none */
	char network_name[TRACE_NAME_MAX + 1]; /* of QEMU's netdev */
	struct timed_mark *timed_marks;
	size_t n_timed_marks;
	struct past_mark *past; /* of a machine that goes on */
	size_t n_past;
	bool slide_known; /* the same: where its kernel lies */
	uint64_t slide;
	uint32_t kvm_features; /* of the hypervisor that the guest sees; 0: none is shown */
	struct price *prices;
	size_t n_prices;
	struct touch_price *touch_prices;
	size_t n_touch_prices;
	uint64_t screen_every_ns; /* 0: nobody looks at the screen */
	uint64_t screen_film_ns; /* how often a changed frame is kept; 0: never */
	struct screen_mark *screen_marks;
	size_t n_screen_marks;
	struct screen_typing *screen_typings;
	size_t n_screen_typings;
	/* The rest is for the profile. */
	char *functions; /* path, or NULL */
	struct hook *hooks;
	size_t n_hooks;
	struct offset *offsets;
	size_t n_offsets;
	struct object *objects;
	size_t n_objects;
	struct program *programs;
	size_t n_programs;
	uint64_t relocated_from; /* of HOOK_RELOCATE */
	uint64_t span_ns;
	bool cut_lines;
	bool count_traps;
};

void config_deinit(struct config *config);

/* Where `name`, `STRUCT.MEMBER`, is in its struct; false when the file does not say. */
bool config_offset(const struct config *config, const char *name, uint64_t *ret);

/* Whether the probe fires each time, and not the first time alone. */
bool probe_repeats(const struct probe *probe);

/* Whether anything is to be charged to the clock, and whether for traps or memory. */
bool config_charges(const struct config *config);
bool config_prices(const struct config *config);

/* 1 to TRACE_NAME_MAX printable ASCII characters without a space; `size` excludes any final NUL. */
bool name_valid(const char *name, size_t size);

enum place { PLACE_NO, PLACE_YES, PLACE_IF_CODE };

/*
 * Whether code at run-time `address` is where `probe` fires. `slide` is NULL while it is unknown. PLACE_IF_CODE: yes, if
 * code_matches() there. For a mark or calls probe it then also fixes the slide: `address - probe->address`.
 */
enum place probe_place(const struct probe *probe, uint64_t address, const uint64_t *slide);
bool code_matches(const struct code *code, const uint8_t *bytes, size_t size);

/* The architecture as the formats name it; NULL: there is none of this number. */
const char *arch_name(enum arch arch);

/* Where the kernel's half of the address space begins: of 64 bits. On 32-bit arm its own configuration decides that. */
#define ADDRESS_HALF (UINT64_C(1) << 63)

/* It begins at `kernel_start`. Before the first call it is at ADDRESS_HALF. */
void address_split(uint64_t kernel_start);
/* By which steps a kernel of this architecture may be moved. Before the first call they are of 2 MiB. */
void address_slides(enum arch arch);
bool address_is_high(uint64_t address);

#endif
