"""What each package cost a boot, as a view: for a terminal, as JSON and as Markdown. It has no page."""

from bootlab.experiments.packages.result import PackagesResult
from bootlab.experiments.store import Run
from bootlab.report.findings.packages_markdown import packages_markdown
from bootlab.report.findings.packages_text import packages_text
from bootlab.report.parts.view import View


def packages_view(run: Run, result: PackagesResult) -> View:
    """Return how the packages of a boot are shown."""
    return View(result, packages_text(result), good=result.good, markdown=lambda: packages_markdown(result))
