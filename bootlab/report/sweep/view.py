"""A sweep as a view."""

from bootlab.experiments.store import Run
from bootlab.experiments.sweep.result import SweepResult
from bootlab.report.parts.view import Page, View
from bootlab.report.sweep.markdown import sweep_markdown
from bootlab.report.sweep.page import sweep_page
from bootlab.report.sweep.text import sweep


def sweep_view(run: Run, result: SweepResult) -> View:
    """Return how a sweep is shown; all is well when every place was ready."""
    every_place = all(cell.ready is not None for cell in result.cells)
    return View(
        result,
        (sweep(result),),
        Page(lambda elsewhere: sweep_page(result)),
        good=every_place,
        markdown=lambda: sweep_markdown(result),
    )
