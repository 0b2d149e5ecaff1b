"""Sections of the profile's page about the whole boot: phases, critical path, waits, advice, the account."""

from collections.abc import Sequence
from dataclasses import replace

from bootlab.findings.advise import SMALLEST_SHARE, Advice, AdviceItem, Remedy
from bootlab.profile.tables.account import Account, Balance
from bootlab.profile.tables.activity import Activity, Bound, PhaseActivity
from bootlab.profile.tree.call_tree import CallTree
from bootlab.profile.tree.differential import TreeDifference
from bootlab.profile.waits.critical_path import CriticalPath, PathSegment
from bootlab.report.parts import charts
from bootlab.report.parts.figures import COUNTED, count, ms, percent, price_words
from bootlab.report.parts.html_tables import Cell, Column, table
from bootlab.report.parts.markup import Content, Html, join, tag
from bootlab.report.parts.sections import fold, minus, scroll
from bootlab.report.profile.charts import ChartSpan, legend, strip
from bootlab.report.profile.downloads import csv_link
from bootlab.report.profile.table_columns import code, columns_of, milliseconds, number
from bootlab.report.profile.waits import woken

_FUNCTIONS = 40
_GROUPS = 20
_SEGMENTS = 300
_BOUND = {Bound.CPU: "CPU", Bound.IO: "I/O", Bound.WAIT: "waiting"}
PATH_KINDS = {
    "firmware": "stage",
    "loader": "stage",
    "SPL": "stage",
    "OpenSBI": "stage",
    "U-Boot": "stage",
    "decompressor": "stage",
    "running": "kernel",
    "runnable": "runnable",
    "waiting": "wait",
}
"""What the critical path does -> its colour, one of tree_blocks.KINDS."""


def functions(tree: CallTree, goal: str) -> Html:
    """Return the functions that executed most in `tree`, which ends at `goal`.

    The page's scripts make the table follow the flame graph.
    """
    whole = int(tree.total_instructions[0])
    rows = [
        [
            code(one.name), number(one.self_instructions),
            Cell(percent(one.self_instructions, whole), one.self_instructions), number(one.total_instructions),
            Cell(percent(one.total_instructions, whole), one.total_instructions),
        ]
        for one in tree.top_functions(_FUNCTIONS)
    ]  # fmt: skip
    columns = columns_of("function`", "itself>", "itself, %>", "with all it called>", "with all, %>")
    caption = join([
        f"The {len(rows)} functions that took most themselves. ",
        tag("span", f"Of everything up to {goal}, in instructions, which the virtual clock counts.", class_="of-what"),
    ])  # fmt: skip
    return table(caption, columns, rows, kind="functions", sortable=True)


def changed_functions(trees: TreeDifference, goal: str) -> Html:
    """Return the functions whose own instructions up to `goal` changed most.

    The page's scripts make the table follow the flame graph.
    """
    rows = []
    for one in trees.functions("instructions")[:_FUNCTIONS]:
        change, total = one.self_after - one.self_before, one.total_after - one.total_before
        if change:
            rows.append([
                code(one.name), number(one.self_before), number(one.self_after),
                number(change, minus(f"{change:+,}")), number(total, minus(f"{total:+,}")),
            ])  # fmt: skip
    columns = columns_of("function`", "itself, before>", "itself, after>", "change>", "change with all it called>")
    caption = join([
        f"The {len(rows)} functions that changed most themselves. ",
        tag("span", f"Of everything up to {goal}, in instructions, which the virtual clock counts.", class_="of-what"),
    ])  # fmt: skip
    return table(caption, columns, rows, kind="functions", sortable=True)


def phases(activity: Activity, clock: str) -> Html:
    """Return each phase, and each of the system's timings, with what it was bound by.

    A bar has executing, waiting for I/O, and other waiting.
    """
    if not activity.phases:
        return tag("p", "This boot reached no two marks, so there are no phases.")
    colours = legend(
        (("run", "executing"), ("io", "a request or the card waited for"), ("wait", "waiting, idle or busy"))
    )
    caption = join([f"Phases, ms on the {clock} clock. What a phase is bound by: ", activity.rule, "."])
    whole = _bound_table("phase", caption, activity.phases)
    felt = _bound_table("timing", join(["The system's timings."]), activity.timings) if activity.timings else Html()
    return join([whole, felt, colours])


def _bound_table(what: str, caption: Html, rows: Sequence[PhaseActivity]) -> Html:
    end_ns = max(phase.end_ns for phase in rows)
    columns = columns_of(
        what,
        "from power-on|",
        "took, ms>",
        "share, %>",
        "bound by",
        "busy waits, ms>",
        "idle, ms>",
        "I/O under way, ms>",
    )
    cells = [
        [
            Cell(phase.name), Cell(_phase_bar(phase, end_ns)), milliseconds(phase.duration_ns),
            Cell(percent(phase.duration_ns, end_ns), phase.duration_ns),
            Cell(tag("span", _BOUND[phase.bound], class_=f"bound {phase.bound.value}")),
            milliseconds(phase.busy_wait_ns), milliseconds(phase.idle_ns), milliseconds(phase.io_ns),
        ]
        for phase in rows
    ]  # fmt: skip
    # Timings may overlap, so that their sum is nothing.
    spent = ((one.busy_wait_ns, one.idle_ns, one.io_ns) for one in rows)
    total = [Cell("all of it"), Cell(charts.axis(end_ns)), milliseconds(end_ns), Cell(""), Cell(""),
             *(milliseconds(sum(column)) for column in zip(*spent, strict=True))]  # fmt: skip
    return table(caption, columns, cells, kind="waterfall phases", foot=total if what == "phase" else ())


def _phase_bar(phase: PhaseActivity, end_ns: int) -> Html:
    edges, at = [], phase.start_ns
    io_ns = phase.idle_io_ns + phase.busy_wait_io_ns
    waiting_ns = phase.idle_ns + phase.busy_wait_ns - io_ns
    for kind, ns in (("run", phase.busy_ns - phase.busy_wait_ns), ("io", io_ns), ("wait", waiting_ns)):
        edges.append(charts.Bar(at, at + ns, kind))
        at += ns
    return charts.bars([edges], end_ns, grid=True)


def critical_path(path: CriticalPath) -> Html:
    """Return the path as a strip, what it spent its time on, and each of its segments behind a fold."""
    spans = [
        ChartSpan(one.start_ns, one.end_ns, PATH_KINDS[one.kind.value], one.what or one.name, segment_note(one), 1)
        for one in path.segments
    ]
    totals = join(
        (join([tag("strong", ms(ns)), f" ms {kind.value} ({percent(ns, path.ready_ns)} %)"])
         for kind, ns in path.totals.items() if ns), ", "
    )  # fmt: skip
    kinds = (("stage", "firmware, bootloader, decompressor"), ("kernel", "running"),
             ("runnable", "could run, another did"), ("wait", "waiting"))  # fmt: skip
    groups = path.grouped()
    rows = [
        [Cell(one.kind.value), code(one.name), Cell(one.what), milliseconds(one.total_ns),
         Cell(percent(one.total_ns, path.ready_ns), one.total_ns), number(one.count), milliseconds(one.idle_ns)]
        for one in groups[:_GROUPS]
    ]  # fmt: skip
    columns = columns_of("how", "who`", "what", "ms>", "share, %>", "times>", "machine idle, ms>")
    caption = f"The {len(rows)} longest of {count(len(groups))} things that the path went through, virtual clock."
    return join([
        tag("p", totals, ".", class_="totals"),
        tag("figure", strip([*_owners(path.segments), *spans], 0, path.ready_ns), charts.axis(path.ready_ns),
            legend(kinds), class_="path"),
        table(caption, columns, rows, kind="listing", sortable=True),
        _segments(path),
    ])  # fmt: skip


def _owners(segments: Sequence[PathSegment]) -> list[ChartSpan]:
    # Whose the path is, over its segments: those of one task that follow each other, as one.
    spans: list[ChartSpan] = []
    for one in segments:
        kind = "stage" if one.task is None else "task"
        if spans and (spans[-1].name, spans[-1].end_ns) == (one.name, one.start_ns):
            spans[-1] = replace(spans[-1], end_ns=one.end_ns)
        else:
            spans.append(ChartSpan(one.start_ns, one.end_ns, kind, one.name, one.name))
    return spans


def segment_name(one: PathSegment) -> str:
    """Return a segment in a few words: who, and what."""
    return f"{one.name}: {one.what}" if one.task is not None else one.name


def segment_note(one: PathSegment) -> str:
    """Return a segment in one line, with its exact time."""
    parts = [f"{one.kind.value}, {count(one.duration_ns)} ns", segment_name(one)]
    if one.wait is not None:
        parts.append(woken(one.wait.waker))
    return "; ".join(parts)


def _segments(path: CriticalPath) -> Html:
    columns = columns_of("from, ms>", "ms>", "how", "who`", "what", "most of it in", "machine idle, ms>")
    shown = path.longest(_SEGMENTS)
    rows = [
        [milliseconds(one.start_ns), milliseconds(one.duration_ns), Cell(one.kind.value), code(one.name),
         Cell(one.what), Cell(", ".join(f"{frame.name} {ms(frame.ns)}" for frame in one.frames)),
         milliseconds(one.idle_ns)]
        for one in sorted(shown, key=lambda one: one.start_ns)
    ]  # fmt: skip
    caption = (
        f"The {count(len(shown))} longest of {count(len(path.segments))} segments, in the order of time, virtual clock"
    )
    return fold(
        f"Segments ({count(len(path.segments))})",
        scroll("segments of the critical path", table(caption, columns, rows, kind="raw", sortable=True)),
        csv_link("critical-path.csv", columns, rows),
    )


def advice(value: Advice, most: int = 25) -> Html:
    """Return what costs what, and what could remove it."""
    price = "ms>" if value.price is None else f"{price_words(value.price.model)}, ms>"
    counted = [] if value.price is None else [f"{COUNTED}, ms>"]
    columns = columns_of(price, "share, %>", *counted, "what", "technique`", "alone, estimated, ms>", "risk")
    rows = [_advised(item, value) for item in value.items[:most]]
    of = "on the virtual clock" if value.price is None else price_words(value.price.model)
    caption = (
        f"Where {ms(value.total_ns)} ms {of} went; no line holds what is in a line above it. First "
        "what the catalogue can remove, then the largest of what it cannot."
    )
    return table(caption, columns, rows, kind="listing advice", sortable=True)


def _advised(item: AdviceItem, value: Advice) -> list[Cell]:
    remedy, total_ns = item.remedy, value.total_ns
    counted_ns = item.instructions * (value.ns_per_instruction or 1) + item.idle_ns
    technique: Content = ""
    if remedy is not None:
        others = f"and in other threads: {ms(remedy.others_ns)} ms"
        worked = [tag("span", others, class_="detail")] if remedy.others_ns >= SMALLEST_SHARE * total_ns else []
        technique = join([tag("code", remedy.technique), *worked, *(_instead(one, item) for one in item.instead)])
    estimated_ns = remedy.estimated_ns if remedy else None
    return [
        milliseconds(item.cost_ns), Cell(f"{100 * item.share:.1f}", item.cost_ns),
        *([milliseconds(counted_ns)] if value.price is not None else []), Cell(item.what),
        Cell(technique, remedy.technique if remedy else ""), Cell(_estimated(remedy) if remedy else "", estimated_ns),
        Cell(remedy.risk if remedy else ""),
    ]  # fmt: skip


def _instead(one: Remedy, item: AdviceItem) -> Html:
    word = "in part" if 2 * one.estimated_ns < item.cost_ns else "or"
    risk = "" if one.risk == "none" else f", risk {one.risk}"
    return tag("span", f"{word} {one.technique}, {_estimated(one)} ms{risk}", class_="detail")


def _estimated(remedy: Remedy) -> str:
    # What something else does instead is spared in part only.
    return ("< " if remedy.replaced else "") + ms(remedy.estimated_ns)


def account(value: Account) -> Html:
    """Return whether the profile adds up, at ready and at its end."""
    sides: list[tuple[str, Balance]] = [(f"to {value.ready.at}", value.ready)]
    if value.end != value.ready:
        sides.append(("to the end", value.end))
    lines = [
        ("instructions, QEMU's own count", [count(one.instructions) for _, one in sides]),
        ("instructions in the flame graph", [count(one.attributed_instructions) for _, one in sides]),
        ("executed, ns", [count(one.instructions << one.shift) for _, one in sides]),
        ("idle, ns", [count(one.idle_ns) for _, one in sides]),
        ("QEMU's own clock, ns", [count(one.virtual_ns) for _, one in sides]),
        ("kernel instructions in named functions", [_share(one.named_kernel_share) for _, one in sides]),
        ("returns that fit no call", [_share(one.mismatched_return_share) for _, one in sides]),
        ("outside every task, function or stage", [_share(one.outside_share) for _, one in sides]),
    ]
    columns = [Column(""), *(Column(title, "number") for title, _ in sides)]
    rows = [[Cell(name), *(Cell(figure) for figure in figures)] for name, figures in lines]
    faults = tag("ul", *(tag("li", fault) for fault in value.faults), class_="faults") if value.faults else Html()
    return join(
        [
            tag("p", f"The account: {value.verdict}.", class_="totals"),
            faults,
            table("What QEMU counted on its virtual clock, and what is shown", columns, rows, kind="sums"),
        ]
    )


def _share(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.4f} %"
