"""What a board read from its SD card up to each of its marks.

QEMU's card model tells each block it reads in QEMU's log (the trace event sdcard_read_block), and the plugin each mark
in the same log. Both are written by the thread that runs the guest, so their order is that of the boot. The boot ROM's
own reading comes before the machine runs, and is not in it.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

CARD_LOG: Final = "card.log"
"""QEMU's log, in a boot's directory until what it says is in the boot's record."""
TRACE_EVENT: Final = "sdcard_read_block"
"""What QEMU is asked to log."""
MARK: Final = "bootlab-plugin: mark "
"""What the plugin writes before a mark's name (plugin/marks.c)."""

_READ = re.compile(rf"\b{TRACE_EVENT} addr 0x[0-9a-f]+ size 0x([0-9a-f]{{1,8}})$")


def read_card_log(path: Path) -> dict[str, int]:
    """Return the bytes read before each mark's first time; empty when there is no such log. Raises OSError."""
    reads: dict[str, int] = {}
    total = 0
    try:
        file = path.open(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return reads
    with file:
        for line in file:
            if not line.endswith("\n"):
                break  # QEMU was killed
            if (found := _READ.search(line.rstrip("\n"))) is not None:
                total += int(found[1], 16)
            elif line.startswith(MARK):
                reads.setdefault(line[len(MARK) : -1], total)
    return reads


def read_between(reads: Mapping[str, int], start: str, end: str) -> int | None:
    """Return the bytes read between two marks; None where one of them is not in the log."""
    return reads[end] - reads[start] if start in reads and end in reads else None
