"""Spans and stacks of a recording as a call tree, counted by hand."""

from bootlab.report.recording.tree import placed_spans, tree_of
from bootlab.timeline.event import Span
from bootlab.timeline.recording import Recording, Stack
from tests.report.recordings import threads_recording


def test_spans_of_a_thread_become_a_call_tree() -> None:
    tree = tree_of(threads_recording()).tree
    assert dict(tree.folded("elapsed")) == {
        "main;outer": 2_000_000,
        "main;outer;inner": 4_000_000,
        "other;alone": 3_000_000,
    }
    assert int(tree.total_elapsed_ns[0]) == 9_000_000


def test_stacks_are_the_whole_where_there_are_any() -> None:
    one = threads_recording()
    stacks = (Stack(("main", "outer"), 5, 1), Stack(("main", "outer", "inner"), 7, 100))
    kept = Recording(one.format, one.tool, one.timeline, one.about_clock, stacks=stacks)
    assert dict(tree_of(kept).tree.folded("elapsed")) == {"main;outer": 5, "main;outer;inner": 7}


def test_spans_that_overlap_without_nesting_lose_nothing() -> None:
    spans = [
        Span(0, 10, "call", "a", track="t"),
        Span(5, 15, "call", "b", track="t"),
        Span(12, 14, "call", "c", track="t"),
    ]
    placed = {one.span.name: (one.path, one.own_ns) for one in placed_spans(spans)}
    assert placed == {"a": (("t", "a"), 10), "b": (("t", "b"), 8), "c": (("t", "b", "c"), 2)}
