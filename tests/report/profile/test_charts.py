"""Charts of a page leave out what cannot be seen."""

from bootlab.report.parts.markup import Html
from bootlab.report.profile.charts import ChartSpan, areas, strip


def test_charts_leave_out_what_cannot_be_seen() -> None:
    drawn = strip([ChartSpan(0, 900, "kernel", "<long>", "note"), ChartSpan(900, 900, "wait", "short", "")], 0, 1000)
    assert isinstance(drawn, Html) and "&lt;long&gt;" in drawn and "short" not in drawn
    assert 'width="90%"' in drawn or 'width="90.000%"' in drawn
    path = areas((("run", (10, 10, 0)), ("wait", (0, 0, 5))), (0, 10, 20, 30))
    assert 'd="M0 16v-16h2v16z"' in path and 'd="M2 16v-8h1v8z"' in path
