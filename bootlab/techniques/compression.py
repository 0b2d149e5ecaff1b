"""What the initramfs compression techniques have in common: the same archive, packed another way.

The proof is the decompressor that ran: the kernel picks it by the archive's first bytes.
"""

from bootlab.system import Compression, System
from bootlab.techniques.evidence import WATCH_PREFIX, Prove
from bootlab.techniques.technique import Evidence, Layer, Measured, Proof, Removes, Risk, Source, Technique

DECOMPRESSORS = {
    Compression.GZIP: "gunzip",
    Compression.LZ4: "unlz4",
    Compression.ZSTD: "unzstd",
    Compression.XZ: "unxz",
    Compression.LZO: "unlzo",
}
"""Compression -> the kernel function that unpacks it."""


def packed(
    kind: Compression, *, name: str, summary: str, mechanism: str, cost: str, sources: tuple[Source, ...]
) -> Technique:
    """Return the technique that packs a recipe's initramfs with `kind`."""

    def applies(system: System, measured: Measured) -> str | None:
        if system.initramfs is None:
            return "the system has no initramfs"
        if system.initramfs.path is not None:
            return "initramfs.path is a finished archive; bootlab packs only what it builds from a recipe"
        if system.initramfs.compression is kind:
            return f"initramfs.compression is {kind.value} already"
        return None

    return Technique(
        name=name,
        layer=Layer.INITRAMFS,
        summary=summary,
        mechanism=mechanism,
        knob=f'initramfs.compression = "{kind.value}"',
        cost=cost,
        risk=Risk.NONE,
        sources=sources,
        apply=lambda system, measured: system.with_part("initramfs", compression=kind),
        prove=_unpacked_by(kind),
        applies=applies,
        watch=tuple(DECOMPRESSORS.values()),
        removes=Removes(
            "decompression of the initramfs",
            functions=tuple(symbol for other, symbol in DECOMPRESSORS.items() if other is not kind),
            # What comes out is written to the root file system, however it was packed.
            keeps=("flush_buffer",),
            replaced=kind is not Compression.NONE,
        ),
    )


def _unpacked_by(kind: Compression) -> Prove:
    def prove(after: Evidence, before: Evidence) -> Proof:
        new, old = (_ran(side) for side in (after, before))
        if new == {kind} - {Compression.NONE}:
            return Proof.PROVEN if old and new != old else Proof.NOT_SHOWN
        # Nothing ran: this clock sees no functions, or the kernel has not got this decompressor.
        return Proof.NO_EFFECT if new else Proof.NOT_SHOWN

    return prove


def _ran(evidence: Evidence) -> set[Compression]:
    return {kind for kind, symbol in DECOMPRESSORS.items() if WATCH_PREFIX + symbol in evidence.marks}
