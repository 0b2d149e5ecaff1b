"""Firecracker's metrics file -> Recording: how long the VMM took to start, and to make or load snapshots.

Format: src/vmm/src/logger/metrics.rs of Firecracker 1.13, one JSON object a row, one row a minute or a flush. A length
is what it was last time; zero says that it has not happened yet.
"""

import json
from collections.abc import Iterable
from typing import Any, Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Head, Source
from bootlab.importers.reading.tally import Tally
from bootlab.timeline.clock import Clock
from bootlab.timeline.recording import Length, Recording
from bootlab.timeline.timeline import Timeline

_STAMP: Final = '"utc_timestamp_ms"'
_START: Final = "api_server"
_LATENCIES: Final = "latencies_us"
_LONGEST_US: Final = 10**12
_MOST: Final = 200


def recognise(head: Head) -> str:
    """Return the metrics' time stamp, where the first row is an object with it."""
    first = next((row for row in head.rows if row.strip()), "")
    return f"a JSON object with {_STAMP}" if first.startswith("{") and _STAMP in first else ""


def read(source: Source, options: Options) -> Recording:
    """Return the lengths that the rows hold. Raises FormatError when there is none."""
    lengths = parse((row for _, row in source.rows()), source.tally)
    if not lengths:
        raise source.expected(
            "rows of Firecracker's metrics with a figure above zero in api_server or latencies_us, which are written "
            "once the VMM has started by its jailer or with --start-time-us, or a snapshot was made or loaded"
        )
    return Recording(
        format=IMPORTER.name,
        tool="Firecracker",
        timeline=Timeline.of(Clock("firecracker", 1_000), ()),
        about_clock="the host's; the metrics say how long, not when",
        lengths=tuple(Length(us * 1_000, "vmm", name) for name, us in lengths.items()),
        notes=(
            "The metrics hold the last length of each kind; zeros, which say that it never happened, are left out.",
        ),
    )


def parse(rows: Iterable[str], tally: Tally) -> dict[str, int]:
    """Return name -> microseconds of the last figure above zero."""
    lengths: dict[str, int] = {}
    for row in rows:
        if _document(row) is not None:
            tally.used("flushes of the metrics")
        for group in (_START, _LATENCIES):
            for key, value in _object(row, group).items():
                if type(value) is int and 0 < value < _LONGEST_US and (len(lengths) < _MOST or key in lengths):
                    lengths[key.removesuffix("_us")[:80]] = value
    return lengths


def _document(row: str) -> dict[str, Any] | None:
    try:
        document = json.loads(row)
    except (ValueError, RecursionError):
        # The file is read while it is written, so its last row may be cut.
        return None
    return document if isinstance(document, dict) else None


def _object(row: str, group: str) -> dict[str, Any]:
    document = _document(row)
    found = document.get(group) if document is not None else None
    return (
        {key: value for key, value in found.items() if key.endswith("_us") or group == _LATENCIES}
        if isinstance(found, dict)
        else {}
    )


IMPORTER: Final = Importer(
    name="firecracker-metrics",
    title="Firecracker's metrics file, one JSON object a row",
    recognise=recognise,
    read=read,
)
