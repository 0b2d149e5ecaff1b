"""A recording that a mail quotes, `> ` or `>> ` before each of its lines, as a stream without these marks.

The lines stay the same lines, so their numbers and counts do. A file is quoted where nine of ten of its first lines
are: the sentences around what was quoted are not.
"""

import io
import re
from typing import TYPE_CHECKING, Final

from bootlab.importers.reading.unpacking import Reader, Replayed, read_up_to

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_LOOKED_AT: Final = 4096
_FEWEST_LINES: Final = 3
_CHUNK: Final = 1 << 16
_LONGEST_MARKS: Final = 64
_MARKS = re.compile(rb"(?m)^(?:>[ \t]?){1,20}")


class _Unquoted(io.RawIOBase):
    """A stream without the marks at the beginnings of its lines."""

    def __init__(self, stream: Reader) -> None:
        self._stream, self._ready, self._kept, self._ended = stream, b"", b"", False
        self._inside = False
        """Whether what comes next goes on with a line that was begun."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        view = memoryview(buffer).cast("B")
        while not self._ready and not self._ended:
            data = self._stream.read(_CHUNK) or b""
            self._ended = not data
            self._ready = self._without_marks(data)
        data, self._ready = self._ready[: len(view)], self._ready[len(view) :]
        view[: len(data)] = data
        return len(data)

    def _without_marks(self, data: bytes) -> bytes:
        # A line's beginning is kept back until its marks are whole.
        data = self._kept + data
        cut = len(data) if self._ended else data.rfind(b"\n") + 1
        if not self._ended and len(data) - cut > _LONGEST_MARKS:
            cut = len(data)
        taken, self._kept = data[:cut], data[cut:]
        if not taken:
            return b""
        first, inside = b"", self._inside
        self._inside = not taken.endswith(b"\n")
        if inside:
            first, newline, taken = taken.partition(b"\n")
            first += newline
        return first + _MARKS.sub(b"", taken)


def unquoted(data: Reader) -> tuple[Reader, bool]:
    """Return a stream without the marks of a quoting mail, and whether there were any."""
    first = read_up_to(data, _LOOKED_AT)
    whole = Replayed(data, first)
    lines = [line for line in first.splitlines() if line.strip()]
    marked = sum(line.startswith(b">") for line in lines)
    if marked < _FEWEST_LINES or marked * 10 < len(lines) * 9:
        return whole, False
    return _Unquoted(whole), True
