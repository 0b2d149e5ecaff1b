"""Tables of the profile's page: initcalls, processes, system calls, interrupts, devices, coverage."""

from collections import defaultdict
from collections.abc import Sequence

from bootlab.profile.recorded.profile import Profile
from bootlab.profile.tables.activity import Activity
from bootlab.profile.tables.coverage import Coverage
from bootlab.profile.tables.initcalls import GraphLane, Initcall, InitcallTable
from bootlab.profile.tables.interrupts import CpuShare
from bootlab.profile.tables.processes import Chart, Process, Processes
from bootlab.profile.tables.syscalls import ProcessSyscalls
from bootlab.report.parts import charts
from bootlab.report.parts.figures import count, ms, percent
from bootlab.report.parts.html_tables import Cell, Column, table
from bootlab.report.parts.markup import Content, Html, join, tag
from bootlab.report.parts.sections import fold, scroll
from bootlab.report.profile.charts import BINS, ChartSpan, areas, legend, strip
from bootlab.report.profile.downloads import csv_link, data_link
from bootlab.report.profile.table_columns import code, columns_of, milliseconds, number

_LONGEST = 30
_LEAST_SHARE = 0.001
_THREADS = 40
BAR_KINDS = {"initcall": "kernel", "module": "module", "probe": "entry"}


def initcalls(value: InitcallTable, end_ns: int) -> Html:
    """Return the boot graph up to `end_ns`, the longest initcalls, and all calls behind folds."""
    longest = sorted(value.initcalls, key=lambda one: (-one.duration_ns, one.start_ns))[:_LONGEST]
    every = [_initcall(one) for one in value.initcalls]
    columns = _initcall_columns()
    most_ns = longest[0].duration_ns if longest else 0
    shown = [
        [Cell(tag("code", one.name), one.name), Cell(_bar(one.duration_ns, most_ns), one.duration_ns),
         milliseconds(one.duration_ns), milliseconds(one.cpu_ns), milliseconds(one.start_ns), Cell(one.level),
         code(one.thread)]
        for one in longest
    ]  # fmt: skip
    head = columns_of("initcall`", "took|", "took, ms>", "own CPU, ms>", "at, ms>", "level", "thread`")
    caption = f"The longest {len(shown)} of {count(len(every))} initcalls, from entry to return, virtual clock."
    return join([
        _boot_graph(value.lanes, end_ns),
        table(caption, head, shown, kind="initcalls", sortable=True) if shown else Html(),
        _listing("initcalls", columns, every), _probes(value), _modules(value),
    ])  # fmt: skip


def _initcall_columns() -> list[Column]:
    return columns_of("initcall`", "level", "at, ms>", "took, ms>", "own CPU, ms>", "thread`", "module`", "address`")


def _initcall(one: Initcall) -> list[Cell]:
    took = ms(one.duration_ns) + ("" if one.finished else " (unfinished)")
    return [code(one.name), Cell(one.level), milliseconds(one.start_ns), Cell(took, one.duration_ns),
            milliseconds(one.cpu_ns), code(one.thread), code(one.module), code(one.address)]  # fmt: skip


def _bar(ns: int, longest_ns: int) -> Html:
    return charts.bars([[charts.Bar(0, ns, "recommended")]], longest_ns)


def _boot_graph(lanes: Sequence[GraphLane], end_ns: int) -> Html:
    seen = [(lane, [bar for bar in lane.bars if bar.start_ns < end_ns]) for lane in lanes]
    bars = [bar for _, some in seen for bar in some]
    if not bars:
        return tag("p", "No initcall was seen.")
    start, end = min(bar.start_ns for bar in bars), min(max(bar.end_ns for bar in bars), end_ns)
    rows = []
    for lane, some in seen:
        spans = [
            ChartSpan(bar.start_ns, bar.end_ns, BAR_KINDS.get(bar.kind, "other"), bar.name,
                 f"{bar.kind} {bar.name}: {count(bar.end_ns - bar.start_ns)} ns", bar.depth)
            for bar in some
        ]  # fmt: skip
        busiest = sum(bar.end_ns - bar.start_ns for bar in some if bar.depth == 0)
        rows.append(
            (
                busiest,
                [code(lane.thread), Cell(strip(spans, start, end)), number(len(some)), milliseconds(busiest)],
            )
        )
    rows.sort(key=lambda row: -row[0])
    shown = [cells for ns, cells in rows if ns >= _LEAST_SHARE * (end - start)]
    columns = columns_of("thread`", "from the first to the last|", "calls>", "together, ms>")
    caption = (
        f"Boot graph: initcalls, modules and probes by thread, virtual clock, {ms(start)} to {ms(end)} ms after "
        "power-on and not beyond ready; "
        f"threads that spent at least {100 * _LEAST_SHARE:g} % of that in them."
    )
    kinds = legend((("kernel", "initcall"), ("module", "module"), ("entry", "driver's probe of a device")))
    return join([table(caption, columns, shown, kind="waterfall graph"), kinds])


def _probes(value: InitcallTable) -> Html:
    columns = columns_of(
        "device`", "driver`", "attempt>", "result", "at, ms>", "took, ms>", "own CPU, ms>", "thread`", "inside`"
    )
    rows = [
        [code(one.device), code(one.driver), number(one.attempt), Cell(one.result.value), milliseconds(one.start_ns),
         milliseconds(one.duration_ns), milliseconds(one.cpu_ns), code(one.thread), code(one.inside)]
        for one in value.probes
    ]  # fmt: skip
    return _listing("driver probes", columns, rows)


def _modules(value: InitcallTable) -> Html:
    columns = columns_of("module`", "at, ms>", "took, ms>", "own CPU, ms>", "thread`")
    rows = [
        [code(one.name), milliseconds(one.start_ns), milliseconds(one.duration_ns), milliseconds(one.cpu_ns),
         code(one.thread)]
        for one in value.modules
    ]  # fmt: skip
    return _listing("modules", columns, rows)


def _listing(what: str, columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> Html:
    if not rows:
        return Html()
    title = f"All {what} ({count(len(rows))})"
    listed = table(f"All {what}, in the order they began, virtual clock", columns, rows, kind="raw", sortable=True)
    return fold(title, scroll(f"all {what}", listed), csv_link(what.replace(" ", "-") + ".csv", columns, rows))


def processes(value: Processes, profile: Profile, end_ns: int, goal: str) -> Html:
    """Return processes over time up to `end_ns`, which is called `goal`, and all of them as a table."""
    chart = value.chart(0, end_ns, BINS)
    user = [one for one in value.processes if one.started_ns < end_ns]
    # The first idle task booted the kernel; other CPUs' have nothing to show.
    kernel = [one for one in (*value.idle_tasks[:1], *value.kernel_threads) if one.started_ns < end_ns]
    ran = [one for one in kernel if one.running_ns >= _LEAST_SHARE * end_ns]
    left_out = len(kernel) - len(ran)
    caption = f"Processes and kernel threads over time, up to {goal}, virtual clock." + (
        f" {count(left_out)} kernel threads that ran less than {100 * _LEAST_SHARE:g} % of it are in the table only."
        if left_out else ""
    )  # fmt: skip
    return join([
        _bootchart(caption, chart, [*user, *ran], end_ns),
        _process_table(value, profile),
    ])  # fmt: skip


def _bootchart(caption: str, chart: Chart, shown: Sequence[Process], end_ns: int) -> Html:
    columns = columns_of("task`", "from power-on|", "CPU, ms>", "waits, ms>")
    machine = areas((("run", chart.busy_ns),), chart.edges, (0, end_ns))
    requests = areas((("io", chart.io_ns),), chart.edges, (0, end_ns))
    rows = [[Cell("CPUs"), Cell(machine), milliseconds(sum(chart.busy_ns)), Cell("")]]
    if any(chart.io_ns):
        rows.append([Cell("requests to disks"), Cell(requests), Cell(""), milliseconds(sum(chart.io_ns))])
    by_task = {row.task: row for row in chart.rows}
    for one in shown:
        row = by_task.get(one.task)
        if row is None:
            continue
        running_ns: Sequence[int] = row.running_ns
        if one.pid == 0:
            # It has its CPU while that is idle, and does not run.
            running_ns = [max(ns - idle, 0) for ns, idle in zip(running_ns, chart.idle_ns, strict=True)]
        stacked = (("run", running_ns), ("runnable", row.runnable_ns), ("io", row.io_ns), ("wait", row.waiting_ns))
        life = (one.started_ns, end_ns if one.exited_ns is None else one.exited_ns)
        rows.append([
            code(f"{one.name}-{one.pid}"), Cell(areas(stacked, chart.edges, life)), milliseconds(sum(running_ns)),
            milliseconds(sum(row.waiting_ns) + sum(row.io_ns)),
        ])  # fmt: skip
    foot = [Cell(""), Cell(charts.axis(end_ns)), Cell(""), Cell("")]
    kinds = legend((("run", "running"), ("runnable", "could run, another did"), ("io", "waiting for a disk"),
                    ("wait", "waiting for anything else")))  # fmt: skip
    return join([table(caption, columns, rows, kind="waterfall bootchart", foot=foot), kinds])


def _process_table(value: Processes, profile: Profile) -> Html:
    columns = columns_of(
        "name`",
        "pid>",
        "parent`",
        "from, ms>",
        "to, ms>",
        "CPU, ms>",
        "no CPU, ms>",
        "waits, ms>",
        "of these disk, ms>",
        "program`",
        "ended",
        "instructions>",
    )
    everyone = sorted(
        (*value.idle_tasks, *value.processes, *value.kernel_threads), key=lambda one: (one.started_ns, one.task)
    )
    rows = [
        [
            code(one.name), Cell(one.pid, one.pid), code("" if one.parent is None else profile.tasks[one.parent].label),
            milliseconds(one.started_ns), milliseconds(one.exited_ns),
            milliseconds(one.running_ns if one.pid else one.instructions << profile.shift),
            milliseconds(one.runnable_ns), milliseconds(one.waiting_ns + one.io_ns), milliseconds(one.io_ns),
            code(one.programs[-1][1] if one.programs else ""), Cell(_ended(one)), number(one.instructions),
        ]
        for one in everyone
    ]  # fmt: skip
    return _listing("processes and kernel threads", columns, rows)


def _ended(one: Process) -> str:
    if one.exit_signal is not None:
        return f"signal {one.exit_signal}"
    if one.exit_status is not None:
        return f"exit {one.exit_status}"
    return "lives" if one.exited_ns is None else ""


def syscalls(value: Sequence[ProcessSyscalls], *, after_ready: bool = False) -> Html:
    """Return the system calls of every process, of the whole profile. `after_ready`: it goes on, with the check."""
    columns = columns_of("process`", "system call`", "calls>", "took, ms>", "instructions>")
    rows = [
        [
            code(f"{one.name}-{one.pid}"),
            code(call.name),
            number(call.calls),
            milliseconds(call.elapsed_ns),
            number(call.instructions),
        ]
        for one in value
        for call in one.syscalls
    ]
    if not rows:
        return tag("p", "No process made a system call that returned.")
    per_process = [
        [code(f"{one.name}-{one.pid}"), number(one.calls), milliseconds(one.elapsed_ns), number(one.instructions),
         Cell(", ".join(f"{call.name} {count(call.calls)}" for call in one.syscalls[:6]))]
        for one in value
    ]  # fmt: skip
    head = columns_of("process`", "calls>", "took, ms>", "instructions>", "most time in")
    caption = "System calls by process, virtual clock, waits in them included; calls that never returned are not in it."
    if after_ready:
        caption += " Those after ready, of the check, are in it as well."
    shown = sorted(per_process, key=lambda row: -float(row[2].key or 0))[:_THREADS]
    every = fold(
        f"By process and call ({count(len(rows))})",
        scroll(
            "system calls",
            table("System calls by process and name, virtual clock", columns, rows, kind="raw", sortable=True),
        ),
        csv_link("system-calls.csv", columns, rows),
    )
    return join([table(caption, head, shown, kind="listing", sortable=True), every])


def interrupts(activity: Activity, goal: str) -> Html:
    """Return what interrupts, exceptions, handlers, softirqs and workers' functions cost, in all and by phase."""
    kinds = ("interrupts", "exceptions", "handlers", "softirqs", "works")
    duration_ns = sum(phase.duration_ns for phase in activity.phases)
    whole = sum(phase.instructions for phase in activity.phases)
    rows = []
    for kind in kinds:
        sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
        for phase in activity.phases:
            for one in getattr(phase, kind):
                sums[one.name][0] += one.count
                sums[one.name][1] += one.instructions
        rows += [
            [Cell(_KIND_WORDS[kind]), code(name), number(times), _rate(times, duration_ns), number(spent),
             Cell(percent(spent, whole), spent)]
            for name, (times, spent) in sums.items()
        ]  # fmt: skip
    rows.sort(key=lambda row: -float(row[4].key or 0))
    columns = columns_of("kind", "name`", "times>", "per second>", "instructions>", "share, %>")
    caption = (
        f"Interrupts, exceptions, handlers, softirqs and workers' functions up to {goal}, per second of the virtual "
        "clock. A handler is part of its interrupt."
    )
    phases = _per_phase(activity, kinds)
    return join(
        [scroll("interrupts", table(caption, columns, rows, kind="raw", sortable=True)), phases, _threads(activity)]
    )


_KIND_WORDS = {
    "interrupts": "interrupt",
    "exceptions": "exception",
    "handlers": "handler",
    "softirqs": "softirq",
    "works": "work",
}


def _rate(times: int, duration_ns: int) -> Cell:
    rate = times / (duration_ns / 1e9) if duration_ns else 0.0
    return Cell(f"{rate:,.0f}", rate)


def _per_phase(activity: Activity, kinds: Sequence[str]) -> Html:
    columns = columns_of("phase", "kind", "name`", "times>", "per second>", "instructions>", "share, %>")
    rows = []
    for phase in activity.phases:
        for kind in kinds:
            shares: Sequence[CpuShare] = getattr(phase, kind)
            rows += [
                [Cell(phase.name), Cell(_KIND_WORDS[kind]), code(one.name), number(one.count),
                 Cell(f"{one.per_second:,.0f}", one.per_second), number(one.instructions),
                 Cell(f"{100 * one.share:.2f}", one.share)]
                for one in shares
            ]  # fmt: skip
    if not rows:
        return Html()
    return fold(
        f"By phase ({count(len(rows))})",
        scroll(
            "interrupts by phase", table("The same by phase, virtual clock", columns, rows, kind="raw", sortable=True)
        ),
        csv_link("interrupts.csv", columns, rows),
    )


def _threads(activity: Activity) -> Html:
    columns = columns_of("phase", "task`", "instructions>", "share, %>", "lent to interrupts>", "most of it in`")
    rows = [
        [Cell(phase.name), code(one.name), number(one.instructions), Cell(f"{100 * one.share:.2f}", one.share),
         number(one.borrowed_instructions), code(", ".join(one.work))]
        for phase in activity.phases
        for one in phase.threads
    ]  # fmt: skip
    if not rows:
        return Html()
    return fold(
        f"CPU by task and phase ({count(len(rows))})",
        scroll(
            "CPU by task and phase",
            table("Instructions by task and phase, virtual clock", columns, rows, kind="raw", sortable=True),
        ),
        csv_link("tasks-by-phase.csv", columns, rows),
    )


def devices(activity: Activity, goal: str) -> Html:
    """Return the requests to each disk in each phase."""
    columns = columns_of("phase", "disk`", "operation", "requests>", "bytes>", "under way, ms>")
    rows = [
        [Cell(phase.name), code(one.disk), Cell(one.operation), number(one.requests), number(one.bytes),
         milliseconds(one.in_flight_ns)]
        for phase in activity.phases
        for one in phase.devices
    ]  # fmt: skip
    if not rows:
        return tag("p", f"No request to a block device up to {goal}.")
    caption = f"Requests to block devices by phase, up to {goal}, virtual clock"
    shown = table(caption, columns, rows, kind="listing", sortable=True)
    return join([shown, csv_link("devices.csv", columns, rows)])


def programs(activity: Activity, shift: int) -> Html:
    """Return what each program executed ahead of the kernel, by phase. `shift`: 2**shift ns an instruction."""
    columns = columns_of("phase", "program`", "executed, ms>", "share, %>", "functions>")
    rows = [
        [Cell(phase.name), code(one.name), milliseconds(one.instructions << shift),
         Cell(percent(one.instructions, phase.instructions), one.share), number(one.functions)]
        for phase in activity.phases
        for one in phase.programs
    ]  # fmt: skip
    rows.sort(key=lambda row: -float(row[2].key or 0))
    caption = "Programs ahead of the kernel by phase, virtual clock; the share is of the phase"
    shown = table(caption, columns, rows, kind="listing", sortable=True)
    return join([scroll("programs", shown), csv_link("programs.csv", columns, rows)])


def coverage(value: Coverage, goal: str) -> Html:
    """Return how many functions were executed when, with the lists to be saved."""
    lists: list[tuple[str, str, Sequence[str]]] = [
        (f"up to {goal}", "functions-up-to-ready.txt", value.up_to_ready),
        ("before the first initcall", "functions-before-initcalls.txt", value.before_initcalls),
        ("in initcalls and nowhere else", "functions-in-initcalls-only.txt", value.in_initcalls_only),
        ("from the start of init on", "functions-after-init-exec.txt", value.after_init_exec),
        ("after ready", "functions-after-ready.txt", value.check),
    ]
    rows: list[list[Cell]] = []
    for words, file, names in lists:
        saved: Content = data_link(file, "\n".join(names) + "\n") if names else ""
        rows.append([Cell(words), number(len(names)), Cell(percent(len(names), value.known), len(names)), Cell(saved)])
    columns = columns_of("executed", "functions>", "of all, %>", "names")
    caption = (
        f"Kernel functions that were executed, modules' included. The kernel image has {count(value.known)} functions. "
        "Exact and not sampled, as all on the virtual clock."
    )
    return table(caption, columns, rows, kind="sums")
