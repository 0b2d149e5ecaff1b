"""Charts as inline SVG that scale with the page: bars on a time axis, a ladder's rungs, dots of a family.

Everything is placed in percent of the width and nothing is scaled, so lines stay thin and a chart reads the same on a
phone. Figures stand beside a chart as text; the drawing itself is hidden from screen readers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from bootlab.report.parts.markup import Html, join, tag

_BAR = 9
_GAP = 3
_STEPS = (1, 2, 2.5, 5, 10)


@dataclass(frozen=True, slots=True)
class Bar:
    """A span in ns on the chart's axis. `kind` becomes its CSS class and so its colour."""

    start_ns: int
    end_ns: int
    kind: str


def ticks(end_ns: int, most: int = 4) -> list[int]:
    """Return round times from zero up to `end_ns`, at most `most` steps apart."""
    if end_ns <= 0:
        return [0]
    magnitude = 1
    while magnitude * 10 * most < end_ns:
        magnitude *= 10
    step = next(int(magnitude * factor) for factor in _STEPS if magnitude * factor * most >= end_ns)
    return list(range(0, end_ns + 1, max(step, 1)))


def bars(lanes: Sequence[Sequence[Bar]], end_ns: int, *, grid: bool = False) -> Html:
    """Return one lane of bars below the other, on an axis from zero to `end_ns`. A bar is never too thin to be seen."""
    height = len(lanes) * (_BAR + _GAP) - _GAP
    lines = [_grid_line(time, end_ns) for time in ticks(end_ns)] if grid else []
    drawn = [
        tag(
            "rect",
            class_=f"bar {bar.kind}",
            x=_at(bar.start_ns, end_ns),
            y=index * (_BAR + _GAP),
            width=_at(max(bar.end_ns - bar.start_ns, end_ns // 400), end_ns),
            height=_BAR,
        )
        for index, lane in enumerate(lanes)
        for bar in lane
        if bar.end_ns > bar.start_ns
    ]
    return tag("svg", *lines, *drawn, class_="track", width="100%", height=height, aria_hidden="true")


def axis(end_ns: int) -> Html:
    """Return the labels of the axis that `bars` draws on, in ms."""
    labels = []
    times = ticks(end_ns)
    for time in times:
        near_end = end_ns > 0 and time / end_ns > 0.92
        anchor = "start" if time == 0 else "end" if near_end else "middle"
        words = f"{time / 1e6:g}" + (" ms" if time == times[-1] else "")
        labels.append(tag("text", words, x=_at(time, end_ns), y=11, text_anchor=anchor))
    return tag("svg", *labels, class_="axis", width="100%", height=14, aria_hidden="true")


def saving(saved_ns: int | None, spread_ns: int, low_ns: int, high_ns: int, kind: str) -> Html:
    """Return a bar to the right for a saving and to the left for a loss; the band round zero is the spread.

    The axis runs from `low_ns` (the largest loss, zero or below) to `high_ns` (the largest saving, zero or above).
    The verdict decides the colour (`kind`: gain, loss or same): a saving outside the spread may still be none, and
    one that fresh boots confirmed may lie inside of it.
    """
    low, high = min(low_ns, -spread_ns), max(high_ns, spread_ns)
    span = max(high - low, 1)

    def rect(kind: str, start_ns: int, end_ns: int, y: int, height: int) -> Html:
        place, width = 100 * (start_ns - low) / span, 100 * (end_ns - start_ns) / span
        return tag("rect", class_=kind, x=f"{place:.3f}%", y=y, width=f"{width:.3f}%", height=height)

    parts = [rect("noise", -spread_ns, spread_ns, 0, 13)]
    if saved_ns:
        parts.append(rect(f"bar {kind}", min(saved_ns, 0), max(saved_ns, 0), 3, 7))
    zero = f"{100 * -low / span:.3f}%"
    parts.append(tag("line", class_="zero", x1=zero, x2=zero, y1=0, y2=13))
    return tag("svg", *parts, class_="saving", width="100%", height=13, aria_hidden="true")


def dots(values: Sequence[int], low_ns: int, high_ns: int, kind: str) -> Html:
    """Return one dot per value on an axis from `low_ns` to `high_ns`."""
    span = high_ns - low_ns
    places = [3 + 94 * (value - low_ns) / span if span else 50.0 for value in values]
    line = tag("line", class_="grid", x1="3%", x2="97%", y1=8, y2=8)
    drawn = [tag("circle", class_=f"dot {kind}", cx=f"{place:.3f}%", cy=8, r=4) for place in places]
    return tag("svg", line, join(drawn), class_="dots", width="100%", height=16, aria_hidden="true")


def _grid_line(time: int, end_ns: int) -> Html:
    return tag("line", class_="grid", x1=_at(time, end_ns), x2=_at(time, end_ns), y1=0, y2="100%")


def _at(time_ns: int, end_ns: int) -> str:
    return f"{100 * time_ns / max(end_ns, 1):.3f}%"
