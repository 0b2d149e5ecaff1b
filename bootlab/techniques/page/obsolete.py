"""What the published tables tried and nobody can try any more, and why: a row of the page each."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Obsolete:
    """A published technique that is no technique here."""

    name: str
    """As the published tables and kernel configurations call it."""
    why: str
    """One line: since when, and what there is instead."""


OBSOLETE = (
    Obsolete(
        "SLAB", "removed in Linux 6.8: SLUB is the only slab allocator; what is left to choose is `kernel_slub_tiny`"
    ),
    Obsolete("SLOB", "removed in Linux 6.4, in favour of SLUB_TINY: `kernel_slub_tiny`"),
    Obsolete(
        "EMBEDDED", "no option of Linux 6.12: EXPERT alone shows what it showed; `kernel_embedded_syscalls` sets it"
    ),
    Obsolete(
        "SYSFS_DEPRECATED",
        "no option of Linux 6.12: the old layout of /sys is gone; `kernel_sysfs_off` is what there is",
    ),
    Obsolete("BASE_FULL", "no option of Linux 6.12: BASE_SMALL is a choice of its own, `kernel_small_tables`"),
    Obsolete(
        "RANDOM_TRUST_CPU", "no option since Linux 6.2: trust is the default; `cmdline_random_trust` is for older ones"
    ),
    Obsolete("MICROCODE", "no choice of its own on x86 in Linux 6.12: it follows the CPU makers, `kernel_cpu_vendors`"),
    Obsolete(
        "RCU_EXPEDITE_BOOT",
        "no option of Linux 6.1 and 6.12: they do it until init; `cmdline_rcu_expedited` goes on with it",
    ),
    Obsolete("KERNEL_UNCOMPRESSED", "not on x86: its uncompressed kernel is the ELF file through PVH, `firmware_pvh`"),
    Obsolete("STRICT_KERNEL_RWX off", "no choice on x86-64 and arm64: `cmdline_rodata_off` is what there is there"),
    Obsolete("LTO, CFI", "need clang; kernels here are built with gcc"),
)
"""Checked against the Kconfig files and the command-line parameters of Linux 6.12.117."""
