"""A recording as a trace in Perfetto's own form: messages of protocol buffers, for ui.perfetto.dev and its tools.

The few messages that it takes are written here: each is numbered fields, numbers in groups of seven bits. Their numbers
are those of protos/perfetto/trace/perfetto_trace.proto, which the tests read the file by.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from bootlab.report.exports.rows import ExportRow, edges_of, rows_of
from bootlab.timeline.recording import Recording

_BYTES: Final = 2
_BEGIN, _END, _INSTANT = 1, 2, 3
_SEQUENCE: Final = 1
_BOOT, _THREADS, _EVENTS = 1, 2, 3
"""Numbers of tracks, and of processes; those of rows follow."""
_FIRST_ROW: Final = 10
_CLEARED: Final = 1
"""SEQ_INCREMENTAL_STATE_CLEARED: the reader need not wait for what came before."""


def write_pftrace(one: Recording, path: Path) -> None:
    """Write a recording as a trace. Raises OSError."""
    with path.open("wb") as out:
        for packet in _packets(one):
            out.write(_field(1, packet))


def _packets(one: Recording) -> Iterator[bytes]:
    # Their times have no sign: what lies before the clock's zero, the firmware say, moves all of them.
    moved = -one.start_ns
    clock = f"{one.timeline.clock.name} clock, {one.timeline.clock.unit}" + (f", {moved} added" if moved else "")
    yield _packet(_track(_BOOT, process=(_BOOT, f"boot ({clock})")), first=True)
    rows = rows_of(one)
    if any(row.thread for row in rows):
        yield _packet(_track(_THREADS, process=(_THREADS, f"threads ({clock})")))
    for number, row in enumerate(rows, _FIRST_ROW):
        yield _packet(_track(number, parent=_THREADS if row.thread else _BOOT, name=row.title))
    if one.timeline.events:
        yield _packet(_track(_EVENTS, parent=_BOOT, name="Events"))
    for number, row in enumerate(rows, _FIRST_ROW):
        yield from _slices(row, number, moved)
    for event in one.timeline.events:
        yield _at(event.t_ns + moved, _track_event(_INSTANT, _EVENTS, event.name, event.source))


def _slices(row: ExportRow, number: int, moved: int) -> Iterator[bytes]:
    for t_ns, span, begins in edges_of(row):
        if begins:
            yield _at(t_ns + moved, _track_event(_BEGIN, number, span.name, span.source, span.about))
        else:
            yield _at(t_ns + moved, _track_event(_END, number))


def _packet(track: bytes, *, first: bool = False) -> bytes:
    return _join([_field(10, _SEQUENCE), *([_field(13, _CLEARED)] if first else []), _field(60, track)])


def _at(t_ns: int, event: bytes) -> bytes:
    return _join([_field(8, t_ns), _field(10, _SEQUENCE), _field(11, event)])


def _track(number: int, *, parent: int = 0, name: str = "", process: tuple[int, str] | None = None) -> bytes:
    parts = [_field(1, number)]
    if parent:
        parts += [_field(5, parent), _field(2, name)]
    if process is not None:
        parts.append(_field(3, _field(1, process[0]) + _field(6, process[1])))
    return _join(parts)


def _track_event(kind: int, track: int, name: str = "", category: str = "", about: str = "") -> bytes:
    parts = [_field(9, kind), _field(11, track)]
    if name:
        parts += [_field(22, category or "boot"), _field(23, name)]
    if about:
        parts.append(_field(4, _field(10, "about") + _field(6, about)))
    return _join(parts)


def _field(number: int, value: int | str | bytes) -> bytes:
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    # Text may hold halves of surrogate pairs, which no protocol buffer does.
    data = value.encode(errors="replace") if isinstance(value, str) else value
    return _varint(number << 3 | _BYTES) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)


def _join(parts: Iterable[bytes]) -> bytes:
    return b"".join(parts)
