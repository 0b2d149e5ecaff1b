"""The kernel without its decompressor: entered at the address of its PVH note."""

from bootlab.system import KernelEntry, System
from bootlab.techniques.changes.kernel_options import is_on, known
from bootlab.techniques.changes.machine import X86, only_on
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.proofs import any_of, fact_changes
from bootlab.techniques.model.published import GARZARELLA_2019, Published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text
from bootlab.timeline import marks as m

NO_DECOMPRESSOR_NS = 100_000
"""Between the image's first instruction and the kernel's own: a decompressor takes a thousand times longer."""
_on_x86 = only_on(*X86)


def _enters_elsewhere(system: System, measured: Measured) -> str | None:
    if system.kernel.entry is KernelEntry.PVH:
        return "kernel.entry is pvh already"
    if known(system, measured) and not is_on(system, measured, "PVH"):
        return "the kernel has no such entry: PVH is off"
    return _on_x86(system, measured)


def _no_decompressor(after: Evidence, before: Evidence) -> Effect:
    new, old = (_decompressor_ns(side) for side in (after, before))
    if new is None:
        return Effect.NOT_SHOWN
    if new > NO_DECOMPRESSOR_NS:
        return Effect.NONE
    return Effect.PROVEN if old is None or old > NO_DECOMPRESSOR_NS else Effect.NOT_SHOWN


def _decompressor_ns(evidence: Evidence) -> int | None:
    marks = evidence.marks
    if m.IMAGE_ENTRY not in marks or m.KERNEL_ENTRY not in marks:
        return None
    return marks[m.KERNEL_ENTRY] - marks[m.IMAGE_ENTRY]


TECHNIQUES = (
    Technique(
        name="firmware_pvh",
        text=Text(
            summary="starts the uncompressed kernel at its PVH entry, so that no decompressor runs",
            mechanism=(
                "A bzImage carries a decompressor that unpacks the kernel in the guest and then relocates "
                "it. The ELF file inside can be loaded by QEMU as it is and "
                "entered in 32-bit mode at the address in its PVH note. No log shows the time saved: it "
                "lies before the first message."
            ),
            cost="the kernel is always at the same address (no KASLR); the host reads a file several times larger",
            risk=Risk.SECURITY,
            published=(
                Published(
                    "start_kernel 114.7 -> 62.1 ms (SeaBIOS), 106.7 -> 56.7 ms (qboot): -50 ms",
                    f"{GARZARELLA_2019}, and stefano-garzarella/qemu-boot-time",
                ),
            ),
        ),
        change=Change(
            Layer.FIRMWARE,
            'kernel.entry = "pvh"',
            lambda system, measured: system.with_part("kernel", entry=KernelEntry.PVH),
            _enters_elsewhere,
        ),
        proof=any_of(Proof(_no_decompressor), fact_changes("boot_protocol")),
        removes=Removes("the kernel image's decompressor", stages=("[decompressor]",), shortens=("[firmware]",)),
    ),
)
