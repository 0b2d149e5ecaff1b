"""What an x86 guest does that a processor can be told to stop for: the kinds, by the plugin's words and numbers.

The other side of `enum profile_trap_kind` in plugin/profile_format.h.
"""

from enum import IntEnum
from typing import Final


class TrapKind(IntEnum):
    """What happened; the header says what its number is."""

    LOST = 0
    """Of any kind: the plugin had no memory to count it."""
    IN = 1
    OUT = 2
    INS = 3
    OUTS = 4
    MMIO_READ = 5
    MMIO_WRITE = 6
    CPUID = 7
    RDMSR = 8
    WRMSR = 9
    CR_READ = 10
    CR_WRITE = 11
    HLT = 12
    XSETBV = 13
    WBINVD = 14
    INVD = 15
    HYPERCALL = 16

    @property
    def word(self) -> str:
        """Return what the plugin's config and the rule sets call it."""
        return self.name.lower()


CACHES_OFF: Final = 1
"""A state of a trap: CR0.CD or CR0.NW was set ahead of it."""
