"""What ftrace recorded, as its ring buffer lies in memory (per_cpu/cpuN/trace_pipe_raw) -> events, in order of time.

Pages of 4096 bytes: a time stamp, the bytes in use, then records, each a header of four bytes with its length and the
time since the one before (Linux 6.1, include/linux/ring_buffer.h and kernel/trace/ring_buffer.c). What a record's bytes
mean is in the event's `format` file. Unlike the text of `trace` it costs the machine that recorded it next to nothing.
"""

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

PAGE = 4096
_PAGE_HEADER = 16
_SIZE = (1 << 20) - 1
_PADDING, _TIME_EXTEND, _TIME_STAMP = 29, 30, 31
_DELTA_BITS = 27
_FIELD = re.compile(r"field:[^;]*?(\w+)(?:\[\d*\])?;\s*offset:(\d+);\s*size:(\d+);\s*signed:([01]);")
_CODES = {(1, "0"): "B", (2, "0"): "H", (4, "0"): "I", (8, "0"): "Q", (1, "1"): "b", (2, "1"): "h", (4, "1"): "i"}
_CODES |= {(8, "1"): "q"}


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `t`: of the trace's clock; `task`: the thread that ran, a vCPU's; `fields`: its numbers."""

    t: int
    name: str
    task: int
    fields: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Format:
    """An event's `format` file: field -> its place."""

    name: str
    number: int
    fields: Mapping[str, tuple[str, int]]

    @classmethod
    def parse(cls, text: str) -> "Format":
        """Return what the file says. Raises ValueError where it is none."""
        name, number = re.search(r"^name: (\w+)$", text, re.M), re.search(r"^ID: (\d+)$", text, re.M)
        if name is None or number is None:
            raise ValueError(f"no format of an event: {text[:80]!r}")
        fields = {
            field: ("<" + _CODES[int(size), signed], int(offset))
            for field, offset, size, signed in _FIELD.findall(text)
            if (int(size), signed) in _CODES
        }
        return cls(name[1], int(number[1]), fields)


def read_events(buffers: Sequence[bytes], formats: Sequence[Format]) -> list[Event]:
    """Return the events of all CPUs' buffers by time. Raises ValueError for a buffer that lost some."""
    numbered = {one.number: one for one in formats}
    events = [event for buffer in buffers for event in _of_buffer(buffer, numbered)]
    return sorted(events, key=lambda event: event.t)


def _of_buffer(buffer: bytes, formats: Mapping[int, Format]) -> Iterator[Event]:
    for start in range(0, len(buffer) - PAGE + 1, PAGE):
        t, commit = struct.unpack_from("<QQ", buffer, start)
        if commit >> 31 & 1:
            raise ValueError(f"page {start // PAGE} of a trace: events were lost ahead of it")
        yield from _of_page(buffer[start + _PAGE_HEADER : start + _PAGE_HEADER + (commit & _SIZE)], t, formats)


def _of_page(page: bytes, t: int, formats: Mapping[int, Format]) -> Iterator[Event]:
    at = 0
    while at + 4 <= len(page):
        (header,) = struct.unpack_from("<I", page, at)
        kind, delta = header & 31, header >> 5
        if kind == _PADDING and not delta:
            return
        more = struct.unpack_from("<I", page, at + 4)[0] if at + 8 <= len(page) else 0
        if kind in (_TIME_EXTEND, _TIME_STAMP):
            t = delta + (more << _DELTA_BITS) + (t if kind == _TIME_EXTEND else 0)
            at += 8
            continue
        t += delta
        if kind == _PADDING:
            at += 4 + more
            continue
        data, at = (at + 4, at + 4 + 4 * kind) if kind else (at + 8, at + 4 + more)
        (number,) = struct.unpack_from("<H", page, data)
        if (known := formats.get(number)) is not None:
            fields = {
                name: struct.unpack_from(code, page, data + offset)[0] for name, (code, offset) in known.fields.items()
            }
            yield Event(t, known.name, fields["common_pid"], fields)
