"""Parts of a ledger as views: what a terminal and a program are given of them."""

from collections.abc import Sequence
from typing import Any, Final

from bootlab.ledger.entry import LedgerEntry
from bootlab.ledger.file import History
from bootlab.ledger.issue_costs import IssueRow, cost_of
from bootlab.ledger.steps import LedgerStep, steps_of
from bootlab.report.ledger.text import issues, log, side_by_side, standings
from bootlab.report.parts.view import View

SCHEMA: Final = "bootlab.ledger-view/1"


def standings_view(histories: Sequence[History]) -> View:
    """Return where each system stands; all is well when each was ready, and every file could be read."""
    latest = [steps_of(one.entries)[-1] for one in histories if one.entries]
    good = len(latest) == len(histories) and all(step.entry.ready_ns is not None for step in latest)
    return View({**_document(latest), **_said(histories)}, (standings(latest, histories),), good=good)


def log_view(history: History, steps: Sequence[LedgerStep]) -> View:
    """Return the history of a system."""
    return View({**_document(steps), **_said([history])}, (log(history, steps),))


def diff_view(before: LedgerEntry, step: LedgerStep) -> View:
    """Return two entries side by side."""
    document = {"schema": SCHEMA, "before": before.model_dump(mode="json"), "step": _step(step)}
    return View(document, (side_by_side(before, step),))


def issues_view(system: str, found: Sequence[IssueRow]) -> View:
    """Return the known issues of a system, with what they cost."""
    rows: list[dict[str, Any]] = [
        {
            **one.issue.model_dump(mode="json"),
            "cost_ns": cost_of(one.last, one.issue),
            "first_cost_ns": cost_of(one.first, one.issue),
            "commit": one.last.commit if one.last is not None else None,
            "changes": [
                {
                    "commit": change.entry.commit,
                    "time": change.entry.order[0],
                    "before_ns": change.before_ns,
                    "after_ns": change.after_ns,
                }
                for change in one.changes
            ],
        }
        for one in found
    ]
    return View({"schema": SCHEMA, "system": system, "issues": rows}, (issues(system, found),))


def _document(steps: Sequence[LedgerStep]) -> dict[str, Any]:
    return {"schema": SCHEMA, "steps": [_step(step) for step in steps]}


def _step(step: LedgerStep) -> dict[str, Any]:
    return {
        "entry": step.entry.model_dump(mode="json"),
        "key": step.entry.key,
        "ready_ns": step.entry.ready_ns,
        "spread_ns": step.entry.spread_ns,
        "saved_ns": step.saved_ns,
        "verdict": step.verdict.value if step.verdict is not None else None,
        "why": step.why,
        "changed": list(step.changed),
    }


def _said(histories: Sequence[History]) -> dict[str, Any]:
    return {"remarks": [remark for one in histories for remark in one.remarks]}
