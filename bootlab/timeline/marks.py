"""Marks: the named moments of a boot, in the order a boot reaches them.

A mark's time is an integer count of nanoseconds since power-on, on the clock of the boot that holds it.
"""

import re
from typing import Final

LAUNCHED: Final = "launched"
"""Of a rented machine: the cloud has taken the order for it. Time zero is when the order was sent."""
RUNNING: Final = "running"
"""The same: the cloud says that it runs."""
LINK_UP: Final = "link_up"
"""Of a machine that is asked from outside: its network card answers to its address."""
PING: Final = "ping"
"""The same: it answers a ping."""
ADDRESS_UP: Final = "address_up"
"""The same: a TCP port answers for the first time, and be it that it refuses."""
POWER_ON: Final = "power_on"
"""The first instruction the machine executes; time zero."""
SPL_ENTRY: Final = "spl_entry"
"""First instruction of a board's first stage, which its boot ROM has read from the card, or found in memory."""
OPENSBI_ENTRY: Final = "opensbi_entry"
"""First instruction of the OpenSBI that a riscv64 board's SPL starts, and that starts U-Boot proper."""
UBOOT_ENTRY: Final = "uboot_entry"
"""First instruction of U-Boot proper. In Falcon mode it never runs."""
PEI_ENTRY: Final = "pei_entry"
"""UEFI: its second phase begins, which sets up memory and unpacks the next one."""
DXE_ENTRY: Final = "dxe_entry"
"""UEFI: its core begins to start drivers."""
BDS_ENTRY: Final = "bds_entry"
"""UEFI: the boot manager connects the first device to its driver."""
BOOT_SECTOR: Final = "boot_sector"
"""BIOS: first instruction of the disk's first sector."""
LOADER_ENTRY: Final = "loader_entry"
"""First instruction of the bootloader on a PC's disk: GRUB, systemd-boot, shim, or the stub of a UKI."""
SECOND_LOADER_ENTRY: Final = "second_loader_entry"
"""The same of what that one starts, where it is no kernel: GRUB behind shim, the stub of a UKI behind systemd-boot."""
EFI_STUB_ENTRY: Final = "efi_stub_entry"
"""First instruction of the kernel as a program of UEFI's, which leaves UEFI by itself."""
EXIT_BOOT_SERVICES: Final = "exit_boot_services"
"""UEFI is told that the kernel takes over the machine."""
KERNEL_LOAD: Final = "kernel_load"
"""A bootloader begins to load: SPL in Falcon mode the kernel, U-Boot proper the first file, script or kernel."""
KERNEL_JUMP: Final = "kernel_jump"
"""A bootloader is about to enter the kernel. Bounds no phase: it shows a kernel that is entered at a wrong place."""
IMAGE_ENTRY: Final = "image_entry"
"""The firmware has handed over: first instruction of the loaded kernel image (the decompressor, if there is one)."""
KERNEL_ENTRY: Final = "kernel_entry"
"""First instruction of the decompressed kernel: `startup_64`, `pvh_start_xen` (PVH) or arm64's `primary_entry`."""
START_KERNEL: Final = "start_kernel"
"""Entry of `start_kernel()`: the first C function common to every architecture."""
INITCALLS_START: Final = "initcalls_start"
"""First call of `do_one_initcall()` from `do_initcalls()`'s thread."""
INITCALLS_END: Final = "initcalls_end"
"""All initcalls have returned: entry of the first function called after `do_basic_setup()`."""
INIT_EXEC: Final = "init_exec"
"""The kernel is about to execute init: entry of `run_init_process()`."""
FIRST_USER_INSTRUCTION: Final = "first_user_instruction"
"""First user-mode instruction after `init_exec`."""
READY: Final = "ready"
"""What the user calls booted."""
PANIC: Final = "panic"
"""Entry of `panic()`."""

RESTORED: Final = "restored"
"""A machine goes on from a snapshot: time zero of a clone, where a boot has power-on."""
WOKE: Final = "woke"
"""The clone agent runs again, and has read who this clone is."""
READY_CLONE: Final = "ready_clone"
"""A clone is what the user calls booted: its agent is done, its application has answered."""

SUSPENDING: Final = "suspending"
"""A machine begins to fall asleep: bootlab-sleep says so."""
ASLEEP: Final = "asleep"
"""A machine that falls asleep, to S3, is at the kernel's last function before it."""
WAKE: Final = "wake"
"""A machine that sleeps is woken: time zero of its waking. Of S3 the firmware's first instruction, of s2idle where the
kernel leaves its idle."""
KERNEL_WAKES: Final = "kernel_wakes"
"""The firmware, or the SPL that has read its image, has handed a machine that wakes back to its kernel."""

BOOT_ORDER: Final[tuple[str, ...]] = (
    POWER_ON,
    IMAGE_ENTRY,
    KERNEL_ENTRY,
    START_KERNEL,
    INITCALLS_START,
    INITCALLS_END,
    INIT_EXEC,
    FIRST_USER_INSTRUCTION,
    READY,
)
"""The marks that bound the standard phases, earliest first."""

BOARD_ORDER: Final[tuple[str, ...]] = (POWER_ON, SPL_ENTRY, OPENSBI_ENTRY, UBOOT_ENTRY, KERNEL_LOAD, *BOOT_ORDER[1:])
"""The same of a board that boots by a bootloader."""

PC_STAGES: Final[tuple[str, ...]] = (
    PEI_ENTRY,
    DXE_ENTRY,
    BDS_ENTRY,
    BOOT_SECTOR,
    LOADER_ENTRY,
    SECOND_LOADER_ENTRY,
    EFI_STUB_ENTRY,
    EXIT_BOOT_SERVICES,
)
"""What a PC goes through before its kernel when it boots from a disk, by UEFI or BIOS."""

DRIVER_PREFIX: Final = "driver:"
"""Before the name of a UEFI driver, in a mark for its first instruction."""
OPTION_ROM: Final = "option-ROM"
"""The name among them of a network card's ROM, whether UEFI or BIOS starts it."""

KERNEL_LINES: Final = (
    (re.compile(r"Linux version \d"), "kernel_banner"),
    (re.compile(r"Run \S+ as init process"), INIT_EXEC),
)
"""What a console shows of the kernel's own moments: the pattern of a line -> its mark. Stable for decades."""

OWN: Final = frozenset(
    {*BOARD_ORDER, *PC_STAGES, KERNEL_JUMP, PANIC, RESTORED, READY_CLONE, WAKE, KERNEL_WAKES} - {READY}
)
"""Names that only bootlab gives; READY is the guest's to say."""
