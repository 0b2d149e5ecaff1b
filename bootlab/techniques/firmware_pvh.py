"""Start the uncompressed kernel at its PVH entry."""

from bootlab.system import KernelEntry, System
from bootlab.techniques.evidence import any_of, fact_changes
from bootlab.techniques.machine import X86, only_on
from bootlab.techniques.technique import Evidence, Layer, Measured, Proof, Removes, Risk, Source, Technique
from bootlab.timeline import marks as m

NO_DECOMPRESSOR_NS = 100_000
"""Between the image's first instruction and the kernel's own: a decompressor takes a thousand times longer."""

_on_x86 = only_on(*X86)


def _applies(system: System, measured: Measured) -> str | None:
    if system.kernel.entry is KernelEntry.PVH:
        return "kernel.entry is pvh already"
    return _on_x86(system, measured)


def _no_decompressor(after: Evidence, before: Evidence) -> Proof:
    new, old = (_decompressor_ns(side) for side in (after, before))
    if new is None:
        return Proof.NOT_SHOWN
    if new > NO_DECOMPRESSOR_NS:
        return Proof.NO_EFFECT
    return Proof.PROVEN if old is None or old > NO_DECOMPRESSOR_NS else Proof.NOT_SHOWN


def _decompressor_ns(evidence: Evidence) -> int | None:
    marks = evidence.marks
    if m.IMAGE_ENTRY not in marks or m.KERNEL_ENTRY not in marks:
        return None
    return marks[m.KERNEL_ENTRY] - marks[m.IMAGE_ENTRY]


TECHNIQUE = Technique(
    name="firmware_pvh",
    layer=Layer.FIRMWARE,
    summary="starts the uncompressed kernel at its PVH entry, so that no decompressor runs",
    mechanism=(
        "A bzImage carries a decompressor that unpacks the kernel in the guest, with caches barely set up, and then "
        "relocates it. The ELF file inside can be loaded by QEMU as it is and entered in 32-bit mode at the address in "
        "its PVH note. No log shows the time saved: it lies before the first message."
    ),
    knob='kernel.entry = "pvh"',
    cost="the kernel is always at the same address (no KASLR); the host reads a file several times larger",
    risk=Risk.SECURITY,
    sources=(
        Source(
            "start_kernel 114.7 -> 62.1 ms (SeaBIOS), 106.7 -> 56.7 ms (qboot): -50 ms",
            "SG: Stefano Garzarella, 2019-08-23, and stefano-garzarella/qemu-boot-time",
        ),
    ),
    apply=lambda system, measured: system.with_part("kernel", entry=KernelEntry.PVH),
    prove=any_of(_no_decompressor, fact_changes("boot_protocol")),
    applies=_applies,
    removes=Removes("the kernel image's decompressor", stages=("[decompressor]",), shortens=("[firmware]",)),
)
