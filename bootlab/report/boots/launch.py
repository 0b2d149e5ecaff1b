"""What came before power-on, shown: the steps of a VMM in one boot, and over a series in which two humps are named."""

from collections.abc import Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from bootlab.measure.launch import LaunchPart, boot_parts
from bootlab.measure.record import BootRecord
from bootlab.measure.statistics.series import humps, median_ns
from bootlab.report.parts.figures import ms, percent, visible
from bootlab.report.parts.terminal_tables import plain_table


def launch_lines(record: BootRecord) -> list[RenderableType]:
    """Return how the VMM of one boot came to let its guest go, and what it says itself; nothing without one."""
    vmm = record.vmm
    if vmm is None or not vmm.launch:
        return []
    steps = ", ".join(f"{step.name} {ms(step.duration_ns)}" for step in vmm.launch)
    head = f"before power-on, ms: {ms(vmm.launch_ns)} of {vmm.name} {vmm.version.partition(' ')[0]}: {steps}"
    lines: list[RenderableType] = [Text(visible(head))]
    if vmm.own:
        told = ", ".join(f"{name} {ms(ns)}" for name, ns in vmm.own.items())
        lines.append(Text(visible(f"{vmm.name} says itself, ms: {told}")))
    return lines


def parts_lines(records: Sequence[BootRecord]) -> list[RenderableType]:
    """Return the parts of a series of boots, from the start of the VMM to ready; nothing without a VMM's launch."""
    parts = boot_parts(records)
    if not parts:
        return []
    rows = plain_table("from the VMM's start", "median ms>", "least>", "most>", "")
    for part in parts:
        times = part.times_ns
        rows.add_row(Text(visible(part.name)), ms(median_ns(times)), ms(min(times)), ms(max(times)), _humps(part))
    return [Text(), rows]


def parts_side_by_side(before: Sequence[BootRecord], after: Sequence[BootRecord]) -> list[RenderableType]:
    """Return the medians of the parts of two series; nothing where either has none."""
    sides = [{part.name: part for part in boot_parts(records)} for records in (before, after)]
    if not all(sides):
        return []
    rows: Table = plain_table("from the VMM's start", "before ms>", "after ms>", "change ms>", "change %>")
    for name in _merged(list(sides[0]), list(sides[1])):
        one, other = (median_ns(side[name].times_ns) if name in side else None for side in sides)
        change = ("", "") if one is None or other is None else _change(one, other)
        rows.add_row(Text(visible(name)), ms(one), ms(other), *change)
    lines: list[RenderableType] = [Text(), rows]
    for name, side in zip(("before", "after"), sides, strict=True):
        lines += [
            Text(f"caution: {name}: {visible(part.name)}: {found}", style="yellow")
            for part in side.values()
            if (found := _humps(part))
        ]
    return lines


def _change(one: int, other: int) -> tuple[str, str]:
    return ms(other - one, sign=True), percent(other - one, one, sign=True)


def _merged(before: list[str], after: list[str]) -> list[str]:
    """Return both lists of names as one, each in its own order as far as that goes."""
    names = list(before)
    at = 0
    for name in after:
        if name in names:
            at = names.index(name) + 1
        else:
            names.insert(at, name)
            at += 1
    return names


def _humps(part: LaunchPart) -> str:
    if (found := humps(part.times_ns)) is None:
        return ""
    low, high = (f"{hump.n} around {ms(hump.median_ns)}" for hump in (found.low, found.high))
    return f"two humps: {low} and {high} ms"
