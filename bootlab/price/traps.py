"""What a guest does that a processor can be told to stop for: the kinds, by the plugin's words and numbers.

The other side of `enum profile_trap_kind` in plugin/profile_format.h.
"""

from collections.abc import Mapping
from enum import IntEnum
from typing import Final

from bootlab.price.classes import Arch


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
    SYSREG_READ = 17
    SYSREG_WRITE = 18
    WFI = 19
    WFE = 20
    HVC = 21
    SMC = 22

    @property
    def word(self) -> str:
        """Return what the plugin's config and the rule sets call it."""
        return self.name.lower()


_BOTH: Final = (TrapKind.MMIO_READ, TrapKind.MMIO_WRITE)
TRAPS_OF: Final[Mapping[Arch, tuple[TrapKind, ...]]] = {
    "x86_64": tuple(kind for kind in TrapKind if TrapKind.IN <= kind <= TrapKind.HYPERCALL),
    "aarch64": (*_BOTH, *(kind for kind in TrapKind if kind >= TrapKind.SYSREG_READ)),
}
"""Architecture -> the kinds that its guests have."""
CACHES_OFF: Final = 1
"""A state of a trap. x86-64: CR0.CD or CR0.NW was set ahead of it. arm64: the vCPU had no MMU and caches on yet."""
