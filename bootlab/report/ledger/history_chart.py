"""The history of a system as a chart: a bar for each entry with its phases stacked, and a mark where a step was.

The bars are drawn in units of entries and ns and stretched by the browser, so that ledger_chart.js zooms by naming
another part of them; nothing that must keep its shape is stretched. Its figures stand in the table below it.
"""

from collections.abc import Sequence
from typing import Final

from bootlab.ledger.entry import LedgerEntry
from bootlab.ledger.steps import LedgerStep
from bootlab.report.ledger.site import label_of
from bootlab.report.ledger.text import verdict_words
from bootlab.report.parts.figures import ms
from bootlab.report.parts.line_chart import round_ticks
from bootlab.report.parts.markup import Html, join, tag
from bootlab.techniques.model.verdict import Verdict

HEIGHT: Final = 280
_ROOM: Final = 0.06
"""Of the height, above the longest bar: for the marks."""
_KINDS: Final = 8
_APART: Final = 150
"""More bars than these touch each other: gaps between them would be thinner than a dot of the screen."""
_GAP: Final = 0.12
_LOADING: Final = "loading"
_BETWEEN: Final = "in no phase"
_WHOLE: Final = "power-on to ready"
_FLAT: Final = 0.99
_LEAST: Final = 1000
"""A rest of the median boot below this share of it is rounding: phases are one boot's, the figure is a median."""

MARKS: Final = {
    Verdict.SHORTER: "gain",
    Verdict.FASTER: "gain",
    Verdict.LONGER: "loss",
    Verdict.SLOWER: "loss",
    Verdict.BROKE_IT: "loss",
}
"""Verdicts that are a step, and how each is marked."""
_MARK_WORDS: Final = (("gain", "step, shorter"), ("loss", "step, longer"), ("failed", "not ready"))


def phase_columns(entries: Sequence[LedgerEntry]) -> dict[str, list[int]]:
    """Return phase -> ns at each entry, in the order of the boot; 0 where an entry has it not, or was not ready."""
    order: list[str] = []
    taken = [_phases(entry) for entry in entries]
    for phases in taken:
        at = 0
        for name in phases:
            if name in order:
                at = order.index(name) + 1
            else:
                order.insert(at, name)
                at += 1
    columns = {name: [phases.get(name, 0) for phases in taken] for name in order}
    return {name: column for name, column in columns.items() if any(column)}


def history_chart(number: int, steps: Sequence[LedgerStep]) -> Html:
    """Return the chart of entries whose figures compare; `number` tells it from others of the page."""
    entries = [step.entry for step in steps]
    columns = phase_columns(entries)
    tops = [sum(column[at] for column in columns.values()) for at in range(len(entries))]
    highest = max([*tops, 1])
    end = round(highest * (1 + _ROOM))
    layers = []
    floor = [0] * len(entries)
    for index, (name, column) in enumerate(columns.items()):
        layers.append(
            tag("path", d=_bars(column, floor, end), class_=f"layer c{index % _KINDS}", data_phase=name)
        )  # fmt: skip
        floor = [low + taken for low, taken in zip(floor, column, strict=True)]
    plot = tag(
        "svg", *layers, *_marks(steps, tops, end), class_="bars", x="9%", y=0, width="90%", height=HEIGHT,
        viewBox=f"0 0 {len(entries)} {HEIGHT}", preserveAspectRatio="none",
    )  # fmt: skip
    scale = tag("g", *_scale(end), class_="scale")
    drawn = tag("svg", scale, plot, class_="axis history", width="100%", height=HEIGHT + 2, aria_hidden="true")
    keys = [_key(f"swatch-box c{index % _KINDS}", name) for index, name in enumerate(columns)]
    keys += [_key(f"dot-box {kind}", words) for kind, words in _MARK_WORDS]
    caption = (
        f"Up: ms from power-on. Across: {len(entries)} entries, {label_of(entries[0])} to {label_of(entries[-1])}, "
        "each as wide as any other, whatever time lies between them."
    )
    return tag(
        "figure", tag("p", join(keys, " "), class_="line-keys"), tag("div", class_="tools", hidden=True),
        tag("div", drawn, class_="plot-box"), tag("p", class_="chosen", role="status"), tag("figcaption", caption),
        class_="ledger-chart", data_series=number, data_end=end,
    )  # fmt: skip


def sparkline(steps: Sequence[LedgerStep]) -> Html:
    """Return the entries of a system as a line between its shortest and its longest; nothing for fewer than two."""
    times = [step.entry.ready_ns for step in steps if step.entry.ready_ns is not None]
    if len(times) < 2:
        return Html()
    # What moves by less than a hundredth is drawn as the little that it is.
    high = max(times)
    low = min(*times, round(high * _FLAT))
    points = " L".join(f"{at} {27 - 24 * (time - low) / max(high - low, 1):.1f}" for at, time in enumerate(times))
    line = tag("path", d=f"M{points}", class_="spark-line")
    return tag("svg", line, class_="spark", viewBox=f"0 0 {len(times) - 1} 30", preserveAspectRatio="none",
               width="100%", height=30, aria_hidden="true")  # fmt: skip


def _key(kind: str, words: str) -> Html:
    return tag("span", tag("i", class_=kind), words, class_="key-line")


def _phases(entry: LedgerEntry) -> dict[str, int]:
    ready_ns = entry.ready_ns
    if ready_ns is None:
        return {}
    found: dict[str, int] = {_LOADING: entry.load_ns} if entry.load_ns else {}
    for phase in entry.phases:
        found[phase.name] = found.get(phase.name, 0) + max(0, phase.duration_ns)
    rest_ns = ready_ns - sum(found.values())
    if not entry.phases:
        found[_WHOLE] = max(rest_ns, 0)
    elif rest_ns * _LEAST > ready_ns:
        found[_BETWEEN] = rest_ns
    return found


def _bars(column: Sequence[int], floor: Sequence[int], end: int) -> str:
    gap = _GAP if len(column) <= _APART else 0.0
    drawn = []
    for at, (taken, low) in enumerate(zip(column, floor, strict=True)):
        if taken:
            top, bottom = (HEIGHT * (1 - value / end) for value in (low + taken, low))
            drawn.append(f"M{at + gap / 2:g} {top:.2f}h{1 - gap:g}V{bottom:.2f}h{gap - 1:g}z")
    return "".join(drawn)


def _marks(steps: Sequence[LedgerStep], tops: Sequence[int], end: int) -> list[Html]:
    marks = []
    for at, (step, top) in enumerate(zip(steps, tops, strict=True)):
        failed = step.entry.ready_ns is None
        kind = "failed" if failed else MARKS.get(step.verdict) if step.verdict is not None else None
        if kind is None:
            continue
        y = HEIGHT - 5 if failed else HEIGHT * (1 - top / end) - 7
        words = step.entry.outcome if failed else f"{verdict_words(step)}, saved {ms(step.saved_ns, sign=True)} ms"
        # A line without a length is a dot by its round ends, which keep their shape in a stretched drawing.
        dot = tag(
            "line",
            x1=at + 0.5,
            x2=at + 0.5,
            y1=round(y, 1),
            y2=round(y, 1),
            class_=f"mark {kind}",
            data_top=-1 if failed else top,
        )
        marks.append(tag("g", tag("title", f"{label_of(step.entry)}: {words}"), dot))
    return marks


def _scale(end: int) -> list[Html]:
    parts = []
    for value in round_ticks(0, end):
        y = round(HEIGHT * (1 - value / end), 1)
        parts.append(tag("line", class_="grid", x1="9%", x2="99%", y1=y, y2=y))
        parts.append(tag("text", f"{value / 1e6:g}", x="8.4%", y=max(y + 4, 11), text_anchor="end"))
    return parts
