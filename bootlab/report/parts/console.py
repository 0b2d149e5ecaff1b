"""The console of a boot for the page: lines with their stamps, and the silences between them.

The stamp is the guest's own printk stamp, read from the line: the guest's clock starts later than power-on, so stamps
tell order and distance and are never mixed with marks. A line without a stamp keeps an empty stamp.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from bootlab.kept_file import damaged, read_kept_bytes
from bootlab.report.parts.figures import visible

# [    0.123456] text, and with a caller column [    0.123456][    T1] text, and behind a level <6>.
_PRINTK = re.compile(r"^(?:<\d{1,3}>)?\[\s*(\d{1,9})\.(\d{6})\](?:\[\s*[TC]\d+\])? ?(.*)$")
# A firmware clears the screen instead of ending its last line.
_LINE_END = re.compile(r"\n|(?:\x1bc)?(?:\x1b\[\?7l)?\x1b\[2J")
# GRUB's menu: text at a row and a column, and no line's end.
_CURSOR_SET = re.compile(r"\x1b\[(?:\d*(?:;\d*)?[Hf]|\d*J)")
_LONG_SILENCE = 0.02


@dataclass(frozen=True, slots=True)
class ShownLine:
    """One console line. `stamp_ns` is None when it carries none; `silence_ns` is the time before it, when long."""

    stamp_ns: int | None
    text: str
    silence_ns: int | None


@dataclass(frozen=True, slots=True)
class Console:
    """The console of one boot. `title` says which boot."""

    title: str
    lines: tuple[ShownLine, ...]


def on_screen(line: str) -> list[str]:
    """Return the texts of a line that sets the cursor, one for each place, without frames and blanks; else the line."""
    if not _CURSOR_SET.search(line):
        return [line]
    parts = _CURSOR_SET.split(line)
    return [shown for part in parts if re.search(r"\w", shown := visible(part.replace("\r", "")).strip())]


def read_console(title: str, raw: bytes) -> Console:
    """Return the lines of a raw console. Any bytes will do: what is not UTF-8 or not printable is spelled out.

    A silence is long when it is at least 2 % of the time that the stamps span.
    """
    # GRUB ends a line with \n\r.
    raw_lines = _LINE_END.split(raw.decode("utf-8", "backslashreplace"))
    stamped = [_split(part) for line in raw_lines for part in on_screen(line.strip("\r"))]
    while stamped and stamped[-1] == (None, ""):
        stamped.pop()
    while stamped and stamped[0] == (None, ""):
        stamped.pop(0)
    last_ns = max((stamp for stamp, _ in stamped if stamp is not None), default=0)
    lines: list[ShownLine] = []
    before_ns: int | None = None
    for stamp, text in stamped:
        silence = None
        if stamp is not None:
            if before_ns is not None and stamp - before_ns > _LONG_SILENCE * last_ns:
                silence = stamp - before_ns
            before_ns = stamp
        lines.append(ShownLine(stamp, text, silence))
    return Console(title, tuple(lines))


def read_consoles(boots: Iterable[tuple[str, str]]) -> list[Console]:
    """Return the consoles of (title, boot directory); one that is gone is left out. Raises StoreError."""
    found = []
    for title, directory in boots:
        path = Path(directory) / "console.log"
        try:
            found.append(read_console(title, read_kept_bytes(path)))
        except FileNotFoundError:
            continue
        except OSError as error:
            raise damaged(path, error) from error
    return found


def _split(line: str) -> tuple[int | None, str]:
    # Escapes go first: firmware leaves them glued to the front of the kernel's first line.
    shown = visible(line)
    match = _PRINTK.match(shown)
    if match is None:
        return None, shown
    return int(match[1]) * 1_000_000_000 + int(match[2]) * 1000, match[3]
