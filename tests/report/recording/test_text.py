"""Recordings of other tools on a terminal."""

import io

from rich.console import Console

from bootlab.report.recording import text as recording_text
from bootlab.timeline.event import Span
from bootlab.timeline.recording import Recording
from bootlab.timeline.timeline import Timeline
from tests.report.recordings import threads_recording, units_recording


def shown(one: Recording) -> str:
    out = io.StringIO()
    Console(file=out, width=80).print(recording_text.recording(one, "made-up"))
    return out.getvalue()


def test_text_shows_phases_units_and_lengths() -> None:
    text = shown(units_recording())
    assert "kernel" in text and "22.2" in text
    assert "Units: 2, 9.00 ms added up" in text and "Blame: 1, 4.00 ms added up" in text
    assert "monotonic clock: made up, in steps of 1 us" in text
    assert max(map(len, text.splitlines())) <= 80


def test_cycles_are_counts() -> None:
    one = threads_recording(unit="cycles")
    tracked = [Span(span.start_ns, span.end_ns, "call", span.name) for span in one.timeline.spans]
    text = shown(Recording("tslog", "x", Timeline.of(one.timeline.clock, [], tracked), "made up"))
    assert "6,000,000" in text and "cycles" in text and "ms" not in text
