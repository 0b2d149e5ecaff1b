"""A recording as a file for speedscope.app: a profile for each row of spans, or one of all stacks where it has those.

By https://www.speedscope.app/file-format-schema.json: frames are named once, profiles name them by their index.
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from bootlab import __version__
from bootlab.report.exports.rows import ExportRow, edges_of, rows_of
from bootlab.timeline.recording import Recording, Stack

SCHEMA: Final = "https://www.speedscope.app/file-format-schema.json"


class _Frames:
    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def number(self, name: str) -> int:
        return self.numbers.setdefault(name, len(self.numbers))


def speedscope_document(one: Recording, name: str) -> dict[str, Any] | None:
    """Return the file's document; None for a recording that has nothing with a place, and no stacks."""
    frames = _Frames()
    # Without a rate a counter's steps are no nanoseconds.
    unit = "nanoseconds" if one.timeline.clock.unit == "ns" else "none"
    profiles = [_evented(row, unit, frames) for row in rows_of(one)]
    if one.stacks:
        profiles.insert(0, _sampled(one.stacks, unit, frames))
    if not profiles:
        return None
    return {
        "$schema": SCHEMA,
        "name": name,
        "exporter": f"bootlab {__version__}",
        "activeProfileIndex": 0,
        "shared": {"frames": [{"name": frame} for frame in frames.numbers]},
        "profiles": profiles,
    }


def write_speedscope(document: dict[str, Any], path: Path) -> None:
    """Write a document of `speedscope_document`. Raises OSError."""
    with path.open("w", encoding="ascii", newline="\n") as out:
        json.dump(document, out, separators=(",", ":"))
        out.write("\n")


def _evented(row: ExportRow, unit: str, frames: _Frames) -> dict[str, Any]:
    events = [
        {"type": "O" if begins else "C", "frame": frames.number(span.name), "at": t_ns}
        for t_ns, span, begins in edges_of(row)
    ]
    return {"type": "evented", "name": row.title, "unit": unit, "startValue": events[0]["at"],
            "endValue": events[-1]["at"], "events": events}  # fmt: skip


def _sampled(stacks: Iterable[Stack], unit: str, frames: _Frames) -> dict[str, Any]:
    own = [stack for stack in stacks if stack.own_ns > 0]
    return {"type": "sampled", "name": "all stacks", "unit": unit, "startValue": 0,
            "endValue": sum(stack.own_ns for stack in own),
            "samples": [[frames.number(frame) for frame in stack.frames] for stack in own],
            "weights": [stack.own_ns for stack in own]}  # fmt: skip
