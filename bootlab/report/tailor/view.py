"""A tailoring as a view. It has no page: every option with its reason is a text of its own in the run."""

from bootlab.experiments.comparing import read_boots
from bootlab.experiments.store import Run
from bootlab.experiments.tailor.result import TailorResult
from bootlab.report.parts.view import View
from bootlab.report.tailor.markdown import tailor_markdown
from bootlab.report.tailor.text import tailored


def tailor_view(run: Run, result: TailorResult) -> View:
    """Return how a tailoring is shown; it has no page."""

    def markdown() -> str:
        one = result.comparison
        return tailor_markdown(result, read_boots(run, one.before_runs), read_boots(run, one.after_runs))

    return View(result, tuple(tailored(result)), markdown=markdown)
