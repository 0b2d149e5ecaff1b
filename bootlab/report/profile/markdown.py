"""A profile in Markdown: what the time to ready was spent on, and which technique could remove it."""

from typing import Final

from bootlab.findings.advise import AdviceItem
from bootlab.findings.analysis import Analysis
from bootlab.report.parts.figures import clock_of, ms, percent, short_hashes
from bootlab.report.parts.markdown import code, markdown_table, plain, prose

_LEAST_SHARE: Final = 0.02
"""What takes less of the boot is in one line at the end."""


def advice_markdown(analysis: Analysis) -> str:
    """Return the causes that take most of the boot, each with its technique, and all others in one line."""
    value, record = analysis.advice, analysis.record
    ranked = sorted(value.items, key=lambda item: -item.cost_ns)
    shown = [item for item in ranked if item.share >= _LEAST_SHARE]
    rows = [[plain(one.what), ms(one.cost_ns), percent(one.cost_ns, value.total_ns), _techniques(one)] for one in shown]
    others_ns = value.total_ns - sum(one.cost_ns for one in shown)
    words = f"everything else, {len(ranked) - len(shown)} causes and what is below 0.1 %"
    rows.append([words, ms(others_ns), percent(others_ns, value.total_ns), ""])
    whole = "power-on to ready" if value.reached_ready else f"power-on to its end ({plain(value.outcome)})"
    rows.append([whole, ms(value.total_ns), "", ""])
    table = markdown_table(["spent on", "ms>", "%>", "technique"], rows)
    parts = "" if value.complete else " The profile was cut off: this is of the part that was saved."
    said = f"{plain(value.system)}, {clock_of([record])}.{parts} {short_hashes(record.hashes)}."
    return f"{table}\n\n{prose(said)}\n"


def _techniques(item: AdviceItem) -> str:
    if item.remedy is None:
        return "none in the catalogue"
    # As the terminal has it: what spares less than half of a cost is a remedy in part.
    others = [
        f"{'in part ' if 2 * one.estimated_ns < item.cost_ns else 'or '}{code(one.technique)}" for one in item.instead
    ]
    return ", ".join([code(item.remedy.technique), *others])
