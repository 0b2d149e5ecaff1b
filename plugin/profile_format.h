/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The profile (`-plugin bootlab-plugin.so,...,profile=FILE`), version 1: where the time went, as the plugin saw it.
 * Reader: bootlab/profile/recorded/reader.py.
 *
 * The file is the 16 bytes of PROFILE_MAGIC, then chunks: a struct chunk, then `size` bytes of records of one kind. All
 * integers are little-endian, every record is a multiple of 8 bytes long. Chunks are written as they fill and at every
 * cut, so a killed QEMU leaves a file that is whole up to its last whole chunk; only PROFILE_END says that it is complete.
 *
 * Times are ns since power-on on QEMU's virtual clock and instructions are those of all vCPUs, both exact, as in the trace.
 * A profile exists under -icount only.
 *
 * Functions are numbered: 0..n-1 are the lines of the functions file (see trace_format.h), later ones come as
 * PROFILE_NAME before their first use. A node of the call tree is a function called from a parent node; node 0 is the
 * root of all, its children are tasks and stages. Every task, process and kernel thread alike, has a number of ours,
 * counted from 0 as they appear; a task_struct that is used again is a new task.
 */
#ifndef BOOTLAB_PROFILE_FORMAT_H
#define BOOTLAB_PROFILE_FORMAT_H

#include <stdint.h>

#define PROFILE_MAGIC "bootlab-profile1" /* 16 bytes, without a NUL */
#define PROFILE_NO_TASK UINT32_MAX

enum profile_chunk {
	PROFILE_NAME = 1,   /* struct profile_name, text padded to 8 */
	PROFILE_NODE = 2,   /* struct profile_node[]; numbered consecutively from 0 over the whole file */
	PROFILE_WEIGHT = 3, /* struct profile_weight[]: spent since the last cut; a node may occur several times */
	PROFILE_CUT = 4,    /* struct profile_cut, text: ends a slice; all weights before it lie before its time */
	PROFILE_TASK = 5,   /* struct profile_task[]: a new task, or a new name or pid of one */
	PROFILE_SWITCH = 6, /* struct profile_switch[] */
	PROFILE_WAKE = 7,   /* struct profile_wake[] */
	PROFILE_IDLE = 8,   /* struct profile_idle[]: every stretch in which the clock ran and no instruction did */
	PROFILE_SPAN = 9,   /* struct profile_span[]: every frame that lasted at least `span` ns, in the order they ended */
	PROFILE_CALL = 10,  /* struct profile_call, text: one call of a watched function, when it ended */
	PROFILE_EVENT = 11, /* struct profile_event, text */
	PROFILE_SYSCALL = 12, /* struct profile_syscall[]: since the last cut */
	PROFILE_COUNTS = 13,  /* struct profile_counts, before every cut and the end: totals since power-on */
	PROFILE_END = 14,     /* struct profile_end, the last chunk */
	PROFILE_CHARGED = 15, /* struct profile_charged[]: every stretch that was charged to the clock (trace_format.h), to who ran */
	PROFILE_TRAP = 16,    /* struct profile_trap[]: since the last cut; only with a `traps` line in the config */
	PROFILE_PAGE = 17,    /* struct profile_page[]: every page of physical memory, as it is touched first; the same */
	PROFILE_KINDS
};

struct profile_chunk_header {
	uint32_t kind;
	uint32_t size; /* bytes behind this header, a multiple of 8 */
};

/* What a function beyond the functions file is. */
enum profile_space {
	SPACE_STAGE = 0,   /* `[firmware]`, `[decompressor]`, ...; where the address is known, a frame of SPACE_CODE is under it */
	SPACE_TASK = 1,    /* `NAME-PID`: the root of a task's stacks; no two tasks share one, and a new name is a new root */
	/*
	 * In a stage: a call target without a symbol, `decompressor@0x1a40`, or one of a program of the config, by its distance from where
	 * that begins, `DxeCore@0x1a40`; or `function [decompressor]`.
	 */
	SPACE_CODE = 2,
	SPACE_MODULE = 3,  /* text is `function [module]` */
	SPACE_USER = 4,    /* text is `function [file]`, or `[file]` for a file without symbols */
	SPACE_OTHER = 5,   /* `[kernel]`: kernel code outside every symbol; `[user]`: user code of no known file */
};

struct profile_name {
	uint32_t function;
	uint16_t space;
	uint16_t text_size;
	uint64_t address; /* run-time, 0 where it means nothing; in a program of the config, from where that begins */
};

struct profile_node {
	uint32_t parent; /* UINT32_MAX for node 0 */
	uint32_t function;
};

struct profile_weight {
	uint32_t node;
	uint32_t calls; /* times it was entered */
	uint64_t instructions; /* in the node itself, not below it */
};

struct profile_cut {
	uint64_t t_ns;
	uint64_t instructions;
	uint64_t text_size; /* name of the mark that cut */
};

struct profile_task {
	uint64_t t_ns;
	uint32_t task;
	uint32_t parent; /* PROFILE_NO_TASK if unknown */
	int32_t pid, tgid; /* -1 if unknown */
	char comm[16]; /* NUL-padded */
};

enum { SWITCH_SLEEPS = 1, SWITCH_STATE_UNKNOWN = 2, SWITCH_DEAD = 4 };

struct profile_switch {
	uint64_t t_ns;
	uint64_t instructions;
	uint32_t previous, next; /* tasks */
	uint32_t previous_node;	 /* where the previous task left off */
	uint16_t vcpu;
	uint16_t flags; /* SWITCH_*, of the previous task: without SWITCH_SLEEPS it was still runnable */
};

enum { WAKE_IN_INTERRUPT = 1 };

struct profile_wake {
	uint64_t t_ns;
	uint32_t wakee, waker; /* tasks; the waker is the current one, which an interrupt has merely borrowed */
	uint32_t node;	       /* of the waker */
	uint16_t vcpu;
	uint16_t flags;
};

struct profile_idle {
	uint64_t start_ns, end_ns;
	uint32_t node; /* that halted last */
	uint16_t vcpu, reserved;
};

struct profile_charged {
	uint64_t start_ns, end_ns;
	uint32_t node; /* that is charged */
	uint16_t vcpu, reserved;
};

/* What may leave a guest of KVM for its host; `number` is what the rule sets go by (bootlab/price/). */
enum profile_trap_kind {
	TRAP_LOST = 0,	     /* of any kind: there was no memory to count it */
	TRAP_IN = 1,	     /* number: the port */
	TRAP_OUT = 2,
	TRAP_INS = 3,	     /* each round of a repeated one */
	TRAP_OUTS = 4,
	TRAP_MMIO_READ = 5,  /* number: the physical address, a multiple of 4 */
	TRAP_MMIO_WRITE = 6,
	TRAP_CPUID = 7,	     /* number: the leaf */
	TRAP_RDMSR = 8,	     /* number: the register */
	TRAP_WRMSR = 9,
	TRAP_CR_READ = 10,   /* number: of the control register */
	TRAP_CR_WRITE = 11,  /* changes: which of the bits 0 to 31 of CR0 and CR4; of the others 0 */
	TRAP_HLT = 12,
	TRAP_XSETBV = 13,
	TRAP_WBINVD = 14,
	TRAP_INVD = 15,
	TRAP_HYPERCALL = 16, /* number: as rax has it */
	/*
	 * arm64. A system register's number is op0 << 14 | op1 << 11 | CRn << 7 | CRm << 3 | op2, as in KVM's ARM64_SYS_REG; SYS and
	 * SYSL have one like it. Those that no host of a guest without nested guests asks to be told of are not counted (code/arm64_traps.h).
	 */
	TRAP_SYSREG_READ = 17,	/* MRS, SYSL */
	TRAP_SYSREG_WRITE = 18, /* MSR, SYS; told of from EL0 only where an access from there can go past the guest's own kernel */
	TRAP_WFI = 19,		/* number: 1 with a time limit, WFIT, WFET; otherwise 0 */
	TRAP_WFE = 20,
	TRAP_HVC = 21, /* number: the immediate << 32 | w0, which says what is called */
	TRAP_SMC = 22,
	TRAP_KINDS
};

/*
 * x86: CR0.CD or CR0.NW is set ahead of it; told of control registers only. arm64: the vCPU has not had MMU and caches on
 * (SCTLR_EL1.M and .C) since it began, or since it last cleaned or invalidated a cache by set and way; told of writes only.
 */
enum { TRAP_CACHES_OFF = 1 };

struct profile_trap {
	uint32_t node;
	uint16_t kind, state;
	uint64_t number;
	uint32_t changes;
	uint32_t count;
};

enum profile_page_use { PAGE_READ = 1, PAGE_WRITTEN = 2, PAGE_EXECUTED = 3 };

struct profile_page {
	uint64_t page; /* physical address / 4096 */
	uint32_t node;
	uint16_t use; /* the first: PAGE_* */
	uint16_t vcpu;
};

struct profile_span {
	uint64_t start_ns, end_ns;
	uint32_t node, task;
};

enum profile_call_kind {
	CALL_INITCALL = 1, /* argument: link address of the function (run-time address in a module) */
	CALL_PROBE = 2,	   /* text: device, a tab, driver */
	CALL_MODULE = 3,   /* do_init_module; text: the module's name */
};

enum { CALL_UNFINISHED = 1 };

struct profile_call {
	uint64_t start_ns, end_ns;
	uint64_t start_instructions, end_instructions;
	uint64_t task_instructions; /* executed by its own task in between, interrupts included */
	uint64_t argument;
	uint32_t node, task;
	uint16_t kind, flags;
	uint32_t text_size;
};

enum profile_event_kind {
	EVENT_FORK = 1,	       /* a: the child, a task */
	EVENT_EXEC = 2,	       /* text: path of the program */
	EVENT_EXIT = 3,	       /* a: the exit code as do_exit() gets it */
	EVENT_DEFER = 4,       /* a driver's probe is deferred; text: the device */
	EVENT_BLOCK_ISSUE = 5, /* a: address of the request, b: bytes << 8 | operation (enum req_op); text: the disk */
	EVENT_BLOCK_DONE = 6,  /* a: address of the request, b: bytes; no text */
	EVENT_MAP = 7,	       /* user memory mapped to a file; a: address, b: length; text: `OFFSET FILE` */
	EVENT_MODULE = 8,      /* a module's code is in place; a: address, b: size; text: its name */
	EVENT_OPEN = 9,	       /* a file is to be opened or executed; text: its path as it was given, cut at 1023 bytes */
	EVENT_LOOKUP = 10,     /* a path is looked up for something else: stat, chdir, mount; text: as above */
	EVENT_COMMAND = 11,    /* a program is about to run; text: its words with a tab between two, cut at 1023 bytes */
};

struct profile_event {
	uint64_t t_ns;
	uint64_t instructions;
	uint64_t a, b;
	uint32_t task, node;
	uint16_t kind, vcpu;
	uint32_t text_size;
};

struct profile_syscall {
	uint32_t task, function;
	uint64_t calls;
	uint64_t elapsed_ns;
	uint64_t instructions; /* of the task itself */
};

/*
 * Returns are those of the kernel and of processes. Firmware and decompressors are left out: they reach other code by
 * returns, and firmware switches its threads' stacks by them. Calls are call instructions: a weight's `calls` also counts
 * jumps to the start of another function, exceptions and interrupts.
 */
struct profile_counts {
	uint64_t returns, mismatched_returns;
	uint64_t transitions, interrupts, switches, calls;
};

struct profile_end {
	uint64_t t_ns;
	uint64_t instructions; /* QEMU's own count */
	uint64_t idle_ns;      /* sum of all idle stretches */
};

#endif
