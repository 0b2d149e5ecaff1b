"""Lines without a time stay where they stood, whatever becomes of the events around them."""

from bootlab.importers.reading.text_in_place import behind_events, behind_times, in_place, moved
from bootlab.timeline.event import Event
from bootlab.timeline.recording import TextLine


def test_lines_stand_behind_the_events_that_they_stood_behind() -> None:
    # Stamps of equal and of falling time: events are sorted, and a line follows the one before it.
    lines = [(None, "first"), (5, ""), (None, "a"), (5, ""), (None, "b"), (3, ""), (None, "c")]
    assert in_place(lines) == (TextLine(0, "first"), TextLine(1, "c"), TextLine(2, "a"), TextLine(3, "b"))
    assert in_place([(1, ""), (2, "")]) == ()


def test_lines_move_up_where_events_go() -> None:
    lines = [TextLine(0, "x"), TextLine(2, "y"), TextLine(3, "z")]
    assert moved(lines, [False, True, False]) == (TextLine(0, "x"), TextLine(1, "y"), TextLine(1, "z"))


def test_lines_find_their_place_among_other_events() -> None:
    events = [Event(10, "a", "x"), Event(20, "a", "y")]
    told = behind_times(events, [TextLine(0, "first"), TextLine(1, "after x"), TextLine(2, "last")])
    assert told == [(None, "first"), (10, "after x"), (20, "last")]
    more = [Event(5, "b", "w"), *events, Event(15, "b", "v")]
    more.sort(key=lambda event: event.t_ns)
    assert behind_events(more, told) == (TextLine(0, "first"), TextLine(2, "after x"), TextLine(4, "last"))
