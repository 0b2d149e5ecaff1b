"""What runs before a board's kernel -> lines of the plugin's config: when each stage begins, and what it hands over to.

Pure. A stage is seen where it is linked to run, or where it has moved itself (U-Boot proper, to the end of memory).
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

from bootlab.timeline import marks as m

_CODE_SIZE = 16

_SPL = (
    (m.SPL_ENTRY, ("_start",)),
    # Falcon mode begins to load the kernel when the board's hook has said that it may.
    (m.KERNEL_LOAD, ("spl_start_uboot",)),
    (m.KERNEL_JUMP, ("jump_to_image_linux",)),
)
_UBOOT = ((m.UBOOT_ENTRY, ("_start",)),)
_UBOOT_MOVED = (
    # The first file of a file system, be it a script that says what the kernel is.
    (m.KERNEL_LOAD, ("do_load",)),
    (m.KERNEL_JUMP, ("boot_jump_linux", "cleanup_before_linux")),
)


class Code(Protocol):
    """What is needed of a stage's symbols; `bootlab.symbols.firmware.Firmware` has it."""

    def address(self, name: str) -> int | None: ...

    def code(self, name: str, size: int) -> bytes | None: ...


def stage_lines(spl: Code | None, uboot: Code | None, image: bytes, places: Sequence[int]) -> list[str]:
    """Return the lines for the marks of SPL and U-Boot proper, and of the first instruction of a kernel's `image`.

    `places`: where a bootloader may have put that image.
    """
    lines: list[str] = []
    for kind, code, wanted in (("image", spl, _SPL), ("image", uboot, _UBOOT), ("moved", uboot, _UBOOT_MOVED)):
        if code is not None:
            lines += _lines(kind, code, wanted)
    head = image[:_CODE_SIZE].hex()
    return [*lines, *(f"image {m.IMAGE_ENTRY} {place:x} {head}" for place in dict.fromkeys(places))]


def _lines(kind: str, code: Code, wanted: Sequence[tuple[str, Sequence[str]]]) -> Iterator[str]:
    for mark, symbols in wanted:
        for symbol in symbols:
            address, start = code.address(symbol), code.code(symbol, _CODE_SIZE)
            if address is not None and start is not None:
                yield f"{kind} {mark} {address:x} {start.hex()}"
                break
