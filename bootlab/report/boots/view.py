"""One boot, a series and a comparison as views."""

from bootlab.experiments.comparing import Compared, Steps
from bootlab.experiments.series import SeriesResult
from bootlab.experiments.store import Run
from bootlab.measure.record import BootRecord
from bootlab.report.boots import page, steps_page, steps_text, text
from bootlab.report.boots.markdown import boot_markdown, compare_markdown, series_markdown
from bootlab.report.parts.console import read_consoles
from bootlab.report.parts.view import Page, View
from bootlab.report.trial.words import from_mark_words


def boot_view(run: Run, record: BootRecord) -> View:
    """Return how one boot is shown."""
    return View(
        record,
        (text.boot(record),),
        Page(lambda elsewhere: page.boot_page(record, read_consoles([("console", record.run)]))),
        markdown=lambda: boot_markdown(record),
    )


def series_view(run: Run, result: SeriesResult) -> View:
    """Return how a series is shown; its page has the console of the last boot."""
    last = [("last boot", result.boots[-1].run)]
    return View(
        result,
        (text.series(result.boots, result.chances),),
        Page(lambda elsewhere: page.series_page(result.boots, read_consoles(last), result.chances)),
        markdown=lambda: series_markdown(result),
    )


def compare_view(run: Run, compared: Compared) -> View:
    """Return two sides phase by phase, or several step by step."""
    result, series = compared.result, compared.series
    if isinstance(result, Steps):
        boots = [(f"{number} {side[0].system}", side[0].run) for number, side in enumerate(series, 1)]
        steps = Page(lambda elsewhere: steps_page.steps_page(result, series, read_consoles(boots)))
        lines = (steps_text.steps(result, series), *from_mark_words(result.from_mark))
        return View(result, lines, steps, markdown=lambda: compare_markdown(compared))
    before, after = series
    boots = [("before", before[0].run), ("after", after[0].run)]
    verdict = f"{result.verdict}: {result.detail}"
    return View(
        result,
        (
            text.comparison(before, after, chances=result.chances),
            *(f"  differs: {difference}" for difference in result.differences),
            f"verdict: {verdict}",
            *from_mark_words(result.from_mark),
        ),
        Page(lambda elsewhere: page.compare_page(before, after, verdict, read_consoles(boots), result.chances)),
        markdown=lambda: compare_markdown(compared),
    )
