"""The three things that every recomputation must give: totals, top entries and phases, of a recording or of a text.

A recomputation reads a file's text with a few lines of its own, and never with an importer. What it found goes through
`figures`, which adds up; what an importer read goes through `figures_of`, and both must be equal.
"""

import bz2
import gzip
import lzma
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from decimal import Decimal

from bootlab.timeline.recording import Recording

S, MS, US = 1_000_000_000, 1_000_000, 1_000
TOP = 5

Part = tuple[str, int, int]
"""Name, start and end in ns."""
Took = tuple[str, int]
"""Name and ns."""


@dataclass(frozen=True)
class Figures:
    """`totals`: how many there are of each kind and their sum; `top`: the longest; `phases` in their order."""

    totals: dict[str, int]
    top: list[Took]
    phases: list[Part]
    earlier_ns: int = field(default=0, compare=False)
    """So much earlier than stated may be what a line tells: it came so much later than the most punctual ones."""


@dataclass(frozen=True)
class Origin:
    """One recording: a file under tests/data/importers, and what made it, which no other origin of its format says.

    `format`: read as that, where the file would be taken for another.
    `laid_over`: two clocks are in it and one is laid over the other, so places are good to the uncertainty that the
    recording states; of initcalls only the lengths are compared, and of moments those of the sources named.
    """

    path: str
    made_by: str
    again: Callable[[str], Figures]
    format: str | None = None
    laid_over: tuple[str, ...] = ()
    raw: bool = False
    """The recomputation takes the packed bytes, as Latin-1."""


def figures(
    *,
    spans: Iterable[Part] = (),
    moments: Iterable[int] = (),
    lengths: Iterable[Took] = (),
    phases: Iterable[Part] = (),
    series: Iterable[tuple[str, float]] = (),
    earlier_ns: int = 0,
) -> Figures:
    """Return totals, top and phases of what was found in a file. `series`: each figure's name and a boot's value."""
    begun, seen, took, values = list(spans), sorted(moments), list(lengths), list(series)
    named = [(name, end - start) for name, start, end in begun] + took
    cuts = list(phases)
    # What has neither spans nor lengths has its longest boots, or its longest phases.
    longest = named or [(name, round(value)) for name, value in values] or [(name, end - at) for name, at, end in cuts]
    return Figures(
        {
            "spans": len(begun),
            "ns in spans": sum(end - start for _, start, end in begun),
            "first start": min((start for _, start, _ in begun), default=0),
            "last end": max((end for _, _, end in begun), default=0),
            "moments": len(seen),
            "sum of moments": sum(seen),
            "lengths": len(took),
            "ns in lengths": sum(ns for _, ns in took),
            "values": len(values),
            "sum of values": round(sum(value for _, value in values)),
        },
        sorted(longest, key=lambda one: (-one[1], one[0]))[:TOP],
        cuts,
        earlier_ns,
    )


def figures_of(one: Recording, laid_over: tuple[str, ...] = ()) -> Figures:
    """Return the same of what an importer made of a file."""
    spans = [(span.name, span.start_ns, span.end_ns) for span in one.timeline.spans]
    lengths = [(length.name, length.took_ns) for length in one.lengths]
    if laid_over:
        apart = [span for span in one.timeline.spans if span.source in ("initcall", "probe")]
        lengths += [(span.name, span.duration_ns) for span in apart]
        spans = [(span.name, span.start_ns, span.end_ns) for span in one.timeline.spans if span not in apart]
    return figures(
        spans=spans,
        moments=[event.t_ns for event in one.timeline.events if not laid_over or event.source in laid_over],
        lengths=lengths,
        phases=[(phase.name, phase.start_ns, phase.end_ns) for phase in one.phases],
        series=[(series.name, value) for series in one.series for value in series.values],
    )


def uncertainty_ns(one: Recording) -> int:
    """Return what a recording states of how well one clock is laid over another."""
    stated = [re.search(r"\+- ([\d.]+) ms", note) for note in one.notes]
    return next((ns(found[1], MS) for found in stated if found is not None), 0)


def ns(number: str, unit_ns: int = S) -> int:
    """Return a printed number as ns, exactly."""
    return round(Decimal(number.replace(",", "")) * unit_ns)


def text_of(data: bytes) -> str:
    """Return a file's text, unpacked."""
    for magic, unpack in ((b"\xfd7zXZ", lzma.decompress), (b"\x1f\x8b", gzip.decompress), (b"BZh", bz2.decompress)):
        if data.startswith(magic):
            data = unpack(data)
    return data.decode(errors="replace").replace("\r", "")


def between(moments: Iterable[tuple[str, int]]) -> list[Part]:
    """Return what led to each moment but the first: the later one's name, from one to the other, if not 0."""
    known = list(moments)
    return [(name, start, end) for (_, start), (name, end) in zip(known, known[1:], strict=False) if end > start]


def following(cuts: Iterable[tuple[str, int]], end: int) -> list[Part]:
    """Return parts that follow each other: each lasts to the next one's start, the last to `end`."""
    known = list(cuts)
    ends = [start for _, start in known[1:]] + [end]
    return [(name, start, stop) for (name, start), stop in zip(known, ends, strict=True)]
