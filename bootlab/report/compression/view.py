"""A compression study as a view."""

from bootlab.experiments.compression.result import CompressionResult
from bootlab.experiments.store import Run
from bootlab.report.compression.markdown import compression_markdown
from bootlab.report.compression.page import compression_page
from bootlab.report.compression.text import compression
from bootlab.report.parts.view import Page, View


def compression_view(run: Run, result: CompressionResult) -> View:
    """Return how a study is shown; all is well when every compression was measured."""
    measured = all(option.boot is not None for table in result.tables for option in table.options)
    return View(
        result,
        (compression(result),),
        Page(lambda elsewhere: compression_page(result)),
        good=measured,
        markdown=lambda: compression_markdown(result),
    )
