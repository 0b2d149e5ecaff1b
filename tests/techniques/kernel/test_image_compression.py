"""How the kernel image is compressed: where it is at all."""

from bootlab.system import KernelEntry, MachineType, System
from bootlab.techniques.kernel.image_compression import KINDS
from tests.techniques.asking import KERNEL, NOTHING


def test_an_uncompressed_kernel_has_no_compression(built: System) -> None:
    pvh = built.with_part("kernel", entry=KernelEntry.PVH)
    assert "uncompressed" in (KERNEL["kernel_image_lz4"].change.applies(pvh, NOTHING) or "")
    arm = built.with_part("machine", type=MachineType.VIRT, options={})
    assert (
        KERNEL["kernel_image_lz4"].change.applies(arm, NOTHING) == "only x86-64 and 32-bit arm; this system is aarch64"
    )


def test_32_bit_arm_unpacks_five_of_the_seven(board: System) -> None:
    reasons = {kind: KERNEL[f"kernel_image_{kind.lower()}"].change.applies(board, NOTHING) for kind in KINDS}
    assert [kind for kind, reason in reasons.items() if reason is not None] == ["BZIP2", "ZSTD"]
    assert reasons["ZSTD"] == "only x86-64; this system is armv7"
