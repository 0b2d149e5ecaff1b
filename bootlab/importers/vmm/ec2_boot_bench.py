"""ec2-boot-bench -> Recording: how long an EC2 instance took to run, to answer at all, and to open its SSH port.

Format: main() of ec2-boot-bench (commit 779db7d of 2022-08-22), four lines a run. Several runs in a file are a series.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Head, Source
from bootlab.importers.reading.tally import Tally
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Span
from bootlab.timeline.recording import MOST_SPANS, Recording, Series
from bootlab.timeline.timeline import Timeline

HOST: Final = Clock("host", 10_000_000)
"""The measuring host's: it asks for the instance's state every 50 ms, and knocks at port 22 every 10 ms."""

_STEPS: Final = (
    ("RunInstances API call", "RunInstances API call"),
    ("Moving from pending to running", "pending to running"),
    ("Moving from running to port closed", "running to port closed"),
    ("Moving from port closed to port open", "port closed to port open"),
)
_LABELS: Final = tuple(label for label, _ in _STEPS)
_ROW = re.compile(r"(?P<label>[A-Z][\w ]{5,50}?) took: (?P<sign>-?)(?P<seconds>\d{1,9})\.(?P<micros>\d{6}) s")
_NEVER_NS: Final = 120_000_000_000


@dataclass(frozen=True, slots=True)
class InstanceStep:
    """One step of a run. Not `seen`: the tool never saw its end and printed 120 s, to make parsing easier."""

    name: str
    took_ns: int
    seen: bool


def recognise(head: Head) -> str:
    """Return the first of the tool's lines."""
    return next((row for row in head.rows if (found := _ROW.match(row)) and found["label"] in _LABELS), "")


def read(source: Source, options: Options) -> Recording:
    """Return the first run as spans, and all of them as series. Raises FormatError when no run is whole."""
    runs = list(parse((row for _, row in source.rows()), source.tally))[:MOST_SPANS]
    if not runs:
        raise source.expected("the four lines of ec2-boot-bench, the first `RunInstances API call took: N s`")
    unseen = sum(not step.seen for run in runs for step in run)
    return Recording(
        format=IMPORTER.name,
        tool="ec2-boot-bench",
        timeline=Timeline.of(HOST, (), _spans(runs[0])),
        about_clock="the host that asked for the instance; zero is its call of RunInstances",
        phases=tuple(_spans(runs[0], "phase")),
        series=tuple(_series(runs)) if len(runs) > 1 else (),
        facts={"runs": str(len(runs))},
        notes=(
            f"{unseen} steps were never seen to end; the tool prints 120 s for such a one, and it is left out here.",
        )
        if unseen
        else (),
    )


def parse(rows: Iterable[str], tally: Tally) -> Iterator[list[InstanceStep]]:
    """Yield each run whose four lines are there, in their order."""
    steps: list[InstanceStep] = []
    for row in rows:
        found = _ROW.match(row)
        if found is None or found["label"] not in _LABELS:
            continue
        if found["label"] != _LABELS[len(steps)]:
            steps = []
            if found["label"] != _LABELS[0]:
                tally.leave_out("of a run that is not whole")
                continue
        tally.used("steps")
        took_ns = int(found["seconds"]) * 1_000_000_000 + int(found["micros"]) * 1_000
        # A port that was never seen closed "closed" 120 s after the instance ran, and the step behind it is made up of
        # two times of which one never was.
        seen = not found["sign"] and not (len(steps) >= 2 and took_ns == _NEVER_NS) and all(one.seen for one in steps)
        steps.append(InstanceStep(_STEPS[len(steps)][1], took_ns, seen))
        if len(steps) == len(_STEPS):
            yield steps
            steps = []


def _spans(run: list[InstanceStep], source: str = "step") -> list[Span]:
    at, spans = 0, []
    for step in run:
        if step.seen:
            spans.append(Span(at, at + step.took_ns, source, step.name))
            at += step.took_ns
    return spans


def _series(runs: list[list[InstanceStep]]) -> Iterator[Series]:
    for index, (_, name) in enumerate(_STEPS):
        values = tuple(float(run[index].took_ns) for run in runs if run[index].seen)
        if values:
            yield Series(name, "ns", values)
    whole = tuple(float(sum(step.took_ns for step in run)) for run in runs if all(step.seen for step in run))
    if whole:
        yield Series("RunInstances to port open", "ns", whole)


IMPORTER: Final = Importer(
    name="ec2-boot-bench",
    title="ec2-boot-bench: its four lines, of one run or of several",
    recognise=recognise,
    read=read,
)
