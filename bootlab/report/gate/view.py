"""A gate's answer as a view; it has no page."""

from typing import Final

from bootlab.experiments.store import Run
from bootlab.ledger.gate.judging import GateVerdict
from bootlab.ledger.gate.result import GateResult
from bootlab.report.gate.forms import gate_markdown
from bootlab.report.gate.text import gate
from bootlab.report.parts.view import View

CODES: Final = {
    GateVerdict.UNCHANGED: 0,
    GateVerdict.SHORTER: 0,
    GateVerdict.LONGER: 1,
    GateVerdict.CANNOT_SAY: 2,
    GateVerdict.BROKEN: 3,
}
"""Exit codes, of which 2 and 3 are also those of bad input and of a missing tool, as everywhere."""


def gate_view(run: Run, result: GateResult) -> View:
    """Return how a gate's answer is shown; all is well when nothing is stopped and everything could be told."""
    code = CODES[result.verdict]
    return View(result, (gate(result),), good=not code, code=code, markdown=lambda: gate_markdown(result))
