"""Lines through points as inline SVG: sweeps and storage speeds. The figures stand in a table beside it.

As in charts.py everything is placed in percent of the width and in pixels of the height, and nothing is scaled. Lines
differ by colour and by dash, and each point tells a pointer what it is.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from bootlab.report.parts.markup import Html, join, tag

_HEIGHT: Final = 260
_TOP: Final = 8
_LEFT: Final = 11.0
_WIDTH: Final = 86.0
_KINDS: Final = 8
"""Colours and dashes that lines.css has; the ninth line looks like the first, and the table tells them apart."""
_STEPS: Final = (1, 2, 2.5, 5, 10)
_FROM_ZERO: Final = 0.5
"""The axis leaves zero out when everything lies in the upper half."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A point. `y` in ns, with what its boots span; `note` is what a pointer finds, and without one it has no spot."""

    x: float
    y: float
    note: str = ""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class ChartLine:
    """One line; `dots` in the order of x."""

    name: str
    dots: Sequence[Dot]


@dataclass(frozen=True, slots=True)
class Across:
    """The horizontal axis: its title, and its labels as (x, words).

    `log`: equal factors are equally far apart. `joined` is False for names, between which nothing lies.
    """

    title: str
    ticks: Sequence[tuple[float, str]]
    log: bool = False
    joined: bool = True


def line_chart(lines: Sequence[ChartLine], across: Across, caption: str, *, log: bool = False) -> Html:
    """Return the chart with its legend and caption, on an axis of ms; at least one line with one point.

    `log`: equal factors of time are equally far apart, for times above zero.
    """
    values = [value for line in lines for dot in line.dots for value in (dot.low or dot.y, dot.high or dot.y)]
    low, high = min(values), max(values)
    if not log and low < _FROM_ZERO * high:
        low = 0.0
    marks = round_factors(low, high) if log else round_ticks(low, high)
    low = min(marks[0], low)
    if low == high:
        high = 2 * low + 1
    places = [across_at(x, across) for x, _ in across.ticks]
    places += [across_at(dot.x, across) for line in lines for dot in line.dots]
    first, last = min(places), max(places)

    def x_at(x: float) -> str:
        # Names stand in the middle of their share of the width.
        margin = 0.0 if across.joined else 12.0
        share = (across_at(x, across) - first) / (last - first) if last > first else 0.5
        return f"{margin + (100 - 2 * margin) * share:.3f}%"

    def y_at(y: float) -> float:
        share = math.log(y / low) / math.log(high / low) if log else (y - low) / max(high - low, 1)
        return round(_HEIGHT * (1 - share), 1)

    grid = [
        tag("line", class_="grid", x1="0%", x2="100%", y1=y_at(mark), y2=y_at(mark)) for mark in marks
    ]  # fmt: skip
    labels = [
        tag("text", f"{mark / 1e6:g}", x=f"{_LEFT - 1.2:g}%", y=_TOP + y_at(mark) + 4, text_anchor="end")
        for mark in marks
    ]
    below = [
        tag("text", words, x=x_at(x), y=_HEIGHT + 18, text_anchor="middle") for x, words in across.ticks
    ]  # fmt: skip
    drawn = [_drawn(line, index, across.joined, x_at, y_at) for index, line in enumerate(lines)]
    plot = tag(
        "svg", *grid, *drawn, *below, x=f"{_LEFT:g}%", y=_TOP, width=f"{_WIDTH:g}%", height=_HEIGHT, class_="plot"
    )
    chart = tag("svg", *labels, plot, class_="axis lines", width="100%", height=_HEIGHT + _TOP + 26, aria_hidden="true")
    zero = " Both axes show equal factors equally far apart." if log else " The axis of time does not start at zero."
    zero = "" if low == 0 else zero
    words = f"{caption} Up: ms. Across: {across.title}.{zero}"
    return tag("figure", legend([line.name for line in lines]), chart, tag("figcaption", words))


def legend(names: Sequence[str]) -> Html:
    """Return what the lines are, each with its stroke."""
    keys = [
        tag("span", tag("svg", tag("line", class_=_kind("stroke", index), x1=0, x2=28, y1=6, y2=6), width=28, height=12,
                        aria_hidden="true"), name, class_="key-line")
        for index, name in enumerate(names)
    ]  # fmt: skip
    return tag("p", join(keys, " "), class_="line-keys")


def round_ticks(low: float, high: float, most: int = 5) -> list[int]:
    """Return round values from `low` or a little below to `high` or a little below, about `most` of them."""
    span = max(high - low, 1)
    magnitude = 10 ** math.floor(math.log10(span / most))
    step = next(magnitude * factor for factor in _STEPS if magnitude * factor * most >= span)
    start = math.floor(low / step)
    return [round(step * number) for number in range(start, math.floor(high / step) + 1)]


def round_factors(low: float, high: float) -> list[int]:
    """Return the round values (1, 2, 5 and their tenfolds) from just below `low` to `high`."""
    found = [
        digit * 10**magnitude
        for magnitude in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        for digit in (1, 2, 5)
    ]
    first = max(value for value in found if value <= low)
    return [round(value) for value in found if first <= value <= high]


def across_at(x: float, across: Across) -> float:
    """Return where `x` lies on the axis, in its own unit: the logarithm where that is what is drawn."""
    return math.log10(x) if across.log else x


def _drawn(
    line: ChartLine, index: int, joined: bool, x_at: Callable[[float], str], y_at: Callable[[float], float]
) -> Html:
    parts: list[Html] = []
    if joined:
        for one, other in zip(line.dots, line.dots[1:], strict=False):
            parts.append(
                tag("line", class_=_kind("stroke", index), x1=x_at(one.x), x2=x_at(other.x), y1=y_at(one.y),
                    y2=y_at(other.y))
            )  # fmt: skip
    for dot in line.dots:
        if dot.low is not None and dot.high is not None and dot.low < dot.high:
            x, low, high = x_at(dot.x), y_at(dot.low), y_at(dot.high)
            parts.append(tag("line", class_=_kind("reach", index), x1=x, x2=x, y1=low, y2=high))
        if not dot.note:
            continue
        spot = tag("circle", class_=_kind("spot", index), cx=x_at(dot.x), cy=y_at(dot.y), r=4)
        parts.append(tag("g", tag("title", dot.note), spot))
    return join(parts)


def _kind(name: str, index: int) -> str:
    return f"{name} c{index % _KINDS}"
