"""What runs before a board's kernel -> lines of the plugin's config: when each stage begins, and what it hands over to.

Pure. A stage is seen where it is linked to run, or where it has moved itself (U-Boot proper, to the end of memory).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from bootlab.profile.asked.marks import WATCH_PREFIX
from bootlab.timeline import marks as m

SPL_FUNCTION = "SPL:"
"""What a symbol that is watched begins with where it is one of SPL's, and no kernel's."""
_CODE_SIZE = 16

_SPL = (
    (m.SPL_ENTRY, ("_start",)),
    # Falcon mode begins to load the kernel when the board's hook has said that it may.
    (m.KERNEL_LOAD, ("spl_start_uboot",)),
    (m.KERNEL_JUMP, ("jump_to_image_linux",)),
)
_UBOOT = ((m.UBOOT_ENTRY, ("_start",)),)
_UBOOT_MOVED = (
    # The first file of a file system, be it a script that says what the kernel is; or a script that is in memory.
    (m.KERNEL_LOAD, ("do_load",)),
    (m.KERNEL_LOAD, ("do_source",)),
    (m.KERNEL_JUMP, ("boot_jump_linux", "cleanup_before_linux")),
)


class Code(Protocol):
    """What is needed of a stage's symbols; `bootlab.symbols.firmware.Firmware` has it."""

    def address(self, name: str) -> int | None:
        """Return the address of a function where the stage runs; None for one that it does not have."""
        ...

    def code(self, name: str, size: int) -> bytes | None:
        """Return the first `size` bytes of a function's code; None where they are not known."""
        ...


@dataclass(frozen=True, slots=True)
class LoadedFile:
    """A file without symbols whose first byte is its entry, and where in memory a bootloader may put it."""

    content: bytes
    places: tuple[int, ...]


def stage_lines(
    spl: Code | None, opensbi: LoadedFile | None, uboot: Code | None, image: LoadedFile, watch: Sequence[str] = ()
) -> list[str]:
    """Return the lines for the marks of SPL, OpenSBI and U-Boot proper, and of the first instruction of a kernel.

    `watch`: symbols; those that begin with `SPL_FUNCTION` become marks `watch:SYMBOL`, where SPL has them.
    """
    lines: list[str] = []
    watched = [
        (WATCH_PREFIX + symbol, (symbol.removeprefix(SPL_FUNCTION),))
        for symbol in watch
        if symbol.startswith(SPL_FUNCTION)
    ]
    wanted_of = (("image", spl, (*_SPL, *watched)), ("image", uboot, _UBOOT), ("moved", uboot, _UBOOT_MOVED))
    for kind, code, wanted in wanted_of:
        if code is not None:
            lines += _lines(kind, code, wanted)
    for mark, placed in ((m.OPENSBI_ENTRY, opensbi), (m.IMAGE_ENTRY, image)):
        if placed is not None:
            head = placed.content[:_CODE_SIZE].hex()
            lines += [f"image {mark} {place:x} {head}" for place in dict.fromkeys(placed.places)]
    return lines


def _lines(kind: str, code: Code, wanted: Sequence[tuple[str, Sequence[str]]]) -> Iterator[str]:
    for mark, symbols in wanted:
        for symbol in symbols:
            address, start = code.address(symbol), code.code(symbol, _CODE_SIZE)
            if address is not None and start is not None:
                yield f"{kind} {mark} {address:x} {start.hex()}"
                break
