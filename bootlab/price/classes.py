"""The classes of what a guest of KVM stops for: the words of rule sets and host models, and of every table."""

from collections.abc import Mapping
from typing import Final, Literal

Arch = Literal["x86_64", "aarch64"]
"""An architecture whose exits are known."""
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
"""Class of exit of an x86-64 guest -> what it is, in words."""
ARM64_CLASSES: Final[Mapping[str, str]] = {
    "mmio_vmm": "register of a device of the VMM",
    "mmio_vgic": "register of the interrupt controller, in KVM",
    "sysreg_read": "read of a system register that KVM answers",
    "sysreg_write": "write of a system register that KVM keeps",
    "sgi": "interrupt that is sent to a vCPU",
    "set_way": "cache operation by set and way",
    "wfi": "WFI",
    "hvc": "HVC: PSCI and other calls",
    "smc": "SMC",
}
"""Class of exit of an arm64 guest -> what it is, in words."""
CLASSES_OF: Final[Mapping[Arch, Mapping[str, str]]] = {"x86_64": CLASSES, "aarch64": ARM64_CLASSES}
"""Architecture -> its classes of exits. A rule set is of one architecture, and so is a host model, by its rules."""
NO_EXIT: Final = "none"
"""What a rule says of a trap for which the processor does not leave the guest."""
FAULT_4K: Final = "fault_4K"
FAULT_2M: Final = "fault_2M"
"""Classes of faults: the first touch of a page of 4 KiB, and of a chunk of 2 MiB within one slot of memory."""
