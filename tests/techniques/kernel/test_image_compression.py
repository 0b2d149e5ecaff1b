"""How the kernel image is compressed: where it is at all."""

from bootlab.system import KernelEntry, MachineType, System
from bootlab.techniques.model.catalogue import load_catalogue
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.technique import Layer

KERNEL = {technique.name: technique for technique in load_catalogue() if technique.change.layer is Layer.KERNEL}
EMPTY = Measured({}, {}, {}, "")


def test_an_uncompressed_kernel_has_no_compression(built: System) -> None:
    pvh = built.with_part("kernel", entry=KernelEntry.PVH)
    assert "uncompressed" in (KERNEL["kernel_image_lz4"].change.applies(pvh, EMPTY) or "")
    arm = built.with_part("machine", type=MachineType.VIRT, options={})
    assert KERNEL["kernel_image_lz4"].change.applies(arm, EMPTY) == "only x86-64 and 32-bit arm; this system is aarch64"
