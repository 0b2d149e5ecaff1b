"""Audits, files never opened, and devices with their modules, as views: none of them has a page of its own."""

from bootlab.experiments.store import Run
from bootlab.findings.audit.finding import Audit
from bootlab.findings.coldplug_result import ColdplugResult
from bootlab.findings.unused_result import UnusedResult
from bootlab.measure.record import Outcome
from bootlab.measure.record_files import read_record
from bootlab.report.findings.audit_markdown import audit_markdown
from bootlab.report.findings.audit_text import audit
from bootlab.report.findings.coldplug_text import coldplug
from bootlab.report.findings.unused_text import unused
from bootlab.report.parts.view import View


def audit_view(run: Run, result: Audit) -> View:
    """Return how an audit is shown; it has no page."""
    return View(
        result,
        (audit(result),),
        good=result.outcome == Outcome.READY.value,
        markdown=lambda: audit_markdown(result, [*map(read_record, run.records())]),
    )


def unused_view(run: Run, result: UnusedResult) -> View:
    """Return how a list of files never opened is shown; all is well when the system boots without them."""
    return View(result, tuple(unused(result)), good=result.boots_without)


def coldplug_view(run: Run, result: ColdplugResult) -> View:
    """Return how a list of devices and modules is shown; it has no page."""
    return View(result, tuple(coldplug(result)), good=result.outcome is Outcome.READY)
