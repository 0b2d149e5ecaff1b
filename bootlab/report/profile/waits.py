"""The waits of a boot for the profile's page: what the machine stood still for, who slept longest, and where."""

from collections.abc import Sequence

from bootlab.profile.waits.busy import SHORTEST_BUSY_NS, BusyWait
from bootlab.profile.waits.idle_blame import IdleBlame, WaitGroup, Waits
from bootlab.profile.waits.sleeps import Wait, Waker
from bootlab.profile.waits.wake_reasons import WakeKind
from bootlab.report.parts.figures import count, ms, percent
from bootlab.report.parts.html_tables import Cell, table
from bootlab.report.parts.markup import Html, join, tag
from bootlab.report.parts.sections import fold, scroll
from bootlab.report.profile.downloads import csv_link
from bootlab.report.profile.table_columns import code, columns_of, milliseconds, number

_BLAMES = 15
_WAITS = 40
_MOST_WAITS = 400


def waits(value: Waits, end_ns: int, goal: str) -> Html:
    """Return the waits that began before `end_ns`, which is called `goal`, longest first, and the same by place."""
    seen = [one for one in value.waits if one.start_ns < end_ns]
    rows = [_wait(one) for one in seen[:_MOST_WAITS]]
    columns = columns_of(
        "slept, ms>", "machine idle, ms>", "who`", "where", "for", "woken by", "from, ms>", "then no CPU, ms>"
    )
    idle = join([
        tag("strong", ms(value.idle_ns)), " ms of the whole profile the machine was idle, ",
        tag("strong", ms(value.unblamed_idle_ns)), " ms of it with nobody waiting.",
    ])  # fmt: skip
    caption = (
        f"The {min(len(seen), _WAITS)} longest of {count(len(seen))} waits up to {goal}, longest first, virtual clock."
    )
    every = fold(
        f"The longest {count(len(rows))}",
        scroll(
            "the longest waits", table("Waits, longest first, virtual clock", columns, rows, kind="raw", sortable=True)
        ),
        csv_link("waits.csv", columns, rows),
    )
    return join([
        tag("p", idle, class_="totals"), _blames(value) if value.idle_ns else Html(),
        table(caption, columns, rows[:_WAITS], kind="listing waits", sortable=True) if rows else Html(),
        _wait_groups(value.groups), every if len(rows) > _WAITS else Html(),
    ])  # fmt: skip


def busy_waits(found: Sequence[BusyWait], goal: str) -> Html:
    """Return what executed only to wait, by place, longest first; nothing where there is none."""
    seen = [one for one in found if one.ns >= SHORTEST_BUSY_NS]
    if not seen:
        return Html()
    columns = columns_of("ms>", "times>", "for", "who`", "function`", "called by`", "in")
    rows = [
        [milliseconds(one.ns), number(one.times), Cell(one.kind.value), code(one.who), code(one.function),
         code(one.caller), Cell(one.context)]
        for one in seen[:_WAITS]
    ]  # fmt: skip
    caption = (
        f"Busy waits up to {goal}: loops on a clock or a device, which count as instructions; the {len(rows)} "
        f"longest of {count(len(seen))} places, virtual clock."
    )
    return table(caption, columns, rows, kind="listing waits", sortable=True)


def _blames(value: Waits) -> Html:
    columns = columns_of("idle, ms>", "share, %>", "stretches>", "who`", "where", "for", "woken by")
    rows = [
        [
            milliseconds(one.idle_ns),
            Cell(percent(one.idle_ns, value.idle_ns), one.idle_ns),
            number(one.count),
            *_served(one),
        ]
        for one in value.blames[:_BLAMES]
    ]
    caption = (
        f"Idle time, and the wait on the critical path that it served: the {len(rows)} longest of "
        f"{count(len(value.blames))}, of the whole profile, virtual clock."
    )
    return table(caption, columns, rows, kind="listing waits", sortable=True)


def _served(blame: IdleBlame) -> list[Cell]:
    if blame.wait is None:
        return [Cell(f"nobody ({blame.kind.value})"), Cell(""), Cell(""), Cell("")]
    one = blame.wait
    return [code(one.name), Cell(where(one)), Cell(one.context), Cell(woken(one.waker))]


def _wait(one: Wait) -> list[Cell]:
    end = "" if one.woken_ns is not None else " (not woken)"
    return [
        Cell(ms(one.duration_ns) + end, one.duration_ns), milliseconds(one.idle_ns), code(one.name), Cell(where(one)),
        Cell(one.context), Cell(woken(one.waker)), milliseconds(one.start_ns), milliseconds(one.runnable_ns),
    ]  # fmt: skip


def where(one: Wait) -> str:
    """Return what a wait waits in and who called that."""
    return " \N{LEFTWARDS ARROW} ".join(name for name in (one.function, one.caller) if name) or one.kind.value


def woken(waker: Waker | None) -> str:
    """Return in words what ended a wait."""
    if waker is None:
        return "nobody, up to the end"
    if waker.request is not None:
        return f"{waker.request.disk}: {waker.request.operation} of {count(waker.request.bytes)} bytes done"
    if waker.kind is WakeKind.TASK:
        return f"{waker.name} in {waker.function}" if waker.function else waker.name
    return (
        f"{waker.kind.value}: {waker.handler or waker.function}"
        if waker.handler or waker.function
        else waker.kind.value
    )


def _wait_groups(groups: Sequence[WaitGroup]) -> Html:
    columns = columns_of(
        "for what", "where", "for", "who`", "times>", "together, ms>", "longest, ms>", "idle time it answers for, ms>"
    )
    rows = [
        [Cell(one.kind.value), Cell(" \N{LEFTWARDS ARROW} ".join(filter(None, (one.function, one.caller)))),
         Cell(one.context), code(one.name), number(one.count), milliseconds(one.total_ns), milliseconds(one.longest_ns),
         milliseconds(one.blamed_idle_ns)]
        for one in groups
    ]  # fmt: skip
    caption = (
        "Waits of the whole profile by kind and place, virtual clock; first those that the machine stood still for"
    )
    return fold(
        f"By place ({count(len(groups))})",
        scroll("waits by place", table(caption, columns, rows, kind="raw", sortable=True)),
        csv_link("waits-by-place.csv", columns, rows),
    )
