"""A profile for a terminal: where the time went, in tables that fit 80 columns, the most expensive first."""

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from bootlab.findings.advise import SMALLEST_SHARE, Advice
from bootlab.findings.analysis import Analysis
from bootlab.findings.cost_tree import WAYS
from bootlab.measure.record import Outcome
from bootlab.profile.recorded.profile import Profile
from bootlab.profile.recorded.record_types import Space
from bootlab.profile.tables.activity import Activity, PhaseActivity
from bootlab.profile.tables.processes import Process
from bootlab.profile.tree.call_tree import FunctionTotal
from bootlab.profile.waits.busy import SHORTEST_BUSY_NS, BusyWait
from bootlab.profile.waits.critical_path import CriticalPath
from bootlab.profile.waits.sleep_reasons import bare
from bootlab.profile.waits.sleeps import Wait
from bootlab.profile.waits.wake_reasons import WakeKind
from bootlab.report.parts.figures import COUNTED, clock_of, count, disk_lines, ms, percent, price_words, visible
from bootlab.report.parts.terminal_tables import ByWidth, CellBar, foot, keep_whole, plain_table
from bootlab.report.profile.price_text import price_lines

_FUNCTIONS = 12
_INITCALLS = 10
_WAITS = 8
_PATH = 10
_PROGRAMS = 12
_FEWEST_PROGRAMS = 4
_PROCESSES = 12
_ADVICE = 5
_ADVICE_COLUMNS = 64
"""Below this, what a cost is called has too little room beside its figures."""
_FAULTS = 5
_CHAIN = 0.99
_NOT_CALLED = (Space.TASK, Space.STAGE, Space.OTHER)


def profile(analysis: Analysis) -> RenderableType:
    """Return a profiled boot: outcome, account, phases, functions, initcalls, waits, critical path, processes."""
    record = analysis.record
    ready = record.ready_ns
    head = Text(visible(record.system), style="bold")
    head.append(f"  {record.outcome.value}", style="green" if ready else "bold red")
    if ready is not None:
        head.append(f"  {ms(ready)} ms {record.clock}", style="bold")
    head.append("  profiled")
    lines: list[RenderableType] = [head]
    if record.detail:
        lines.append(Text(visible(record.detail), style="red"))
    if not analysis.profile.complete:
        lines.append(Text("the profile was cut off: what follows is what was saved", style="yellow"))
    if analysis.past_ready_ns:
        lines.append(Text(past_ready_words(analysis.past_ready_ns), style="yellow"))
    lines += _account(analysis)
    lines += _section(f"phases up to {analysis.goal}", _phases(analysis, analysis.activity.phases))
    if analysis.activity.timings:
        lines += _section("timings, and what each is bound by", _phases(analysis, analysis.activity.timings, "timing"))
    lines += _section("before the kernel, by program", _programs(analysis))
    if analysis.price is not None:
        lines += price_lines(analysis.price, analysis.goal)
    lines += _section("functions by their own instructions", _functions(analysis, total=False))
    lines += _section("functions by all that they called", _functions(analysis, total=True))
    lines += _section("longest initcalls", _initcalls(analysis))
    lines += _section("idle time, and what it waited for", _idle(analysis))
    lines += _section("longest waits", _waits(analysis))
    lines += _section("busy waits: executing only to wait", _busy_waits(analysis.activity))
    lines += _section("critical path, by what it ran through and waited for", _path(analysis.critical_path))
    lines += _section("processes", _processes(analysis))
    lines += _disks(analysis)
    lines += _section("what could be removed (bootlab advise)", advice_table(analysis.advice, most=_ADVICE))
    return Group(*lines, *foot(clock_of([record]), record.hashes, record.run))


def past_ready_words(past_ready_ns: int) -> str:
    """Return the sentence on a profile that no line end and no known prompt cuts at ready."""
    return (
        f'the profile has no cut at ready: what is "up to ready" goes on for {ms(past_ready_ns)} ms, to its end. '
        "A booted.console that waits for a whole line, or a mark, gives one"
    )


def advice(value: Advice) -> RenderableType:
    """Return the ranked list: what the catalogue can remove, then what it cannot, and the rest in one line."""
    head = Text(visible(value.system), style="bold")
    ready = value.outcome == Outcome.READY.value
    head.append(f"  {value.outcome}", style="green" if ready else "bold red")
    goal = "ready" if value.reached_ready else "where it ended"
    what = "ms" if value.price is None else f"ms {price_words(value.price.model)}"
    head.append(f"  {ms(value.total_ns)} {what} to {goal}, by what it was spent on")
    lines: list[RenderableType] = [head]
    if value.detail:
        lines.append(Text(visible(value.detail), style="red"))
    if not value.complete:
        lines.append(Text("the profile was cut off: what follows is what was saved", style="yellow"))
    lines += [Text(), advice_table(value), Text()]
    lines.append(Text("Each line is of time that no line above it holds. What a technique does save: bootlab try."))
    if value.run:
        lines.append(Text(f"run: {visible(value.run)}", style="dim", overflow="fold"))
    return Group(*lines)


def advice_table(value: Advice, most: int | None = None) -> ByWidth:
    """Return the list as a table; `most` of those that can be removed, or the whole list."""
    return ByWidth(_advice(value, most, narrow=False), _advice(value, most, narrow=True), _ADVICE_COLUMNS)


def _advice(value: Advice, most: int | None, *, narrow: bool) -> Table:
    if value.price is not None:
        return _priced_advice(value, most)
    titles = ["ms>", "%>", "spent on, and what could remove it"]
    rows = plain_table(*titles) if narrow else plain_table(*titles, "alone, estimated ms>", "risk")
    keep_whole(rows, [column for index, column in enumerate(rows.columns) if index != 2])
    removable = [item for item in value.items if item.remedy is not None]
    others = [item for item in value.items if item.remedy is None] if most is None else []
    for item in removable[:most]:
        rows.add_row(*_spent(value, item.cost_ns, Text(visible(item.what), style="bold")))
        for word, remedy in (("", item.remedy), *(("or ", one) for one in item.instead)):
            assert remedy is not None
            if word and 2 * remedy.estimated_ns < item.cost_ns:
                word = "in part "
            words = Text(f"  {word}{visible(remedy.technique)}", style="dim" if word else "")
            figure = f"{'< ' if remedy.replaced else ''}{ms(remedy.estimated_ns)}"
            risk = Text(remedy.risk, style="" if remedy.risk == "none" else "yellow")
            if narrow:
                rows.add_row("", "", Text.assemble(words, f": {figure} ms, risk ", risk))
            else:
                rows.add_row("", "", words, figure, risk)
            if remedy.others_ns >= SMALLEST_SHARE * value.total_ns:
                beside = f"    and in other threads: {ms(remedy.others_ns)} ms"
                rows.add_row("", "", Text(beside, style="dim"))
    if others:
        rows.add_row()
        rows.add_row("", "", Text("nothing in the catalogue removes", style="dim"))
    for item in others:
        rows.add_row(*_spent(value, item.cost_ns, Text(visible(item.what))))
    if most is None:
        rows.add_row(*_spent(value, value.rest_ns, Text("everything smaller, each below 0.1 %", style="dim")))
    return rows


def _priced_advice(value: Advice, most: int | None) -> Table:
    """Return the list with both figures of each cause, apart: its price, and its instructions + idle."""
    assert value.price is not None
    rows = plain_table(
        f"{price_words(value.price.model)} ms>", "%>", f"{COUNTED} ms>", "spent on, and what could remove it", "risk"
    )
    rate = value.ns_per_instruction or 1
    items = [item for item in value.items if item.remedy is not None or most is None]
    for item in items[:most]:
        price, share, what = _spent(value, item.cost_ns, Text(visible(item.what), style="bold" if item.remedy else ""))
        rows.add_row(price, share, ms(item.instructions * rate + item.idle_ns), what, "")
        for word, remedy in (("", item.remedy), *(("or ", one) for one in item.instead)):
            if remedy is None:
                continue
            word = "in part " if word and 2 * remedy.estimated_ns < item.cost_ns else word
            alone = f": {'< ' if remedy.replaced else ''}{ms(remedy.estimated_ns)} ms alone, estimated"
            rows.add_row("", "", "", Text(f"  {word}{visible(remedy.technique)}{alone}", overflow="fold"), remedy.risk)
    if most is None:
        price, share, what = _spent(value, value.rest_ns, Text("everything smaller, each below 0.1 %", style="dim"))
        rows.add_row(price, share, "", what, "")
    return rows


def _spent(value: Advice, ns: int, what: Text) -> list[RenderableType]:
    return [ms(ns), percent(ns, value.total_ns), what]


def _section(title: str, rows: Table | ByWidth) -> list[RenderableType]:
    return [Text(), Text(title, style="bold"), rows] if rows.row_count else []


def _account(analysis: Analysis) -> list[RenderableType]:
    account = analysis.account
    ready = account.ready
    lines = [
        Text(f"{count(ready.instructions)} instructions, {ms(ready.idle_ns)} ms idle, up to {visible(ready.at)}"),
        Text("account ", style="dim").append(_closed(analysis), style="" if account.closed else "bold red"),
    ]
    lines += [Text(f"  {visible(fault)}", style="red") for fault in account.faults[:_FAULTS]]
    return list(lines)


def _closed(analysis: Analysis) -> str:
    ready = analysis.account.ready
    parts = [analysis.account.verdict]
    if ready.named_kernel_share is not None:
        parts.append(f"{100 * ready.named_kernel_share:.2f} % of the kernel's in named functions")
    if ready.mismatched_return_share is not None:
        parts.append(f"{100 * ready.mismatched_return_share:.4f} % of returns fit no call")
    return "; ".join(parts)


def _phases(analysis: Analysis, phases: Sequence[PhaseActivity], what: str = "phase") -> Table:
    end_ns = max((phase.end_ns for phase in phases), default=0)
    waits = any(phase.busy_wait_ns >= SHORTEST_BUSY_NS for phase in phases)
    busy = ["busy wait ms>"] if waits else []
    # What was read is known of the standard phases.
    reads = analysis.record.phases if phases is analysis.activity.phases else ()
    read = {one.start_ns: one.read_bytes for one in reads if one.read_bytes is not None}
    more = ["MiB read>"] if read else []
    rows = plain_table(what, "", "ms>", "%>", "bound by", *busy, "idle ms>", "I/O ms>", *more)
    rows.columns[1].ratio = 1
    keep_whole(rows, rows.columns[2:])
    for phase in phases:
        bar = CellBar(phase.start_ns / max(end_ns, 1), phase.end_ns / max(end_ns, 1))
        length = phase.end_ns - phase.start_ns
        name = Text(visible(phase.name), overflow="fold")
        rows.add_row(
            name, bar, ms(length), percent(length, end_ns), _bound(str(phase.bound)),
            *([ms(phase.busy_wait_ns)] if waits else []), ms(phase.idle_ns), ms(phase.io_ns),
            *([f"{read.get(phase.start_ns, 0) / 2**20:.2f}"] if read else []),
        )  # fmt: skip
    return rows


def _programs(analysis: Analysis) -> Table:
    rows = plain_table("program", "ms>", "%>", "functions>", "phase")
    keep_whole(rows, rows.columns[1:4])
    found = [(one, phase) for phase in analysis.activity.phases for one in phase.programs]
    whole = sum(one.instructions for one, _ in found)
    # One program alone, as where a kernel is loaded directly, says no more than the table of phases.
    if len({one.name for one, _ in found}) < _FEWEST_PROGRAMS:
        return rows
    found.sort(key=lambda row: -row[0].instructions)
    for one, phase in found[:_PROGRAMS]:
        rows.add_row(
            Text(visible(one.name), overflow="fold"), ms(one.instructions << analysis.tree.shift),
            percent(one.instructions, whole), count(one.functions), visible(phase.name),
        )  # fmt: skip
    if len(found) > _PROGRAMS:
        rows.add_row(Text(f"and {count(len(found) - _PROGRAMS)} more", style="dim"))
    return rows


def _bound(word: str) -> Text:
    return Text(word, style="" if word == "cpu" else "yellow")


def _functions(analysis: Analysis, *, total: bool) -> Table:
    tree, spaces = analysis.tree, analysis.profile.spaces.tolist()
    whole = int(tree.total_instructions[0])
    found = tree.top_functions()
    if total:
        # A task or a stage is no function, and its time is in the tables of phases and processes.
        inside = [one for one in found if one.function < len(spaces) and spaces[one.function] not in _NOT_CALLED]
        found = _one_of_a_chain(sorted(inside, key=lambda one: -one.total_instructions))
    rows = plain_table("function", "self ms>", "%>", "total ms>", "%>", "calls>")
    keep_whole(rows, rows.columns[1:])
    for one in found[:_FUNCTIONS]:
        own, below = one.self_instructions << tree.shift, one.total_instructions << tree.shift
        rows.add_row(
            Text(visible(one.name), overflow="fold"), ms(own), percent(one.self_instructions, whole),
            ms(below), percent(one.total_instructions, whole), count(one.calls),
        )  # fmt: skip
    return rows


def _one_of_a_chain(found: Sequence[FunctionTotal]) -> list[FunctionTotal]:
    # Functions that do little but call the next one have nearly the same total: the outermost stands for them.
    kept: list[FunctionTotal] = []
    for one in found:
        if bare(one.name) in WAYS:
            continue
        if not kept or one.total_instructions < _CHAIN * kept[-1].total_instructions:
            kept.append(one)
    return kept


def _initcalls(analysis: Analysis) -> Table:
    rows = plain_table("initcall", "level", "ms>", "own CPU ms>", "at ms>", "thread")
    keep_whole(rows, rows.columns[1:])
    table = [one for one in analysis.initcalls.initcalls if one.start_ns < analysis.end_ns]
    for one in sorted(table, key=lambda one: -one.duration_ns)[:_INITCALLS]:
        rows.add_row(
            Text(visible(one.name), overflow="fold"), one.level, ms(one.duration_ns), ms(one.cpu_ns), ms(one.start_ns),
            visible(one.thread),
        )  # fmt: skip
    return rows


def _idle(analysis: Analysis) -> Table:
    rows = plain_table("idle ms>", "%>", "who waited for what")
    keep_whole(rows, rows.columns[:2])
    whole_ns = analysis.account.ready.idle_ns
    # What comes after ready, the check, has its own waits.
    seen = [one for one in analysis.waits.blames if one.wait is None or one.wait.start_ns < analysis.end_ns]
    for one in seen[: _WAITS if whole_ns else 0]:
        words = _wait(one.wait) if one.wait is not None else f"nobody ({one.kind.value})"
        rows.add_row(ms(one.idle_ns), percent(one.idle_ns, whole_ns), Text(visible(words)))
    return rows


def _waits(analysis: Analysis) -> Table:
    rows = plain_table("ms>", "idle ms>", "who waited for what")
    keep_whole(rows, rows.columns[:2])
    seen = [wait for wait in analysis.waits.waits if wait.start_ns < analysis.end_ns]
    for wait in seen[:_WAITS]:
        rows.add_row(ms(wait.duration_ns), ms(wait.idle_ns), Text(visible(_wait(wait))))
    return rows


def _busy_waits(activity: Activity) -> Table:
    rows = plain_table("ms>", "times>", "for", "who waited where")
    keep_whole(rows, rows.columns[:2])
    for one in activity.busy_waits[:_WAITS]:
        if one.ns >= SHORTEST_BUSY_NS:
            rows.add_row(ms(one.ns), count(one.times), one.kind.value, Text(visible(busy_wait_words(one))))
    return rows


def busy_wait_words(one: BusyWait) -> str:
    """Return who waits where, as the table of waits says it."""
    context = f" in {one.context}" if one.context and one.context != one.caller else ""
    return f"{one.who}{context}: {' < '.join(name for name in (one.function, one.caller) if name)}"


def _wait(wait: Wait) -> str:
    context = f" in {wait.context}" if wait.context and wait.context != wait.caller else ""
    called = " < ".join(name for name in (wait.function, wait.caller) if name) or wait.kind.value
    waker = wait.waker
    if waker is None:
        return f"{wait.name}{context}: {called}; not over at the end"
    who = waker.name if waker.kind is WakeKind.TASK else waker.handler or waker.kind.value
    return f"{wait.name}{context}: {called}; woken by {who}"


def _path(path: CriticalPath) -> Table:
    rows = plain_table("ms>", "%>", "how", "who", "what", "times>")
    keep_whole(rows, rows.columns[:3])
    for group in path.groups[:_PATH]:
        rows.add_row(
            ms(group.total_ns), percent(group.total_ns, path.ready_ns), group.kind.value, Text(visible(group.name)),
            Text(visible(group.what), overflow="fold"), count(group.count),
        )  # fmt: skip
    return rows


def _processes(analysis: Analysis) -> Table:
    found = [one for one in analysis.processes.processes if one.started_ns < analysis.end_ns]
    rows = plain_table("process", "pid>", "parent>", "start ms>", "to ms>", "CPU ms>", "waits ms>", "program")
    keep_whole(rows, rows.columns[1:7])
    for one in found[:_PROCESSES]:
        rows.add_row(*_process(analysis.profile, one))
    if len(found) > _PROCESSES:
        rows.add_row(Text(f"and {len(found) - _PROCESSES} more", style="dim"))
    return rows


def _disks(analysis: Analysis) -> list[RenderableType]:
    callers = analysis.disk_callers
    if not callers:
        return []
    rows = plain_table("asked disks", "reads>", "MiB>", "writes>", "MiB>", "waited ms>", "longest ms>")
    for one in callers[:_PROCESSES]:
        rows.add_row(
            Text(visible(analysis.profile.tasks[one.task].name)), str(one.reads), f"{one.read_bytes / 2**20:.1f}",
            str(one.writes), f"{one.written_bytes / 2**20:.1f}", ms(one.waited_ns), ms(one.longest_ns),
        )  # fmt: skip
    if len(callers) > _PROCESSES:
        rows.add_row(Text(f"and {len(callers) - _PROCESSES} more", style="dim"))
    return [
        *_section("disks, by who asked them", rows),
        *map(Text, disk_lines(analysis.record)),
        *_disk_files(analysis),
    ]


def _disk_files(analysis: Analysis) -> list[RenderableType]:
    files = analysis.disk_files
    if not files:
        return []
    rows = plain_table("file on a modelled disk", "requests>", "read KiB>", "written KiB>", "waited ms>")
    for one in files[:_PROCESSES]:
        path = visible(one.path) or "no file: the file system's tables, journal and free blocks"
        rows.add_row(
            Text(path, overflow="fold"), str(one.requests), f"{one.read_bytes / 1024:,.0f}",
            f"{one.written_bytes / 1024:,.0f}", ms(one.waited_ns),
        )  # fmt: skip
    if len(files) > _PROCESSES:
        rows.add_row(Text(f"and {len(files) - _PROCESSES} more", style="dim"))
    return _section("disks, by file", rows)


def _process(profile: Profile, one: Process) -> Sequence[RenderableType]:
    parent = "" if one.parent is None else str(profile.tasks[one.parent].pid)
    program = one.programs[-1][1] if one.programs else ""
    end = ms(one.exited_ns) if one.exited_ns is not None else "lives"
    return [
        Text(visible(one.name)), str(one.pid), parent, ms(one.started_ns), end, ms(one.running_ns),
        ms(one.waiting_ns + one.io_ns), Text(visible(program), overflow="fold"),
    ]  # fmt: skip
