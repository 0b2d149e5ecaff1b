"""A trial as a view: its page has the consoles of the baseline and of each finished stack."""

from bootlab.experiments.store import Run
from bootlab.experiments.trial.result import TryResult
from bootlab.report.boots.page import try_page
from bootlab.report.parts.console import read_consoles
from bootlab.report.parts.view import Page, View
from bootlab.report.trial.markdown import try_markdown
from bootlab.report.trial.text import try_result


def try_view(run: Run, result: TryResult) -> View:
    """Return how a trial is shown; its page has the consoles of the baseline and of every finished stack."""
    boots = [("baseline", result.baseline_run)]
    boots += [(stack, finished.run) for stack, finished in result.final.items()]
    page = Page(lambda elsewhere: try_page(result, read_consoles(boots)))
    return View(result, (try_result(result),), page, markdown=lambda: try_markdown(result))
