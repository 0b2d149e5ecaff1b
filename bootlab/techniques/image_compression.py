"""What the techniques for the compression of the kernel image have in common: the same kernel, packed another way."""

from bootlab.system import KernelEntry, System
from bootlab.techniques.build_options import choice, option_technique
from bootlab.techniques.technique import Measured, Removes, Risk, Source, Technique

KINDS = ("GZIP", "BZIP2", "LZMA", "XZ", "LZO", "LZ4", "ZSTD")
"""The kernel's own names: options KERNEL_<KIND>."""


def packed_image(
    kind: str, *, name: str, summary: str, mechanism: str, cost: str, sources: tuple[Source, ...]
) -> Technique:
    """Return the technique that packs the kernel image with `kind`, of `KINDS`."""

    def unpacked_by_nobody(system: System, measured: Measured) -> str | None:
        if system.kernel.entry is KernelEntry.PVH:
            return 'kernel.entry is "pvh": the kernel is handed over uncompressed'
        return None

    return option_technique(
        name=name,
        options=choice(f"KERNEL_{kind}", [f"KERNEL_{one}" for one in KINDS]),
        summary=summary,
        mechanism=mechanism,
        cost=cost,
        risk=Risk.NONE,
        sources=sources,
        # arm64 has no decompressor: its Image.gz is the boot loader's to unpack.
        arch=("x86_64", "armv7"),
        applies=unpacked_by_nobody,
        removes=Removes("unpacking of the kernel image", stages=("[decompressor]",), replaced=True),
    )
