"""A disk image's lives as a view."""

from bootlab.experiments.lives.result import LivesResult
from bootlab.experiments.store import Run
from bootlab.report.lives import text
from bootlab.report.lives.markdown import lives_markdown
from bootlab.report.lives.page import lives_page
from bootlab.report.parts.console import read_consoles
from bootlab.report.parts.view import Page, View


def lives_view(run: Run, result: LivesResult) -> View:
    """Return how lives are shown; all is well when every boot was ready."""
    boots = [(f"life {one.life}", one.boots[0].run) for one in result.lives]
    return View(
        result,
        (text.lives(result),),
        Page(lambda elsewhere: lives_page(result, read_consoles(boots))),
        good=result.good,
        markdown=lambda: lives_markdown(result),
    )
