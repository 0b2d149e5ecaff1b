"""A file as importers read it: forwards only, in bounded memory, unpacked where it is compressed.

Nothing that a file claims is believed before it is read: a line that never ends is cut, and what must be held as a
whole is held up to a limit.
"""

import hashlib
import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final

from bootlab.errors import InputError
from bootlab.importers.reading.quoted import unquoted
from bootlab.importers.reading.tally import Tally
from bootlab.importers.reading.unpacking import DAMAGE, Replayed, as_utf8, read_up_to, unpacked
from bootlab.timeline.line_account import LineAccount

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

HEAD_BYTES: Final = 64 * 1024
"""How much of a file is read to recognise its format."""
FURTHER_BYTES: Final = 4 * 1024 * 1024
"""So much more is read of a console, on which loaders may write long before the kernel does."""
MOST_ROW_BYTES: Final = 64 * 1024
"""A longer line is cut here."""
MOST_WHOLE_BYTES: Final = 64 * 1024 * 1024
"""A file that must be held as a whole may be so long."""
_CHUNK: Final = 1 << 20
_LONGEST_LOOKED_AT: Final = 1024
_JSON: Final = re.compile(rb"\s{0,80}(?:\{|\[\s{0,80}[\[{\"])")
_NOISE: Final = 100

Watcher = Callable[[int], None]
_Reader = IO[bytes] | io.BufferedIOBase | io.RawIOBase


class FormatError(InputError):
    """A file is not what it was read as; the message names the file, the line, and what was expected there."""


@dataclass(frozen=True)
class Head:
    """How a file begins: up to HEAD_BYTES of it, unpacked. `look_on` returns what follows, up to FURTHER_BYTES."""

    name: str
    data: bytes
    look_on: Callable[[], bytes] = field(default=bytes, repr=False, compare=False)

    @cached_property
    def rows(self) -> list[str]:
        """Its lines; the last one may be cut."""
        return self.data.decode(errors="replace").splitlines()

    @cached_property
    def further_rows(self) -> list[str]:
        """The lines behind them, each cut, of a file of text that is longer; they are read when they are asked for."""
        # A line has some noise where power comes and goes.
        if _JSON.match(self.data) or self.data.count(0) * _NOISE > len(self.data):
            return []
        return [row[:_LONGEST_LOOKED_AT] for row in self.look_on().decode(errors="replace").splitlines()]


class Source:
    """One file to import. Open it with `open_source`; read it once, in one of the ways there are."""

    def __init__(self, name: str, stream: IO[bytes], watcher: Watcher | None = None) -> None:
        self.name = name
        """As the user gave it."""
        self._counted = _Counted(stream, watcher or (lambda _: None))
        with self._guarded():
            data, self.quoted = unquoted(as_utf8(unpacked(Replayed(self._counted))))
            self.head = Head(name, read_up_to(data, HEAD_BYTES), self._look_on)
        self._data = data
        self._stream: io.BufferedReader | None = None
        self._damage: InputError | None = None
        """Of what was looked at further on; it is told when the file is read."""
        self.cut_rows = 0
        """Lines that were longer than MOST_ROW_BYTES so far."""
        self.tally = Tally()
        """What becomes of its lines."""
        self._lines = 0

    @property
    def stream(self) -> IO[bytes]:
        """The bytes themselves, for formats that are not text."""
        if self._damage is not None:
            raise self._damage
        if self._stream is None:
            self._stream = io.BufferedReader(Replayed(self._data, self.head.data), _CHUNK)
        return self._stream

    @property
    def size(self) -> int:
        """Bytes of the file as it lies on disk, as far as it was read."""
        return self._counted.size

    @property
    def sha256(self) -> str:
        """The hash of the file as it lies on disk, as far as it was read."""
        return self._counted.digest.hexdigest()

    def drain(self) -> None:
        """Read to the end, so that `size` and `sha256` are of all of it."""
        while self._counted.read(_CHUNK):
            pass

    def rows(self) -> Iterator[tuple[int, str]]:
        """Yield each line with its number, counted from 1, without its end; what is not UTF-8 becomes U+FFFD.

        Who reads it tells `tally` what became of each line. Raises FormatError for a damaged compressed file.
        """
        readline, tally, number = self.stream.readline, self.tally, self._lines
        with self._guarded():
            while row := readline(MOST_ROW_BYTES):
                number += 1
                if len(row) == MOST_ROW_BYTES and not row.endswith(b"\n"):
                    self.cut_rows += 1
                    while (rest := readline(MOST_ROW_BYTES)) and not rest.endswith(b"\n"):
                        pass
                text = row.rstrip(b"\r\n").decode(errors="replace")
                tally.begin(text)
                self._lines = number
                yield number, text
            tally.end()

    def whole(self, most: int = MOST_WHOLE_BYTES) -> bytes:
        """Return all bytes. Raises FormatError when they are more than `most`, or damaged."""
        with self._guarded():
            data = read_up_to(self.stream, most + 1)
        if len(data) > most:
            raise FormatError(
                f"{self.name}: larger than {most // 1024**2} MiB, which no file of this format is",
                hint="--format names another format; bootlab import --formats lists them",
            )
        self._lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
        return data

    def account(self) -> LineAccount | None:
        """Return what became of each line, once the file was read; None for a format of which nothing is counted."""
        if not self.tally.counted():
            return None
        return self.tally.account(self._lines if self.tally.records is None else self.tally.records)

    def text(self, most: int = MOST_WHOLE_BYTES) -> str:
        """Return all of it as text; what is not UTF-8 becomes U+FFFD. Raises FormatError as `whole` does."""
        return self.whole(most).decode(errors="replace")

    def expected(self, what: str, *, row: int | None = None, got: str | None = None) -> FormatError:
        """Return the error to raise where `what` was expected. `got` is quoted, cut and made harmless."""
        place = f"{self.name}:{row}" if row is not None else self.name
        found = "" if got is None else f", got {ascii(got[:80])}"
        return FormatError(
            f"{place}: expected {what}{found}",
            hint="--format names another format; bootlab import --formats lists them",
        )

    def _look_on(self) -> bytes:
        if self._stream is not None:
            return b""
        try:
            with self._guarded():
                further = read_up_to(self._data, FURTHER_BYTES)
        except InputError as error:
            self._damage = error
            return b""
        self._stream = io.BufferedReader(Replayed(self._data, self.head.data + further), _CHUNK)
        return further

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except DAMAGE as error:
            raise self._damaged(error) from error
        except OSError as error:
            if error.errno is None:
                # What bz2 says of damage.
                raise self._damaged(error) from error
            raise InputError(f"{self.name}: cannot be read: {error.strerror or error}") from error

    def _damaged(self, error: Exception) -> FormatError:
        return FormatError(f"{self.name}: damaged, it cannot be unpacked: {error}", hint="copy it anew")


@contextmanager
def open_source(
    name: str, watcher: Watcher | None = None, folders: Callable[[Path], bytes | None] | None = None
) -> Iterator[Source]:
    """Open a file by its path, `-` for standard input. Raises InputError.

    `watcher` is told the bytes read so far. `folders` makes one file of a folder, or None of one that it does not know.
    """
    if name == "-":
        if sys.stdin is None:
            raise InputError("-: standard input is closed", hint="bootlab import FILE, or a pipe into it")
        yield Source("standard input", sys.stdin.buffer, watcher)
        return
    path = Path(name)
    is_folder = os.path.isdir(path)  # False for a name that cannot be, of which opening it says why
    try:
        packed = folders(path) if folders is not None and is_folder else None
        if is_folder and packed is None:
            raise InputError(
                f"{name}: a folder, and none of a format that is read: one of bootchart's logs would have to be in it",
                hint="bootlab import FILE..., for files of it that belong together",
            )
        stream: IO[bytes] = io.BytesIO(packed) if packed is not None else path.open("rb", buffering=0)
    except OSError as error:
        raise InputError(
            f"{name}: {error.strerror or error}", hint="bootlab import FILE, or - for standard input"
        ) from (error)
    with stream:
        yield Source(name, stream, watcher)


class _Counted(io.RawIOBase):
    """Passes bytes on and keeps their number and hash."""

    def __init__(self, stream: IO[bytes], watcher: Watcher) -> None:
        self._stream, self._watcher = stream, watcher
        self.size = 0
        self.digest = hashlib.sha256()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        view = memoryview(buffer).cast("B")
        data = self._stream.read(len(view)) or b""
        view[: len(data)] = data
        self.size += len(data)
        self.digest.update(data)
        self._watcher(self.size)
        return len(data)
