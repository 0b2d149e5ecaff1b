"""Qualcomm's first boot loaders (PBL, SBL1, XBL) -> Recording: what they print on the console.

Format: Log Type - Time(microsec) - Message - Optional Info
B -     65310 - PBL, End                          since power-on
D -      4300 - sbl1_ddr_set_params, Delta        how long something took
S - Core 0 Frequency, 1516 MHz                    a fact
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.kernel.line import has_kernel_line
from bootlab.importers.reading.source import Head, Source
from bootlab.importers.reading.tally import Tally
from bootlab.importers.reading.text_in_place import LONGEST_TEXT, in_place
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import MOST_SPANS, Length, Recording
from bootlab.timeline.timeline import Timeline

FORMAT: Final = "xbl"
POWER_ON: Final = Clock("power-on", 1_000)
# Where PBL says only what its steps took, its end is a statistic: S - 151209061 - PBL, End
_MOMENT = re.compile(r"\s{0,20}(?:B|S(?=[ \d-]{5,40}[^,]{1,40}, End)) -\s{1,20}(?P<us>\d{1,12}) - (?P<name>\S.{0,400})")
_TOOK = re.compile(r"\s{0,20}D -\s{1,20}(?P<us>\d{1,12}) - (?P<name>\S.{0,400})")
_FACT = re.compile(r"\s{0,20}S - (?P<text>\S.{0,400})")
# SMSS -  Image Load, Start          SMSS -  Image Loaded, Delta - (0 Bytes)
_LOADED = re.compile(r"(?<=Image Load)ed$")
_EDGE = re.compile(r"(?P<image>[\w. -]{1,40}?), (?P<edge>Start|End)\b")
_HEAD = re.compile(r"\s{0,20}(?:S - )?(?:Format: Log Type - |Log [Tt]ype: B - )")
_IMAGES: Final = ("PBL", "SBL1", "XBL")
_MOST_FACTS: Final = 200


def recognise(head: Head) -> str:
    """Return the first line of the log, of a console without a kernel's log, which would say more."""
    told = [row for row in head.rows if _MOMENT.match(row)]
    titled = any(_HEAD.match(row) for row in head.rows)
    return told[0] if told and (titled or len(told) > 1) and not has_kernel_line(head) else ""


@dataclass
class _Loaders:
    events: list[Event] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    lengths: list[Length] = field(default_factory=list)
    facts: list[str] = field(default_factory=list)
    lines: list[tuple[int | None, str]] = field(default_factory=list)
    begun: dict[str, int] = field(default_factory=dict)
    """Steps whose length has not come yet, and when they began."""


def is_moment(line: str) -> bool:
    """Say whether a line is the start or the end of a loader."""
    found = _MOMENT.fullmatch(line)
    return found is not None and _EDGE.match(found["name"]) is not None


def read(source: Source, options: Options) -> Recording:
    """Return the loaders' moments, steps and lengths. Raises FormatError when there is no moment."""
    found = _Loaders()
    for _, row in source.rows():
        _take(row.rstrip(), found, source.tally)
    if not found.events:
        raise source.expected("lines such as `B -     65310 - PBL, End`")
    return Recording(
        format=IMPORTER.name,
        tool="Qualcomm XBL",
        timeline=Timeline.of(POWER_ON, found.events, found.spans),
        about_clock="microseconds since power-on, as the loaders count them",
        phases=tuple(_phases(sorted(found.events, key=lambda event: event.t_ns))),
        lengths=tuple(found.lengths),
        text=in_place(found.lines),
        facts={"loader": "; ".join(found.facts)[:LONGEST_TEXT]} if found.facts else {},
        notes=tuple(_notes(found.events)),
    )


def _notes(events: Sequence[Event]) -> Iterator[str]:
    # In a file's order: an image's first line comes behind the last one of the image before it.
    ended: tuple[str, int] | None = None
    for event in events:
        if (edge := _EDGE.match(event.name)) is None or edge["image"] not in _IMAGES:
            continue
        if edge["edge"] == "End":
            ended = edge["image"], event.t_ns
        elif ended is not None and event.t_ns < ended[1]:
            yield (
                f"{edge['image']} says that it began {(ended[1] - event.t_ns) / 1e6:.3f} ms before {ended[0]} had "
                f"ended: their counters differ by that much or more. Its phase is drawn from {ended[0]}'s end on."
            )


def _take(text: str, found: _Loaders, tally: Tally) -> None:
    moment, took = _MOMENT.fullmatch(text), _TOOK.fullmatch(text)
    if moment is not None and _is_in_order(moment, found.events) and len(found.events) < MOST_SPANS:
        tally.used("moments")
        t_ns, name = int(moment["us"]) * 1_000, moment["name"].rstrip(" -")
        found.events.append(Event(t_ns, "loader", name))
        found.lines.append((t_ns, ""))
        edge = _EDGE.match(name)
        if edge is not None and edge["edge"] == "Start":
            found.begun[edge["image"]] = t_ns
        elif edge is not None and edge["image"] not in _IMAGES:
            # A step whose end is a moment of its own has its length by that.
            start_ns = found.begun.pop(edge["image"], None)
            if start_ns is not None and start_ns <= t_ns:
                found.spans.append(Span(start_ns, t_ns, "loader", edge["image"]))
    elif took is not None and len(found.lengths) + len(found.spans) < MOST_SPANS:
        tally.used("lengths")
        name, _, about = took["name"].partition(", Delta")
        took_ns, start_ns = int(took["us"]) * 1_000, found.begun.pop(_LOADED.sub("", name), None)
        if start_ns is None:
            found.lengths.append(Length(took_ns, "loader", name, about.strip(" -")))
        else:
            found.spans.append(Span(start_ns, start_ns + took_ns, "loader", name, about=about.strip(" -")))
    elif _HEAD.match(text):
        tally.aside("heads")
    elif (fact := _FACT.fullmatch(text)) is not None and len(found.facts) < _MOST_FACTS:
        tally.used("facts")
        found.facts.append(fact["text"])
    elif text.strip():
        tally.text("other lines of the console")
        found.lines.append((None, text[:LONGEST_TEXT]))


def _is_in_order(moment: "re.Match[str]", before: Sequence[Event]) -> bool:
    # `B - 4122 - battery voltage` is a figure of something else. An image's own timer may begin anew.
    return not before or _EDGE.match(moment["name"]) is not None or int(moment["us"]) * 1_000 >= before[-1].t_ns


def _phases(events: Sequence[Event]) -> Iterator[Span]:
    # From an image's start to its end; a step has a start alone, and a length. PBL may say only when it ended.
    edges: dict[str, dict[str, int]] = {}
    for event in events:
        if (edge := _EDGE.match(event.name)) is not None:
            edges.setdefault(edge["image"], {}).setdefault(edge["edge"], event.t_ns)
    images = {name: edge for name, edge in edges.items() if "End" in edge or name in _IMAGES}
    before, last = 0, events[-1].t_ns
    for name, known in sorted(images.items(), key=lambda image: image[1].get("Start", 0)):
        start, end = known.get("Start", before), known.get("End", last)
        if start > before:
            yield Span(before, start, "phase", f"before {name}")
        if end > max(start, before):
            yield Span(max(start, before), end, "phase", name)
        before = max(before, start, end)
    if last > before and images:
        yield Span(before, last, "phase", "behind that")


IMPORTER: Final = Importer(FORMAT, "Qualcomm's boot loaders on the console: B - 65310 - PBL, End", recognise, read)
