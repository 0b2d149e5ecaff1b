"""A line chart: its ticks, and what can be drawn of few points."""

import pytest

from bootlab.report.parts.line_chart import Across, ChartLine, Dot, line_chart, round_factors, round_ticks


def test_ticks_are_round_and_cover() -> None:
    assert round_ticks(0, 2_000_000_000) == [0, 500_000_000, 1_000_000_000, 1_500_000_000, 2_000_000_000]
    assert round_ticks(1_716_000_000, 2_020_000_000)[0] <= 1_716_000_000
    assert round_factors(3e6, 4e9) == [
        2_000_000, 5_000_000, 10_000_000, 20_000_000, 50_000_000, 100_000_000, 200_000_000, 500_000_000,
        1_000_000_000, 2_000_000_000,
    ]  # fmt: skip


@pytest.mark.parametrize("log", [False, True])
def test_one_point_and_equal_points_can_be_drawn(log: bool) -> None:
    across = Across("vCPUs", [(1, "1")])
    assert "circle" in line_chart([ChartLine("a", [Dot(1, 5e6, "one")])], across, "One.", log=log)
    flat = [Dot(x, 5e6, "same") for x in (1, 2)]
    assert line_chart([ChartLine("a", flat)], across, "Flat.", log=log).count("circle") == 2
