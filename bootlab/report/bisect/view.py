"""A bisection as a view; it has no page. And what one would take, before it begins."""

from typing import Any

from bootlab.experiments.store import Run
from bootlab.ledger.bisect.result import BisectResult
from bootlab.ledger.bisect.search import most_measured
from bootlab.ledger.bisect.state import BisectState
from bootlab.report.bisect.markdown import bisection_markdown
from bootlab.report.bisect.text import bisection
from bootlab.report.bisect.words import plan_sentences
from bootlab.report.parts.view import View


def bisect_view(run: Run, result: BisectResult) -> View:
    """Return how what was found is shown; all is well when each change has its one commit."""
    return View(result, (bisection(result),), good=result.explained, markdown=lambda: bisection_markdown(result))


def plan_view(line: list[BisectState]) -> View:
    """Return how many builds a bisection of a line takes at most."""
    between = len(line) - 1
    document: dict[str, Any] = {
        "schema": "bootlab.bisect-plan/1",
        "good": line[0].model_dump(),
        "bad": line[-1].model_dump(),
        "commits": between,
        "merges": sum(len(state.parents) > 1 for state in line[1:]),
        "builds": {str(changes): most_measured(between, changes) for changes in (1, 2, 3) if changes <= between},
        "thorough": between + 1,
        "versions": [state.model_dump() for state in line if state.package],
    }
    return View(document, tuple(plan_sentences(line)))
