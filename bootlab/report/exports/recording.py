"""A recording of another tool in the formats of the others: folded stacks, Perfetto, speedscope, CSV, JSON."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from bootlab.errors import InputError, StoreError
from bootlab.report.exports.folded import write_folded
from bootlab.report.exports.perfetto import complete, instant, named
from bootlab.report.exports.pftrace import write_pftrace
from bootlab.report.exports.speedscope import speedscope_document, write_speedscope
from bootlab.report.exports.svg import write_svg
from bootlab.report.exports.tables import Row, write_csv, write_json
from bootlab.report.parts.figures import visible
from bootlab.report.recording.tree import placed_spans, tree_of
from bootlab.report.recording.words import clock_words, rows_by_source, title_of
from bootlab.timeline.recording import Recording

Files = dict[str, Path]
_TRACKS: Final = 1
_THREADS: Final = 2


def export_recording(one: Recording, name: str, form: str, directory: Path) -> Files:
    """Write a recording in one of FORMATS and return the files by what they are.

    Raises InputError for a format that there is not, or that this recording has nothing for, StoreError when the
    directory cannot be written.
    """
    if form not in FORMATS:
        raise InputError(f"--export {form}: no such format", hint=f"there are {', '.join(FORMATS)}")
    try:
        directory.mkdir(parents=True, exist_ok=True)
        return FORMATS[form](one, name, directory)
    except OSError as error:
        raise StoreError(
            f"{directory}: cannot write exports: {error.strerror or error}",
            hint="--to DIR names a folder that can be written",
        ) from error


def recording_tables(one: Recording) -> dict[str, list[Row]]:
    """Return every table of a recording, by name; rows are flat. Times are in its clock's unit."""
    tables: dict[str, list[Row]] = {
        "phases": [{"name": phase.name, "start": phase.start_ns, "took": phase.duration_ns} for phase in one.phases]
    }
    for source, rows in rows_by_source(one).items():
        tables[source.replace(" ", "_")] = [
            {"name": row.name, "start": row.start_ns, "took": row.took_ns, "about": row.about} for row in rows
        ]
    tables["calls"] = [
        {"thread": placed.path[0], "stack": "; ".join(placed.path[1:]), "start": placed.span.start_ns,
         "took": placed.span.duration_ns, "own": placed.own_ns, "about": placed.span.about}
        for placed in placed_spans(one.timeline.spans)
    ]  # fmt: skip
    tables["stacks"] = [
        {"stack": "; ".join(stack.frames), "own": stack.own_ns, "calls": stack.calls} for stack in one.stacks
    ]
    tables["series"] = [
        {"name": series.name, "unit": series.unit, "boot": number, "value": value}
        for series in one.series
        for number, value in enumerate(series.values, 1)
    ]
    tables["events"] = [{"t": event.t_ns, "source": event.source, "name": event.name} for event in one.timeline.events]
    return tables


def _folded(one: Recording, name: str, directory: Path) -> Files:
    path = directory / "recording.folded"
    write_folded(_expect_stacks(one, name, "folded"), path, "elapsed")
    return {f"folded stacks, {one.timeline.clock.unit}": path}


def _svg(one: Recording, name: str, directory: Path) -> Files:
    path = directory / "recording.svg"
    write_svg(_expect_stacks(one, name, "svg"), path, "elapsed", title=visible(name), foot=clock_words(one))
    return {"flame graph": path}


def _expect_stacks(one: Recording, name: str, form: str) -> Any:
    tree = tree_of(one).tree
    if len(tree) <= 1:
        raise InputError(
            f"{name}: --export {form}: a recording of {one.format} has no stacks",
            hint="perfetto, csv and json have what it has",
        )
    return tree


def _csv(one: Recording, name: str, directory: Path) -> Files:
    folder = directory / "tables"
    folder.mkdir(exist_ok=True)
    return {f"table of {path.stem}": path for path in write_csv(recording_tables(one), folder)}


def _json(one: Recording, name: str, directory: Path) -> Files:
    path = directory / "tables.json"
    write_json(recording_tables(one), path)
    return {"all tables": path}


def _perfetto(one: Recording, name: str, directory: Path) -> Files:
    path = directory / "recording.perfetto.json"
    clock = f"{one.timeline.clock.name}, {one.timeline.clock.unit}"
    with path.open("w", encoding="ascii", newline="\n") as out:
        out.write(f'{{"displayTimeUnit":"ns","otherData":{{"clock":{json.dumps(clock)}}},"traceEvents":[\n')
        before = ""
        for event in _trace_events(one):
            out.write(before + json.dumps(event, separators=(",", ":")))
            before = ",\n"
        out.write("\n]}\n")
    return {"trace for ui.perfetto.dev": path}


def _pftrace(one: Recording, name: str, directory: Path) -> Files:
    path = directory / "recording.pftrace"
    write_pftrace(one, path)
    return {"trace for ui.perfetto.dev, in its own form": path}


def _speedscope(one: Recording, name: str, directory: Path) -> Files:
    document = speedscope_document(one, visible(name))
    if document is None:
        raise InputError(
            f"{name}: --export speedscope: nothing in a recording of {one.format} has a place, and it has no stacks",
            hint="csv and json have what it has",
        )
    path = directory / "recording.speedscope.json"
    write_speedscope(document, path)
    return {"profiles for speedscope.app": path}


def _trace_events(one: Recording) -> Iterator[dict[str, Any]]:
    yield named("process_name", _TRACKS, 0, "boot")
    yield named("process_name", _THREADS, 0, "threads")
    # Spans that overlap without being one inside the other need rows of their own.
    spans = [*one.phases, *(span for span in one.timeline.spans if not span.track)]
    rows: dict[tuple[str, int], int] = {}
    ends: dict[str, list[int]] = {}
    for span in sorted(spans, key=lambda span: (span.start_ns, -span.end_ns)):
        mine = ends.setdefault(span.source, [])
        row = next((row for row, end in enumerate(mine) if end <= span.start_ns), len(mine))
        mine[row : row + 1] = [span.end_ns]
        number = rows.setdefault((span.source, row), len(rows) + 1)
        yield {**complete(span.name, span.start_ns, span.end_ns, _TRACKS, number), "args": {"about": span.about}}
    for (source, _), number in rows.items():
        yield named("thread_name", _TRACKS, number, "Phases" if source == "phase" else title_of(source))
    threads: dict[str, int] = {}
    for span in one.timeline.spans:
        if span.track:
            number = threads.setdefault(span.track, len(threads) + 1)
            yield complete(span.name, span.start_ns, span.end_ns, _THREADS, number)
    for title, number in threads.items():
        yield named("thread_name", _THREADS, number, title)
    for event in one.timeline.events:
        yield instant(event.name, event.t_ns, _TRACKS, 0, "p")


FORMATS: Final[Mapping[str, Callable[[Recording, str, Path], Files]]] = {
    "folded": _folded,
    "perfetto": _perfetto,
    "pftrace": _pftrace,
    "speedscope": _speedscope,
    "svg": _svg,
    "csv": _csv,
    "json": _json,
}
"""Name of a format -> what writes it."""
