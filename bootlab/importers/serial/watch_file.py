"""Recordings of serial lines: every read with its time and bytes, as `bootlab watch --record` writes them.

JSON, a line each: a header, `[port, t_ns, base64]` for a read, `{"gone": port, ...}` where a line was lost, and
`{"end_ns": ...}` last. A recording that was cut short is good up to there.
"""

import base64
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from bootlab.errors import InputError

SCHEMA: Final = "bootlab.recording/1"
_LONGEST_BYTE_NS: Final = 1_000_000_000
_DAMAGE: Final = (ValueError, KeyError, TypeError, OverflowError, RecursionError)


@dataclass(frozen=True, slots=True)
class RecordedPort:
    """A line as it was when it was recorded. `byte_ns` is 0 where no line rate was known."""

    name: str
    kind: str
    baud: int | None
    byte_ns: int


@dataclass(frozen=True, slots=True)
class Header:
    """`start_ns` is on the clock of all times that follow; `started` the same moment in UTC, ISO 8601."""

    ports: tuple[RecordedPort, ...]
    start_ns: int
    started: str


@dataclass(frozen=True, slots=True)
class RecordedRead:
    """What was read from a port at once, and when, in ns of the host's clock."""

    port: int
    t_ns: int
    data: bytes


@dataclass(frozen=True, slots=True)
class RecordedLoss:
    """A port that gave no more: pulled out, or for another reason."""

    port: int
    t_ns: int
    unplugged: bool
    reason: str


@dataclass(frozen=True, slots=True)
class RecordedEnd:
    """The end of a recording."""

    t_ns: int


Recorded = RecordedRead | RecordedLoss | RecordedEnd


def header_line(ports: Sequence[RecordedPort], start_ns: int, started: str) -> str:
    """Return the first line of a recording, with its line end, as are all below."""
    document = {"schema": SCHEMA, "ports": [asdict(port) for port in ports], "start_ns": start_ns, "started": started}
    return json.dumps(document) + "\n"


def recorded_line(one: Recorded) -> str:
    """Return the line of one thing that happened."""
    if isinstance(one, RecordedRead):
        return f'[{one.port}, {one.t_ns}, "{base64.b64encode(one.data).decode()}"]\n'
    if isinstance(one, RecordedEnd):
        return json.dumps({"end_ns": one.t_ns}) + "\n"
    return json.dumps({"gone": one.port, "t_ns": one.t_ns, "unplugged": one.unplugged, "reason": one.reason}) + "\n"


def is_recording(head: bytes) -> bool:
    """Return whether a file that begins so is a recording."""
    return head.startswith(b'{"schema": "bootlab.recording/')


def parse_header(line: str) -> Header:
    """Return what a recording's first line says. Raises InputError when it is none, or one of a later bootlab."""
    try:
        document = json.loads(line)
        schema = document["schema"]
        if schema != SCHEMA:
            raise InputError(
                f"this recording is {_harmless(schema)}, and this bootlab reads {SCHEMA}", hint="use a newer bootlab"
            )
        ports = tuple(_parse_port(**port) for port in document["ports"])
        return Header(ports, int(document["start_ns"]), str(document["started"]))
    except _DAMAGE as error:
        raise InputError(
            f"not a recording: {_harmless(error) or type(error).__name__}", hint="bootlab watch --record writes one"
        ) from error


def parse_recorded(lines: Iterable[str], ports: int) -> Iterator[Recorded]:
    """Yield what the lines after the header hold, in order; a last line that was cut short is left out.

    Raises InputError with the line's number for any other that is damaged.
    """
    damaged: InputError | None = None
    for number, line in enumerate(lines, 2):
        if damaged is not None:
            raise damaged
        try:
            yield _parse(json.loads(line), ports)
        except _DAMAGE as error:
            damaged = InputError(f"line {number}: damaged: {_harmless(error) or type(error).__name__}")


def _harmless(said: object) -> str:
    # A file's words may be in it.
    return ascii(str(said)[:160])[1:-1]


def _parse_port(name: object, kind: object, baud: object, byte_ns: int) -> RecordedPort:
    if not 0 <= int(byte_ns) <= _LONGEST_BYTE_NS:
        raise ValueError(f"a byte of {byte_ns} ns")
    return RecordedPort(str(name), str(kind), None if baud is None else int(str(baud)), int(byte_ns))


def _parse(document: Any, ports: int) -> Recorded:
    if isinstance(document, list):
        port, t_ns, data = document
        one: RecordedRead | RecordedLoss = RecordedRead(int(port), int(t_ns), base64.b64decode(data, validate=True))
    elif "end_ns" in document:
        return RecordedEnd(int(document["end_ns"]))
    else:
        unplugged, reason = bool(document["unplugged"]), str(document["reason"])
        one = RecordedLoss(int(document["gone"]), int(document["t_ns"]), unplugged, reason)
    if not 0 <= one.port < ports:
        raise ValueError(f"there is no port {one.port}")
    return one
