"""The classes of what a guest of KVM stops for: the words of rule sets and host models, and of every table."""

from collections.abc import Mapping
from typing import Final

CLASSES: Final[Mapping[str, str]] = {
    "pio_vmm": "port of a device of the VMM",
    "pio_kvm": "port of a device in KVM",
    "pio_string": "string of bytes through a port",
    "mmio_vmm": "register of a device of the VMM",
    "mmio_lapic": "register of the local APIC",
    "mmio_ioapic": "register of the IO-APIC",
    "cpuid": "CPUID",
    "rdmsr": "read of a model-specific register",
    "wrmsr": "write of a model-specific register",
    "cr": "access to a control register",
    "hlt": "HLT",
    "xsetbv": "XSETBV",
    "wbinvd": "WBINVD, INVD",
    "hypercall": "hypercall",
}
"""Class of exit -> what it is, in words."""
NO_EXIT: Final = "none"
"""What a rule says of a trap for which the processor does not leave the guest."""
FAULT_4K: Final = "fault_4K"
FAULT_2M: Final = "fault_2M"
"""Classes of faults: the first touch of a page of 4 KiB, and of a chunk of 2 MiB within one slot of memory."""
