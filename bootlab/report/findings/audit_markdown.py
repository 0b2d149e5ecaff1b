"""An audit in Markdown: each finding with its cost, the dearest that it is made of, and what removes it."""

from collections.abc import Sequence

from bootlab.findings.audit.finding import Audit, Finding
from bootlab.measure.record import BootRecord
from bootlab.report.parts.figures import clock_of, ms, percent, short_hashes
from bootlab.report.parts.markdown import code, markdown_table, plain, prose

_LONGEST = 60


def audit_markdown(value: Audit, boots: Sequence[BootRecord] = ()) -> str:
    """Return the findings, most expensive first. `boots`: those on record that it is of; none where they are gone."""
    goal = f", goal {plain(value.goal)}" if value.goal is not None else ""
    rows = [
        [
            plain(one.kind),
            ms(one.cost_ns),
            ms(one.idle_ns) if one.idle_ns else "",
            percent(one.cost_ns, value.total_ns),
            _dearest(one),
            code(one.technique or ""),
        ]
        for one in value.findings
    ]
    parts = [
        prose(
            f"{plain(value.system)}: {plain(value.outcome)} after {ms(value.total_ns)} ms{goal}; costs up to ready, ms:"
        ),
        markdown_table(["finding", "cost>", "of it idle>", "%>", "its dearest", "technique"], rows),
        "Findings may hold the same time.",
    ]
    if value.nothing:
        parts[-1] += f" Looked for and not found: {plain(', '.join(value.nothing))}."
    parts += [f"{plain(kind)}: not looked for: {plain(why)}." for kind, why in value.not_looked.items()]
    parts[2:] = [prose(one) for one in parts[2:]]
    if boots:
        parts.append(prose(f"{clock_of(boots)}. {short_hashes(boots[0].hashes)}."))
    return "\n\n".join(parts) + "\n"


def _dearest(finding: Finding) -> str:
    """Return the item that stands first, with its own figures, and how many there are."""
    if not finding.items:
        return ""
    first = finding.items[0]
    figures = [ms(first.cost_ns)] if first.cost_ns is not None else []
    figures += [f"lasted {ms(first.lasted_ns)}"] if first.lasted_ns is not None else []
    name = plain(first.what)
    name = name if len(name) <= _LONGEST else f"{name[:_LONGEST]}..."
    told = f"{name}: {', '.join(figures)}" if figures else name
    return f"{told}; {len(finding.items) - 1} more" if len(finding.items) > 1 else told
