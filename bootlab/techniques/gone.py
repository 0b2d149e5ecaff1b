"""What the published tables tried and nobody can try any more, and why: a row of the page each."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gone:
    """A published technique without a file here."""

    name: str
    """As the published tables and kernel configurations call it."""
    why: str
    """One line: since when, and what there is instead."""


GONE = (
    Gone("SLAB", "removed in Linux 6.8: SLUB is the only slab allocator; what is left to choose is `kernel_slub_tiny`"),
    Gone("SLOB", "removed in Linux 6.4, in favour of SLUB_TINY: `kernel_slub_tiny`"),
    Gone("EMBEDDED", "no option of Linux 6.12: EXPERT alone shows what it showed; `kernel_embedded_syscalls` sets it"),
    Gone(
        "SYSFS_DEPRECATED",
        "no option of Linux 6.12: the old layout of /sys is gone; `kernel_sysfs_off` is what there is",
    ),
    Gone("BASE_FULL", "no option of Linux 6.12: BASE_SMALL is a choice of its own, `kernel_small_tables`"),
    Gone("RANDOM_TRUST_CPU", "no option of Linux 6.12: trust is the default, and `cmdline_random_trust` says so aloud"),
    Gone("MICROCODE", "no choice of its own on x86 in Linux 6.12: it follows the CPU makers, `kernel_cpu_vendors`"),
    Gone("RCU_EXPEDITE_BOOT", "no option of Linux 6.12: `cmdline_rcu_expedited` does it at run time"),
    Gone("KERNEL_UNCOMPRESSED", "not on x86: its uncompressed kernel is the ELF file through PVH, `firmware_pvh`"),
    Gone("STRICT_KERNEL_RWX off", "no choice on x86-64 and arm64: `cmdline_rodata_off` is what there is there"),
    Gone("noreplace-smp", "for 32-bit x86 only in Linux 6.12: on x86-64 the word does nothing"),
    Gone("LTO, CFI", "need clang; kernels here are built with gcc"),
)
"""Checked against the Kconfig files and the command-line parameters of Linux 6.12.117."""
