"""An audit for a terminal: each finding with its cost, its largest items, and what removes it."""

import textwrap

from rich.console import Group, RenderableType
from rich.text import Text

from bootlab.findings.audit.finding import Audit, Finding, Item
from bootlab.measure.record import Outcome
from bootlab.report.parts.figures import ms, percent, visible

_ITEMS = 8
_DETAIL = 240
"""Characters: 38 calls of modprobe would fill the window."""


def audit(value: Audit) -> RenderableType:
    """Return all findings, most expensive first, then what was looked for and not found."""
    head = Text(visible(value.system), style="bold")
    head.append(f"  {value.outcome}", style="green" if value.outcome == Outcome.READY.value else "bold red")
    head.append(f"  {ms(value.total_ns)} ms, and what of it the boot may do without")
    lines: list[RenderableType] = [head]
    if value.detail:
        lines.append(Text(visible(value.detail), style="red"))
    if value.goal is not None:
        lines.append(Text(f"goal: {visible(value.goal)}", style="dim"))
    for finding in value.findings:
        lines += _finding(value, finding)
    lines.append(Text())
    if value.nothing:
        lines.append(Text(f"looked for and not found: {', '.join(value.nothing)}"))
    lines += [Text(f"{name}: not looked for: {visible(why)}", style="yellow") for name, why in value.not_looked.items()]
    lines.append(Text("Findings may hold the same time. Costs are executed instructions and idle time up to ready."))
    if value.run:
        lines.append(Text(f"run: {visible(value.run)}", style="dim", overflow="fold"))
    return Group(*lines)


def _finding(value: Audit, finding: Finding) -> list[RenderableType]:
    share = percent(finding.cost_ns, value.total_ns)
    how = ", its share by size" if finding.basis == "by size" else ""
    idle = f", {ms(finding.idle_ns)} of it idle" if finding.idle_ns else ""
    lines: list[RenderableType] = [Text()]
    lines.append(Text(f"{finding.kind}: {ms(finding.cost_ns)} ms ({share} %{idle}{how})", style="bold"))
    lines.append(Text(f"  {visible(finding.what)}"))
    lines += [_item(item) for item in finding.items[:_ITEMS]]
    if len(finding.items) > _ITEMS:
        lines.append(Text(f"  {'':>10}  and {len(finding.items) - _ITEMS} more, in the JSON", style="dim"))
    if finding.technique is not None:
        told = f"  technique {finding.technique}: bootlab try SYSTEM {finding.technique}"
        lines.append(Text(f"{told}{f' --audit {visible(value.run)}' if value.run else ''}", style="green"))
    lines.append(Text(f"  by hand: {visible(finding.by_hand)}"))
    return lines


def _item(item: Item) -> Text:
    figure = ms(item.cost_ns) if item.cost_ns is not None else ""
    line = Text(f"  {figure:>10}  {visible(item.what)}", overflow="fold")
    if item.lasted_ns is not None:
        line.append(f", lasted {ms(item.lasted_ns)}", style="dim")
    if item.detail:
        cut = textwrap.shorten(visible(item.detail), _DETAIL, placeholder=" ..., all of it in the JSON")
        line.append(f"  {cut}", style="dim")
    return line
