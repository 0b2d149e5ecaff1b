"""A launch storm as a view for a terminal; it has no page of its own."""

from rich.console import RenderableType
from rich.text import Text

from bootlab.experiments.store import Run
from bootlab.experiments.storm.result import StormResult, median_kib
from bootlab.report.parts.figures import count, ms, percent, visible
from bootlab.report.parts.terminal_tables import plain_table
from bootlab.report.parts.view import View

_SHOWN = 12
"""How many machines get a line; a longer list is what JSON is for."""


def storm_view(run: Run, result: StormResult) -> View:
    """Return how a storm is shown; all is well when every machine was ready."""
    at = "at once" if result.per_second is None else f"at {result.per_second:g} a second"
    head = Text(f"{visible(result.system)}  {result.number} machines {at}, {visible(result.accelerator)}", style="bold")
    head.append(f"  {result.ready} of {result.number} ready", style="" if result.good else "bold red")
    times = f"p50 {ms(result.p50_ns)} ms, p99 {ms(result.p99_ns)} ms, to the last {ms(result.last_ns)} ms"
    lines: list[RenderableType] = [head, times if result.ready else "none was ready"]
    whole = result.on_cpu_ns + result.without_cpu_ns + result.elsewhere_ns
    if whole:
        shares = (("on a CPU", result.on_cpu_ns), ("ready without one", result.without_cpu_ns),
                  ("waiting for something else", result.elsewhere_ns))  # fmt: skip
        lines.append("their time: " + ", ".join(f"{name} {percent(part, whole)}%" for name, part in shares))
    lines.append(_memory(result))
    if gone := sum(one.ended_early for one in result.machines):
        lines.append(
            Text(f"{gone} machines were ready, and ended before the last was up: no memory of theirs", style="yellow")
        )
    if result.pressure_us:
        held = ", ".join(f"{name} {us / 1e3:.0f} ms" for name, us in result.pressure_us.items())
        lines.append(f"some task of this host held up for want of: {held} (PSI)")
    lines.append(f"bootlab itself: {result.own_cpu_ns / 1e9:.2f} s of CPU in {result.took_ns / 1e9:.2f} s")
    lines += [Text(f"serialised by {visible(words)}", style="yellow") for words in result.serialised_by]
    if not result.serialised_by and result.ready:
        lines.append("serialised by nothing that was seen")
    return View(result, (*lines, *_machines(result)), good=result.good)


def _memory(result: StormResult) -> str:
    middle = median_kib(result)
    each = f"{count(middle)} KiB each by PSS (median), " if middle is not None else ""
    return f"memory: {each}{count(result.host_memory_kib // max(1, result.ready))} KiB each of this host"


def _machines(result: StormResult) -> list[RenderableType]:
    rows = plain_table("machine>", "due ms>", "took ms>", "VMM ms>", "faults>", "PSS KiB>", "outcome")
    slowest = sorted(result.machines, key=lambda one: (one.took_ns is not None, -(one.took_ns or 0)))
    for one in slowest[:_SHOWN]:
        faults = None if one.minor_faults is None else one.minor_faults + (one.major_faults or 0)
        rows.add_row(
            str(one.number), ms(one.due_ns), ms(one.took_ns), ms(one.launch_ns), count(faults), count(one.pss_kib),
            Text(visible(one.outcome.value), style="" if one.took_ns is not None else "red"),
        )  # fmt: skip
    more = len(result.machines) - _SHOWN
    why = dict.fromkeys(f"{one.outcome.value}: {one.detail}" for one in result.machines if one.took_ns is None)
    told = [Text(visible(line), style="red") for line in why]
    return [Text(), rows, *([f"and {more} more, which took less: --json has all"] if more > 0 else []), *told]
