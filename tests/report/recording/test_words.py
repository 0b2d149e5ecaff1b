"""The statistics and cautions that are told of an imported series of boots."""

from bootlab.report.recording.words import series_figures
from bootlab.timeline.recording import Series


def test_a_series_goes_through_our_statistics() -> None:
    # Four boots near 1.87 s and six near 2.08 s, nothing between: the published mean of 2.00 s never happened.
    times = [1.860, 1.865, 1.872, 1.877, 2.073, 2.075, 2.080, 2.081, 2.085, 2.089]
    figures = series_figures(Series("total", "ns", tuple(value * 1e9 for value in times)))
    assert figures.unit == "ms" and figures.cells[1] == "2,074.000"
    assert "two humps, 4 boots around 1,868.500 ms and 6 boots around 2,080.500 ms" in figures.caution
