"""Sections that every page is made of: key figures, waterfall, families of boots, console, provenance.

Pure: values in, markup out. Every caption names the clock of its figures.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from bootlab.experiments.trial.result import Member
from bootlab.measure.record import BootRecord
from bootlab.report.boots.side_by_side import PhaseRow, Side, align
from bootlab.report.parts import charts
from bootlab.report.parts.console import Console, ShownLine
from bootlab.report.parts.figures import count, figure_name, flat, ms, percent, short_hash
from bootlab.report.parts.html_tables import Cell, Column, table
from bootlab.report.parts.markup import Content, Html, join, tag
from bootlab.system import BoardModel

_NEWLINE = Html("\n")


def section(name: str, title: str, *content: Content, lead: Content = None) -> Html:
    """Return a section that the page's contents can point at."""
    return tag(
        "section", tag("h2", title, id=f"{name}-title"), lead and tag("p", lead, class_="lead"), *content,
        id=name, aria_labelledby=f"{name}-title",
    )  # fmt: skip


def minus(figure: str) -> str:
    """Return a figure with a real minus sign, as print wants it."""
    return figure.replace("-", "\N{MINUS SIGN}")


def key_figure(name: str, kind: str, figure: Content, unit: str, note: Content) -> Html:
    """Return one of the large figures at the head of a page."""
    return tag(
        "div",
        tag("dt", name),
        tag("dd", tag("span", figure, class_="figure"), " ", tag("span", unit, class_="unit"), class_="value"),
        tag("dd", note, class_="note"),
        class_=f"key {kind}",
    )


def key_figures(*figures: Content) -> Html:
    """Return the figures of `key_figure` in a row."""
    return tag("dl", *figures, class_="keys")


def waterfall(sides: Sequence[Side], clock: str, *, stepwise: bool = False) -> Html:
    """Return the phases of the sides on one axis from power-on, one row per phase, with figures beside the bars.

    A change stands beside each figure but the first side's: against the first, or with `stepwise` the side before.
    """
    rows = align(sides)
    if not rows:
        return tag("p", "These boots have no two marks in common, so there are no phases to lay side by side.")
    end_ns = max(end for row in rows for _, end in row.spans)
    columns = [Column("phase"), Column("from power-on", "chart")]
    total = [Cell("power-on to ready"), Cell(charts.axis(end_ns))]
    if len(sides) == 1:
        whole_ns = sides[0].ready_ns or end_ns
        columns += [Column("took, ms", "number"), Column("share, %", "number share")]
        total += [Cell(ms(sides[0].ready_ns) or "not ready"), Cell("")]
        figures = [[Cell(ms(row.durations_ns()[0])), Cell(percent(row.durations_ns()[0], whole_ns))] for row in rows]
    else:
        columns += [Column(f"{side.title}, ms", f"number {side.kind}") for side in sides]
        total += _changes([side.ready_ns for side in sides], stepwise)
        figures = [_changes(row.durations_ns(), stepwise) for row in rows]
    legend = tag("span", *(tag("span", side.title, class_=f"swatch {side.kind}") for side in sides), class_="legend")
    return table(
        join(["Phases from power-on to ready, ms, ", figure_name(clock), ". ", legend if len(sides) > 1 else ""]),
        columns,
        [[Cell(row.name), Cell(_lanes(row, sides, end_ns)), *cells] for row, cells in zip(rows, figures, strict=True)],
        kind="waterfall",
        foot=total,
    )


def _lanes(row: PhaseRow, sides: Sequence[Side], end_ns: int) -> Html:
    lanes = [[charts.Bar(start, end, side.kind)] for side, (start, end) in zip(sides, row.spans, strict=True)]
    return charts.bars(lanes, end_ns, grid=True)


def _changes(times_ns: Sequence[int | None], stepwise: bool) -> list[Cell]:
    before = [None, *(times_ns[:-1] if stepwise else [times_ns[0]] * (len(times_ns) - 1))]
    return [_against(now_ns, before_ns) for now_ns, before_ns in zip(times_ns, before, strict=True)]


def _against(now_ns: int | None, before_ns: int | None) -> Cell:
    if now_ns is None:
        return Cell(tag("span", "not ready", class_="delta"))
    if before_ns is None:
        return Cell(ms(now_ns))
    change = tag("span", minus(ms(now_ns - before_ns, sign=True)), class_="delta")
    return Cell(join([ms(now_ns), change], " "))


def family(rows: Sequence[tuple[str, str, Sequence[int]]], clock: str) -> Html:
    """Return boots as dots, one row per (title, colour, ready times in ns), on one axis that fits them tightly."""
    values = [value for _, _, times in rows for value in times]
    if not values:
        return tag("p", "None of these boots was ready.")
    low, high = min(values), max(values)
    lines: list[Content] = []
    for title, kind, times in rows:
        lines += [tag("dt", title), tag("dd", charts.dots(times, low, high, kind))]
    ends = tag("p", tag("span", f"{low / 1e6:.3f} ms"), tag("span", f"{high / 1e6:.3f} ms"), class_="ends")
    if low == high:
        ends = tag("p", tag("span", f"all at {low / 1e6:.3f} ms"), class_="ends")
    note = (
        f"Each dot is one boot, {figure_name(clock)}. The axis runs from the lowest value to the highest, not from 0."
    )
    return tag("figure", tag("dl", *lines, class_="family"), ends, tag("figcaption", note))


def members_table(groups: Sequence[tuple[str, Sequence[Member]]], clock: str) -> Html:
    """Return the raw values of every boot, in ns, as (what was booted, its boots)."""
    columns = [
        Column("boot of"),
        Column("seed", "number"),
        Column("ready, ns", "number"),
        Column("instructions", "number"),
        Column("idle, ns", "number"),
        Column("outcome"),
        Column("null change", "code"),
        Column("run", "code"),
    ]
    rows = [
        [
            Cell(group),
            Cell(member.seed, member.seed),
            Cell(count(member.ready_ns), member.ready_ns),
            Cell(count(member.instructions), member.instructions),
            Cell(count(member.idle_ns), member.idle_ns),
            Cell(member.outcome),
            Cell(member.change),
            Cell(member.run),
        ]
        for group, members in groups
        for member in members
    ]
    caption = f"Every boot, raw: ns since power-on, {clock} clock"
    return scroll("every boot, raw", table(caption, columns, rows, kind="raw", sortable=True))


def as_members(records: Sequence[BootRecord]) -> list[Member]:
    """Return boots as the rows that `members_table` shows."""
    return [
        Member(
            seed=record.seed, ready_ns=record.ready_ns, instructions=record.instructions, idle_ns=record.idle_ns,
            outcome=record.outcome.value, run=record.run,
        )
        for record in records
    ]  # fmt: skip


def scroll(label: str, content: Content, kind: str = "") -> Html:
    """Return a box that scrolls inside the page; it takes focus, so that a keyboard can scroll it too.

    One of kind `sideways` has the height of its content, and scrolls only where the window is too narrow for it.
    """
    return tag("div", content, class_=f"scroll {kind}".strip(), tabindex=0, role="region", aria_label=label)


def fold(title: Content, *content: Content, opened: bool = False) -> Html:
    """Return content that opens under its title."""
    return tag("details", tag("summary", title), *content, open=opened)


def console_section(consoles: Sequence[Console]) -> Html:
    """Return the section of the consoles; empty when there are none."""
    if not consoles:
        return Html()
    lead = "Stamps are the guest's own (printk, s): they start later than power-on and tell order and distance only."
    return section("console", "Console", console_folds(consoles), lead=lead)


def console_folds(consoles: Sequence[Console]) -> Html:
    """Return each console behind a fold, the first one open."""
    return join(
        fold(
            join([console.title, tag("span", f"{count(len(console.lines))} lines", class_="aside")], " "),
            scroll(
                f"console, {console.title}",
                tag("pre", join(_console_line(line) for line in console.lines)),
                "console",
            ),
            opened=index == 0,
        )
        for index, console in enumerate(consoles)
    )


def _console_line(line: ShownLine) -> Html:
    stamp = "" if line.stamp_ns is None else f"{line.stamp_ns / 1e9:.6f}"
    said = tag("span", line.text, class_="said")
    gap = Html()
    if line.silence_ns is not None:
        gap = tag("span", f"{ms(line.silence_ns)} ms of silence", _NEWLINE, class_="silence")
    kind = "line mark" if line.text.startswith("bootlab: mark ") else "line"
    return join([gap, tag("span", tag("span", stamp.rjust(11), class_="stamp"), "  ", said, _NEWLINE, class_=kind)])


def pairs(lines: Sequence[tuple[str, Content]]) -> Html:
    """Return name and value lines."""
    return tag("dl", *(part for name, value in lines for part in (tag("dt", name), tag("dd", value))), class_="pairs")


def provenance(hashes: Mapping[str, str], host: Mapping[str, Any], lines: Sequence[tuple[str, Content]]) -> Html:
    """Return what was booted, where and how: hashes in full, host facts, and whatever else a page has."""
    return join([
        tag("h3", "This measurement"), pairs(lines),
        tag("h3", "Inputs, sha256"), pairs([(name, tag("code", digest)) for name, digest in hashes.items()]),
        tag("h3", "Host"), pairs(flat(host)),
    ])  # fmt: skip


def record_provenance(record: BootRecord, of: str = "") -> Html:
    """Return the section of what one boot was made of, and of its command. `of`: which of several, `before` or `2`."""
    lines: list[tuple[str, Content]] = [
        ("system", record.system), ("seed", str(record.seed)), ("started", record.started),
        ("host time", f"{record.wall_s:.1f} s from start to end, not a measure of the guest"),
        ("console sha256", tag("code", record.console_sha256)), ("run", tag("code", record.run)),
    ]  # fmt: skip
    if record.board_model is not None:
        lines.append(("board model", record.board_model.label))
    command = fold("Command", scroll("command line", tag("pre", " ".join(record.argv)), "command"))
    name = f"provenance-{of}" if of else "provenance"
    title = f"Provenance, {of}" if of else "Provenance"
    return section(name, title, provenance(record.hashes, record.host, lines), command)


def short_hash_list(hashes: Mapping[str, str], model: BoardModel | None = None) -> Html:
    """Return the hashes for the head of a page, short, and the board model, by which figures may be compared or not."""
    parts = [join([name, " ", tag("code", short_hash(digest))]) for name, digest in hashes.items()]
    if model is not None:
        parts.append(join(["board model ", tag("code", model.identity), f" ({model.words})"]))
    return tag("ul", *(tag("li", part) for part in parts), class_="hashes")
