"""What a watch writes as it goes: lines as text, bytes as they came, and the recording that can be watched again."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from bootlab.cli.watch.output import Form, TextWriter
from bootlab.errors import StoreError
from bootlab.importers.serial.watch_file import Recorded, RecordedPort, header_line, recorded_line
from bootlab.measure.watch import Happening, WatchedLine


class TextFile:
    """Lines as text in a file whose name may hold strftime's words, begun anew every `rotate_s` seconds."""

    def __init__(self, name: str, form: Form, *, append: bool, rotate_s: float | None) -> None:
        self._name = name
        self._form = form
        self._append = append
        self._rotate_s = rotate_s
        self._begun = time.monotonic()
        self._open()

    def show(self, one: Happening) -> None:
        """Write what a screen would show of it, into the next file when this one is old enough. Raises StoreError."""
        if self._rotate_s is not None and time.monotonic() - self._begun >= self._rotate_s:
            self.close()
            self._begun = time.monotonic()
            self._open()
        self._writer.show(one)
        if isinstance(one, WatchedLine):
            with writing(self.path):
                self._file.flush()

    def close(self) -> None:
        """Close it. Raises StoreError when what is left cannot be written."""
        with writing(self.path):
            self._file.close()

    def _open(self) -> None:
        self.path = Path(time.strftime(self._name) if "%" in self._name else self._name)
        with writing(self.path):
            self._file = self.path.open("a" if self._append else "w", encoding="utf-8")
        self._writer = TextWriter(self._file, self._form, partial=False)


class RawFile:
    """The bytes of a line as they came, nothing added and nothing left out."""

    def __init__(self, path: Path, *, append: bool) -> None:
        self.path = path
        with writing(path):
            self._file: BinaryIO = path.open("ab" if append else "wb", buffering=0)

    def write(self, data: bytes) -> None:
        """Write all of it, without keeping any back. Raises StoreError."""
        with writing(self.path):
            while data:
                data = data[self._file.write(data) :]

    def close(self) -> None:
        """Close it; everything is written by then."""
        self._file.close()


class RecordingFile:
    """A recording: every read with its time (importers/serial/watch_file.py), on disk as it comes."""

    def __init__(self, path: Path, ports: Sequence[RecordedPort], start_ns: int, started: str) -> None:
        self.path = path
        with writing(path):
            self._file = path.open("w", encoding="utf-8")
            self._file.write(header_line(ports, start_ns, started))

    def write(self, one: Recorded) -> None:
        """Add one line to the recording, without keeping it back. Raises StoreError."""
        with writing(self.path):
            self._file.write(recorded_line(one))
            self._file.flush()

    def close(self) -> None:
        """Close it. Raises StoreError when what is left cannot be written."""
        with writing(self.path):
            self._file.close()


class writing:
    """Turns a failed write to `path` into the user's error."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        return

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, OSError):
            raise StoreError(
                f"{self._path}: cannot be written: {error.strerror or error}",
                hint="what came before is kept; give another file, or free some space",
            ) from error
