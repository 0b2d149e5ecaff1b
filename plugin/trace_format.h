/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two text formats between bootlab (Python) and the plugin (C), version 1.
 *
 * Both are lines of words with one space between them. A NAME is 1 to 64 printable ASCII characters, no space.
 * Writer of the first and reader of the second: bootlab/profile/asked/marks.py and recorded/trace.py.
 *
 * Config, `-plugin bootlab-plugin.so,config=FILE,out=FILE[,profile=FILE][,requests=FILE][,writes=FILE][,pictures=FILE]`; `#`
 * starts a comment line, empty lines are skipped:
 *
 *   arch x86_64|aarch64|riscv64             first line; must be the architecture QEMU emulates
 *   arch armv7 KERNEL_START                 the same; kernel code is at this address, hexadecimal, and above
 *   mark NAME ADDRESS CODE [from LOW HIGH]  NAME is the first execution of this kernel address; with `from`, the first
 *                                           one whose return address is in LOW..HIGH-1
 *   mark NAME ADDRESS CODE after MARK       the same; the first one behind mark MARK, of whatever kind
 *   entry NAME ADDRESS CODE                 the same at a physical (identity-mapped) address congruent to ADDRESS
 *                                           modulo 2 MiB (arm64: 64 KiB): the kernel's entry, before it has its own page tables
 *   image NAME ADDRESS CODE [after MARK]    the same at exactly this physical address; with `after`, the first one behind mark MARK,
 *                                           of whatever kind: the reset vector, say, of a machine that wakes
 *   moved NAME ADDRESS CODE                 the same at any address congruent to it modulo 4 KiB, below the kernel's: code of
 *                                           a bootloader that has moved itself
 *   calls NAME ADDRESS CODE                 every execution is recorded with the first argument register
 *   user NAME AFTER                         NAME is the first user-mode instruction after mark AFTER
 *   guestmarks                              record guest marks (protocol: guest/README.md)
 *   uart PORT                               x86: stamp what is written to the 16550 at this port, hexadecimal without 0x
 *   stop NAME                               end the machine when mark NAME, of whatever kind, is recorded
 *   pause NAME                              the machine stands still when mark NAME, of whatever kind, is recorded for the first
 *                                           time, at the end of the block that the mark begins; QMP's `cont` lets it go on
 *   skip NAME NS                            as the mark line's NAME is recorded the guest's clock goes on by NS ns, decimal, in which
 *                                           nothing happens but what QEMU's own timers do; no time that is told holds them
 *   slide HEX                               of a machine that goes on from a moment of its boot: where its kernel lies, as the
 *                                           trace of that boot says it
 *   past NAME                               the same: mark NAME, of whatever kind, was made before
 *   charge NAME ADDRESS CODE NS             every execution of this kernel address takes NS ns more of the virtual clock, decimal;
 *                                           one line a NAME
 *   price CLASS KIND LOW HIGH CHANGES STATE NS  x86, arm64: a trap of this kind (profile_format.h; mmio_read mmio_write; in out ins
 *                                           outs cpuid rdmsr wrmsr cr_read cr_write hlt xsetbv wbinvd invd hypercall; sysreg_read
 *                                           sysreg_write wfi wfe hvc smc) whose number is LOW to HIGH, hexadecimal, takes NS ns more
 *                                           of the virtual clock, decimal. CHANGES, hexadecimal: only one that changes one of these
 *                                           bits; 0: any. STATE 1: only with caches off; 0: any. The first line that fits a trap
 *                                           decides; of none that fits, nothing
 *   touch CLASS LOW HIGH BITS NS            x86, arm64: the first access to each piece of 2**BITS bytes (12 or 21) of physical memory from LOW
 *                                           to HIGH - 1, hexadecimal, takes NS ns more. The first line that fits decides
 *   kvm FEATURES                            x86, one vCPU: the guest sees the hypervisor KVM with these features (leaf 0x40000001,
 *                                           hexadecimal), and its clock
 *   at NS NAME                              NAME is the moment at which the virtual clock comes to NS, decimal
 *   asleep MARK                             behind this mark, of whatever kind, the virtual clock goes on from timer to timer while the
 *                                           machine is suspended to RAM, until it has woken
 *   press KEY NS MARK                       QEMU's KEY (its QKeyCode) is pressed and let go NS behind this mark, decimal; one line
 *   exactdisks                              finish what a disk is asked for inside of the store that asks for it
 *   disk DRIVE flash|head                   the virtio disk on QEMU's drive of this name takes the time of a modelled one, of
 *                                           this kind; needs exactdisks
 *   figure DRIVE FIGURE VALUE               a figure of its model (names: disks/model.c), decimal; 0 without this line
 *   keepwrites DRIVE                        what is written to it goes into the file `writes`; needs a disk line
 *   network FD NETDEV                       the guest's card is on QEMU's netdev of this name, and what it sends is answered by
 *                                           a peer behind the socket FD, which QEMU inherits (network/protocol.h)
 *
 *   screen EVERY_NS FILM_NS                 the first screen is looked at each EVERY_NS of the virtual clock; a changed frame is kept
 *                                           each FILM_NS, 0: never. The words below need this line:
 *   painted NAME AFTER STAYS_NS COLOURS     behind mark AFTER (`-`: from power-on): the first frame with COLOURS different ones (1
 *                                           to 256) that is the same for STAYS_NS. NAME is the look that saw it first
 *   pictured NAME AFTER                     the first frame that is as its picture in its region
 *   answers NAME AFTER                      the first frame that is not as it was at AFTER, a typing
 *   idle NAME AFTER QUIET_NS BUSY           the first QUIET_NS in which the frame stays, no disk is asked for anything (needs
 *                                           exactdisks), and the processor is busy for no more than BUSY thousandths between two
 *                                           looks. NAME is their beginning
 *   region NAME X Y WIDTH HEIGHT            of one of these four: only this part of the screen counts
 *   picture NAME PATH                       of `pictured`: the pixels of the region, row by row, 0x00RRGGBB as uint32_t
 *   typed NAME AFTER                        the keys of the lines below; NAME is when the last of them is pressed
 *   key NAME NS KEY down|up                 NS behind AFTER, at the next look, QEMU's KEY (its QKeyCode) is pressed or let go;
 *                                           ascending
 *
 * And for the profile (profile_format.h), which needs the first of them; without profile=FILE they are read and ignored:
 *
 *   functions PATH                          the kernel's functions by link address: a functions file, see below
 *   object NAME PATH                        those of the user program whose file is NAME (an absolute path in the guest, or
 *                                           the last part of one), by offset in the file; of `[firmware]`, `[loader]`, `[SPL]`,
 *                                           `[OpenSBI]`, `[U-Boot]` or `[decompressor]`, by physical address
 *   program NAME BEFORE SIZE ADDRESS CODE   a program that firmware loads: where CODE begins to run, at any address congruent to this
 *                                           one modulo 4 KiB, before the kernel does, lies its entry, BEFORE bytes behind its begin,
 *                                           and SIZE bytes are its own, decimal. Several lines may have one name
 *   loader NAME BEFORE SIZE ADDRESS CODE    the same of what firmware starts: once it has begun, code in no program is what it loaded
 *   hook KIND ADDRESS                       the link address of a kernel function that is watched. Kinds: switch wake fork exec
 *                                           comm exit initcall console_initcalls probe defer module unmap_module block_issue
 *                                           block_done map map_special open lookup. Which function each is:
 *                                           bootlab/profile/asked/profiling.py
 *   hook relocate ADDRESS FROM              the same of the function by which U-Boot moves, from FROM to its first argument,
 *                                           on riscv64 its third
 *   offset STRUCT.MEMBER VALUE              where that is in the kernel's struct, in bytes, decimal; `offset STRUCT VALUE` is a size
 *   span NS                                 the shortest frame that is written as a span; 20000 without this line
 *   traps                                   x86, arm64: count what may leave a guest of KVM, and pages as they are touched first
 *   cutlines                                end a slice at every line of the console, too, and at what may be the end of a prompt;
 *                                           needs `uart`
 *
 * PATH is the rest of the line. Kinds and members that a kernel has not got have no line.
 *
 * Functions file: `bootlab-functions 1`, then a line `ADDRESS ROLE NAME` for each address where a function begins, ascending,
 * the last with the role `end`. NAME is the rest of the line. The number of a function is its line's, counted from 0 behind
 * the first. Roles:
 *
 *   -           plain
 *   thunk       jumps on to a function that it was given (__x86_indirect_thunk_rax): not in any stack
 *   return      a jump to it is a return (__x86_return_thunk)
 *   trampoline  jumps on, or returns (__SCT__*): not in any stack
 *   entry       interrupts, exceptions, system calls begin at its first instruction
 *   stubs       a row of such entries (irq_entries_start, arm's vectors); a jump from an entry to another is the same one
 *   fork        where new tasks begin (ret_from_fork)
 *   syscall     a system call (__x64_sys_*), which is added up by task
 *   end         no function from here to the next line
 *
 * ADDRESS, LOW, HIGH are link-time addresses (physical for `image`), hexadecimal without 0x. CODE is the first 4 to 16
 * bytes found there, two hexadecimal digits each, or `??` for a byte that may be anything. Code is compared only until
 * the kernel's slide is known: afterwards ftrace and alternatives rewrite it, and the address alone is exact.
 * Several lines with the same NAME are alternatives: the first that executes is the mark.
 *
 * Trace (`out`); every line is flushed as it is written, so a killed QEMU leaves all it reached:
 *
 *   bootlab-trace 1                         always the first line
 *   clock virtual SHIFT [charged] | clock host   always the second line. virtual: T_NS is QEMU's virtual clock, one instruction is
 *                                           2**SHIFT ns. host: T_NS is CLOCK_MONOTONIC since the first instruction
 *   slide HEX                               run-time minus link-time kernel address, once known
 *   mark NAME T_NS INSTRUCTIONS             at entry of the instruction, before it executes; all vCPUs' instructions.
 *   guest NAME T_NS INSTRUCTIONS            INSTRUCTIONS is -1 under `clock host`
 *   answered NAME T_NS INSTRUCTIONS         a mark of the peer: the guest answered what it was asked over its network
 *   seen NAME T_NS INSTRUCTIONS HASH        a mark of the screen, with the moment that it is of: it may lie before earlier records.
 *                                           HASH, hexadecimal, is of each new frame up to now and its time
 *   typed NAME T_NS INSTRUCTIONS            the last key of a typing is pressed
 *   call NAME T_NS INSTRUCTIONS ARGUMENT    ARGUMENT is hexadecimal, minus the slide (modulo 2**64)
 *   console T_NS INSTRUCTIONS SIZE          SIZE more bytes went out on the UART; the last of them, a line feed (or the last
 *                                           before the end), at T_NS
 *   exact FEATURE                           what the config asked for was proved to work here: `disks` (exactdisks), `network`,
 *                                           `model:DRIVE` (disk), `charges` (charge, price, touch), `skip`, `traps` (traps, price, touch),
 *                                           `screen`, `sleep` (asleep, press) or `timers` (at). Stands, as the next one, ahead of all that the
 *                                           guest did; but `refused network` wherever the peer was lost
 *   refused FEATURE WHY                     it was not, and is not done; WHY is the rest of the line. `device`: done, but a
 *                                           device of this machine does not repeat even so. `random`: where the guest that
 *                                           goes on from its past first draws a random number of its processor's, which
 *                                           is another than it would have been
 *   charged NAME COUNT NS                   what was charged for NAME (of `price` and `touch`: CLASS) up to the next record: so often, and so much altogether;
 *                                           ahead of marks, guest marks and the end, where it has changed
 *   reads DRIVE BYTES REQUESTS              with exact disks, unless `refused reads`: what the guest has read from QEMU's drive of this
 *                                           name up to the next record, by whatever driver; ahead of marks of all kinds, console
 *                                           lines and the end, where it has changed. A console line's, and a screen's mark's, may be less
 *                                           than the one before: less than 0, where it is of before the mark that this process went on from
 *   settled COUNT UNSETTLED                 ahead of the end, with exact disks or network: how often they were waited for, how often
 *                                           that was given up
 *   modelled DRIVE REQUESTS LATE            ahead of the end, for each modelled disk: how many requests it has answered, how many of
 *                                           these at another moment than the model's
 *   frames LOOKS CHANGES LOST               ahead of the end, with a screen line: how often it was looked at, how many frames were
 *                                           new, how many pictures are not in `pictures` (240 of a film are)
 *   end T_NS INSTRUCTIONS                   the end: at the stop mark exactly; otherwise when QEMU exits, and then T_NS is not
 *                                           repeatable (QEMU may still jump to the next timer after the guest's reset)
 *
 * Under `clock virtual SHIFT charged` each INSTRUCTIONS is followed by CHARGED: the ns of T_NS that were charged up to there.
 *
 * Requests (`requests`), with a disk line: `bootlab-requests 1`, then a line for each that was answered:
 *
 *   DRIVE OPERATION SECTOR SECTORS ASKED STARTED DONE [OFFSET]
 *
 * OPERATION is read, write or flush; SECTOR and SECTORS are of 512 bytes. ASKED is when the guest rang, STARTED when the disk
 * began, DONE when the guest was shown the answer: ns of the virtual clock. OFFSET, of a write with keepwrites, is where its
 * bytes begin in `writes`, a file of nothing but such bytes.
 *
 * Pictures (`pictures`), with a screen line: for each mark of the screen, each typing, and each frame of the film a line
 * `frame NAME T_NS WIDTH HEIGHT` (NAME `-`: of the film) and WIDTH * HEIGHT pixels as in `picture`. T_NS is when it was kept.
 *
 * State (`state`, a folder), of a machine that is kept at a `pause`, as it lies in memory: what is known of the screen between two
 * looks (`screen-state`), of modelled disks in the middle of their work (`disks-state`), and how many random numbers the guest has
 * drawn of its processors (`random-state`, decimal). A process of the same build and config goes on from it where it is `resume`.
 *
 * idle ns at any record = T_NS - (INSTRUCTIONS << SHIFT) - CHARGED.
 */
#ifndef BOOTLAB_TRACE_FORMAT_H
#define BOOTLAB_TRACE_FORMAT_H

#define TRACE_VERSION 1
#define TRACE_NAME_MAX 64
#define TRACE_CODE_MIN 4
#define TRACE_CODE_MAX 16

#endif
