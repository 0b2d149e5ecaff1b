"""How the kernel image is compressed: the same kernel, packed another way."""

from bootlab.system import KernelEntry, System
from bootlab.techniques.changes.kernel_options import WantedOptions, choice, rebuilt_kernel
from bootlab.techniques.model.evidence import Measured
from bootlab.techniques.model.published import BOOTLIN_2019, Published, none_published
from bootlab.techniques.model.removed_work import Removes
from bootlab.techniques.model.technique import Risk, Technique, Text

KINDS = ("GZIP", "BZIP2", "LZMA", "XZ", "LZO", "LZ4", "ZSTD")
"""The kernel's own names: options KERNEL_<KIND>."""
_NOT_ON_ARM = ("BZIP2", "ZSTD")


def _unpacked_by_nobody(system: System, measured: Measured) -> str | None:
    if system.kernel.entry is KernelEntry.PVH:
        return 'kernel.entry is "pvh": the kernel is handed over uncompressed'
    return None


def _packed(kind: str, *, summary: str, mechanism: str, cost: str, published: tuple[Published, ...]) -> Technique:
    wanted = WantedOptions(
        choice(f"KERNEL_{kind}", [f"KERNEL_{one}" for one in KINDS]),
        # arm64 has no decompressor: its Image.gz is the boot loader's to unpack. 32-bit arm has five of the seven.
        arch=("x86_64",) if kind in _NOT_ON_ARM else ("x86_64", "armv7"),
        applies=_unpacked_by_nobody,
    )
    return rebuilt_kernel(
        f"kernel_image_{kind.lower()}",
        Text(summary, mechanism, cost, Risk.NONE, published),
        wanted,
        removes=Removes("unpacking of the kernel image", stages=("[decompressor]",), replaced=True),
    )


def _on_the_board(seconds: str, size: int) -> Published:
    return Published(
        f"copy, unpack and boot {seconds} s to user space, {size} bytes; gzip 1.451 s, 2350336 bytes "
        "(AM335x, 1 GHz, SD card)",
        BOOTLIN_2019,
    )


_NOT_ON_THE_BOARD = none_published("not in the table of BL19; option of arch/x86 in Linux 6.12")

TECHNIQUES = (
    _packed(
        "GZIP",
        summary="compresses the kernel image with gzip",
        mechanism=(
            "Inflate needs Huffman decoding, two to three times the work of LZ4; the image is some 10 "
            "to 15 % smaller than with LZ4. The usual default."
        ),
        cost="none worth naming; the image is larger than with XZ",
        published=(_on_the_board("1.451", 2350336),),
    ),
    _packed(
        "BZIP2",
        summary="compresses the kernel image with bzip2",
        mechanism=(
            "The Burrows-Wheeler transform is undone block by block with memory accesses all over it: "
            "the slowest but one, and no smaller than LZMA."
        ),
        cost="the slowest but one to unpack; kept for comparison; not on 32-bit arm",
        published=(_NOT_ON_THE_BOARD,),
    ),
    _packed(
        "LZMA",
        summary="compresses the kernel image with LZMA",
        mechanism=(
            "A range coder decides bit by bit: the image is a quarter smaller than with gzip and takes "
            "several times as long to unpack."
        ),
        cost="several times the unpacking of gzip; for storage that is slow enough",
        published=(_on_the_board("2.167", 1777000),),
    ),
    _packed(
        "XZ",
        summary="compresses the kernel image with XZ",
        mechanism=(
            "LZMA with a filter for the architecture's jumps: the smallest image and long to unpack. "
            "It pays only where reading the image takes most of the time."
        ),
        cost="several times the unpacking of gzip; for storage that is slow enough",
        published=(_on_the_board("1.999", 1720120),),
    ),
    _packed(
        "LZO",
        summary="compresses the kernel image with LZO",
        mechanism=(
            "Decoding is copying with a few branches; the image is some 8 % larger than with gzip. It "
            "was the best choice on the board, before LZ4."
        ),
        cost="the image is some 8 % larger than with gzip",
        published=(_on_the_board("1.416", 2533872),),
    ),
    _packed(
        "LZ4",
        summary="compresses the kernel image with LZ4",
        mechanism=(
            "Decoding is copying: no bit stream and no entropy code, so the image unpacks at nearly "
            "the speed of memory; it is some 16 % larger than with gzip."
        ),
        cost="the image is some 16 % larger than with gzip",
        published=(_on_the_board("1.462", 2716752),),
    ),
    _packed(
        "ZSTD",
        summary="compresses the kernel image with Zstandard",
        mechanism="Table-driven entropy decoding gives nearly the size of XZ at a speed above gzip.",
        cost="the build needs zstd; not on 32-bit arm",
        published=(_NOT_ON_THE_BOARD,),
    ),
)
