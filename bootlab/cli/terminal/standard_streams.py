"""Standard output and error that fail in words: a pipe that was closed is no error, a full disk is a clear one.

Whatever prints, a library included, meets the same two streams, so no verb has to think of them.
"""

import io
import os
import sys
from typing import TYPE_CHECKING, TextIO

from bootlab.errors import InputError, StoreError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def guard_streams() -> None:
    """Put guarded streams in place of sys.stdout and sys.stderr. Raises InputError when there is no standard output."""
    # Without one, what is said there is lost, and no reason to stop.
    sys.stderr = open(os.devnull, "w") if sys.stderr is None else _guarded(sys.stderr, told=False)  # noqa: SIM115
    if sys.stdout is None:
        raise InputError("standard output is closed", hint="send it to a file, or to /dev/null")
    sys.stdout = _guarded(sys.stdout, told=True)


def _guarded(stream: TextIO, *, told: bool) -> TextIO:
    try:
        raw = _Guarded(stream.fileno(), told)
    except (OSError, ValueError):
        # Not a file: somebody runs us within Python, and catches what we print.
        return stream
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors=stream.errors,
        line_buffering=stream.isatty() or not told,
    )


class _Guarded(io.RawIOBase):
    """A file descriptor to write to. `told`: an error is worth an exception; else it is passed over."""

    def __init__(self, descriptor: int, told: bool) -> None:
        self._descriptor = descriptor
        self._told = told
        self._lost = False

    def write(self, data: "ReadableBuffer", /) -> int | None:
        size = memoryview(data).nbytes
        if self._lost:
            return size
        try:
            return os.write(self._descriptor, data)
        except BlockingIOError:
            return None
        except BrokenPipeError:
            # `bootlab profile 1 | head`: the reader has what it wanted, and the verb goes on to its own end.
            self._lost = True
        except OSError as error:
            self._lost = True
            if self._told:
                raise StoreError(
                    f"standard output: {error.strerror or error}",
                    hint="send it elsewhere; a run that was made is on record, and bootlab report shows it",
                ) from error
        return size

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)
