"""What a machine's shape costs that the VMM it stands for has not got: counted, and taken off a boot's price.

What differs and cannot be counted is told in words (`NOT_CORRECTED`), and nothing is taken off for it.
"""

from collections.abc import Mapping
from typing import Final

from bootlab.price.host_model import HostModel

FIRMWARE: Final = "firmware, which Firecracker has not got"
XEN: Final = "search for Xen's leaves of CPUID, by the PVH entry alone"
XEN_CPUIDS: Final = 256
"""xen_prepare_pvh asks each base from 0x40000000 to 0x4000ff00, once (arch/x86/include/asm/xen/hypervisor.h).

Firecracker enters a kernel by Linux's own 64-bit protocol, which does not; since 1.12 by PVH where a kernel offers it.
"""
WITHOUT_XEN: Final = "pvh-without-xen.patch"
"""Our patch (patches/linux) to a kernel that then does not search, so that there is nothing to take off."""
NOT_CORRECTED: Final[Mapping[str, tuple[str, ...]]] = {
    "firecracker": (
        "a doorbell of virtio is a register here; in Firecracker an ioeventfd, which KVM answers without the VMM",
        "a disk tells its block size, segments and topology, too; Firecracker's its capacity alone",
        "Firecracker has a keyboard controller at ports 60 and 64, by which a guest resets; here those answer nothing",
        "Firecracker tells CPUs by an MP table, or by ACPI since 1.8; here the local APIC alone is found without ACPI",
        "pages that qboot touches ahead of the kernel do not fault in the kernel again",
        "the CPU is QEMU's model, not that of a host",
        "Firecracker is built for its host: what its device models take is in the host model's figures, if anywhere",
    )
}


def shape_corrections(model: HostModel, *, firmware_ns: int, looks_for_xen: bool) -> dict[str, int]:
    """Return what is taken off a boot's price, as (what, ns below 0). `firmware_ns`: its price up to the kernel."""
    found = {FIRMWARE: -firmware_ns}
    if looks_for_xen:
        found[XEN] = -XEN_CPUIDS * model.exit["cpuid"].ns
    return {what: ns for what, ns in found.items() if ns}
