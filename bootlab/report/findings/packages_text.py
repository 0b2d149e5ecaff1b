"""What each package cost a boot, for a terminal: what can be removed, what is kept and why, the sum, the proof."""

from rich.console import RenderableType
from rich.text import Text

from bootlab.experiments.packages.result import PackagesResult
from bootlab.measure.record import Outcome
from bootlab.report.findings.packages_words import (
    clock_of,
    closing,
    head_of,
    name_of,
    proof_lines,
    some,
    split_rows,
    what_of,
)
from bootlab.report.parts.figures import ms, percent, visible
from bootlab.report.parts.terminal_tables import foot, plain_table
from bootlab.techniques.model.verdict import Verdict


def packages_text(result: PackagesResult) -> tuple[RenderableType, ...]:
    """Return a result in lines and tables."""
    costs = result.costs
    ready = costs.outcome == Outcome.READY.value
    head = Text(visible(costs.system), style="bold")
    head.append(f"  {costs.outcome}", style="green" if ready else "bold red")
    head.append(f"  {visible(head_of(result))}")
    lines: list[RenderableType] = [head]
    if costs.detail:
        lines.append(Text(visible(costs.detail), style="red"))
    lines += [Text(visible(doubt), style="yellow") for doubt in costs.doubts]
    removable, kept, left_ns = split_rows(costs.rows, costs.total_ns)
    lines.append(Text())
    if removable:
        table = plain_table("can be removed", "gone ms>", "own ms>", "%>", "what")
        for row in removable:
            along = f"; {some(row.along)} with it" if row.along else ""
            table.add_row(
                visible(row.name), ms(row.gone_ns), ms(row.cost_ns), percent(row.gone_ns, costs.total_ns),
                visible(what_of(row) + along),
            )  # fmt: skip
        lines += [table, Text()]
    else:
        lines += [Text("no package can be removed"), Text()]
    table = plain_table("stays", "own ms>", "%>", "why, and what")
    for row in kept:
        why = "; ".join(filter(None, (row.kept, what_of(row))))
        table.add_row(visible(name_of(row)), ms(row.cost_ns), percent(row.cost_ns, costs.total_ns), visible(why))
    if left_ns:
        table.add_row("all others", ms(left_ns), percent(left_ns, costs.total_ns), "each below 0.05 %: in the JSON")
    lines += [table, Text(), Text(closing(result))]
    if result.proof is not None:
        good = result.proof.verdict in (Verdict.SHORTER, Verdict.NO_DIFFERENCE_SHOWN)
        lines.append(Text())
        lines += [Text(visible(line)) for line in proof_lines(result.proof)[:-1]]
        lines.append(Text(visible(proof_lines(result.proof)[-1]), style="green" if good else "red"))
    return (*lines, *foot(clock_of(result), costs.hashes, result.run))
