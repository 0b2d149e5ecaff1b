"""How the initramfs is compressed: the same archive, packed another way.

The proof is the decompressor that ran: the kernel picks it by the archive's first bytes.
"""

from bootlab.system import Compression, System
from bootlab.techniques.changes.kernel_options import is_on, known
from bootlab.techniques.model.evidence import Effect, Evidence, Measured, Proof
from bootlab.techniques.model.proofs import WATCH_PREFIX
from bootlab.techniques.model.published import BOOTLIN_SLIDES, FIRECRACKER, Published, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Change, Layer, Risk, Technique, Text

_DECOMPRESSORS = {
    Compression.GZIP: "gunzip",
    Compression.LZ4: "unlz4",
    Compression.ZSTD: "unzstd",
    Compression.XZ: "unxz",
    Compression.LZO: "unlzo",
}
"""Compression -> the kernel function that unpacks it."""


def _packed(
    kind: Compression, *, summary: str, mechanism: str, cost: str, published: tuple[Published, ...]
) -> Technique:
    def applies(system: System, measured: Measured) -> str | None:
        if system.initramfs is None:
            return "the system has no initramfs"
        if system.initramfs.path is not None:
            return "initramfs.path is a finished archive; bootlab packs only what it builds from a recipe"
        if system.initramfs.compression is kind:
            return f"initramfs.compression is {kind.value} already"
        option = f"RD_{kind.value.upper()}"
        if kind is not Compression.NONE and known(system, measured) and not is_on(system, measured, option):
            return f"the kernel cannot unpack it: {option} is off"
        return None

    return Technique(
        name=f"initramfs_{kind.value}",
        text=Text(summary, mechanism, cost, Risk.NONE, published),
        change=Change(
            Layer.INITRAMFS,
            f'initramfs.compression = "{kind.value}"',
            lambda system, measured: system.with_part("initramfs", compression=kind),
            applies,
        ),
        proof=_unpacked_by(kind),
        removes=Removes(
            "decompression of the initramfs",
            functions=tuple(symbol for other, symbol in _DECOMPRESSORS.items() if other is not kind),
            # What comes out is written to the root file system, however it was packed.
            keeps=("flush_buffer",),
            replaced=kind is not Compression.NONE,
        ),
    )


def _unpacked_by(kind: Compression) -> Proof:
    def prove(after: Evidence, before: Evidence) -> Effect:
        new, old = (_ran(side) for side in (after, before))
        if new == {kind} - {Compression.NONE}:
            return Effect.PROVEN if old and new != old else Effect.NOT_SHOWN
        # Nothing ran: this clock sees no functions, or the kernel has not got this decompressor.
        return Effect.NONE if new else Effect.NOT_SHOWN

    return Proof(prove, watch=tuple(_DECOMPRESSORS.values()))


def _ran(evidence: Evidence) -> set[Compression]:
    return {kind for kind, symbol in _DECOMPRESSORS.items() if WATCH_PREFIX + symbol in evidence.marks}


_BOARD_FIGURES = Published(
    "AM335x to userspace: lzo 1.416, gzip 1.451, lz4 1.462, xz 1.999, lzma 2.167 s (copy+decompress+boot)",
    f"{BOOTLIN_SLIDES}; of the kernel image",
)


TECHNIQUES = (
    _packed(
        Compression.GZIP,
        summary="compresses the initramfs with gzip",
        mechanism=(
            "gzip decodes one symbol at a time, by tables of its entropy code, so it unpacks more slowly "
            "than LZ4 and faster than xz; it is what distributions shipped for decades."
        ),
        cost="slower to unpack than lz4, larger than zstd; the kernel needs CONFIG_RD_GZIP",
        published=(none_published(BOOTLIN_SLIDES),),
    ),
    _packed(
        Compression.LZ4,
        summary="compresses the initramfs with LZ4",
        mechanism=(
            "LZ4 decodes by copying: no bit stream and no entropy code, so an archive unpacks at "
            "nearly the speed of memory. The file is larger than with gzip."
        ),
        cost="the file is some 15 % larger than with gzip; the kernel needs CONFIG_RD_LZ4",
        published=(_BOARD_FIGURES,),
    ),
    _packed(
        Compression.LZO,
        summary="compresses the initramfs with LZO",
        mechanism=(
            "LZO decodes by copying, as LZ4 does, from a slightly denser code: between LZ4 and gzip "
            "both in size and in the time to unpack."
        ),
        cost=(
            "the file is some 10 % larger than with gzip; the kernel needs CONFIG_RD_LZO, and this host lzop to pack it"
        ),
        published=(_BOARD_FIGURES,),
    ),
    _packed(
        Compression.NONE,
        summary="does not compress the initramfs",
        mechanism=(
            "The kernel copies the archive straight into its root file system, while every compressed "
            "byte would first go through a single-threaded decompressor; it does so beside the initcalls "
            "(initramfs_async, init/initramfs.c), so that a second CPU hides some of it. Where loading is slower than "
            "unpacking the larger file costs more than it saves: the virtual clock does not charge the "
            "host for loading."
        ),
        cost="the file that the host loads is two to three times larger",
        published=(
            Published("-170 ms, -200 KB (BBB, 1.6 MB initramfs)", BOOTLIN_SLIDES),
            Published("unpack dominates initrd boot (arm)", f"{FIRECRACKER}, test_boottime.py"),
        ),
    ),
    _packed(
        Compression.XZ,
        summary="compresses the initramfs with xz",
        mechanism=(
            "xz packs tightest and decodes slowest, one bit at a time through an adaptive model. It "
            "can only pay where loading each byte is slow, as on boards with slow flash."
        ),
        cost="unpacking takes several times as long as with gzip; the kernel needs CONFIG_RD_XZ",
        published=(
            Published("xz 26 MB unpack 1.8 s", "IRFS: lkml 2021-03-13, msg2512012"),
            Published("xz instead of gzip: -4.8 s (12.8 %) on slow cRIO media", "NI: ni/linux pull request 266"),
        ),
    ),
    _packed(
        Compression.ZSTD,
        summary="compresses the initramfs with zstd",
        mechanism=(
            "zstd decodes several symbols at a time from tables, so it unpacks faster than gzip "
            "although its files are smaller."
        ),
        cost="the kernel needs CONFIG_RD_ZSTD and more memory while it unpacks",
        published=(Published("XZ->zstd -2 s total", "ZSTD: Phoronix, Zstd-V8 kernel patches"),),
    ),
)
