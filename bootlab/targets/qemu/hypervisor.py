"""Which hypervisor the guest sees on the virtual clock, whatever QEMU itself would show (machine.hypervisor)."""

from typing import Final

from bootlab.system import System

# Linux, arch/x86/include/uapi/asm/kvm_para.h, by bit: what QEMU 10.0 offers with -accel kvm -cpu EPYC on Linux 6.1.
_FEATURES: Final = {
    "CLOCKSOURCE": 0,
    "NOP_IO_DELAY": 1,
    "CLOCKSOURCE2": 3,
    "ASYNC_PF": 4,
    "STEAL_TIME": 5,
    "PV_EOI": 6,
    "MSI_EXT_DEST_ID": 15,
    "CLOCKSOURCE_STABLE_BIT": 24,
}


def hypervisor_line(system: System) -> str:
    """Return the line of the plugin's config that shows the guest KVM; empty where it sees none."""
    if system.machine.hypervisor is None:
        return ""
    return f"kvm {sum(1 << bit for bit in _FEATURES.values()):x}\n"
