"""systemd's spans of time, as time, blame and critical-chain print them."""

import pytest

from bootlab.importers.reading.timespan import parse_timespan


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("79ms", 79_000_000),
        ("2.584s", 2_584_000_000),
        ("1min 9.608s", 69_608_000_000),
        ("2h 3min", 7_380_000_000_000),
        ("1d 2h 3min 4.005s", 93_784_005_000_000),
        ("1min", 60_000_000_000),
        ("500us", 500_000),
        ("12.5ms", 12_500_000),
        ("3.000001s", 3_000_001_000),
        ("1w", 604_800_000_000_000),
        ("1month", 2_629_800_000_000_000),
        ("0", 0),
    ],
)
def test_spans_are_exact(text: str, ns: int) -> None:
    assert parse_timespan(text) == ns


@pytest.mark.parametrize(
    "text", ["", "1", "ms", "1 min", "9.608", "1minute", "-1s", "1m", "1.2.3s", "1e9s", "9" * 40 + "s"]
)
def test_what_is_no_span_is_none(text: str) -> None:
    assert parse_timespan(text) is None
