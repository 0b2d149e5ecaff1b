"""What a plan's account published of each step, to stand beside what was measured here."""

from collections.abc import Mapping

from bootlab.experiments.trial.plan import PLANS
from bootlab.techniques.page.published_row import PublishedTable
from bootlab.techniques.page.published_tables import TABLES


def account_of(plan: str) -> PublishedTable | None:
    """Return the published table whose order a plan has; None for a plan that has nobody's, or that is not known."""
    known = PLANS.get(plan)
    return next((table for table in TABLES if known is not None and table.name == known.account), None)


def published_figures(plan: str) -> Mapping[str, str]:
    """Return technique -> what was published of it, as `row: figure`; empty for a plan that has nobody's order.

    A row of several techniques is said of each of them, for nobody published their shares; a row without a figure is
    said of none.
    """
    told: dict[str, list[str]] = {}
    account = account_of(plan)
    for row in account.rows if account is not None else ():
        if row.figure == "none" or row.figure.startswith("none:"):
            continue
        for technique in row.techniques:
            told.setdefault(technique, []).append(f"{row.row}: {row.figure}")
    return {technique: "; ".join(figures) for technique, figures in told.items()}
