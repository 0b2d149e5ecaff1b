"""Qualcomm's boot markers -> Recording: `cat /sys/kernel/debug/bootkpi/kpi_values`.

Format: bootkpi_reader() in drivers/soc/qcom/boot_marker.c of Qualcomm's kernels (msm-4.14), in boot_stats.c since 5.15,
whose file is /sys/kernel/boot_kpi/kpi_values, and the KPI_MARKER rows of some cars' kernels. The clock is the always-on
sleep timer, so bootloader, kernel and programs are on it alike.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from bootlab.importers.importer import Importer, Options
from bootlab.importers.reading.source import Head, Source
from bootlab.importers.reading.tally import Tally
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Event, Span
from bootlab.timeline.recording import MOST_SPANS, Length, Recording
from bootlab.timeline.timeline import Timeline

SLEEP_TIMER: Final = Clock("sleep timer", 1_000_000)
"""32.768 kHz, printed in milliseconds."""

# M - APPSBL Start -                       :1.221 seconds       "%-41s:%llu.%03llu seconds"; M: everybody's, D: a detail
# M - APPSBL Start -                             1.221 s        "%-40s%8llu.%03llu s"
_MARKER = re.compile(
    r"(?P<name>[A-Z] - \S.{0,80}?)(?:[ -]*: ?(?P<seconds>\d{1,9})\.(?P<millis>\d{3}) seconds"
    r"|[ -]* (?P<whole>\d{1,9})\.(?P<part>\d{3}) s$)"
)
# 101 KPI_MARKER 2s013000488ns SYS_KERNEL_END
_KPI = re.compile(r"\d{3} KPI_MARKER (?P<seconds>\d{1,9})s(?P<nanos>\d{9})ns (?P<name>\S.{0,80})")
_LOADER: Final = "M - APPSBL Start"
_LENGTH: Final = " Time"


@dataclass(frozen=True, slots=True)
class Marker:
    """A moment, or, for those called `... Time`, how long something took."""

    name: str
    t_ns: int


def recognise(head: Head) -> str:
    """Return the first row that is a marker."""
    return next((row for row in head.rows if _marker(row) is not None), "")


def read(source: Source, options: Options) -> Recording:
    """Return the markers of the first boot. Raises FormatError when there is none."""
    boots = list(parse((row for _, row in source.rows()), source.tally))
    if not boots:
        raise source.expected("rows such as `M - APPSBL Start -             :1.221 seconds`")
    moments = sorted((one for one in boots[0] if not one.name.endswith(_LENGTH)), key=lambda one: one.t_ns)
    lengths = [Length(one.t_ns, "loader", one.name) for one in boots[0] if one.name.endswith(_LENGTH)]
    main = [one for one in moments if not one.name.startswith("D - ")]
    more = f"The file holds {len(boots)} boots; this is the first."
    return Recording(
        format=IMPORTER.name,
        tool="Qualcomm boot markers",
        timeline=Timeline.of(SLEEP_TIMER, [Event(one.t_ns, "marker", one.name) for one in moments][:MOST_SPANS]),
        about_clock="the sleep timer, which runs from power-on",
        phases=tuple(_phases(main))[:MOST_SPANS],
        lengths=tuple(lengths[:MOST_SPANS]),
        notes=(more,) if len(boots) > 1 else (),
    )


def parse(rows: Iterable[str], tally: Tally) -> Iterator[list[Marker]]:
    """Yield the markers of each boot: one begins where the bootloader's start comes again."""
    boot: list[Marker] = []
    for row in rows:
        if (marker := _marker(row)) is None:
            continue
        tally.used("markers")
        if marker.name == _LOADER and any(one.name == _LOADER for one in boot):
            yield boot
            boot = []
        boot.append(marker)
    if boot:
        yield boot


def _marker(row: str) -> Marker | None:
    if (found := _MARKER.match(row)) is not None:
        seconds, millis = found["seconds"] or found["whole"], found["millis"] or found["part"]
        return Marker(found["name"], int(seconds) * 1_000_000_000 + int(millis) * 1_000_000)
    if (found := _KPI.match(row)) is not None:
        return Marker(found["name"].rstrip(), int(found["seconds"]) * 1_000_000_000 + int(found["nanos"]))
    return None


def _phases(moments: list[Marker]) -> Iterator[Span]:
    before, start = "before the first marker", 0
    for one in moments:
        yield Span(start, one.t_ns, "phase", before)
        before, start = f"from {one.name.removeprefix('M - ')}", one.t_ns


IMPORTER: Final = Importer("boot-kpi", "Qualcomm boot markers: /sys/kernel/debug/bootkpi/kpi_values", recognise, read)
