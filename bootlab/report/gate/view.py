"""A gate's answer as a view; it has no page."""

from bootlab.experiments.store import Run
from bootlab.ledger.gate.judging import GateVerdict
from bootlab.ledger.gate.result import GateResult
from bootlab.report.gate.forms import gate_markdown
from bootlab.report.gate.text import gate
from bootlab.report.parts.view import View


def gate_view(run: Run, result: GateResult) -> View:
    """Return how a gate's answer is shown; all is well when nothing is stopped and everything could be told."""
    good = result.verdict in (GateVerdict.UNCHANGED, GateVerdict.SHORTER)
    return View(result, (gate(result),), good=good, markdown=lambda: gate_markdown(result))
