"""Spans are laid into the rows of a viewer: each in one row, none across another, ends in the order they must have."""

import random

import pytest

from bootlab.report.exports.rows import edges_of, rows_of
from bootlab.timeline.clock import Clock
from bootlab.timeline.event import Span
from bootlab.timeline.recording import Recording
from bootlab.timeline.timeline import Timeline
from tests.report.recordings import threads_recording, units_recording


def random_recording(seed: int) -> Recording:
    chance = random.Random(seed)
    spans = []
    for number in range(200):
        start = chance.randrange(100)
        track = chance.choice(["", "main", "other"])
        spans.append(Span(start, start + chance.randrange(20), "call", f"f{number}", track=track))
    return Recording("made up", "made up", Timeline.of(Clock("c", 1), [], spans), "made up")


@pytest.mark.parametrize("seed", range(20))
def test_every_span_is_in_one_row_and_every_end_is_that_of_the_last_one_open(seed: int) -> None:
    one = random_recording(seed)
    rows = rows_of(one)
    assert sorted(span.name for row in rows for span in row.spans) == sorted(span.name for span in one.timeline.spans)
    for row in rows:
        open_spans: list[Span] = []
        before = row.spans[0].start_ns
        for t_ns, span, begins in edges_of(row):
            assert t_ns >= before and t_ns == (span.start_ns if begins else span.end_ns)
            before = t_ns
            if begins:
                open_spans.append(span)
                assert row.thread or len(open_spans) == 1
            else:
                assert open_spans.pop() is span
        assert not open_spans


def test_what_overlaps_stands_apart_and_calls_nest() -> None:
    titles = [(row.title, row.thread, len(row.spans)) for row in rows_of(units_recording())]
    assert titles == [("Phases", False, 2), ("Units", False, 1), ("Units", False, 1)]
    assert [(row.title, len(row.spans)) for row in rows_of(threads_recording())] == [("main", 3), ("other", 1)]
