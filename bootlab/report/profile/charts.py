"""Charts of a profile as inline SVG: the critical path as a strip, the boot graph, processes over time.

As in charts.py everything is placed in percent of the width. A span is named where it is wide enough, and a pointer
finds the name of any.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bootlab.report.parts.markup import Html, join, tag

_ROW: Final = 20
_LABELLED: Final = 0.05
_LEAST: Final = 0.0005
BINS: Final = 400
"""A row of the chart of processes is drawn in so many steps."""
_HEIGHT: Final = 16


@dataclass(frozen=True, slots=True)
class ChartSpan:
    """A span on the chart's axis, in row `row`; `kind` becomes its CSS class, `note` what a pointer finds."""

    start_ns: int
    end_ns: int
    kind: str
    name: str
    note: str
    row: int = 0


def strip(spans: Sequence[ChartSpan], start_ns: int, end_ns: int) -> Html:
    """Return spans on an axis from `start_ns` to `end_ns`. Spans too narrow to be seen are left out."""
    whole = max(end_ns - start_ns, 1)
    drawn: list[Html] = []
    for span in spans:
        share = (span.end_ns - span.start_ns) / whole
        if share < _LEAST:
            continue
        place = f"{100 * (span.start_ns - start_ns) / whole:.3f}%"
        bar = tag("rect", class_="body", width="100%", height=_ROW - 1)
        words = tag("text", span.name, x=5, y=14) if share >= _LABELLED else Html()
        drawn.append(
            tag("svg", tag("title", span.note), bar, words, class_=f"span {span.kind}", x=place, y=span.row * _ROW,
                width=f"{100 * share:.3f}%", height=_ROW)
        )  # fmt: skip
    rows = max((span.row for span in spans), default=0) + 1
    return tag("svg", *drawn, class_="strip", width="100%", height=rows * _ROW, aria_hidden="true")


def areas(
    columns: Sequence[tuple[str, Sequence[int]]], edges: Sequence[int], life: tuple[int, int] | None = None
) -> Html:
    """Return stacked columns of ns in each bin, the first at the bottom, as (CSS class, ns by bin).

    `edges`: of the bins, in ns. `life`: a ground drawn from when to when, in ns.
    """
    bins = len(edges) - 1
    parts: list[Html] = []
    if life is not None:
        span = max(edges[-1] - edges[0], 1)
        left, right = (bins * (min(max(time, edges[0]), edges[-1]) - edges[0]) / span for time in life)
        parts.append(tag("rect", class_="life", x=left, y=0, width=max(right - left, 0.5), height=_HEIGHT))
    below = [0.0] * bins
    for kind, values in columns:
        heights = [
            round(_HEIGHT * value / max(edges[index + 1] - edges[index], 1), 1) for index, value in enumerate(values)
        ]
        path = _steps(below, heights)
        if path:
            parts.append(tag("path", class_=kind, d=path))
        below = [low + height for low, height in zip(below, heights, strict=True)]
    return tag(
        "svg", *parts, class_="areas", viewBox=f"0 0 {bins} {_HEIGHT}", preserveAspectRatio="none", width="100%",
        height=_HEIGHT, aria_hidden="true",
    )  # fmt: skip


def _steps(below: Sequence[float], heights: Sequence[float]) -> str:
    # One closed box for each run of equal columns.
    boxes, at = [], 0
    while at < len(heights):
        end = at + 1
        while end < len(heights) and (heights[end], below[end]) == (heights[at], below[at]):
            end += 1
        if heights[at] > 0:
            boxes.append(f"M{at} {_HEIGHT - below[at]:g}v{-heights[at]:g}h{end - at}v{heights[at]:g}z")
        at = end
    return "".join(boxes)


def legend(kinds: Sequence[tuple[str, str]]) -> Html:
    """Return what the colours of a chart mean, as (CSS class, words)."""
    return tag("p", join((tag("span", words, class_=f"kind {kind}") for kind, words in kinds), " "), class_="kinds")
