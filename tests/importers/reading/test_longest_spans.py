"""What is kept of more spans than anybody can look at."""

from bootlab.importers.reading.longest_spans import LongestSpans


def test_the_longest_spans_are_kept() -> None:
    kept = LongestSpans(100)
    for number in range(10_000):
        kept.add((0, number * 7919 % 10_000, "call", "x", "", ""))
    assert sorted(span.duration_ns for span in kept.spans()) == list(range(9_900, 10_000))
    assert kept.dropped == 9_900
