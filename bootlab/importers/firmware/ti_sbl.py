"""The profile that TI's second boot loader (SBL of the MCU+ SDK) prints on the console -> Recording.

    [BOOTLOADER PROFILE] System_init                      :      38003us
    [BOOTLOADER_PROFILE] SBL Total Time Taken             :      60416us

Each line is the time since the line above, the first since the loader's start, by its own counter. A second loader that
the first one starts counts anew, and nothing says how much later: its steps have lengths and no place.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.kernel.line import has_kernel_line
from bootlab.importers.reading.source import Head, Source
from bootlab.importers.reading.text_in_place import LONGEST_TEXT, in_place
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import MOST_SPANS, Length, Recording
from bootlab.timeline.timeline import Timeline

FORMAT: Final = "ti-sbl"
LOADER: Final = Clock("SBL", 1_000)
_LINE = re.compile(
    r"\s{0,9}(?:KPI_DATA: )?\[BOOTLOADER[_ ]PROFILE\] (?P<name>\S.{0,80}?)\s{0,60}:\s{0,20}(?P<value>.{0,60})"
)
_TIME = re.compile(r"(?P<us>\d{1,12})us\s{0,9}")
_TOTAL: Final = "SBL Total Time Taken"
_CORE = re.compile(r"\s{0,9}[\w-]{3,24}\s{0,9}")


@dataclass
class _Loader:
    """One of the loaders. `total_us` is None where its line has not come."""

    steps: list[tuple[str, int]] = field(default_factory=list)
    total_us: int | None = None
    facts: list[str] = field(default_factory=list)

    @property
    def sum_us(self) -> int:
        return sum(us for _, us in self.steps)

    @property
    def placed(self) -> bool:
        """Whether its steps fill its time, to a microsecond or two for each; else some of them were not printed."""
        return self.total_us is None or abs(self.total_us - self.sum_us) <= 2 * len(self.steps) + 2


def recognise(head: Head) -> str:
    """Return the first step, of a console without a kernel's log, which would say more."""
    found = ((row, _LINE.match(row)) for row in head.rows)
    told = next((row for row, match in found if match is not None and _TIME.fullmatch(match["value"])), "")
    return told if told and not has_kernel_line(head) else ""


def is_step(line: str) -> bool:
    """Say whether a line is a step of a loader, or its total."""
    found = _LINE.fullmatch(line)
    return found is not None and _TIME.fullmatch(found["value"]) is not None


def read(source: Source, options: Options) -> Recording:
    """Return the steps of every loader. Raises FormatError when there is none."""
    loaders: list[_Loader] = []
    lines: list[tuple[int | None, str]] = []
    cores = False
    for _, row in source.rows():
        found = _LINE.fullmatch(row)
        if found is None:
            if cores and _CORE.fullmatch(row) and loaders:
                source.tally.used("names of cores")
                loaders[-1].facts.append(row.strip())
            elif row.strip():
                cores = False
                source.tally.text("other lines of the console")
                lines.append((_events_end(loaders), row[:LONGEST_TEXT]))
            continue
        if not loaders or loaders[-1].total_us is not None:
            loaders.append(_Loader())
        if sum(len(one.steps) + len(one.facts) for one in loaders) >= MOST_SPANS:
            source.tally.leave_out(f"more than {MOST_SPANS} of their kind")
            continue
        time, cores = _TIME.fullmatch(found["value"]), found["name"] == "Cores present"
        if time is None:
            source.tally.used("facts")
            loaders[-1].facts.append(f"{found['name']} {found['value'].strip()}".strip())
        elif found["name"] == _TOTAL:
            source.tally.used("totals")
            loaders[-1].total_us = int(time["us"])
        else:
            source.tally.used("steps")
            loaders[-1].steps.append((found["name"], int(time["us"])))
    if not any(one.steps for one in loaders):
        raise source.expected("lines such as `[BOOTLOADER PROFILE] System_init                      :      38003us`")
    return _recording(loaders, lines)


def _events_end(loaders: list[_Loader]) -> int | None:
    # How many steps stood before a line of text, for its place among them.
    return sum(len(one.steps) for one in loaders)


def _recording(loaders: list[_Loader], lines: list[tuple[int | None, str]]) -> Recording:
    first = loaders[0]
    spans = tuple(_spans(first)) if first.placed else ()
    in_file: list[tuple[int | None, str]] = []
    texts = list(lines)
    for number, span in enumerate(spans, 1):
        while texts and (texts[0][0] or 0) < number:
            in_file.append((None, texts.pop(0)[1]))
        in_file.append((span.end_ns, ""))
    in_file += [(None, text) for _, text in texts]
    total_us = first.sum_us if first.total_us is None else first.total_us
    return Recording(
        format=IMPORTER.name,
        tool="TI SBL (MCU+ SDK)",
        timeline=Timeline.of(LOADER, [Event(span.end_ns, "loader", span.name) for span in spans], spans),
        about_clock="the loader's own counter; zero is its start",
        phases=(Span(0, total_us * 1_000, "phase", "SBL"),) if total_us else (),
        lengths=tuple(_lengths(loaders)),
        text=in_place(in_file),
        facts={"loader": "; ".join(fact for one in loaders for fact in one.facts)[:LONGEST_TEXT]}
        if any(one.facts for one in loaders)
        else {},
        notes=tuple(_notes(loaders)),
    )


def _spans(loader: _Loader) -> Iterator[Span]:
    before = 0
    for name, us in loader.steps:
        yield Span(before * 1_000, (before + us) * 1_000, "step", name)
        before += us


def _lengths(loaders: list[_Loader]) -> Iterator[Length]:
    for number, one in enumerate(loaders, 1):
        if number > 1 or not one.placed:
            about = f"of loader {number}" if len(loaders) > 1 else ""
            yield from (Length(us * 1_000, "step", name, about) for name, us in one.steps)
        if number > 1 and one.total_us is not None:
            yield Length(one.total_us * 1_000, "whole loader", f"loader {number}")


def _notes(loaders: list[_Loader]) -> Iterator[str]:
    if len(loaders) > 1:
        yield f"There are {len(loaders)} loaders; each counts from its own start, so only the first has a place."
    for number, one in enumerate(loaders, 1):
        which = f" of loader {number}" if len(loaders) > 1 else ""
        if one.total_us is None:
            yield f"The total{which} is missing: the console ends before it, or its line was lost."
        elif one.sum_us > one.total_us + 2 * len(one.steps) + 2:
            yield (
                f"The total{which} is {one.total_us} us and its steps add up to {one.sum_us} us, which is more: the "
                "loader counted them from another zero, so the steps have no place."
            )
        elif not one.placed:
            yield (
                f"The total{which} is {one.total_us} us and its steps add up to {one.sum_us} us: what is between has "
                "no name, so the steps have no place."
            )


IMPORTER: Final = Importer(
    FORMAT, "TI's SBL (MCU+ SDK) on the console: [BOOTLOADER PROFILE] System_init : 38003us", recognise, read
)
